// Moves what is held by steps, for keys and sticks: right, up and away as the picture has them, or as far as these go in
// the plane that hands stay in.

import * as THREE from "three";
import { row } from "./devices";
import type { Hold, Holds } from "./hold";
import type { Store } from "./state";

const FARTHEST = 1; // from what it holds, in radii of the scene: a key that is held down must not carry the hand out of sight
const EDGE_ON = 0.05; // a way that is seen this short in the plane leads nowhere

export interface Steered {
  readonly camera: THREE.Camera;
  readonly find: { readonly scale: number };
}

export class Steering {
  constructor(
    private readonly view: Steered,
    private readonly store: Store,
    private readonly holds: Holds,
  ) {}

  /** Moves the hand by these shares of the scene's radius, no farther than FARTHEST from what it holds. */
  move(hold: Hold, ...shares: [right: number, up: number, away: number]): void {
    const { scale } = this.view.find;
    const target = hold.target.clone();
    this.ways().forEach((way, i) => target.addScaledVector(way, shares[i]! * scale));
    const point = this.heldPoint(hold);
    if (point) target.sub(point).clampLength(0, FARTHEST * scale).add(point);
    this.holds.move(hold, target);
  }

  /** Right, up and away in the world, each of length one, or none. */
  private ways(): THREE.Vector3[] {
    const plane = this.store.get("hello")?.hand.plane;
    const ways = [[1, 0, 0], [0, 1, 0], [0, 0, -1]].map((way) => new THREE.Vector3().fromArray(way).transformDirection(this.view.camera.matrixWorld));
    if (!plane) return ways;
    const normal = new THREE.Vector3(...plane).normalize();
    return ways.map((way) => way.projectOnPlane(normal)).map((way) => (way.length() > EDGE_ON ? way.normalize() : way.set(0, 0, 0)));
  }

  /** Where the servo holds the body, world. */
  private heldPoint({ hand }: Hold): THREE.Vector3 | null {
    const frame = this.store.get("frame");
    return frame && hand !== null && frame.hand_body?.[hand] ? new THREE.Vector3().fromArray(row(frame.hand_point, hand, 3)) : null;
  }
}
