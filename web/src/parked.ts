// Bodies that a scene has to spare wait far away until they are added: obstacles below, free bodies above
// (palpate/runtime/edits.py). They are nowhere: not drawn, not listed, not found.

import type { Body, Hello } from "./protocol";

const FAR_M = 50;
const POSE = 7; // numbers of one body
const Z = 2; // of these

/** Whether a body at this height [m] waits to be added. */
export function isParked(body: Pick<Body, "loose"> | undefined, z: number): boolean {
  return body?.loose ? z > FAR_M : z < -FAR_M;
}

/** Numbers of the bodies that are out, where `pose` has 7 numbers for each. */
export function out(hello: Hello, pose: ArrayLike<number>): number[] {
  return hello.bodies.flatMap((body, i) => (isParked(body, pose[POSE * i + Z] ?? 0) ? [] : [i]));
}
