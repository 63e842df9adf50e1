// What is looked at: the scene where it began and what is near, with the ground under it and the lights upon it. When
// everything that can be touched has left the picture, and nobody chose that, the camera goes after it.

import * as THREE from "three";
import type { ViewOf } from "../protocol";
import type { Bodies } from "./bodies";
import { SIDES, type CameraRig, type Side } from "./camera";
import { ballAround, below, viewFrom, worthSeeing, type Sight } from "./framing";
import type { Ground } from "./ground";
import type { Lights } from "./lights";

const ROOM = 2.5; // how much more is shown around one or two bodies with nothing beside them: they will be moved

export class Outlook {
  readonly ball = new THREE.Sphere(new THREE.Vector3(), 1); // around what is looked at
  floor = 0; // height of the ground [m]
  private begin: Sight[] = []; // where the scene began

  constructor(
    private readonly rig: CameraRig,
    private readonly ground: Ground,
    private readonly lights: Lights,
  ) {}

  /** The bodies are where the scene begins. */
  remember(bodies: Bodies): void {
    this.begin = sights(bodies);
    this.begin.push(...below(this.begin, bodies.planes.ground()));
  }

  /** Looks at everything, and at `more` points, from this side or from where it is told: at once, or going there. */
  look(bodies: Bodies, more: THREE.Vector3[], side: Side, slowly: boolean, told?: ViewOf): void {
    const now = sights(bodies);
    const points = [...worthSeeing(this.begin, now), ...more];
    if (points.length === 0) points.push(new THREE.Vector3(-0.5, -0.5, 0), new THREE.Vector3(0.5, 0.5, 1));
    const room = now.length <= 2 && now.every(({ touchable }) => touchable) ? ROOM : 1;
    const content = ballAround(points);
    bodies.planes.fit(content.center, content.radius);
    const slopes = bodies.planes.slopes();
    const all = [...points, ...slopes];
    const { center, radius } = ballAround(all);
    this.ball.set(center, room * radius);
    this.floor = bodies.planes.ground() ?? new THREE.Box3().setFromPoints(all).min.z;
    const from = side === "perspective" ? viewFrom(all) : SIDES[side];
    this.rig.look(all, from, slopes.length > 0 ? 1 : room, this.ball.radius, slowly, told);
    this.ground.place(center, this.floor, this.ball.radius);
    this.lights.aim(center, 1.3 * this.ball.radius);
  }

  /** Whether nothing that can be touched is in the free part of the picture any more. */
  empty(bodies: Bodies): boolean {
    const touchable = sights(bodies).filter((sight) => sight.touchable);
    return touchable.length > 0 && !touchable.some(({ corners }) => this.rig.inClear(ballAround(corners).center));
  }
}

/** What is seen of each body. */
export function sights(bodies: Bodies): Sight[] {
  return [...bodies.corners()].map(([body, corners]) => ({ touchable: bodies.touchable(body), corners }));
}
