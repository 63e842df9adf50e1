// Two live plots: where the joints are (and, dashed, where the plan is), and the force of the hand.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { norm } from "../decode";
import { cssColor, el, onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import { History } from "../history";
import type { Hello } from "../protocol";
import type { Store } from "../state";

const SPAN_S = 10;
const REDRAW_MS = 50; // the eye does not read a plot faster
const MOST_LINES = 12; // more cannot be told apart
const LINES = 8; // colours --line-1 .. in the style sheet
const DEGREES = 180 / Math.PI;

class Plot {
  readonly root: HTMLElement;
  private readonly body = el("div", { class: "plot" });
  private plot: uPlot | null = null;

  constructor(
    title: string,
    readonly history: History,
    private readonly series: () => uPlot.Series[],
    private readonly range: (low: number, high: number) => [number, number],
    ...more: HTMLElement[]
  ) {
    this.root = el("section", { class: "card plot-card", "aria-label": title }, el("h2", {}, title), ...more, this.body);
    new ResizeObserver(() => this.fit()).observe(this.body);
    onSchemeChange(() => this.make());
  }

  draw(): void {
    if (this.body.clientWidth === 0) return; // folded away
    if (!this.plot) this.make();
    this.plot?.setData([this.history.times, ...this.history.columns]);
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
        { ...axis, size: 40, gap: 4, space: 28 },
      ],
      series: [{}, ...this.series().map((line) => ({ ...line, points: { show: false } }))],
    };
    this.plot = new uPlot(options, [this.history.times, ...this.history.columns], this.body);
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

export class Plots {
  readonly root = el("aside", { class: "plots", "aria-label": "plots" });
  private plots: Plot[] = [];
  private values: HTMLElement[] = [];
  private joints = 0;
  private scale: number[] = [];
  private units: string[] = [];
  private due = 0;

  constructor(store: Store) {
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => frame && this.take(frame));
  }

  private build(hello: Hello): void {
    this.plots.forEach((plot) => plot.dispose());
    this.joints = Math.min(MOST_LINES, hello.joints.length, hello.sizes.nq);
    this.units = hello.joint_units.slice(0, this.joints).map((unit) => (unit === "m" ? " m" : "°"));
    this.scale = this.units.map((unit) => (unit === "°" ? DEGREES : 1));
    this.values = this.units.map(() => el("b"));
    const legend = el("ul", { class: "legend" });
    hello.joints.slice(0, this.joints).forEach((name, i) => {
      legend.append(el("li", { style: `--color: var(--line-${(i % LINES) + 1})`, title: name }, el("span", {}, name), this.values[i]!));
    });
    const angles = this.units.every((unit) => unit === "°");
    const joints = new Plot(
      angles ? "Joint angles" : "Joints",
      new History(2 * this.joints, SPAN_S),
      () => this.jointSeries(),
      (low, high) => padded(low, high, angles ? 10 : 0.02),
      legend,
    );
    const now = el("b", { class: "force-now" });
    const force = new Plot(
      "Force of the hand",
      new History(1, SPAN_S),
      () => [{ stroke: cssColor("--accent"), fill: cssColor("--accent-soft"), width: 2 }],
      (_low, high) => [0, Math.max(10, 1.15 * high)],
    );
    force.root.querySelector("h2")?.append(now);
    this.values.push(now);
    this.plots = this.joints > 0 ? [joints, force] : [force];
    this.root.append(...this.plots.map((plot) => plot.root));
  }

  /** First the plan, dashed and faint, then the joint over it. */
  private jointSeries(): uPlot.Series[] {
    const color = (i: number): string => cssColor(`--line-${(i % LINES) + 1}`);
    const plan = this.units.map((_, i): uPlot.Series => ({ stroke: color(i), width: 1, alpha: 0.55, dash: [3, 4] }));
    const joint = this.units.map((_, i): uPlot.Series => ({ stroke: color(i), width: 2 }));
    return [...plan, ...joint];
  }

  private take(frame: Frame): void {
    const q = this.scale.map((s, i) => s * (frame.q[i] ?? 0));
    const plan = this.scale.map((s, i) => s * (frame.plan_q[i] ?? 0));
    const force = norm(frame.hand_force);
    if (this.joints > 0) this.plots[0]?.history.push(frame.time_s, [...plan, ...q]);
    this.plots.at(-1)?.history.push(frame.time_s, [force]);
    const now = performance.now();
    if (now < this.due) return;
    this.due = now + REDRAW_MS;
    this.plots.forEach((plot) => plot.draw());
    q.forEach((x, i) => (this.values[i]!.textContent = `${plain(x, this.units[i] === "°" ? 1 : 3)}${this.units[i]}`));
    this.values.at(-1)!.textContent = `${force.toFixed(1)} N`;
  }
}

/** A number with `digits` decimals and a true minus sign, and no minus before zero. */
function plain(x: number, digits: number): string {
  const text = x.toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text.replace("-", "\u2212");
}

/** A range with some air around it, at least `least` high. */
function padded(low: number, high: number, least: number): [number, number] {
  const air = Math.max(0.08 * (high - low), 0.5 * (least - (high - low)));
  return [low - air, high + air];
}
