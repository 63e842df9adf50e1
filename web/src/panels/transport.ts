// Play, pause, step, reset, and in a recording the bar to scrub and the speed. Every control has a key.

import type { Connection } from "../connection";
import { el } from "../dom";
import { STATES } from "../frame.gen";
import type { Store } from "../state";
import { ICONS } from "./icons";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const SEEK_STEP_S = 1;

export interface Extra {
  fit: () => void;
  togglePlots: () => void;
}

export class Transport {
  readonly root: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly clock = el("output", { class: "clock", "aria-label": "simulated time" });
  private readonly scrub: HTMLInputElement;
  private readonly speed: HTMLSelectElement;
  private readonly mode: HTMLSelectElement;
  private scrubbing = false;
  private running = false;

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    private readonly extra: Extra,
  ) {
    this.play = this.button("play", "Play", "Space", () => this.toggle());
    this.play.classList.add("primary");
    this.scrub = el("input", {
      type: "range", class: "scrub", min: 0, step: "any", value: 0, "aria-label": "time in the recording", hidden: true,
      oninput: () => this.seek(this.scrub.valueAsNumber),
      onpointerdown: () => (this.scrubbing = true),
      onchange: () => (this.scrubbing = false),
    });
    this.speed = el(
      "select",
      { class: "speed", title: "Speed", "aria-label": "speed", hidden: true, onchange: () => this.connection.event("speed", Number(this.speed.value)) },
      ...SPEEDS.map((s) => el("option", { value: s, selected: s === 1 }, `${s}×`)),
    );
    this.mode = el("select", {
      class: "mode", title: "What a touch does to the plan (M)", "aria-label": "what a touch does to the plan", hidden: true,
      onchange: () => this.connection.event("mode", this.mode.selectedIndex),
    });
    this.root = el(
      "nav",
      { class: "transport card", "aria-label": "simulation" },
      this.button("reset", "Reset", "R", () => this.connection.event("reset")),
      this.play,
      this.button("step", "One step", ".", () => this.step()),
      this.clock,
      this.scrub,
      this.speed,
      this.mode,
      el("span", { class: "rule" }),
      this.button("fit", "Fit the view", "F", extra.fit),
      this.button("plots", "Plots", "P", extra.togglePlots),
    );
    window.addEventListener("keydown", (event) => this.key(event));
    store.on("hello", (hello) => {
      const replay = hello?.mode === "replay";
      this.root.classList.toggle("replay", replay);
      this.scrub.hidden = this.speed.hidden = !replay;
      this.scrub.max = String(hello?.duration_s ?? 1);
      this.speed.value = "1";
      const modes = replay ? [] : hello?.edit_modes ?? [];
      this.mode.replaceChildren(...modes.map((mode) => el("option", { value: mode }, mode)));
      this.mode.hidden = modes.length === 0;
    });
    store.on("frame", (frame) => {
      if (!frame) return;
      this.show(frame.time_s, frame.state === STATES.RUNNING);
      if (document.activeElement !== this.mode) this.mode.selectedIndex = frame.edit_mode;
    });
    store.on("connection", (connection) => this.root.classList.toggle("off", connection !== "open"));
  }

  private button(action: keyof typeof ICONS, label: string, key: string, onclick: () => void): HTMLButtonElement {
    const title = `${label} (${key})`;
    const click = (event: MouseEvent): void => {
      onclick();
      if (event.detail > 0) (event.currentTarget as HTMLElement).blur(); // by mouse: space goes on to mean play or pause
    };
    return el("button", { type: "button", "data-action": action, title, "aria-label": label, html: ICONS[action], onclick: click });
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

  private nextMode(): void {
    const modes = this.mode.options.length;
    if (modes > 0) this.connection.event("mode", (this.mode.selectedIndex + 1) % modes);
  }

  private show(time_s: number, running: boolean): void {
    const replay = !this.scrub.hidden;
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

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && event.key !== "." && !event.key.startsWith("Arrow")) return;
    const target = event.target as HTMLElement;
    if (target.matches("button, summary") && event.key === " ") return;
    if (target.matches("select") || (target.matches("input") && event.key !== " ")) return; // they use keys themselves
    const replay = this.store.get("hello")?.mode === "replay";
    const now = this.store.get("frame")?.time_s ?? 0;
    switch (event.key) {
      case " ": this.toggle(); break;
      case ".": this.step(); break;
      case "r": case "R": this.connection.event("reset"); break;
      case "f": case "F": this.extra.fit(); break;
      case "p": case "P": this.extra.togglePlots(); break;
      case "m": case "M": this.nextMode(); break;
      case "ArrowLeft": if (replay) this.seek(now - SEEK_STEP_S); break;
      case "ArrowRight": if (replay) this.seek(now + SEEK_STEP_S); break;
      default: return;
    }
    event.preventDefault();
  }
}
