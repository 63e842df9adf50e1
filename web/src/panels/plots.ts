// The column of live plots: which ones, the time they show, and standing still to be looked at.

import { el } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello, PlotOf } from "../protocol";
import { recall, remember } from "../remember";
import type { Store } from "../state";
import { capital } from "../words";
import { Card } from "./cards";
import { button } from "./button";
import { ICONS } from "./icons";
import type { Keys } from "./keys";
import type { Gestures } from "./plot";
import { TimeWindow } from "./window";

const REDRAW_MS = 50; // the eye does not read a plot faster
const AT_FIRST = 2; // plots that are open before anybody chose

/** Which plots are open: what was chosen last, as far as they are there; at first the first ones. */
export function chosen(kept: string | null, possible: string[]): string[] {
  const still = possible.filter((name) => kept?.split("\n").includes(name));
  return kept === "" || still.length > 0 ? still : possible.slice(0, AT_FIRST);
}

export class Plots {
  readonly root: HTMLElement;
  private readonly chips = el("div", { class: "chips", role: "group", "aria-label": "what is plotted" });
  private readonly stop: HTMLButtonElement;
  private readonly wholeButton: HTMLButtonElement;
  private readonly shownTime = el("small", { role: "status" });
  private readonly column = el("div", { class: "plot-column" });
  private readonly window = new TimeWindow();
  private plots: PlotOf[] = [];
  private cards = new Map<string, Card>();
  private held = false;
  private heldByPointer = false;
  private due = 0;

  constructor(
    private readonly store: Store,
    keys: Keys,
  ) {
    const less = button({ words: "+", title: "Plots: less time, closer", key: "+", class: "quiet" }, () => this.step(true));
    const more = button({ words: "−", title: "Plots: more time", key: "-", class: "quiet" }, () => this.step(false));
    this.stop = button({ icon: "pause", title: "Hold the plots", key: "X" }, () => this.hold(!this.held));
    this.wholeButton = button({ icon: "whole", title: "Plots: the last ten seconds again", key: "Z" }, () => this.whole());
    const tools = el("div", { class: "plot-tools" }, this.shownTime, this.stop, less, more, this.wholeButton);
    this.root = el("aside", { class: "plots", "aria-label": "plots" }, el("div", { class: "card plot-bar" }, this.chips, tools), this.column);
    keys.bind("Plots", "x", "hold the plots, or let them go on", () => this.hold(!this.held));
    keys.bind("Plots", "+", "less time, closer", () => this.step(true));
    keys.bind("Plots", "=", "less time, closer", () => this.step(true));
    keys.bind("Plots", "-", "more time", () => this.step(false));
    keys.bind("Plots", "z", "the last ten seconds again", () => this.whole());
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => frame && this.take(frame));
  }

  private build(hello: Hello): void {
    this.cards.forEach(({ plot }) => plot.dispose());
    this.cards.clear();
    this.window.whole();
    this.plots = hello.plots;
    const chip = ({ name }: PlotOf): HTMLElement => button({ words: capital(name), title: `Plot: ${name}`, class: "chip", data: { plot: name } }, () => this.toggle(name));
    this.chips.replaceChildren(...this.plots.map(chip));
    for (const name of chosen(recall("plots"), this.plots.map(({ name }) => name))) this.open(name);
    this.hold(false);
    this.arrange();
  }

  private open(name: string): void {
    const gestures: Gestures = {
      begin: () => this.grip(),
      click: () => this.heldByPointer && this.hold(false),
      choose: (from, to) => this.choose(from, to),
      whole: () => this.whole(),
    };
    const what = this.plots.find((plot) => plot.name === name)!;
    this.cards.set(name, new Card(what, this.store.get("hello")!.frame, this.window, gestures));
  }

  private toggle(name: string): void {
    const card = this.cards.get(name);
    if (card) {
      card.plot.dispose();
      this.cards.delete(name);
    } else {
      this.open(name);
      if (this.held) this.hold(false); // there is nothing to hold of what was not plotted
    }
    remember("plots", [...this.cards.keys()].join("\n"));
    this.arrange();
  }

  private arrange(): void {
    const order = this.plots.flatMap(({ name }) => this.cards.get(name) ?? []);
    this.column.append(...order.map(({ plot }) => plot.root)); // in their order, whichever came last
    this.plots.forEach(({ name }, i) => this.chips.children[i]!.setAttribute("aria-pressed", String(this.cards.has(name))));
    this.draw();
  }

  private take(frame: Frame): void {
    this.cards.forEach((card) => card.take(frame));
    const now = performance.now();
    if (now < this.due || this.held) return;
    this.due = now + REDRAW_MS;
    this.draw();
  }

  private draw(): void {
    for (const card of this.cards.values()) {
      if (!this.held) card.say();
      card.plot.draw();
    }
  }

  private hold(on: boolean): void {
    this.held = on;
    this.heldByPointer = false;
    if (!on) this.window.release();
    this.cards.forEach(({ plot }) => plot.freeze(on));
    this.root.classList.toggle("held", on);
    const title = on ? "Let the plots go on" : "Hold the plots";
    this.stop.innerHTML = on ? ICONS.play : ICONS.pause;
    this.stop.title = `${title} (X)`;
    this.stop.setAttribute("aria-label", title);
    this.refresh();
  }

  private grip(): void {
    if (this.held) return;
    this.hold(true);
    this.heldByPointer = true;
  }

  private choose(from_s: number, to_s: number): void {
    if (this.window.choose(from_s, to_s)) this.heldByPointer = false;
    else if (this.heldByPointer) this.hold(false);
    this.refresh();
  }

  private step(nearer: boolean): void {
    this.window.step(nearer);
    this.refresh();
  }

  private whole(): void {
    this.window.whole();
    this.refresh();
  }

  private refresh(): void {
    this.wholeButton.disabled = !this.window.zoomed;
    this.shownTime.textContent = this.window.words(this.held);
    this.draw();
  }
}
