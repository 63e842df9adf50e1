// Where something new can be put: before the camera, seen, and clear of everything that is there already.

import * as THREE from "three";

const RINGS = [0.35, 0.55, 0.8, 1.1, 0.15]; // around the middle of the view, in radii of the scene; in the middle it would hide
const SIDES = [[0, 0.4, -0.4, 0.8, -0.8, 1.2, -1.2], [1.6, -1.6], [2.2, -2.2, Math.PI]]; // from the camera's: before, beside, behind [rad]
const EDGE_PX = 90; // a line of text may come up there
const APART = 1.15; // times its radius: distance from what is there

export interface Surroundings {
  boxes: THREE.Box3[]; // around what is there
  walls: THREE.Plane[]; // solid behind
  middle: THREE.Vector3; // of the view
  eye: THREE.Vector3;
  scale: number; // radius of the scene [m]
  height: number | null; // of the ground that it is put on; null: it floats at the height of the middle
  seen(point: THREE.Vector3, edge: number): boolean; // not within `edge` pixels of where panels begin
}

/** The middle of a ball of this radius [m]: seen well and free, else just seen, else only free, else above everything. */
export function vacancy(radius: number, there: Surroundings): THREE.Vector3 {
  const free = candidates(APART * radius, there).filter((point) => isFree(point, APART * radius, there));
  const found = free.find((point) => there.seen(point, EDGE_PX)) ?? free.find((point) => there.seen(point, 0)) ?? free[0];
  if (found) return found;
  const top = there.boxes.reduce((highest, { max }) => Math.max(highest, max.z), there.middle.z);
  return there.middle.clone().setZ(top + APART * radius);
}

function candidates(apart: number, { middle, eye, scale, height, walls }: Surroundings): THREE.Vector3[] {
  const level = eye.clone().sub(middle).setZ(0);
  const towards = level.lengthSq() > 1e-12 ? level.normalize() : new THREE.Vector3(0, -1, 0);
  const up = new THREE.Vector3(0, 0, 1);
  const lowest = walls.filter(({ normal }) => normal.z > 0.999).reduce((z, plane) => Math.max(z, -plane.constant + apart), -Infinity);
  const z = Math.max(height === null ? middle.z : height + apart, lowest);
  const at = (ring: number, turn: number): THREE.Vector3 => middle.clone().addScaledVector(towards.clone().applyAxisAngle(up, turn), ring * scale).setZ(z);
  return SIDES.flatMap((turns) => RINGS.flatMap((ring) => turns.map((turn) => at(ring, turn))));
}

function isFree(point: THREE.Vector3, apart: number, { boxes, walls }: Surroundings): boolean {
  return boxes.every((box) => box.distanceToPoint(point) >= apart) && walls.every((plane) => plane.distanceToPoint(point) >= apart - 1e-9);
}
