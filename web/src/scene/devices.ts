// Devices: a thin bar, turned as the device is, whose tip is where the proxy or the held point is; a line from there to
// the hand, and the force on the hand. Where bodies show the device, only the force.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { norm } from "../decode";
import { cssColor } from "../dom";
import { row, share } from "../devices";
import type { Frame } from "../frame.gen";
import type { Device } from "../protocol";
import { forceColor } from "./spring";

const LONGEST = 0.8; // arrow of a force at its limit, in radii of the scene
const BALL_SIZE = 0.008; // radius of a bare hand, in distances of the camera; so are
const TIP_SIZE = 0.0055; // that of a bar's tip,
const BAR = 0.0018; // and the radius of the bar
const BAR_LENGTH = 0.3; // its length, in radii of the scene: a thing among others
const ARROW_M = 0.5; // no arrow at a tip that is shown is longer: it is small among bodies of a room
const HANDLE = new THREE.Vector3(-0.78, 0, 0.62).normalize(); // of a device, as a pen lies in a hand: to the person, and up
const LEAST = 0.01; // share of the limit below which no arrow is drawn
const ON_TOP = { depthTest: false, depthWrite: false, transparent: true, toneMapped: false };
const BALL = new THREE.SphereGeometry(1, 20, 14);
const HEAD = new THREE.ConeGeometry(0.5, 1.6, 20).translate(0, -0.8, 0); // its tip is the origin, along y
const BAR_SHAPE = new THREE.CylinderGeometry(1.35, 0.7, 1, 14).translate(0, 0.5, 0); // a pen's: thinner at its tip
const UP = new THREE.Vector3(0, 1, 0);

/** Where the arrow of a force on the hand ends, in a scene of this radius [m]; null: too small to see. */
export function arrowTip(from: THREE.Vector3, force: THREE.Vector3, limit_N: number, scale: number): THREE.Vector3 | null {
  const part = share(force.length(), limit_N);
  if (!(part > LEAST)) return null;
  return force.clone().normalize().multiplyScalar(LONGEST * scale * Math.min(1, part)).add(from);
}

/** Which way the bar of a device goes from its tip, world; `turn` (w, x, y, z) as frames have it, nonsense: unturned. */
export function handleWay([w = 1, x = 0, y = 0, z = 0]: number[]): THREE.Vector3 {
  const turn = new THREE.Quaternion(x, y, z, w);
  const sound = Math.abs(turn.length() - 1) < 0.1;
  return sound ? HANDLE.clone().applyQuaternion(turn.normalize()) : HANDLE.clone();
}

/** One device, or a bare hand. */
export class Marker {
  readonly root = new THREE.Group();
  private readonly proxy = ball(12);
  private readonly hand = ball(11);
  private readonly link = line(1.6);
  private readonly shaft = line(4);
  private readonly head = new THREE.Mesh(HEAD, new THREE.MeshBasicMaterial(ON_TOP));
  private readonly bar = new THREE.Mesh(BAR_SHAPE, new THREE.MeshBasicMaterial({ toneMapped: false })); // among the bodies, as a thing

  constructor() {
    this.head.renderOrder = 11;
    this.root.add(this.link, this.shaft, this.head, this.bar, this.hand, this.proxy);
  }

  /** Only the force is drawn: bodies show the rest. */
  set bodily(yes: boolean) {
    for (const part of [this.proxy, this.hand, this.link, this.bar]) part.material.visible = !yes;
  }

  /** `handle`: the way of its bar, null: it has none. */
  show(at: THREE.Vector3, hand: THREE.Vector3, force: THREE.Vector3, limit_N: number, scale: number, eye: THREE.Vector3, handle: THREE.Vector3 | null = null): void {
    const color = forceColor(share(force.length(), limit_N));
    for (const part of [this.proxy, this.hand, this.link, this.shaft, this.head]) part.material.color.copy(color);
    const size = eye.distanceTo(at); // the same size on the screen, near and far
    this.proxy.position.copy(at);
    this.proxy.scale.setScalar((handle ? TIP_SIZE : BALL_SIZE) * size);
    this.bar.visible = handle !== null;
    if (handle) this.lay(at, handle, size, scale);
    this.hand.position.copy(hand);
    this.hand.scale.setScalar(0.005 * size);
    this.link.geometry.setPositions([...at.toArray(), ...hand.toArray()]);
    const from = force.clone().setLength(BALL_SIZE * size).add(at); // where the ball ends
    const tip = arrowTip(from, force, limit_N, scale);
    this.shaft.visible = this.head.visible = tip !== null;
    if (!tip) return;
    const way = tip.clone().sub(from);
    const head = Math.min(0.016 * size, 0.6 * way.length());
    this.head.position.copy(tip);
    this.head.quaternion.setFromUnitVectors(UP, way.clone().normalize());
    this.head.scale.setScalar(head);
    this.shaft.geometry.setPositions([...from.toArray(), ...tip.addScaledVector(way.normalize(), -head).toArray()]);
  }

  private lay(tip: THREE.Vector3, way: THREE.Vector3, size: number, scale: number): void {
    this.bar.position.copy(tip);
    this.bar.quaternion.setFromUnitVectors(UP, way);
    this.bar.scale.set(BAR * size, BAR_LENGTH * scale, BAR * size);
    this.bar.material.color.set(cssColor("--text"));
  }

  resize(width: number, height: number): void {
    for (const { material } of [this.link, this.shaft]) material.resolution.set(width, height);
  }

  dispose(): void {
    for (const each of [this.link, this.shaft]) each.geometry.dispose();
    for (const part of [this.proxy, this.hand, this.link, this.shaft, this.head, this.bar]) part.material.dispose();
  }
}

export class Devices {
  readonly root = new THREE.Group();
  scale = 1; // radius of the scene [m]
  private devices: Device[] = [];
  private markers: Marker[] = [];
  private tips = 0;
  private size: [number, number] = [1, 1];

  /** `tips`: how many of them, the first ones, bodies show. */
  build(devices: Device[], tips = 0): void {
    for (const marker of this.markers) marker.dispose();
    this.root.clear();
    this.devices = devices;
    this.tips = tips;
    this.markers = devices.map(() => new Marker());
    this.markers.slice(0, tips).forEach((marker) => (marker.bodily = true));
    for (const marker of this.markers) this.root.add(marker.root);
    this.root.visible = false; // until the first frame says where they are
    this.resize(...this.size);
  }

  /** `feltOnly`: without how large forces are. */
  show(frame: Frame, eye: THREE.Vector3, feltOnly = false): void {
    const vector = (field: ArrayLike<number> | undefined, k: number): THREE.Vector3 => new THREE.Vector3().fromArray(row(field, k, 3));
    this.root.visible = true;
    this.markers.forEach((marker, k) => {
      const [at, hand, force] = [vector(frame.device_point, k), vector(frame.device_position, k), vector(frame.device_force, k)];
      if (feltOnly) force.set(0, 0, 0);
      const there = Number.isFinite(norm(at.toArray()) + norm(hand.toArray())); // a reading that is no number is nowhere
      const way = handleWay(row(frame.device_quaternion, k, 4));
      const scale = k < this.tips ? Math.min(this.scale, ARROW_M / LONGEST) : this.scale;
      if (there) marker.show(at, hand, force, this.devices[k]!.force_limit_N, scale, eye, way);
      marker.root.visible = there;
    });
  }

  resize(width: number, height: number): void {
    this.size = [width, height];
    for (const marker of this.markers) marker.resize(width, height);
  }
}

function ball(order: number): THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial> {
  const made = new THREE.Mesh(BALL, new THREE.MeshBasicMaterial(ON_TOP));
  made.renderOrder = order;
  return made;
}

function line(linewidth: number): Line2 {
  const made = new Line2(new LineGeometry(), new LineMaterial({ linewidth, ...ON_TOP }));
  made.frustumCulled = false;
  made.renderOrder = 10;
  return made;
}
