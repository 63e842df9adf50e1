// A plan and what became of it, in numbers side by side.

import { millimetres } from "../clearance";
import type { Motion } from "../protocol";
import { plain } from "../words";

export interface Line {
  name: string;
  before: string;
  after: string;
  better: boolean | null; // null: neither better nor worse
}

const NOTICE_M = 0.0005; // gaps that differ by less are the same to a person

/** Duration, fastest joint, and the smallest gap to each obstacle. */
export function compared(plan: Motion, motion: Motion): Line[] {
  const degrees = (radians: number): string => `${plain((180 / Math.PI) * radians, 0)} °/s`;
  const seconds = (s: number): string => `${plain(s, 2)} s`;
  const lines: Line[] = [
    { name: "duration", before: seconds(plan.duration_s), after: seconds(motion.duration_s), better: null },
    { name: "fastest joint", before: degrees(plan.fastest), after: degrees(motion.fastest), better: null },
  ];
  for (const name of [...new Set([...Object.keys(plan.clearance_m), ...Object.keys(motion.clearance_m)])].sort()) {
    const before = plan.clearance_m[name];
    const after = motion.clearance_m[name];
    const both = before !== undefined && after !== undefined;
    const same = !both || Math.abs(after - before) < NOTICE_M;
    lines.push({
      name: `gap to ${name}`,
      before: before === undefined ? "–" : millimetres(before),
      after: after === undefined ? "–" : millimetres(after),
      better: same ? null : after > before,
    });
  }
  return lines;
}
