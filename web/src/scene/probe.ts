// A probe that presses: a thin bar with a ball for a tip. The tip is where the servo has it, outside of all solids; how
// far the hand has gone in is a thin line from there to where the hand is.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { cssColor } from "../dom";

const BALL = 0.0105; // radius of the tip, in distances of the eye; so are
const BAR = 0.0024; // the radius of the bar
const LENGTH = 0.26; // and its length
const LEAN = 0.55; // how much the bar leans up from the normal: seen end-on it would not be seen
const LEAST_N = 1e-6; // of a force whose direction says something
const LEAST_M = 1e-6;

const ON_TOP = { depthTest: false, depthWrite: false, transparent: true, toneMapped: false };
const UP = new THREE.Vector3(0, 1, 0);

/**
 * The surface's normal under a tip that a frame tells of. The body is pushed along -normal; without a force the tip is
 * outside, and the normal points to it; and if it is just there, to the eye.
 */
export function normalOf({ point, target, force }: { point: THREE.Vector3; target: THREE.Vector3; force: THREE.Vector3 }, eye: THREE.Vector3): THREE.Vector3 {
  if (force.length() > LEAST_N) return force.clone().negate().normalize();
  const out = target.clone().sub(point);
  return (out.length() > LEAST_M ? out : eye.clone().sub(point)).normalize();
}

export class Probe {
  readonly root = new THREE.Group();
  private readonly tip = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), new THREE.MeshBasicMaterial(ON_TOP));
  private readonly bar = new THREE.Mesh(new THREE.CylinderGeometry(1.5, 0.8, 1, 14).translate(0, 0.5, 0), new THREE.MeshBasicMaterial(ON_TOP));
  private readonly hand = new THREE.Mesh(this.tip.geometry, new THREE.MeshBasicMaterial(ON_TOP));
  private readonly into = new Line2(new LineGeometry(), new LineMaterial({ linewidth: 1.8, ...ON_TOP }));

  constructor() {
    this.into.frustumCulled = false;
    this.into.renderOrder = this.hand.renderOrder = 9;
    this.bar.renderOrder = 10;
    this.tip.renderOrder = 11;
    this.root.add(this.into, this.hand, this.bar, this.tip);
    this.root.visible = false;
  }

  /** Its tip at `tip` on a surface with this normal, the hand at `hand`; all world. `up` is that of the picture. */
  show(tip: THREE.Vector3, normal: THREE.Vector3, hand: THREE.Vector3, color: THREE.Color, eye: THREE.Vector3, up: THREE.Vector3): void {
    const size = eye.distanceTo(tip);
    const way = normal.clone().addScaledVector(up, LEAN).normalize();
    this.tip.position.copy(tip).addScaledVector(normal, BALL * size); // rests on the surface
    this.tip.scale.setScalar(BALL * size);
    this.bar.position.copy(this.tip.position);
    this.bar.quaternion.setFromUnitVectors(UP, way);
    this.bar.scale.set(BAR * size, LENGTH * size, BAR * size);
    this.into.visible = this.hand.visible = tip.distanceTo(hand) > LEAST_M;
    this.into.geometry.setPositions([...tip.toArray(), ...hand.toArray()]);
    this.hand.position.copy(hand);
    this.hand.scale.setScalar(0.4 * BALL * size);
    for (const part of [this.tip, this.hand, this.into]) part.material.color.copy(color);
    this.bar.material.color.set(cssColor("--text"));
    this.root.visible = true;
  }

  hide(): void {
    this.root.visible = false;
  }

  resize(width: number, height: number): void {
    this.into.material.resolution.set(width, height);
  }
}
