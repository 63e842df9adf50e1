// What an experiment claims, in plain words: a number, the bounds it should keep, and whether it does.

import { el } from "../dom";

export interface Claim {
  name: string;
  value: number | null; // null: nothing that is a number came out
  low: number | null;
  high: number | null;
  unit: string;
  passed: boolean;
}

/** A number as people read it: four digits, and powers of ten where there would be many zeros. */
export function digits(x: number): string {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e6) return minus(String(Number(x.toPrecision(size >= 1e4 ? 6 : 4))));
  const [mantissa, power] = x.toExponential(2).split("e") as [string, string];
  return `${minus(String(Number(mantissa)))} × 10${[...String(Number(power))].map((c) => RAISED[c]).join("")}`;
}

const RAISED: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "7": "⁷", "8": "⁸", "9": "⁹" };
const minus = (text: string): string => text.replace("-", "\u2212");

/** "between 21.5 and 22.5", "at least 0.05", "at most 1 × 10⁻⁴", "exactly 2"; "" without bounds. */
export function bounds({ low, high }: Pick<Claim, "low" | "high">): string {
  if (low !== null && high !== null) return low === high ? `exactly ${digits(low)}` : `between ${digits(low)} and ${digits(high)}`;
  if (low !== null) return `at least ${digits(low)}`;
  return high !== null ? `at most ${digits(high)}` : "";
}

/** "all 8 claims met", "6 of 8 claims met". */
export function inBrief(met: number, of: number): string {
  if (of === 0) return "no claims";
  if (met === of) return of === 1 ? "its claim met" : `all ${of} claims met`;
  return `${met} of ${of} claims met`;
}

/** The claims as a table, those that are not met first: they are what one looks for. */
export function claimTable(claims: Claim[]): HTMLElement {
  const ordered = [...claims.filter(({ passed }) => !passed), ...claims.filter(({ passed }) => passed)];
  const rows = ordered.map((claim) => {
    const value = claim.value === null ? "no number came out" : `${digits(claim.value)} ${claim.unit}`.trim();
    return el(
      "tr",
      { class: claim.passed ? "met" : "not-met" },
      el("td", { class: "verdict" }, claim.passed ? "met" : "not met"),
      el("th", { scope: "row" }, claim.name),
      el("td", { class: "value" }, value, el("small", {}, bounds(claim))),
    );
  });
  return el("table", { class: "claims", "aria-label": "claims" }, el("tbody", {}, ...rows));
}
