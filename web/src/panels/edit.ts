// A plan that is touched: what stage it is in, then compare, keep, discard, replay, download; and what stands in its way.

import type { Connection } from "../connection";
import { el } from "../dom";
import { wants, type Motion } from "../protocol";
import type { Store } from "../state";
import { button } from "./button";
import { compared } from "./compare";
import { offer } from "./download";
import type { Keys } from "./keys";
import { pathLegend } from "./legend";
import { MODE_LINES, modeName } from "./modes";
import { Things, type FreePlace } from "./things";

export const STAGES = ["planned", "touched", "edited", "ended"] as const;

/** What each stage means to a person. */
export const STAGE_WORDS: Record<(typeof STAGES)[number], string> = {
  planned: "The arm follows its plan. Pull it or press on it, and the plan changes.",
  touched: "You are changing the motion.",
  edited: "You changed the motion. Compare it with the plan, keep it, or discard it.",
  ended: "The motion has ended at the wall or at a joint's limit. Compare it with the plan, keep it, or discard it.",
};

const FORMATS: Record<string, string> = { json: "JSON", csv: "CSV", "ros-json": "ROS, JSON", "ros-yaml": "ROS, YAML" };

/** Draws a plan, with null the scene's own, and what became of it, if anything did. */
export type ShowPaths = (plan: Motion | null, motion: Motion | null) => void;

interface Exported {
  name: string;
  text: string;
}

export class Edit {
  readonly root: HTMLElement;
  private readonly planned: HTMLElement; // of no use where nothing is planned
  private readonly mode: HTMLSelectElement;
  private readonly modeLine = el("p", { class: "note" });
  private readonly stage = el("p", { class: "stage-words", role: "status" });
  private readonly line = el("p", { class: "wrong", role: "alert", hidden: true });
  private readonly table = el("div", { class: "compare", hidden: true });
  private readonly format: HTMLSelectElement;
  private readonly which: HTMLSelectElement;
  private readonly buttons: Record<"compare" | "keep" | "discard" | "replay" | "download", HTMLButtonElement>;
  private readonly things: Things;
  private readonly title = el("h2", {}, "Plan");
  private at = -1; // stage shown
  private kept: Motion | null = null; // the plan, if it is a motion that was kept
  private busy = false;

  constructor(
    store: Store,
    private readonly connection: Connection,
    keys: Keys,
    freePlace: FreePlace,
    private readonly showPaths: ShowPaths,
  ) {
    const make = (words: string, key: string, title: string, act: () => void): HTMLButtonElement =>
      button({ words, title, key, data: { edit: words.toLowerCase() } }, act);
    this.buttons = {
      compare: make("Compare", "V", "Compare the motion with the plan", () => this.compare()),
      keep: make("Keep", "U", "Keep: the motion is the plan from now on", () => this.keep()),
      discard: make("Discard", "R", "Discard: back to the plan, from its beginning", () => this.restart()),
      replay: make("Replay", "R", "Replay: from the beginning", () => this.restart()),
      download: make("Download", "G", "Download the trajectory as a file", () => this.download()),
    };
    const { compare, keep, discard, replay, download } = this.buttons;
    keep.classList.add("strong");
    this.mode = el("select", {
      class: "mode", title: "What a touch does to the plan (M)", "aria-label": "what a touch does to the plan",
      onchange: () => this.connection.event("mode", this.mode.selectedIndex),
    });
    this.format = el("select", { "aria-label": "format of the file" }, ...Object.entries(FORMATS).map(([value, words]) => el("option", { value }, words)));
    this.which = el("select", { "aria-label": "which trajectory" }, el("option", { value: "motion" }, "Motion"), el("option", { value: "plan" }, "Plan"));
    this.things = new Things(store, connection, keys, freePlace, (why) => this.say(why));
    this.planned = el(
      "div",
      { class: "sections" },
      el("section", {}, el("div", { class: "row" }, el("span", { class: "name" }, "A touch"), this.mode), this.modeLine),
      el("section", {}, this.stage, el("div", { class: "buttons" }, compare, keep, discard, replay), this.table),
      el("section", {}, el("div", { class: "row download" }, this.which, this.format, download)),
    );
    this.root = el(
      "aside",
      { class: "card panel edit", id: "edit", "aria-label": "plan, obstacles, bodies" },
      this.title,
      this.planned,
      this.things.root,
      this.line,
    );
    keys.bind("Scene and plan", "m", "what a touch does to the plan", () => this.nextMode());
    keys.bind("Scene and plan", "v", "compare the motion with the plan", () => this.compare());
    keys.bind("Scene and plan", "u", "keep the motion as the plan", () => this.keep());
    keys.bind("Scene and plan", "g", "download the trajectory", () => this.download());
    store.on("hello", (hello) => this.begin(hello?.mode === "live" && wants(hello, "edit") ? hello.edit_modes ?? [] : []));
    store.on("frame", (frame) => {
      if (!frame || !this.available) return;
      const { edit_stage = 0, edit_mode = 0 } = frame;
      if (edit_stage !== this.at) this.enter(edit_stage);
      if (document.activeElement !== this.mode) this.showMode(edit_mode);
    });
  }

  /** Whether there is anything to do here: something planned, or to be added. */
  get useful(): boolean {
    return this.available || !this.things.root.hidden;
  }

  private get available(): boolean {
    return this.mode.options.length > 0;
  }

  private begin(modes: string[]): void {
    this.mode.replaceChildren(...modes.map((mode) => el("option", { value: mode }, modeName(mode))));
    this.planned.hidden = modes.length === 0;
    this.title.textContent = modes.length === 0 ? this.things.heading.textContent : "Plan";
    this.things.heading.hidden = modes.length === 0; // the panel's own says it
    this.modeLine.textContent = "";
    this.at = -1;
    this.kept = null;
    this.busy = false;
    this.forget();
  }

  private showMode(mode: number): void {
    if (this.mode.selectedIndex === mode && this.modeLine.textContent) return;
    this.mode.selectedIndex = mode;
    this.modeLine.textContent = MODE_LINES[this.mode.value] ?? "";
  }

  private nextMode(): void {
    const modes = this.mode.options.length;
    if (modes > 0) this.connection.event("mode", (this.mode.selectedIndex + 1) % modes);
  }

  private enter(stage: number): void {
    this.at = stage;
    const name = STAGES[stage] ?? "planned";
    this.root.dataset["stage"] = name;
    if (name === "planned") this.forget();
    this.refresh();
  }

  private refresh(): void {
    const name = STAGES[this.at] ?? "planned";
    const changed = name === "edited" || name === "ended";
    this.stage.textContent = this.busy ? "Working on it …" : this.kept && name === "planned" ? "Kept: the arm follows your motion now." : STAGE_WORDS[name];
    const { compare, keep, discard, replay } = this.buttons;
    compare.disabled = keep.disabled = !changed || this.busy;
    discard.hidden = !changed;
    replay.hidden = changed;
  }

  /** Nothing is compared any more. */
  private forget(): void {
    this.table.hidden = true;
    this.say("");
    this.showPaths(this.kept, null);
  }

  private restart(): void {
    this.connection.event("reset");
    this.connection.event("play");
  }

  private compare(): void {
    if (this.buttons.compare.disabled) return;
    if (!this.table.hidden) return this.forget(); // the same button takes it away again
    this.ask<{ plan: Motion; motion: Motion }>("motion", {}, ({ plan, motion }) => {
      this.showPaths(plan, motion);
      this.fill(plan, motion);
    });
  }

  private keep(): void {
    if (this.buttons.keep.disabled) return;
    this.ask<{ plan: Motion }>("keep", {}, ({ plan }) => {
      this.kept = plan;
      this.forget();
    });
  }

  private download(): void {
    if (!this.available || this.busy) return;
    this.ask<Exported>("export", { which: this.which.value, format: this.format.value }, ({ name, text }) => offer(name, text));
  }

  private ask<T>(what: string, more: Record<string, unknown>, then: (answer: T) => void): void {
    this.busy = true;
    this.say("");
    this.refresh();
    const done = (): void => {
      this.busy = false;
      this.refresh();
    };
    this.connection.request<T>(what, more).then(then, (error: Error) => this.say(error.message)).finally(done);
  }

  private fill(plan: Motion, motion: Motion): void {
    const head = el("tr", {}, el("td"), el("th", { scope: "col" }, "plan"), el("th", { scope: "col" }, "motion"));
    const rows = compared(plan, motion).map(({ name, before, after, better }) => {
      const look = better === null ? {} : { class: better ? "better" : "worse" };
      return el("tr", look, el("th", { scope: "row" }, name), el("td", {}, before), el("td", {}, after));
    });
    const wrong = (title: string, lines: string[]): HTMLElement[] => {
      if (lines.length === 0) return [el("p", { class: "note" }, `Nothing is wrong with ${title}.`)];
      return [el("p", {}, `Wrong with ${title}:`), el("ul", { class: "wrong" }, ...lines.map((line) => el("li", {}, line)))];
    };
    const table = el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows));
    this.table.replaceChildren(table, pathLegend(plan, motion), ...wrong("the plan", plan.wrong), ...wrong("the motion", motion.wrong));
    this.table.hidden = false;
  }

  private say(why: string): void {
    this.line.textContent = why;
    this.line.hidden = why === "";
  }
}
