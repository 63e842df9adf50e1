// Where to look: which bodies count, and where the camera goes to see just them.

import * as THREE from "three";

const NEAR_HOME = 1.3; // a body within this many radii of where the scene began belongs to it
const DEEP = 5; // radii of the scene above the ground from which it is not shown any more

/** Something that could be looked at. */
export interface Sight {
  touchable: boolean;
  corners: THREE.Vector3[]; // of what is seen of it, world
}

/**
 * The points to look at. A scene is looked at where it began, with all that is near. What rolled away does not count:
 * one ball that has gone far would make all others too small to see. Only when everything that can be touched has
 * gone is it followed: the half of it that is most together.
 */
export function worthSeeing(start: Sight[], now: Sight[]): THREE.Vector3[] {
  const home = ballAround(start.flatMap(({ corners }) => corners));
  const near = now.filter(({ corners }) => ballAround(corners).center.distanceTo(home.center) < NEAR_HOME * home.radius);
  const touchable = now.filter((sight) => sight.touchable);
  if (touchable.length === 0 || near.some((sight) => sight.touchable)) return [...start, ...near].flatMap(({ corners }) => corners);
  const centers = touchable.map(({ corners }) => ballAround(corners).center);
  const middle = new THREE.Vector3(...(["x", "y", "z"] as const).map((axis) => median(centers.map((center) => center[axis]))));
  const order = touchable.map((_, i) => i).sort((i, j) => centers[i]!.distanceTo(middle) - centers[j]!.distanceTo(middle));
  return order.slice(0, Math.ceil(order.length / 2)).flatMap((i) => touchable[i]!.corners);
}

/** Where a scene that begins above the ground may fall to, if that is not too far to be looked at as well. */
export function below(start: Sight[], ground: number | null): Sight[] {
  const box = new THREE.Box3().setFromPoints(start.flatMap(({ corners }) => corners));
  const gap = ground === null || box.isEmpty() ? 0 : box.min.z - ground;
  if (gap <= 0 || gap > DEEP * ballAround([box.min, box.max]).radius) return [];
  return [{ touchable: false, corners: [box.min.clone().setZ(ground!), box.max.clone().setZ(ground!)] }];
}

export function ballAround(points: THREE.Vector3[]): THREE.Sphere {
  return new THREE.Box3().setFromPoints(points).getBoundingSphere(new THREE.Sphere());
}

/** Seen a little from above; what lies flat, more so. */
export function viewFrom(points: THREE.Vector3[]): THREE.Vector3 {
  const size = new THREE.Box3().setFromPoints(points).getSize(new THREE.Vector3());
  const flat = 1 - Math.min(1, size.z / Math.max(size.x, size.y, 1e-9));
  return new THREE.Vector3(1.25, -1.5, 0.62 + 0.5 * flat).normalize();
}

export interface Stand {
  position: THREE.Vector3;
  target: THREE.Vector3; // what it turns about: in the middle of the picture, as deep as the middle of the points
}

/**
 * Where a camera stands that looks along -from, z up, and has all points just in its picture, which spans tanX and
 * tanY to each side at distance one. With x, y across and z along the view: a point is inside on the right if
 * x - cx <= tanX (z - cz), and so on; each side is a bound on the camera's place c.
 */
export function stand(points: THREE.Vector3[], from: THREE.Vector3, tanX: number, tanY: number): Stand {
  const along = from.clone().negate().normalize();
  const right = along.clone().cross(new THREE.Vector3(0, 0, 1)).normalize();
  const up = right.clone().cross(along);
  const origin = ballAround(points).center;
  const local = points.map((point) => point.clone().sub(origin)).map((p) => ({ x: p.dot(right), y: p.dot(up), z: p.dot(along) }));
  const most = (measure: (p: { x: number; y: number; z: number }) => number): number => local.reduce((m, p) => Math.max(m, measure(p)), -Infinity);
  const [east, west] = [most((p) => p.x - tanX * p.z), most((p) => -p.x - tanX * p.z)];
  const [north, south] = [most((p) => p.y - tanY * p.z), most((p) => -p.y - tanY * p.z)];
  const back = Math.min(-(east + west) / (2 * tanX), -(north + south) / (2 * tanY));
  const aside = origin.clone().addScaledVector(right, 0.5 * (east - west)).addScaledVector(up, 0.5 * (north - south));
  const depth = 0.5 * (most((p) => p.z) - most((p) => -p.z));
  return { position: aside.clone().addScaledVector(along, back), target: aside.addScaledVector(along, depth) };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
