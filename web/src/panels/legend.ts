// What the colours of the paths mean, in words, and how near each path comes.

import { millimetres, nearness, smallestGap, type Nearness } from "../clearance";
import { el } from "../dom";
import type { Motion } from "../protocol";

export interface Entry {
  color: string; // of the style sheet
  words: string;
  dashed?: boolean;
}

const NEAR_WORDS: Record<Exclude<Nearness, "clear">, Entry> = {
  near: { color: "--warn", words: "less than 20 mm from something" },
  touching: { color: "--alarm", words: "touches something" },
};

/** What is to be explained of these two paths: colours that neither has are not. */
export function entries(plan: Motion, motion: Motion): Entry[] {
  const all = [...(plan.gap_m ?? []), ...(motion.gap_m ?? [])].map(nearness);
  return [
    { color: "--accent", words: gapWords("plan", plan.gap_m), dashed: true },
    { color: "--line-4", words: gapWords("motion", motion.gap_m) },
    ...(["near", "touching"] as const).filter((how) => all.includes(how)).map((how) => NEAR_WORDS[how]),
  ];
}

/** "plan, 31 mm from everything"; "motion, 4.0 mm inside something" */
function gapWords(name: string, gaps: Motion["gap_m"]): string {
  const smallest = smallestGap(gaps);
  if (!smallest) return name;
  const how = nearness(smallest.gap_m);
  const inside = millimetres(smallest.gap_m).endsWith("inside");
  if (how === "touching") return `${name}: ${inside ? `${millimetres(smallest.gap_m)} something` : "touches something"}`;
  return `${name}: ${millimetres(smallest.gap_m)} or more from everything`;
}

export function pathLegend(plan: Motion, motion: Motion): HTMLElement {
  const rows = entries(plan, motion).map(({ color, words, dashed }) =>
    el("li", { class: dashed ? "dashed" : "", style: `--color: var(${color})` }, words),
  );
  return el("ul", { class: "path-legend", "aria-label": "what the colours of the paths mean" }, ...rows);
}
