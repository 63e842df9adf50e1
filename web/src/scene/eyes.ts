// Through the eyes of somebody in the scene: the camera goes with a body, along its x, z up; for two eyes, a picture each
// side by side (as in a headset, whose place it takes on a screen).

import * as THREE from "three";
import type { EyesOf } from "../protocol";

const NEAR_M = 0.02;
const BETWEEN_PX = 3; // after each of two pictures
/** A camera looks along -z with y up; eyes along x with z up. */
export const LOOKS = new THREE.Quaternion().setFromRotationMatrix(
  new THREE.Matrix4().makeBasis(new THREE.Vector3(0, -1, 0), new THREE.Vector3(0, 0, 1), new THREE.Vector3(-1, 0, 0)),
);

/** A part of a picture, in pixels from its upper left corner. */
export interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Puts the camera where the eyes of a body with this pose (position, quaternion w, x, y, z) are. */
export function standAt(camera: THREE.PerspectiveCamera, eyes: EyesOf, [x, y, z, qw, qx, qy, qz]: number[]): void {
  const turned = new THREE.Quaternion(qx, qy, qz, qw);
  camera.position.fromArray(eyes.at).applyQuaternion(turned).add(new THREE.Vector3(x, y, z));
  camera.quaternion.copy(turned).multiply(LOOKS);
  camera.near = NEAR_M;
  camera.updateMatrixWorld();
}

/** Field of view of a whole picture [deg] of which a part this high has `fov_deg`. */
export function wholeFov(fov_deg: number, part: number, whole: number): number {
  const half = Math.atan((Math.tan((fov_deg * Math.PI) / 360) * whole) / Math.max(1, part));
  return Math.min(170, (half * 360) / Math.PI);
}

/** Draws a part of a picture of this height: from the one camera of the whole, or left and right from one each. The rest is empty. */
export function drawThrough(renderer: THREE.WebGLRenderer, scene: THREE.Scene, cameras: THREE.Camera[], part: Part, height: number): void {
  const whole = renderer.getSize(new THREE.Vector2());
  renderer.setScissorTest(false);
  renderer.clear();
  renderer.setScissorTest(true);
  cameras.forEach((camera, k) => {
    const width = part.width / cameras.length;
    const own: [number, number, number, number] = [part.x + k * width, height - part.y - part.height, width - (cameras.length - 1) * BETWEEN_PX, part.height]; // from below
    if (cameras.length > 1) renderer.setViewport(...own);
    renderer.setScissor(...own);
    renderer.render(scene, camera);
  });
  renderer.setScissorTest(false);
  renderer.setViewport(0, 0, whole.x, whole.y);
}

export class Pair {
  private readonly eyes = [-0.5, 0.5].map((side) => ({ side, camera: new THREE.PerspectiveCamera() })); // left, right

  /** The two cameras for the halves of a part, ipd_m apart, looking the same way, each with the whole field of view. */
  place(from: THREE.PerspectiveCamera, { ipd_m, fov_deg }: EyesOf, part: Part): THREE.PerspectiveCamera[] {
    return this.eyes.map(({ side, camera }) => {
      camera.position.set(side * ipd_m, 0, 0).applyMatrix4(from.matrixWorld);
      camera.quaternion.setFromRotationMatrix(from.matrixWorld);
      Object.assign(camera, { fov: fov_deg, aspect: (part.width / 2 - BETWEEN_PX) / Math.max(1, part.height), near: from.near, far: from.far });
      camera.updateProjectionMatrix();
      camera.updateMatrixWorld();
      return camera;
    });
  }
}
