// Every key of the page, in one table: who owns a control binds its key here, and the help lists what is bound. Some may
// be lent to the simulation (held_keys.ts); with Shift they are still the page's.

import type { KeyOf } from "../protocol";

export interface Key {
  key: string; // as KeyboardEvent.key, letters small; "Shift+" before a key that has a name
  words: string; // what it does
  group: Group;
  act: () => void;
  repeats?: boolean; // while it is held down
  when?: () => boolean; // it means something only then: two may share a key
  inScene?: boolean; // and only while no button, field or slider has the focus
  name?: string; // in the help, if not its own: one for all arrows, say
}

export const GROUPS = ["Touch", "Time", "View", "Plots", "Scene and plan"] as const;
export type Group = (typeof GROUPS)[number];

/** The part of a keyboard event that decides. */
export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  repeat: boolean;
}

/** What the focus is on, as far as it uses keys itself. */
export type Focus = "typing" | "sliding" | "choosing" | "button" | "none";

export class Keys {
  lent: KeyOf[] = []; // to the simulation
  led = false; // a study has the page: what is left is what a hand does in the scene
  private readonly bound: Key[] = [];

  bind(group: Group, key: string, words: string, act: () => void, how: Pick<Key, "repeats" | "when" | "inScene" | "name"> = {}): void {
    if (this.bound.some((other) => other.key === key && !(other.when && how.when))) throw new Error(`the key ${key} is taken`);
    this.bound.push({ key, words, group, act, ...how });
  }

  /** The lent key that is meant, unless the focused control needs it. */
  lentKey(pressed: Pressed, focus: Focus): KeyOf | null {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || pressed.shiftKey || focus === "typing" || focus === "choosing") return null;
    return this.lent.find(({ key }) => key === pressed.key.toLowerCase()) ?? null;
  }

  /** The key that is meant, unless the focused control needs it, or it is lent. */
  meant(pressed: Pressed, focus: Focus): Key | null {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey || this.lentKey(pressed, focus)) return null;
    const name = pressed.key.length === 1 ? pressed.key.toLowerCase() : `${pressed.shiftKey ? "Shift+" : ""}${pressed.key}`;
    const key = this.bound.find((bound) => bound.key === name && (bound.when?.() ?? true));
    if (!key || (pressed.repeat && !key.repeats) || (this.led && !key.inScene)) return null;
    if (focus === "typing" || focus === "choosing") return null; // a list is searched by letters
    if (focus === "sliding" && key.key.startsWith("Arrow")) return null;
    if (focus === "button" && key.key === " ") return null; // it presses the button
    return key.inScene && focus !== "none" ? null : key;
  }

  /** What can be done, each with the keys that do it. */
  list(group: Group): [string[], string][] {
    const words = new Map<string, string[]>();
    for (const key of this.bound) {
      if (key.group !== group) continue;
      const name = key.name ?? keyName(key.key);
      const shift = this.lent.some((lent) => lent.key === key.key) ? "Shift " : "";
      words.set(key.words, [...(words.get(key.words) ?? []), shift + name]);
    }
    return [...words].map(([what, keys]) => [[...new Set(keys)], what]);
  }

  listen(): void {
    window.addEventListener("keydown", (event) => {
      if (document.querySelector("dialog[open]")) return; // it has the keyboard
      const key = this.meant(event, focusOf(event.target));
      if (!key) return;
      event.preventDefault();
      key.act();
    });
  }
}

/** What has the focus, as far as keys are concerned. */
export function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof HTMLElement)) return "none";
  if (target.matches("select")) return "choosing";
  if (target.matches("input[type=range]")) return "sliding";
  if (target.matches("input:not([type=checkbox], [type=radio]), textarea")) return "typing";
  return target.matches("button, summary, input, a") ? "button" : "none";
}

const NAMES: Record<string, string> = {
  " ": "Space", "-": "−", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", PageUp: "Page up", PageDown: "Page down",
  Enter: "Enter", Escape: "Esc",
};

/** A key as it is printed on a keyboard. */
export function keyName(key: string): string {
  return NAMES[key] ?? key.toUpperCase();
}
