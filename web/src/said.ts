// What a hello's texts say of a frame.

import { numbers } from "./decode";
import type { Frame } from "./frame.gen";
import type { TextOf } from "./protocol";
import { length, plain } from "./words";

const UNSAID = ["", "none"];

export interface Said {
  words: string; // empty: nothing to say
  share: number | null; // how sure, 0 .. 1
}

export function said(text: TextOf, frame: Frame): Said {
  const value = numbers(frame, text.field)[text.index ?? 0] ?? NaN;
  const share = text.share === undefined ? null : Math.min(1, Math.max(0, numbers(frame, text.share)[0] || 0));
  if (text.names !== undefined) {
    const name = text.names[value] ?? "";
    return UNSAID.includes(name) ? { words: "", share: share === null ? null : 0 } : { words: name, share };
  }
  return { words: Number.isFinite(value) ? worded(value, text.unit ?? "") : "", share };
}

/** "push 87 %", "carry", "" */
export function inOneLine({ words, share }: Said): string {
  return words && share !== null ? `${words} ${Math.round(100 * share)} %` : words;
}

function worded(value: number, unit: string): string {
  if (unit === "m") return length(value);
  if (unit === "%") return `${plain(100 * value, 0)} %`; // of a share
  const digits = Number.isInteger(value) && unit === "" ? 0 : 1;
  return `${plain(value, digits)} ${unit}`.trim();
}
