// How near a motion comes to what is in its way.

import { plain } from "./words";

const NEAR_M = 0.02; // closer than this is close
const TOUCHING_M = 0.0005; // and than this, a touch: half a millimetre is nothing to a person

export type Nearness = "clear" | "near" | "touching";

/** null: there is nothing to be clear of. */
export function nearness(gap_m: number | null): Nearness {
  if (gap_m === null || !(gap_m < NEAR_M)) return "clear";
  return gap_m < TOUCHING_M ? "touching" : "near";
}

export interface Smallest {
  gap_m: number;
  index: number; // of the point
}

/** Where the gaps along a path are smallest; null if there are none. */
export function smallestGap(gaps: readonly (number | null)[] | null | undefined): Smallest | null {
  let found: Smallest | null = null;
  gaps?.forEach((gap_m, index) => {
    if (gap_m !== null && (!found || gap_m < found.gap_m)) found = { gap_m, index };
  });
  return found;
}

/** A gap in millimetres; below zero it is an overlap, and said so. */
export function millimetres(gap_m: number): string {
  const mm = plain(Math.abs(1000 * gap_m), Math.abs(gap_m) < 0.01 ? 1 : 0);
  return gap_m < 0 && Number(mm) > 0 ? `${mm} mm inside` : `${mm} mm`;
}
