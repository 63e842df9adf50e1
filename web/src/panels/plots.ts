// Two live plots. The first: where the joints are and, dashed, where they are wanted; in a scene without joints that
// have one angle or one length, the kinetic energy. The second: the force of the hand.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { largestForce } from "../devices";
import { cssColor, el, onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import { History } from "../history";
import { mostMoving } from "../moving";
import type { Axis, Hello } from "../protocol";
import type { Store } from "../state";
import { joules, plain, tick } from "../words";

const SPAN_S = 10;
const REDRAW_MS = 50; // the eye does not read a plot faster
const CHOOSE_MS = 1000; // how often it is asked which joints move most
const MOST_LINES = 8; // more cannot be told apart; colours --line-1 .. in the style sheet
const LONG_NAME = 8; // letters
const DEGREES = 180 / Math.PI;

class Plot {
  readonly root: HTMLElement;
  private readonly body = el("div", { class: "plot" });
  private plot: uPlot | null = null;

  constructor(
    title: (string | HTMLElement)[],
    private readonly data: () => uPlot.AlignedData,
    private readonly series: () => uPlot.Series[],
    private readonly range: (low: number, high: number) => [number, number],
    ...more: HTMLElement[]
  ) {
    const [label] = title;
    this.root = el("section", { class: "card plot-card", "aria-label": String(label) }, el("h2", {}, ...title), ...more, this.body);
    new ResizeObserver(() => this.fit()).observe(this.body);
    onSchemeChange(() => this.make());
  }

  draw(): void {
    if (this.body.clientWidth === 0) return; // folded away
    if (!this.plot) this.make();
    this.plot?.setData(this.data());
  }

  private make(): void {
    this.plot?.destroy();
    const ink = cssColor("--text-2");
    const axis: uPlot.Axis = {
      stroke: ink,
      font: "11px system-ui, sans-serif",
      grid: { stroke: cssColor("--line"), width: 1 },
      ticks: { show: false },
    };
    const options: uPlot.Options = {
      ...this.size(),
      legend: { show: false },
      cursor: { show: false },
      padding: [6, 6, 0, 0],
      scales: {
        x: { time: false, range: (_u, _low, high) => [high - SPAN_S, high] },
        y: { range: (_u, low, high) => this.range(low ?? 0, high ?? 0) },
      },
      axes: [
        { ...axis, size: 26, gap: 7, space: 60, values: (_u, ticks) => ticks.map((t) => (t < 0 ? "" : `${t} s`)) },
        { ...axis, size: 40, gap: 4, space: 28, values: (_u, ticks) => ticks.map(tick) },
      ],
      series: [{}, ...this.series().map((line) => ({ ...line, points: { show: false } }))],
    };
    this.plot = new uPlot(options, this.data(), this.body);
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(50, this.body.clientWidth), height: Math.max(50, this.body.clientHeight) };
  }

  private fit(): void {
    if (this.body.clientWidth > 0) this.plot?.setSize(this.size());
  }

  dispose(): void {
    this.plot?.destroy();
    this.root.remove();
  }
}

/** What one card plots. */
interface Card {
  plot: Plot;
  take(frame: Frame): void;
  /** Called before each drawing: puts the newest values into words. */
  say(): void;
}

/** One quantity over time, and what it is now. */
class Quantity implements Card {
  readonly plot: Plot;
  private readonly history = new History(1, SPAN_S);
  private readonly now = el("b", { class: "value-now" });
  private last = 0;

  constructor(
    title: string,
    least: number, // that the plot is high
    private readonly read: (frame: Frame) => number,
    private readonly words: (value: number) => string,
  ) {
    const series = (): uPlot.Series[] => [{ stroke: cssColor("--accent"), fill: cssColor("--accent-soft"), width: 2 }];
    const data = (): uPlot.AlignedData => [this.history.times, ...this.history.columns];
    this.plot = new Plot([title, this.now], data, series, (_low, high) => [0, Math.max(least, 1.15 * high)]);
  }

  take(frame: Frame): void {
    this.last = this.read(frame);
    this.history.push(frame.time_s, [this.last]);
  }

  say(): void {
    this.now.textContent = this.words(this.last);
  }
}

/** The joints, or those of them that move most. */
class Joints implements Card {
  readonly plot: Plot;
  private readonly history: History; // where they are, then where they are wanted
  private readonly scale: number[];
  private readonly legend = el("ul", { class: "legend" });
  private readonly values: HTMLElement[] = [];
  private shown: number[] = [];
  private due = 0;

  constructor(private readonly axes: Axis[]) {
    this.scale = axes.map(({ unit }) => (unit === "rad" ? DEGREES : 1));
    this.history = new History(2 * axes.length, SPAN_S);
    const angles = axes.every(({ unit }) => unit === "rad");
    const many = axes.length > MOST_LINES;
    const note = el("small", { hidden: !many }, `the ${MOST_LINES} of ${axes.length} that move most`);
    this.legend.classList.toggle("wide", axes.some(({ name }) => name.length > LONG_NAME));
    const title = angles ? "Joint angles" : "Joints";
    this.plot = new Plot([title, note], () => this.data(), () => this.series(), (low, high) => padded(low, high, angles ? 10 : 0.02), this.legend);
    this.choose();
  }

  take(frame: Frame): void {
    const read = (from: ArrayLike<number>): number[] => this.axes.map(({ index }, i) => this.scale[i]! * (from[index] ?? 0));
    this.history.push(frame.time_s, [...read(frame.q), ...read(frame.plan_q)]);
  }

  say(): void {
    const now = performance.now();
    if (now > this.due) this.choose();
    this.shown.forEach((i, place) => {
      const [digits, unit] = this.axes[i]!.unit === "rad" ? [1, "°"] : [3, " m"];
      this.values[place]!.textContent = `${plain(this.history.columns[i]!.at(-1) ?? 0, digits as number)}${unit}`;
    });
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

  private data(): uPlot.AlignedData {
    const { times, columns } = this.history;
    const nothing = times.map(() => null);
    const wanted = this.shown.map((i) => (this.axes[i]!.held ? columns[this.axes.length + i]! : nothing));
    return [times, ...wanted, ...this.shown.map((i) => columns[i]!)];
  }

  /** First where they are wanted, dashed and faint, then the joints over it. */
  private series(): uPlot.Series[] {
    const color = (place: number): string => cssColor(`--line-${place + 1}`);
    const wanted = this.shown.map((_, place): uPlot.Series => ({ stroke: color(place), width: 1, alpha: 0.55, dash: [3, 4] }));
    const joint = this.shown.map((_, place): uPlot.Series => ({ stroke: color(place), width: 2 }));
    return [...wanted, ...joint];
  }
}

export class Plots {
  readonly root = el("aside", { class: "plots", "aria-label": "plots" });
  private cards: Card[] = [];
  private due = 0;

  constructor(store: Store) {
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => frame && this.take(frame));
  }

  private build(hello: Hello): void {
    this.cards.forEach(({ plot }) => plot.dispose());
    const motion = hello.axes.length > 0 ? new Joints(hello.axes) : new Quantity("Kinetic energy", 0.01, (frame) => frame.energy[0] ?? 0, joules);
    const force = new Quantity("Force of the hand", 10, largestForce, (x) => `${x.toFixed(1)} N`);
    force.plot.root.classList.add("force");
    this.cards = [motion, force];
    this.root.append(...this.cards.map(({ plot }) => plot.root));
  }

  private take(frame: Frame): void {
    this.cards.forEach((card) => card.take(frame));
    const now = performance.now();
    if (now < this.due) return;
    this.due = now + REDRAW_MS;
    for (const card of this.cards) {
      card.say();
      card.plot.draw();
    }
  }
}

/** A range with some air around it, at least `least` high. */
function padded(low: number, high: number, least: number): [number, number] {
  const air = Math.max(0.08 * (high - low), 0.5 * (least - (high - low)));
  return [low - air, high + air];
}
