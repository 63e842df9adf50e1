// How fast simulated time passes, as a list to choose from. What frames tell is shown, also when it is none of the list.

import { el } from "../dom";
import { Wished } from "./wished";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];

/** The next of the list above or below a speed; the speed itself at the end of the list. */
export function nextSpeed(speed: number, up: boolean): number {
  const others = SPEEDS.filter((other) => (up ? other > speed : other < speed));
  return others.length > 0 ? (up ? Math.min(...others) : Math.max(...others)) : speed;
}

export class Speed {
  readonly root: HTMLSelectElement;
  private readonly wished = new Wished();
  private value = 1;

  constructor(private readonly changed: (speed: number) => void) {
    this.root = el("select", { class: "speed", title: "Speed ([ slower, ] faster)", "aria-label": "speed", onchange: () => this.put(Number(this.root.value)) });
    this.show();
  }

  /** What the servo has. */
  tell(speed: number): void {
    if (!this.wished.hears(speed) || speed === this.value) return;
    this.value = speed;
    this.show();
  }

  /** As time passes where nothing was said. */
  begin(): void {
    this.wished.forget();
    this.value = 1;
    this.show();
  }

  step(up: boolean): void {
    const next = nextSpeed(this.value, up);
    if (next !== this.value) this.put(next);
  }

  private put(speed: number): void {
    this.wished.want(speed);
    this.value = speed;
    this.show();
    this.changed(speed);
  }

  private show(): void {
    const offered = [...new Set([...SPEEDS, this.value])].sort((a, b) => a - b);
    const options = offered.map((speed) => el("option", { value: speed }, `${Number(speed.toPrecision(3))}×`));
    if (options.length !== this.root.options.length || offered.some((speed, i) => this.root.options[i]?.value !== String(speed))) this.root.replaceChildren(...options);
    this.root.value = String(this.value);
  }
}
