// The column of live plots: which ones, the time they show, and standing still to be looked at.

import { largestForce } from "../devices";
import { el } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello } from "../protocol";
import { recall, remember } from "../remember";
import type { Store } from "../state";
import { joules } from "../words";
import { Joints, Lines, type Card, type Quantity } from "./cards";
import { button } from "./button";
import { ICONS } from "./icons";
import type { Keys } from "./keys";
import { Latest, microseconds } from "./lateness";
import type { Gestures } from "./plot";
import { TimeWindow } from "./window";

const REDRAW_MS = 50; // the eye does not read a plot faster
export const KINDS = ["joints", "force", "energy", "contacts", "lateness"] as const;
export type Kind = (typeof KINDS)[number];
const WORDS: Record<Kind, string> = { joints: "Joints", force: "Force", energy: "Energy", contacts: "Contacts", lateness: "Lateness" };

/** Which plots are open: what was chosen last, as far as the scene has it; at first motion and force. */
export function chosen(kept: string | null, hasJoints: boolean): Kind[] {
  const possible = KINDS.filter((kind) => kind !== "joints" || hasJoints);
  if (kept !== null) return possible.filter((kind) => kept.split(" ").includes(kind));
  return hasJoints ? ["joints", "force"] : ["force", "energy"];
}

function quantities(): Record<Exclude<Kind, "joints">, Quantity> {
  const latest = new Latest();
  return {
    force: {
      title: "Force of the hand", unit: "N", names: [], least: 10,
      read: (frame) => [largestForce(frame)],
      words: (x) => `${x.toFixed(1)} N`,
    },
    energy: {
      title: "Energy", unit: "J", names: ["kinetic", "potential", "work of hands"], least: 0.01,
      read: (frame) => [0, 1, 2].map((i) => frame.energy[i] ?? 0),
      words: (x) => (x < 0 ? `−${joules(-x)}` : joules(x)),
    },
    contacts: {
      title: "Contacts", unit: "points", names: [], least: 4,
      read: (frame) => [frame.contacts],
      words: (x) => String(x),
    },
    lateness: {
      title: "Latest tick", unit: "µs, below", names: [], least: 1000, logarithmic: true,
      read: (frame) => [Math.max(1, latest.push(frame.lateness))],
      words: microseconds,
    },
  };
}

export class Plots {
  readonly root: HTMLElement;
  private readonly chips: HTMLButtonElement[];
  private readonly stop: HTMLButtonElement;
  private readonly wholeButton: HTMLButtonElement;
  private readonly shownTime = el("small", { role: "status" });
  private readonly column = el("div", { class: "plot-column" });
  private readonly window = new TimeWindow();
  private cards = new Map<Kind, Card>();
  private held = false;
  private heldByPointer = false;
  private due = 0;

  constructor(
    private readonly store: Store,
    keys: Keys,
  ) {
    this.chips = KINDS.map((kind) =>
      button({ words: WORDS[kind], title: `Plot: ${WORDS[kind].toLowerCase()}`, class: "chip", data: { plot: kind } }, () => this.toggle(kind)),
    );
    const less = button({ words: "+", title: "Plots: less time, closer", key: "+", class: "quiet" }, () => this.step(true));
    const more = button({ words: "−", title: "Plots: more time", key: "-", class: "quiet" }, () => this.step(false));
    this.stop = button({ icon: "pause", title: "Hold the plots", key: "X" }, () => this.hold(!this.held));
    this.wholeButton = button({ icon: "whole", title: "Plots: the last ten seconds again", key: "Z" }, () => this.whole());
    const chips = el("div", { class: "chips", role: "group", "aria-label": "what is plotted" }, ...this.chips);
    const tools = el("div", { class: "plot-tools" }, this.shownTime, this.stop, less, more, this.wholeButton);
    this.root = el("aside", { class: "plots", "aria-label": "plots" }, el("div", { class: "card plot-bar" }, chips, tools), this.column);
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
    const hasJoints = hello.axes.length > 0;
    this.chips[KINDS.indexOf("joints")]!.hidden = !hasJoints;
    for (const kind of chosen(recall("plots"), hasJoints)) this.open(kind);
    this.hold(false);
    this.arrange();
  }

  private open(kind: Kind): void {
    const gestures: Gestures = {
      begin: () => this.grip(),
      click: () => this.heldByPointer && this.hold(false),
      choose: (from, to) => this.choose(from, to),
      whole: () => this.whole(),
    };
    const card = kind === "joints" ? new Joints(this.store.get("hello")!.axes, this.window, gestures) : new Lines(quantities()[kind], this.window, gestures);
    card.plot.root.classList.add(kind);
    this.cards.set(kind, card);
  }

  private toggle(kind: Kind): void {
    const card = this.cards.get(kind);
    if (card) {
      card.plot.dispose();
      this.cards.delete(kind);
    } else {
      this.open(kind);
      if (this.held) this.hold(false); // there is nothing to hold of what was not plotted
    }
    remember("plots", [...this.cards.keys()].join(" "));
    this.arrange();
  }

  private arrange(): void {
    const order = KINDS.filter((kind) => this.cards.has(kind));
    this.column.append(...order.map((kind) => this.cards.get(kind)!.plot.root)); // in their order, whichever came last
    this.chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(this.cards.has(KINDS[i]!))));
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
