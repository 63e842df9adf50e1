// The camera and its habits: a drag turns it about what is looked at, the right button or two fingers shift it, the
// wheel goes nearer. It glides to where it is sent, unless a person takes over or wants nothing to move.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { ViewOf } from "../protocol";
import { stand, type Stand } from "./framing";

const FIELD_OF_VIEW = 32; // narrow, as with a portrait lens: little distortion
const FILL = 0.92; // share of the free part of the stage that is filled
const TOLD_SHAPE = 4 / 3; // width over height of the picture that a told view is for
const GLIDE_MS = 450;
const X = new THREE.Vector3(1, 0, 0); // a quarter turn about it brings z, up, to y, which is up in spherical coordinates

export type Side = "front" | "side" | "top" | "perspective";

/** Directions to look from; x is forward, so the front is seen from there. Not quite level: the ground stays a plane. */
export const SIDES: Record<Exclude<Side, "perspective">, THREE.Vector3> = {
  front: new THREE.Vector3(1, 0, 0.1).normalize(),
  side: new THREE.Vector3(0, -1, 0.1).normalize(),
  top: new THREE.Vector3(0, -1e-3, 1).normalize(), // x to the right
};

/** A share of the way from one stand to another, 0 to 1: about what is looked at, not through it. */
export function between(a: Stand, b: Stand, share: number): Stand {
  const target = a.target.clone().lerp(b.target, share);
  const [from, to] = [a.position.clone().sub(a.target), b.position.clone().sub(b.target)];
  const distance = from.length() ** (1 - share) * to.length() ** share;
  const whole = new THREE.Quaternion().setFromUnitVectors(from.clone().normalize(), to.clone().normalize());
  const turn = new THREE.Quaternion().slerp(whole, share);
  return { target, position: from.normalize().applyQuaternion(turn).multiplyScalar(distance).add(target) };
}

/** Turned about what is looked at, to the right and up [rad], never over the top, and `nearer` times as near. */
export function around({ position, target }: Stand, right: number, up: number, nearer: number): Stand {
  const away = new THREE.Spherical().setFromVector3(position.clone().sub(target).applyAxisAngle(X, -Math.PI / 2));
  away.set(away.radius / nearer, Math.min(Math.PI - 1e-3, Math.max(1e-3, away.phi - up)), away.theta + right);
  return { target, position: new THREE.Vector3().setFromSpherical(away).applyAxisAngle(X, Math.PI / 2).add(target) };
}

interface Glide {
  from: Stand;
  to: Stand;
  begin: number; // [ms]
}

export class CameraRig {
  readonly root = new THREE.Group(); // stands at the origin, but for a headset
  readonly camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.02, 60);
  readonly controls: OrbitControls;
  turned = false; // a person has moved the camera since it was sent somewhere
  private glide: Glide | null = null;
  private readonly calm = matchMedia("(prefers-reduced-motion: reduce)");

  /** `clear` gives the part of the stage that no panel covers: what is looked at is centred there. */
  constructor(
    private readonly stage: HTMLElement,
    canvas: HTMLElement,
    private readonly clear: () => DOMRect,
    private readonly changed: () => void,
  ) {
    this.root.add(this.camera);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.54 * Math.PI; // hardly below the ground
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => {
      this.turned = true;
      this.glide = null;
    });
  }

  get gliding(): boolean {
    return this.glide !== null;
  }

  /** Where the eye is, world. */
  eye(): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixPosition(this.camera.matrixWorld);
  }

  /** Looks at all points from this direction, with `room` times the space that they need, in a scene of this radius; or
   *  from where it is told. */
  look(points: THREE.Vector3[], from: THREE.Vector3, room: number, radius: number, slowly: boolean, told?: ViewOf): void {
    const free = this.clear();
    const half = (FILL * Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) / room / this.stage.getBoundingClientRect().height;
    const fitting = (): Stand => stand(points, from, half * free.width, half * free.height);
    const to: Stand = told ? this.told(told, free) : fitting();
    this.setScale(radius, to.position.distanceTo(to.target));
    this.turned = false;
    const now: Stand = { position: this.camera.position.clone(), target: this.controls.target.clone() };
    if (slowly && !this.calm.matches) this.glide = { from: now, to, begin: performance.now() };
    else this.put(to);
  }

  /** From where it is told, farther back where less of the stage is free than a picture of TOLD_SHAPE as high as it. */
  private told({ eye, target }: ViewOf, free: DOMRect): Stand {
    const { height } = this.stage.getBoundingClientRect();
    const back = Math.max(1, (TOLD_SHAPE * height) / free.width);
    const at = new THREE.Vector3(...target);
    return { position: new THREE.Vector3(...eye).sub(at).multiplyScalar(back).add(at), target: at };
  }

  private kept: Stand | null = null; // while a headset, or somebody in the scene, has the camera

  /** Hands the camera to the person at the screen, or, if not, to a headset or to somebody in the scene. */
  hand(back: boolean): void {
    this.controls.enabled = back;
    this.glide = null;
    if (!back) this.kept = { position: this.camera.position.clone(), target: this.controls.target.clone() };
    if (!back || !this.kept) return;
    this.root.position.set(0, 0, 0);
    this.root.quaternion.identity();
    this.camera.fov = FIELD_OF_VIEW; // the headset's was another
    this.camera.scale.set(1, 1, 1);
    this.put(this.kept);
  }

  /** Turns about what is looked at, to the right and up [rad], and goes `nearer` times as near. */
  turn(right: number, up: number, nearer: number): void {
    const now: Stand = { position: this.camera.position.clone(), target: this.controls.target.clone() };
    this.turned = true;
    this.glide = null;
    this.put(around(now, right, up, nearer)); // the controls keep it within their limits
  }

  /** To be called before each picture. */
  step(): void {
    if (!this.glide) return void this.controls.update();
    const { from, to, begin } = this.glide;
    const s = Math.min(1, (performance.now() - begin) / GLIDE_MS);
    if (s === 1) this.glide = null;
    this.put(between(from, to, s * s * (3 - 2 * s)));
  }

  private put({ position, target }: Stand): void {
    this.camera.position.copy(position);
    this.controls.target.copy(target);
    this.controls.update();
    this.camera.updateMatrixWorld();
    this.changed();
  }

  /** What is near, far and large, in a scene of this radius seen from this far. */
  private setScale(radius: number, distance: number): void {
    const far = Math.max(40 * radius, 3 * distance);
    this.controls.minDistance = 0.1 * radius;
    this.controls.maxDistance = far;
    this.camera.near = 0.02 * radius;
    this.camera.far = far + 20 * radius;
    this.camera.updateProjectionMatrix();
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / height;
    const box = this.stage.getBoundingClientRect();
    const free = this.clear();
    const x = (box.left + box.right - free.left - free.right) / 2;
    const y = (box.top + box.bottom - free.top - free.bottom) / 2;
    this.camera.setViewOffset(width, height, x, y, width, height);
    this.camera.updateProjectionMatrix();
  }

  inPicture(point: THREE.Vector3): boolean {
    const p = point.clone().project(this.camera);
    return Math.max(Math.abs(p.x), Math.abs(p.y), Math.abs(p.z)) < 1;
  }

  /** Whether a point is in the part of the picture that no panel covers, and not within `edge` pixels of its edge. */
  inClear(point: THREE.Vector3, edge = 0): boolean {
    const box = this.stage.getBoundingClientRect();
    const free = this.clear();
    const at = this.toPixels(point).add(new THREE.Vector2(box.left, box.top));
    const across = at.x > free.left + edge && at.x < free.right - edge;
    return this.inPicture(point) && across && at.y > free.top + edge && at.y < free.bottom - edge;
  }

  /** Where a point is on the stage, in pixels. */
  toPixels(point: THREE.Vector3): THREE.Vector2 {
    const p = point.clone().project(this.camera);
    return new THREE.Vector2(((p.x + 1) * this.stage.clientWidth) / 2, ((1 - p.y) * this.stage.clientHeight) / 2);
  }
}
