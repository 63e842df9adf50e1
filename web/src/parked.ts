// Bodies that a scene has to spare wait until they are added (palpate/runtime/world/edits.py). They are nowhere: not drawn, not
// listed, not found. Which these are is said by `parked` of a frame, wherever a body may be.

import type { Hello } from "./protocol";

/** Numbers of the bodies that are out; `parked` is a frame's, which need not have it. */
export function out(hello: Hello, parked: ArrayLike<number> = []): number[] {
  return hello.bodies.flatMap((_, i) => (parked[i] ? [] : [i]));
}
