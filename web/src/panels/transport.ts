// Play, pause, step, reset, speed, pull or press, and in a recording the bar to scrub; and what opens the panels.

import type { Connection } from "../connection";
import { el } from "../dom";
import { STATES } from "../frame.gen";
import { wants } from "../protocol";
import type { Store, Touch } from "../state";
import { Choice } from "./choice";
import { ICONS } from "./icons";
import type { Keys } from "./keys";
import { Marks } from "./marks";
import { Speed } from "./speed";

const SEEK_STEP_S = 1;

const MODE_WORDS: Record<Touch["mode"], [string, string]> = {
  pull: ["Pull", "Pull: a drag takes hold and pulls (T)"],
  press: ["Press", "Press: a drag presses with a tip (T)"],
};

export type PanelName = "actors" | "controls" | "edit" | "plots";

export interface Extra {
  fit: () => void;
  toggle: (panel: PanelName) => void;
}

export class Transport {
  readonly root: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly clock = el("output", { class: "clock", role: "timer", "aria-live": "off", "aria-label": "simulated time" }); // not read out all the time
  private readonly scrub: HTMLInputElement;
  private readonly marks: Marks;
  private readonly speed: Speed;
  private readonly panelButtons = el("div", { class: "bar" });
  private readonly there = new Set<PanelName>();
  private readonly panels: Record<PanelName, HTMLButtonElement>;
  private scrubbing = false;
  private running = false;

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    keys: Keys,
    extra: Extra,
  ) {
    this.play = this.button("play", "Play", "Space", () => this.toggle());
    this.play.classList.add("primary");
    this.scrub = el("input", {
      type: "range", class: "scrub", min: 0, step: "any", value: 0, "aria-label": "time in the recording",
      oninput: () => this.seek(this.scrub.valueAsNumber),
      onpointerdown: () => (this.scrubbing = true),
      onchange: () => (this.scrubbing = false),
    });
    this.marks = new Marks((time_s) => this.seek(time_s));
    this.speed = new Speed((speed) => this.connection.event("speed", speed));
    const touch = new Choice<Touch["mode"]>(
      "what a drag does", ["pull", "press"], (mode) => MODE_WORDS[mode][0], (mode) => this.touchBy(mode), (mode) => MODE_WORDS[mode][1],
    );
    touch.root.classList.add("live-only");
    store.on("touch", ({ mode }) => touch.show(mode));
    const panel = (name: PanelName, label: string, key: string): HTMLButtonElement => this.button(name, label, key, () => extra.toggle(name));
    this.panels = { actors: panel("actors", "Who acts: state and commands", "Q"), edit: panel("edit", "Plan, obstacles, bodies", "E"), controls: panel("controls", "Controls", "C"), plots: panel("plots", "Plots", "P") };
    this.root = el(
      "nav",
      { class: "transport card", "aria-label": "simulation" },
      el("div", { class: "bar" }, this.clock, el("div", { class: "timeline" }, this.scrub, this.marks.root), this.speed.root, touch.root),
      el("span", { class: "rule" }),
      el(
        "div",
        { class: "bar" },
        this.button("reset", "Reset", "R", () => this.connection.event("reset")),
        this.play,
        this.button("step", "One step", ".", () => this.step()),
        this.button("fit", "Fit the view", "F", extra.fit),
        this.panelButtons,
      ),
    );
    this.bind(keys, extra);
    store.on("hello", (hello) => {
      const replay = hello?.mode === "replay";
      this.root.classList.toggle("replay", replay);
      touch.root.hidden = !wants(hello, "touch");
      this.scrub.max = String(hello?.duration_s ?? 1);
      this.marks.show(hello?.marks ?? [], hello?.duration_s ?? 1);
      this.speed.begin();
    });
    store.on("frame", (frame) => {
      if (!frame) return;
      this.show(frame.time_s, frame.state === STATES.RUNNING);
      this.speed.tell(frame.speed);
    });
    store.on("connection", (connection) => this.root.classList.toggle("off", connection !== "open"));
  }

  /** Which panels are open, and which there are. */
  tell(panel: PanelName, open: boolean, there: boolean): void {
    this.panels[panel].setAttribute("aria-expanded", String(open));
    if (there === this.there.has(panel)) return; // put in again, a button would lose the focus
    if (there) this.there.add(panel);
    else this.there.delete(panel);
    const buttons = Object.entries(this.panels).filter(([name]) => this.there.has(name as PanelName));
    this.panelButtons.replaceChildren(...buttons.map(([, button]) => button));
  }

  private bind(keys: Keys, extra: Extra): void {
    const replay = (): boolean => this.store.get("hello")?.mode === "replay";
    keys.bind("Time", " ", "play or pause", () => this.toggle());
    keys.bind("Time", ".", "one step", () => this.step(), { repeats: true });
    keys.bind("Time", "r", "reset: back to the beginning", () => this.connection.event("reset"));
    keys.bind("Time", "[", "slower", () => this.speed.step(false));
    keys.bind("Time", "]", "faster", () => this.speed.step(true));
    const seeking = { repeats: true, when: replay };
    keys.bind("Time", "ArrowLeft", "in a recording: a second back", () => this.seek(this.now() - SEEK_STEP_S), seeking);
    keys.bind("Time", "ArrowRight", "in a recording: a second on", () => this.seek(this.now() + SEEK_STEP_S), seeking);
    this.marks.bind(keys, () => this.now());
    keys.bind("View", "f", "fit the view", extra.fit);
    keys.bind("Touch", "t", "pull or press", () => this.touchBy(this.store.get("touch").mode === "pull" ? "press" : "pull"));
    keys.bind("Touch", "c", "controls", () => extra.toggle("controls"));
    keys.bind("Scene and plan", "q", "who acts: state and commands", () => extra.toggle("actors"));
    keys.bind("Scene and plan", "e", "plan, obstacles, bodies", () => extra.toggle("edit"));
    keys.bind("Plots", "p", "plots", () => extra.toggle("plots"));
  }

  private button(action: keyof typeof ICONS, label: string, key: string, onclick: () => void): HTMLButtonElement {
    const title = `${label} (${key})`;
    const click = (event: MouseEvent): void => {
      onclick();
      if (event.detail > 0) (event.currentTarget as HTMLElement).blur(); // by mouse: space goes on to mean play or pause
    };
    return el("button", { type: "button", "data-action": action, title, "aria-label": label, html: ICONS[action], onclick: click });
  }

  private touchBy(mode: Touch["mode"]): void {
    this.store.set("touch", { ...this.store.get("touch"), mode });
  }

  private now(): number {
    return this.store.get("frame")?.time_s ?? 0;
  }

  private toggle(): void {
    this.connection.event(this.running ? "pause" : "play");
  }

  private step(): void {
    if (this.running) this.connection.event("pause"); // a step is of a world that stands
    this.connection.event("step");
  }

  private seek(time_s: number): void {
    const end = Number(this.scrub.max);
    this.connection.event("seek", Math.min(end, Math.max(0, time_s)));
  }

  private show(time_s: number, running: boolean): void {
    const replay = this.root.classList.contains("replay");
    const text = replay ? `${time_s.toFixed(2)} / ${Number(this.scrub.max).toFixed(2)} s` : `${time_s.toFixed(2)} s`;
    if (this.clock.textContent !== text) this.clock.textContent = text;
    if (replay && !this.scrubbing) this.scrub.value = String(time_s);
    if (running === this.running) return;
    this.running = running;
    const [action, label] = running ? (["pause", "Pause"] as const) : (["play", "Play"] as const);
    this.play.dataset["action"] = action;
    this.play.title = `${label} (Space)`;
    this.play.setAttribute("aria-label", label);
    this.play.innerHTML = ICONS[action];
  }
}
