// A slider with its number, its unit, and a button back to what is usual. It may show what frames tell.

import { el } from "../dom";
import type { Setting } from "../protocol";
import { plain } from "../words";
import { button } from "./button";
import { Wished } from "./wished";

export interface Scale {
  least: number;
  most: number;
  usual: number;
  steps: number; // of the slider
  even: "ratios" | "differences"; // what one step is
}

/** Where on the slider a value is, 0 .. steps. */
export function position(value: number, { least, most, steps, even }: Scale): number {
  const x = Math.min(most, Math.max(least, value));
  const share = even === "ratios" ? Math.log(x / least) / Math.log(most / least) : (x - least) / (most - least);
  return Math.round(steps * share);
}

/** The value at a place of the slider, rounded, and exactly the usual one nearby: it can be found again. */
export function valueAt(place: number, scale: Scale): number {
  const { least, most, usual, steps, even } = scale;
  if (place === position(usual, scale)) return usual;
  if (even === "ratios") return Number((least * (most / least) ** (place / steps)).toPrecision(2));
  return Number((least + (most - least) * (place / steps)).toPrecision(12)); // 0.15, not 0.15000000000000002
}

/** Even steps from `low` to `high`. */
export function evenly({ low, high, step, value }: Pick<Setting, "low" | "high" | "step" | "value">): Scale {
  return { least: low, most: high, usual: value, steps: Math.max(1, Math.round((high - low) / step)), even: "differences" };
}

/** A setting's value, as exact as its steps: "0.50 ×", "12 rpm"; nothing of something is "none". */
export function worded(value: number, { step, unit }: Pick<Setting, "step" | "unit">): string {
  if (unit === "×" && value === 0) return "none";
  return `${plain(value, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))} ${unit}`.trim();
}

export class Slider {
  readonly root: HTMLElement;
  value: number;
  private readonly input: HTMLInputElement;
  private readonly now = el("output");
  private readonly back: HTMLButtonElement;
  private readonly wished = new Wished();

  constructor(
    name: string,
    private scale: Scale,
    private readonly words: (value: number) => string, // with its unit
    private readonly changed: (value: number) => void,
    about = "",
  ) {
    this.value = scale.usual;
    this.input = el("input", {
      type: "range", min: 0, max: scale.steps, step: 1, "aria-label": name,
      oninput: () => this.put(valueAt(this.input.valueAsNumber, this.scale)),
      onpointerdown: () => this.wished.grip(true),
      onpointerup: () => this.wished.grip(false),
      onpointercancel: () => this.wished.grip(false),
      onlostpointercapture: () => this.wished.grip(false),
    });
    this.back = button({ title: `${name}: back to the usual value`, icon: "reset", class: "quiet back" }, () => this.put(this.scale.usual));
    this.root = el("div", { class: "slider", title: about }, el("span", { class: "name" }, name), this.now, this.back, this.input);
    this.show();
  }

  get isUsual(): boolean {
    return this.value === this.scale.usual;
  }

  /** Another scene has another usual value; the slider goes there and tells nobody. */
  begin(usual = this.scale.usual): void {
    this.scale = { ...this.scale, usual };
    this.value = usual;
    this.wished.forget();
    this.show();
  }

  /** The servo has this value: it is shown, unless a person is about to change it. */
  tell(value: number): void {
    if (!this.wished.hears(value) || value === this.value) return;
    this.value = value;
    this.show();
  }

  put(value: number): void {
    this.wished.want(value);
    this.value = value;
    this.show();
    this.changed(value);
  }

  private show(): void {
    const text = this.words(this.value);
    this.now.textContent = text;
    this.input.value = String(position(this.value, this.scale));
    this.input.setAttribute("aria-valuetext", text);
    this.back.classList.toggle("needless", this.isUsual);
    this.back.tabIndex = this.isUsual ? -1 : 0;
  }
}
