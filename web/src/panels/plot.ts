// One plot over time: uPlot in a card, with a heading. All plots of the page share a window of time.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { cssColor, el, onSchemeChange } from "../dom";
import { tick } from "../words";
import type { TimeWindow } from "./window";

export type Data = { times: number[]; columns: (number | null)[][] };

/** What a plot needs to know of what it draws. */
export interface Drawn {
  data(): Data;
  series(): uPlot.Series[];
  range(low: number, high: number): [number, number];
  logarithmic?: boolean;
}

/** What a pointer on a plot means to all of them. */
export interface Gestures {
  begin(): void; // it is down: the picture must not run away under it
  click(): void; // it was no more than that
  choose(from_s: number, to_s: number): void;
  whole(): void;
}

export class Plot {
  readonly root: HTMLElement;
  private readonly body = el("div", { class: "plot" });
  private plot: uPlot | null = null;
  private frozen: Data | null = null;

  constructor(
    heading: (string | HTMLElement)[],
    private readonly drawn: Drawn,
    private readonly window: TimeWindow,
    private readonly gestures: Gestures,
    ...more: HTMLElement[]
  ) {
    this.root = el("section", { class: "card plot-card", "aria-label": String(heading[0]) }, el("h2", {}, ...heading), ...more, this.body);
    new ResizeObserver(() => this.fit()).observe(this.body);
    onSchemeChange(() => this.plot && this.make());
  }

  /** Shows what there is, or goes on showing what there was. */
  freeze(on: boolean): void {
    const { times, columns } = this.drawn.data();
    this.frozen = on ? { times: [...times], columns: columns.map((column) => [...column]) } : null;
  }

  draw(): void {
    if (this.body.clientWidth === 0) return; // folded away
    if (!this.plot) this.make();
    else this.plot.setData(this.data());
  }

  dispose(): void {
    this.plot?.destroy();
    this.plot = null;
    this.root.remove();
  }

  private data(): uPlot.AlignedData {
    const { times, columns } = this.frozen ?? this.drawn.data();
    return [times, ...columns];
  }

  private make(): void {
    this.plot?.destroy();
    const axis: uPlot.Axis = {
      stroke: cssColor("--text-2"),
      font: "11px system-ui, sans-serif",
      grid: { stroke: cssColor("--line"), width: 1 },
      ticks: { show: false },
    };
    const log = this.drawn.logarithmic === true;
    const options: uPlot.Options = {
      ...this.size(),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => (this.gestures.whole(), null) } },
      padding: [6, 6, 0, 0],
      scales: {
        x: { time: false, range: (_u, _low, high) => this.window.range(high ?? 0) },
        y: { distr: log ? 3 : 1, range: (_u, low, high) => this.drawn.range(low ?? 0, high ?? 0) },
      },
      axes: [
        { ...axis, size: 26, gap: 7, space: 60, values: (_u, ticks) => ticks.map((t) => (t < 0 ? "" : `${tick(t)} s`)) },
        { ...axis, size: 44, gap: 4, space: 28, values: (_u, ticks) => ticks.map((t) => (t === null || (log && !Number.isInteger(Math.log10(t))) ? "" : tick(t))) },
      ],
      series: [{}, ...this.drawn.series().map((line) => ({ ...line, points: { show: false } }))],
      hooks: { setSelect: [(u) => this.selected(u)] },
    };
    this.plot = new uPlot(options, this.data(), this.body);
    this.plot.over.addEventListener("mousedown", () => this.gestures.begin(), { capture: true });
    this.plot.over.addEventListener("click", () => this.gestures.click()); // uPlot keeps the clicks that end a drag
  }

  private selected(u: uPlot): void {
    const { left, width } = u.select;
    if (width <= 0) return;
    const [from, to] = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.gestures.choose(from, to);
  }

  private size(): { width: number; height: number } {
    return { width: Math.max(50, this.body.clientWidth), height: Math.max(50, this.body.clientHeight) };
  }

  private fit(): void {
    if (this.body.clientWidth > 0) this.plot?.setSize(this.size());
  }
}
