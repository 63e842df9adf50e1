// How a hand turns what it holds: about one axis of the world, and on and on. The servo is told an orientation, which
// does not say how often it went round: so each step, and how far the hand may be ahead, stay below half a turn.

import * as THREE from "three";

const LARGEST_STEP = 0.5; // between two messages [rad]
const FARTHEST = 2; // ahead of what is held [rad]

/** Angle of a rotation about a unit axis, -pi .. pi. */
export function angleAbout(axis: THREE.Vector3, { x, y, z, w }: THREE.Quaternion): number {
  return wrapped(2 * Math.atan2(x * axis.x + y * axis.y + z * axis.z, w));
}

/** The same angle between -pi and pi. */
export function wrapped(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

export class Turn {
  private wanted = 0; // from where it was taken [rad]
  private seen = 0; // how far the body has come

  /** `start`: as it was turned when it was taken. */
  constructor(
    readonly axis: THREE.Vector3,
    private readonly start: THREE.Quaternion,
  ) {}

  get angle(): number {
    return this.wanted;
  }

  /** How far the hand is ahead of the body. */
  get lead(): number {
    return this.wanted - this.seen;
  }

  /** The body is turned like this now. */
  follow(now: THREE.Quaternion): void {
    const since = now.clone().multiply(this.start.clone().invert());
    this.seen += wrapped(angleAbout(this.axis, since) - this.seen);
  }

  by(angle: number): void {
    const next = this.wanted + Math.min(LARGEST_STEP, Math.max(-LARGEST_STEP, angle));
    this.wanted = Math.min(this.seen + FARTHEST, Math.max(this.seen - FARTHEST, next));
  }

  /** As the hand is turned, (w, x, y, z). */
  orientation(): [number, number, number, number] {
    const { w, x, y, z } = new THREE.Quaternion().setFromAxisAngle(this.axis, this.wanted).multiply(this.start);
    return [w, x, y, z];
  }
}
