// A plot as the hello lists it: its lines, or of many those that move most, and dashed where they are wanted.

import type uPlot from "uplot";
import { numbers } from "../decode";
import { row } from "../devices";
import { cssColor, el } from "../dom";
import type { Frame } from "../frame.gen";
import { History } from "../history";
import { mostMoving } from "../moving";
import type { DescribedField, PlotOf, Series } from "../protocol";
import { quantity } from "../words";
import { Latest, microseconds } from "./lateness";
import { Plot, type Data, type Drawn, type Gestures } from "./plot";
import { SPANS_S, type TimeWindow } from "./window";

const KEPT_S = Math.max(...SPANS_S);
const LEAP_S = 10; // a longer step of time is a seek
const CHOOSE_MS = 1000; // how often it is asked which lines move most
const MOST_LINES = 8; // more cannot be told apart; colours --line-1 .. in the style sheet
const LONG_NAME = 8; // letters
const DEGREES = 180 / Math.PI; // angles are shown in degrees
const WORTH: Record<string, number> = { rad: 10, m: 0.02 }; // as much of a unit, as shown, as is worth a look

/** One line: its number in a frame, where that is wanted, and both in words. */
export interface Line {
  label: string;
  unit: string;
  wanted: ((frame: Frame) => number) | null;
  read(frame: Frame): number;
  words(value: number): string;
}

/** Colours of the lines of a plot, from 0: the n-th dashed line has that of the n-th solid one. */
export function families(series: Pick<Series, "dashed">[]): number[] {
  const count = { solid: 0, dashed: 0 };
  return series.map(({ dashed }) => (dashed ? count.dashed++ : count.solid++));
}

/** What a series of a plot reads from frames with these fields. */
export function line(series: Series, plot: PlotOf, fields: DescribedField[]): Line {
  const { label = "", longest, latest, wanted, index = 0, unit = plot.unit } = series;
  const described = (name: string): DescribedField | undefined => fields.find((field) => field.name === name);
  const scale = unit === "rad" ? DEGREES : 1;
  const at = (field: string) => (frame: Frame): number => scale * (numbers(frame, field)[index] ?? 0);
  if (latest !== undefined) {
    const newest = new Latest();
    return { label, unit, wanted: null, read: (frame) => Math.max(1, newest.push(Array.from(numbers(frame, latest)))), words: microseconds };
  }
  if (longest !== undefined) {
    const rows = longest.flatMap((name) => {
      const { length = 0, shape = [] } = described(name) ?? {};
      const width = shape.at(-1) ?? 1;
      return Array.from({ length: width > 0 ? length / width : 0 }, (_, k) => ({ name, k, width }));
    });
    const read = (frame: Frame): number => Math.max(0, ...rows.map(({ name, k, width }) => Math.hypot(...row(numbers(frame, name), k, width))));
    return { label, unit, wanted: null, read, words: (x) => quantity(x, unit) };
  }
  const field = series.field ?? "";
  const whole = described(field)?.kind === "i"; // a count: its unit is in the heading
  return { label, unit, wanted: wanted ? at(wanted) : null, read: at(field), words: (x) => (whole ? String(x) : quantity(x, unit)) };
}

export class Card implements Drawn {
  readonly plot: Plot;
  readonly logarithmic: boolean;
  private readonly lines: Line[];
  private readonly families: number[];
  private readonly history: History; // the lines, then where they are wanted
  private readonly bare: boolean; // one line without a name: its value is in the heading
  private readonly least: number | null;
  private readonly legend = el("ul", { class: "legend" });
  private values: HTMLElement[] = [];
  private last: number[] = [];
  private shown: number[] = [];
  private due = 0;

  constructor(
    private readonly what: PlotOf,
    fields: DescribedField[],
    window: TimeWindow,
    gestures: Gestures,
  ) {
    this.lines = what.series.map((series) => line(series, what, fields));
    this.families = families(what.series);
    this.logarithmic = what.logarithmic ?? false;
    this.least = what.least === undefined ? null : what.unit === "rad" ? DEGREES * what.least : what.least;
    this.history = new History(2 * this.lines.length, KEPT_S, LEAP_S);
    this.bare = this.lines.length === 1 && this.lines[0]!.label === "";
    const unit = what.unit === "rad" ? "°" : what.unit;
    const note = this.lines.length > MOST_LINES ? `the ${MOST_LINES} of ${this.lines.length} that move most` : unit;
    this.choose();
    this.legend.classList.toggle("wide", this.lines.some(({ label, unit }, i) => label.length > LONG_NAME || unit !== "rad" || this.isDashed(i))); // angles are short
    const more = this.bare ? [] : [this.legend];
    this.plot = new Plot([what.title, el("small", {}, note), ...(this.bare ? this.values : [])], this, window, gestures, ...more);
    this.plot.root.dataset["card"] = what.name;
  }

  take(frame: Frame): void {
    this.last = this.lines.map(({ read }) => read(frame));
    this.history.push(frame.time_s, [...this.last, ...this.lines.map(({ wanted }) => wanted?.(frame) ?? 0)]);
  }

  /** Called before each drawing: puts the newest values into words. */
  say(): void {
    if (performance.now() > this.due) this.choose();
    this.shown.forEach((i, place) => (this.values[place]!.textContent = this.lines[i]!.words(this.last[i] ?? 0)));
  }

  data(): Data {
    const { times, columns } = this.history;
    const nothing = times.map(() => null);
    const wanted = this.dashed().map((i) => (this.lines[i]!.wanted ? columns[this.lines.length + i]! : nothing));
    return { times, columns: [...wanted, ...this.shown.map((i) => columns[i]!)] };
  }

  /** First where lines are wanted, dashed and faint, then the lines over it. */
  series(): uPlot.Series[] {
    if (this.bare) return [{ stroke: cssColor("--accent"), fill: cssColor("--accent-soft"), width: 2 }];
    const wanted = this.dashed().map((_, place): uPlot.Series => ({ stroke: cssColor(this.color(place)), width: 1, alpha: 0.55, dash: [3, 4] }));
    const drawn = this.shown.map((i, place): uPlot.Series => ({ stroke: cssColor(this.color(place)), width: 2, ...(this.isDashed(i) ? { dash: [7, 5] } : {}) }));
    return [...wanted, ...drawn];
  }

  range(low: number, high: number): [number, number] {
    const least = this.least ?? (0.05 * Math.max(Math.abs(low), Math.abs(high)) || 1);
    if (this.logarithmic) return [1, Math.max(least, high)];
    return this.what.zero ? [Math.min(0, 1.15 * low), Math.max(least, 1.15 * high)] : padded(low, high, least);
  }

  private isDashed(line: number): boolean {
    return this.what.series[line]!.dashed === true;
  }

  /** Of a line in its place: those of a pair have one colour, others the colour of the place. */
  private color(place: number): string {
    const pairs = this.what.series.some(({ dashed }) => dashed);
    const number = pairs ? this.families[this.shown[place]!]! % MOST_LINES : place;
    return `--line-${number + 1}`;
  }

  /** The shown lines, if any of all is wanted somewhere: as many at all times, for uPlot. */
  private dashed(): number[] {
    return this.lines.some(({ wanted }) => wanted) ? this.shown : [];
  }

  private choose(): void {
    this.due = performance.now() + CHOOSE_MS;
    const columns = this.history.columns.slice(0, this.lines.length);
    const shown = mostMoving(columns, this.lines.map(({ unit }) => WORTH[unit] ?? 1), this.shown, MOST_LINES);
    if (shown.length === this.shown.length && shown.every((i, place) => i === this.shown[place])) return;
    this.shown = shown;
    this.values = shown.map(() => el("b", { class: "value-now" }));
    const entries = shown.map((i, place) => {
      const { label } = this.lines[i]!;
      return el("li", { class: this.isDashed(i) ? "dashed" : "", style: `--color: var(${this.color(place)})`, title: label }, el("span", {}, label), this.values[place]!);
    });
    if (!this.bare) this.legend.replaceChildren(...entries);
  }
}

/** A range with some air around it, at least `least` high. */
export function padded(low: number, high: number, least: number): [number, number] {
  const air = Math.max(0.08 * (high - low), 0.5 * (least - (high - low)));
  return [low - air, high + air];
}
