// Bodies that fade with a number of the frame, and those that eyes do not see: one's own head.

import { numbers } from "../decode";
import type { Frame } from "../frame.gen";
import type { Body, Hello } from "../protocol";

/** Bodies that are not always wholly seen. */
export function fading({ bodies, eyes }: Pick<Hello, "bodies" | "eyes">): Set<number> {
  return new Set(bodies.flatMap(({ name, fades }, i) => (fades || eyes?.hides.includes(name) ? [i] : [])));
}

/** How much of a body is seen, 0 .. 1; `inside`: through eyes, or in a headset. */
export function share(body: Body, hides: readonly string[], frame: Frame | null, inside: boolean): number {
  if (inside && hides.includes(body.name)) return 0;
  const { fades } = body;
  if (!fades || !frame || (fades.only === "eyes" && !inside)) return 1;
  const value = numbers(frame, fades.field)[fades.index ?? 0] ?? NaN;
  if (Number.isNaN(value)) return 1; // nobody knows: rather seen than run into
  return Math.min(1, Math.max(0, (fades.far - value) / (fades.far - fades.near)));
}
