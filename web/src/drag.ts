// A drag in depth: the pointer moves a point in a plane that faces the camera; the wheel moves the plane.

import * as THREE from "three";

const DEPTH_PER_PIXEL = 0.0006; // of the distance to the camera, per pixel of the wheel

export class Drag {
  private readonly plane = new THREE.Plane(); // its normal points away from the camera

  /** A drag that begins at `point`, seen along `away` (unit). */
  constructor(point: THREE.Vector3, away: THREE.Vector3) {
    this.plane.setFromNormalAndCoplanarPoint(away, point);
  }

  /** Where a pointer's ray meets the plane; null when it looks past it. */
  meet(ray: THREE.Ray): THREE.Vector3 | null {
    return ray.intersectPlane(this.plane, new THREE.Vector3());
  }

  /** Moves the plane by so many pixels of the wheel, up is away; never nearer than `nearest` to the eye. */
  wheel(pixels: number, eye: THREE.Vector3, nearest: number): void {
    const distance = -this.plane.distanceToPoint(eye);
    const step = -pixels * DEPTH_PER_PIXEL * distance;
    this.plane.constant -= Math.max(step, nearest - distance);
  }
}
