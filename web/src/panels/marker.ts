// A marker into the recording: a word, and for a trial its condition, stimulus and answer.

import type { Connection } from "../connection";
import { el } from "../dom";
import { button } from "./button";
import type { Keys } from "./keys";

const TRIAL = ["condition", "stimulus", "answer"] as const;
const SHOWN_MS = 4000;

/** What was filled in, or null. */
export function trialData(values: Record<string, string>): Record<string, string> | null {
  const filled = Object.entries(values).map(([name, value]) => [name, value.trim()] as const).filter(([, value]) => value !== "");
  return filled.length > 0 ? Object.fromEntries(filled) : null;
}

export class Marker {
  readonly root: HTMLElement;
  private readonly text: HTMLInputElement;
  private readonly fields: HTMLInputElement[];
  private readonly line = el("p", { class: "note", role: "status" });
  private timer = 0;

  constructor(
    private readonly connection: Connection,
    keys: Keys,
    open: () => void,
  ) {
    const entered = (event: KeyboardEvent): void => void (event.key === "Enter" && this.mark());
    this.text = el("input", { type: "text", placeholder: "a word to find it again", "aria-label": "text of the marker", maxlength: 200, onkeydown: entered });
    this.fields = TRIAL.map((name) => el("input", { type: "text", placeholder: name, "aria-label": name, maxlength: 200, onkeydown: entered }));
    const mark = button({ words: "Mark", title: "Put a marker into the recording", key: "Enter" }, () => this.mark());
    const more = el("details", {}, el("summary", {}, "Trial data"), el("div", { class: "fields" }, ...this.fields));
    this.root = el("section", { class: "live-only marker" }, el("h3", {}, "Marker in the recording"), el("div", { class: "row" }, this.text, mark), more, this.line);
    keys.bind("Time", "j", "a marker into the recording", () => {
      open();
      this.text.focus();
    });
  }

  private mark(): void {
    const data = trialData(Object.fromEntries(this.fields.map((field, i) => [TRIAL[i]!, field.value])));
    const text = this.text.value.trim() || "mark";
    this.connection.request("mark", { text, data }).then(
      () => this.say(`Marked: ${text}`),
      (error: Error) => this.say(error.message),
    );
  }

  private say(text: string): void {
    this.line.textContent = text;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.line.textContent = ""), SHOWN_MS);
  }
}
