// Every key of the page, in one table: who owns a control binds its key here, and the help lists what is bound.

export interface Key {
  key: string; // as KeyboardEvent.key, letters small
  words: string; // what it does
  group: Group;
  repeats?: boolean; // while it is held down
  act: () => void;
}

export const GROUPS = ["Time", "Touch", "View", "Plots", "Scene and plan"] as const;
export type Group = (typeof GROUPS)[number];

/** The part of a keyboard event that decides. */
export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  repeat: boolean;
}

/** What the focus is on, as far as it uses keys itself. */
export type Focus = "typing" | "sliding" | "choosing" | "button" | "none";

export class Keys {
  private readonly bound = new Map<string, Key>();

  bind(group: Group, key: string, words: string, act: () => void, repeats = false): void {
    if (this.bound.has(key)) throw new Error(`the key ${key} is taken`);
    this.bound.set(key, { key, words, group, act, repeats });
  }

  /** The key that is meant, unless the focused control needs it. */
  meant(pressed: Pressed, focus: Focus): Key | null {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
    const key = this.bound.get(pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key);
    if (!key || (pressed.repeat && !key.repeats)) return null;
    if (focus === "typing" || focus === "choosing") return null; // a list is searched by letters
    if (focus === "sliding" && key.key.startsWith("Arrow")) return null;
    if (focus === "button" && key.key === " ") return null; // it presses the button
    return key;
  }

  /** What can be done, each with the keys that do it. */
  list(group: Group): [string[], string][] {
    const words = new Map<string, string[]>();
    for (const key of this.bound.values()) {
      if (key.group === group) words.set(key.words, [...(words.get(key.words) ?? []), keyName(key.key)]);
    }
    return [...words].map(([what, keys]) => [keys, what]);
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

function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof HTMLElement)) return "none";
  if (target.matches("select")) return "choosing";
  if (target.matches("input[type=range]")) return "sliding";
  if (target.matches("input:not([type=checkbox], [type=radio]), textarea")) return "typing";
  return target.matches("button, summary, input") ? "button" : "none";
}

const NAMES: Record<string, string> = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", "-": "−" };

/** A key as it is printed on a keyboard. */
export function keyName(key: string): string {
  return NAMES[key] ?? key.toUpperCase();
}
