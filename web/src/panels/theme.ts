// Dark, light, or as the system has it. The style sheet reads data-theme, which is always one of the first two.

import { SCHEME_CHANGE } from "../dom";
import { recall, remember } from "../remember";

export const THEMES = ["system", "light", "dark"] as const;
export type Choice = (typeof THEMES)[number];

export const THEME_WORDS: Record<Choice, string> = { system: "as the system", light: "light", dark: "dark" };

/** What a choice comes to on a system that is dark or not. */
export function shown(choice: Choice, systemIsDark: boolean): "light" | "dark" {
  return choice === "system" ? (systemIsDark ? "dark" : "light") : choice;
}

export class Theme {
  choice: Choice;
  private off = false;
  private readonly system = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    const kept = recall("theme");
    this.choice = THEMES.find((theme) => theme === kept) ?? "system";
    this.system.addEventListener("change", () => this.apply());
    this.apply();
  }

  choose(choice: Choice): void {
    this.choice = choice;
    remember("theme", choice);
    this.apply();
  }

  next(): void {
    this.choose(THEMES[(THEMES.indexOf(this.choice) + 1) % THEMES.length]!);
  }

  /** In the dark everything is dark, whatever was chosen. */
  lightsOff(off: boolean): void {
    this.off = off;
    this.apply();
  }

  private apply(): void {
    document.documentElement.dataset["theme"] = this.off ? "dark" : shown(this.choice, this.system.matches);
    window.dispatchEvent(new Event(SCHEME_CHANGE));
  }
}
