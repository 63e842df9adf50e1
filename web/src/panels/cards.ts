// What can be plotted: a few lines by name, or the joints that move most.

import type uPlot from "uplot";
import { cssColor, el } from "../dom";
import type { Frame } from "../frame.gen";
import { History } from "../history";
import { mostMoving } from "../moving";
import type { Axis } from "../protocol";
import { plain } from "../words";
import { Plot, type Data, type Drawn, type Gestures } from "./plot";
import { SPANS_S, type TimeWindow } from "./window";

const KEPT_S = Math.max(...SPANS_S);
const LEAP_S = 10; // a longer step of time is a seek
const CHOOSE_MS = 1000; // how often it is asked which joints move most
const MOST_LINES = 8; // more cannot be told apart; colours --line-1 .. in the style sheet
const LONG_NAME = 8; // letters
const DEGREES = 180 / Math.PI;

/** One card. */
export interface Card {
  plot: Plot;
  take(frame: Frame): void;
  /** Called before each drawing: puts the newest values into words. */
  say(): void;
}

/** What a card of named lines shows. */
export interface Quantity {
  title: string;
  unit: string;
  names: string[]; // of its lines; one line needs no name
  read(frame: Frame): number[];
  words(value: number): string;
  least: number; // that the plot is high
  logarithmic?: boolean;
}

export class Lines implements Card, Drawn {
  readonly plot: Plot;
  readonly logarithmic: boolean;
  private readonly history: History;
  private readonly values: HTMLElement[];
  private last: number[] = [];

  constructor(
    private readonly what: Quantity,
    window: TimeWindow,
    gestures: Gestures,
  ) {
    this.logarithmic = what.logarithmic ?? false;
    const lines = Math.max(1, what.names.length);
    this.history = new History(lines, KEPT_S, LEAP_S);
    this.values = Array.from({ length: lines }, () => el("b", { class: "value-now" }));
    const title = [what.title, el("small", {}, what.unit)];
    if (lines === 1) this.plot = new Plot([...title, this.values[0]!], this, window, gestures);
    else {
      const entries = what.names.map((name, i) => el("li", { style: `--color: var(--line-${i + 1})` }, el("span", {}, name), this.values[i]!));
      this.plot = new Plot(title, this, window, gestures, el("ul", { class: "legend wide" }, ...entries));
    }
  }

  take(frame: Frame): void {
    this.last = this.what.read(frame);
    this.history.push(frame.time_s, this.last);
  }

  say(): void {
    this.values.forEach((value, i) => (value.textContent = this.what.words(this.last[i] ?? 0)));
  }

  data(): Data {
    return this.history;
  }

  series(): uPlot.Series[] {
    if (this.values.length === 1) return [{ stroke: cssColor("--accent"), fill: cssColor("--accent-soft"), width: 2 }];
    return this.values.map((_, i) => ({ stroke: cssColor(`--line-${i + 1}`), width: 2 }));
  }

  range(low: number, high: number): [number, number] {
    if (this.logarithmic) return [1, Math.max(this.what.least, high)];
    return [Math.min(0, 1.15 * low), Math.max(this.what.least, 1.15 * high)];
  }
}

/** The joints, or those of them that move most: where they are and, dashed, where they are wanted. */
export class Joints implements Card, Drawn {
  readonly plot: Plot;
  private readonly history: History; // where they are, then where they are wanted
  private readonly scale: number[];
  private readonly angles: boolean;
  private readonly legend = el("ul", { class: "legend" });
  private readonly values: HTMLElement[] = [];
  private shown: number[] = [];
  private due = 0;

  constructor(
    private readonly axes: Axis[],
    window: TimeWindow,
    gestures: Gestures,
  ) {
    this.scale = axes.map(({ unit }) => (unit === "rad" ? DEGREES : 1));
    this.history = new History(2 * axes.length, KEPT_S, LEAP_S);
    this.angles = axes.every(({ unit }) => unit === "rad");
    const many = axes.length > MOST_LINES;
    const note = el("small", {}, many ? `the ${MOST_LINES} of ${axes.length} that move most` : this.angles ? "°" : "° or m");
    this.legend.classList.toggle("wide", axes.some(({ name }) => name.length > LONG_NAME));
    this.plot = new Plot([this.angles ? "Joint angles" : "Joints", note], this, window, gestures, this.legend);
    this.choose();
  }

  take(frame: Frame): void {
    const read = (from: ArrayLike<number>): number[] => this.axes.map(({ index }, i) => this.scale[i]! * (from[index] ?? 0));
    this.history.push(frame.time_s, [...read(frame.q), ...read(frame.plan_q)]);
  }

  say(): void {
    if (performance.now() > this.due) this.choose();
    this.shown.forEach((i, place) => {
      const [digits, unit] = this.axes[i]!.unit === "rad" ? [1, "°"] : [3, " m"];
      this.values[place]!.textContent = `${plain(this.history.columns[i]!.at(-1) ?? 0, digits as number)}${unit}`;
    });
  }

  data(): Data {
    const { times, columns } = this.history;
    const nothing = times.map(() => null);
    const wanted = this.shown.map((i) => (this.axes[i]!.held ? columns[this.axes.length + i]! : nothing));
    return { times, columns: [...wanted, ...this.shown.map((i) => columns[i]!)] };
  }

  /** First where they are wanted, dashed and faint, then the joints over it. */
  series(): uPlot.Series[] {
    const color = (place: number): string => cssColor(`--line-${place + 1}`);
    const wanted = this.shown.map((_, place): uPlot.Series => ({ stroke: color(place), width: 1, alpha: 0.55, dash: [3, 4] }));
    const joint = this.shown.map((_, place): uPlot.Series => ({ stroke: color(place), width: 2 }));
    return [...wanted, ...joint];
  }

  range(low: number, high: number): [number, number] {
    return padded(low, high, this.angles ? 10 : 0.02);
  }

  private choose(): void {
    this.due = performance.now() + CHOOSE_MS;
    const columns = this.history.columns.slice(0, this.axes.length);
    const unit = this.axes.map((axis) => (axis.unit === "rad" ? 10 : 0.02)); // as much as is worth a look
    const shown = mostMoving(columns, unit, this.shown, MOST_LINES);
    if (shown.length === this.shown.length && shown.every((i, place) => i === this.shown[place])) return;
    this.shown = shown;
    this.values.splice(0, Infinity, ...shown.map(() => el("b")));
    const entries = shown.map((i, place) => {
      const { name } = this.axes[i]!;
      return el("li", { style: `--color: var(--line-${place + 1})`, title: name }, el("span", {}, name), this.values[place]!);
    });
    this.legend.replaceChildren(...entries);
  }
}

/** A range with some air around it, at least `least` high. */
export function padded(low: number, high: number, least: number): [number, number] {
  const air = Math.max(0.08 * (high - low), 0.5 * (least - (high - low)));
  return [low - air, high + air];
}
