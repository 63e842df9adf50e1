// Leads a participant through a study (palpate/experiments/studies/people): one screen at a time, as the session says
// it. While something is to be felt it is a bar below the scene; everything else covers the scene.

import type { Connection } from "../connection";
import { el } from "../dom";
import type { Choice, Scale, Screen, StudyOf } from "../protocol";
import type { Store } from "../state";
import { keyName, type Keys } from "./keys";

const STEP = 5; // of a scale from 0 to 100
const MIDDLE = 50;
const AGAIN_MS = 300; // after a request that failed

/** What is written on a button: its words, and how long it still waits. */
export function label(choice: Choice, left_s: number): string {
  return left_s > 0 ? `${choice.label} (${Math.ceil(left_s)} s)` : choice.label;
}

/** The choice that a key means; null: none. */
export function chosen(screen: Screen, key: string): Choice | null {
  const name = key.length === 1 ? key.toLowerCase() : key;
  const only = screen.choices.length === 1 && name === "Enter";
  return screen.choices.find((choice) => choice.key === name) ?? (only ? screen.choices[0]! : null);
}

/** A number that somebody typed; null: it is none that can be an answer. */
export function magnitude(text: string): number | null {
  const value = Number(text.trim().replace(",", "."));
  return text.trim() !== "" && Number.isFinite(value) && value > 0 ? value : null;
}

export class Study {
  readonly root = el("section", { class: "study", hidden: true, "aria-live": "polite" });
  private readonly card = el("div", { class: "card study-card" });
  private study: StudyOf | null = null;
  private screen: Screen | null = null;
  private shown = 0; // when, as performance.now() counts [ms]
  private answering = false; // an answer is on its way; a question after the screen that is on keeps nobody from one
  private timer = 0;
  private buttons: [HTMLButtonElement, Choice][] = [];

  constructor(
    private readonly app: HTMLElement,
    private readonly store: Store,
    private readonly connection: Connection,
    private readonly keys: Keys,
  ) {
    this.root.append(this.card);
    store.on("hello", (hello) => {
      const study = hello?.study ?? null;
      if (!study && hello === null) return; // on its way to the next part
      this.study = study;
      this.app.classList.toggle("led", study !== null);
      this.app.classList.toggle("led-unseen", study !== null && !study.shows.includes("scene"));
      for (const what of ["forces", "plots", "settings"]) this.app.classList.toggle(`led-${what}`, study?.shows.includes(what) ?? false);
      this.keys.led = study !== null;
      this.root.hidden = study === null;
      if (study) void this.ask({ do: "now" });
    });
    window.addEventListener("keydown", (event) => this.press(event));
  }

  private press(event: KeyboardEvent): void {
    if (!this.screen || this.root.hidden || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement) return; // its own Enter sends it
    const choice = chosen(this.screen, event.key);
    if (!choice) return;
    event.preventDefault();
    if (this.left_s() <= 0) this.answer(choice.value);
  }

  private left_s(): number {
    return (this.screen?.least_s ?? 0) - (performance.now() - this.shown) / 1000;
  }

  private answer(value: unknown): void {
    if (!this.screen || this.answering || this.screen.kind === "end") return;
    this.answering = true;
    const response_s = (performance.now() - this.shown) / 1000;
    void this.ask({ do: "answer", screen: this.screen.number, value, response_s }).finally(() => (this.answering = false));
  }

  private async ask(what: Record<string, unknown>): Promise<void> {
    try {
      this.show((await this.connection.request<{ screen: Screen }>("study", what)).screen);
    } catch {
      setTimeout(() => this.study && this.store.get("connection") === "open" && void this.ask({ do: "now" }), AGAIN_MS);
    }
  }

  private show(screen: Screen): void {
    if (screen.number === this.screen?.number && screen.kind === this.screen.kind) return; // as it is
    this.screen = screen;
    this.shown = performance.now();
    requestAnimationFrame(() => (this.shown = performance.now())); // when it can be seen
    this.root.dataset["kind"] = screen.kind;
    this.root.dataset["screen"] = String(screen.number);
    const parts: (Node | string)[] = [el("h2", {}, screen.title)];
    for (const text of screen.text.split("\n\n").filter((part) => part.trim() !== "")) parts.push(el("p", {}, text));
    this.buttons = screen.choices.map((choice) => [this.button(choice), choice]);
    if (screen.kind === "number") parts.push(this.number());
    if (screen.kind === "scales") parts.push(this.scales(screen.scales));
    if (this.buttons.length > 0) parts.push(el("div", { class: "buttons" }, ...this.buttons.map(([button]) => button)));
    if (screen.of > 0) parts.push(progress(screen));
    this.card.replaceChildren(...parts);
    this.tick();
    this.card.querySelector("input")?.focus();
  }

  /** Buttons that wait say for how long. */
  private tick(): void {
    clearTimeout(this.timer);
    const left = this.left_s();
    for (const [button, choice] of this.buttons) {
      button.disabled = left > 0;
      button.firstElementChild!.textContent = label(choice, left);
    }
    if (left > 0) this.timer = window.setTimeout(() => this.tick(), 100);
  }

  private button(choice: Choice): HTMLButtonElement {
    const strong = typeof choice.value === "number" || this.screen!.choices.length === 1;
    const click = (event: MouseEvent): void => {
      (event.currentTarget as HTMLElement).blur();
      this.answer(choice.value);
    };
    return el("button", { type: "button", class: strong ? "button strong" : "button", "data-value": String(choice.value), onclick: click }, el("span", {}, choice.label), el("kbd", {}, keyName(choice.key)));
  }

  private number(): HTMLElement {
    const field = el("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": this.screen!.title });
    const send = (event: Event): void => {
      event.preventDefault();
      const value = magnitude(field.value);
      field.classList.toggle("wrong", value === null);
      if (value !== null) this.answer(value);
    };
    return el("form", { class: "study-number", onsubmit: send }, field, el("button", { type: "submit", class: "button strong" }, "Next"));
  }

  private scales(scales: Scale[]): HTMLElement {
    const given = new Map<string, number>();
    const send = el("button", { type: "submit", class: "button strong", disabled: true }, "Next");
    const rows = scales.map(({ name, about, low, high }) => {
      const slider = el("input", { type: "range", min: 0, max: 100, step: STEP, value: MIDDLE, class: "untouched", "aria-label": name });
      const touched = (): void => {
        slider.classList.remove("untouched");
        given.set(name, slider.valueAsNumber);
        send.disabled = given.size < scales.length; // each is set by hand: the middle is no answer by itself
      };
      for (const event of ["input", "pointerup", "keyup"]) slider.addEventListener(event, touched);
      return el("label", { class: "study-scale" }, el("strong", {}, name), el("span", { class: "note" }, about), slider, el("span", { class: "note ends" }, el("span", {}, low), el("span", {}, high)));
    });
    const submit = (event: Event): void => {
      event.preventDefault();
      this.answer(Object.fromEntries(given));
    };
    return el("form", { class: "study-scales", onsubmit: submit }, ...rows, el("div", { class: "buttons" }, send));
  }
}

function progress({ done, of }: Screen): HTMLElement {
  const share = `${((100 * done) / of).toFixed(1)}%`;
  return el("div", { class: "study-progress", role: "progressbar", "aria-label": "of the study", "aria-valuemin": 0, "aria-valuemax": of, "aria-valuenow": done }, el("i", { style: `width: ${share}` }));
}
