// How late ticks began, from the counts by lateness that every frame has.

import { LATENESS_EDGES_US } from "../frame.gen";

/** Upper edges of the counts [us]; the last one is open, and drawn as twice the one before. */
export const EDGES_US: readonly number[] = [...LATENESS_EDGES_US, 2 * LATENESS_EDGES_US.at(-1)!];

/** The edge below which a share of all counts lies [us]; 0 if nothing was counted. */
export function within(counts: readonly number[], share: number): number {
  const all = counts.reduce((sum, n) => sum + n, 0);
  if (all <= 0) return 0;
  let sum = 0;
  for (let i = 0; i < counts.length; i++) {
    sum += counts[i]!;
    if (sum >= share * all) return EDGES_US[i]!;
  }
  return EDGES_US.at(-1)!;
}

/** The latest tick since the frame before, as the edge it stayed below. */
export class Latest {
  private before: readonly number[] = [];

  /** [us]; 0 if no tick was counted, or counting began anew. */
  push(counts: readonly number[]): number {
    const { before } = this;
    this.before = counts;
    if (before.length !== counts.length || counts.some((n, i) => n < before[i]!)) return 0;
    return counts.reduce((latest, n, i) => (n > before[i]! ? EDGES_US[i]! : latest), 0);
  }
}

/** A time as people read it: "20 µs", "1.5 ms". */
export function microseconds(us: number): string {
  return us >= 1000 ? `${Number((us / 1000).toPrecision(2))} ms` : `${Number(us.toPrecision(2))} µs`;
}
