// The spring between the held point and the hand; its colour is that of the force it carries.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { WARN } from "../devices";
import { cssColor } from "../dom";

const COILS = 9;
const POINTS = 28 * COILS;
const THIN_M = 1e-6; // coils of a spring in a scene so small are a line
const SMALL = 0.4; // ends of such a line
const LEAD = 0.14; // share of the length that is straight, at each end

/**
 * A helix from a to b with straight ends: flat numbers (x, y, z), POINTS + 1 of them, in a scene of radius `scale` [m].
 * It gets thinner as it is drawn out.
 */
export function helix(a: THREE.Vector3, b: THREE.Vector3, scale: number, out: Float32Array): void {
  const axis = b.clone().sub(a);
  const length = axis.length();
  if (length > 0) axis.divideScalar(length);
  const u = new THREE.Vector3(Math.abs(axis.z) < 0.9 ? 0 : 1, 0, Math.abs(axis.z) < 0.9 ? 1 : 0).cross(axis).normalize();
  const v = axis.clone().cross(u);
  const radius = Math.min(0.12 * length, (0.03 * scale) / (1 + (1.5 * length) / scale));
  for (let i = 0; i <= POINTS; i++) {
    const s = i / POINTS;
    const inside = Math.min(1, Math.max(0, (s - LEAD) / (1 - 2 * LEAD)));
    const swell = Math.min(1, 12 * inside, 12 * (1 - inside)); // the coil leaves and meets the axis gently
    const angle = 2 * Math.PI * COILS * inside;
    const cu = radius * swell * Math.cos(angle);
    const cv = radius * swell * Math.sin(angle);
    out[3 * i] = a.x + axis.x * length * s + u.x * cu + v.x * cv;
    out[3 * i + 1] = a.y + axis.y * length * s + u.y * cu + v.y * cv;
    out[3 * i + 2] = a.z + axis.z * length * s + u.z * cu + v.z * cv;
  }
}

export class Spring {
  readonly root = new THREE.Group();
  private readonly line: Line2;
  private readonly held: THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial>;
  private readonly hand: THREE.Mesh<THREE.SphereGeometry, THREE.MeshBasicMaterial>;
  private readonly points = new Float32Array(3 * (POINTS + 1));

  constructor() {
    const onTop = { depthTest: false, depthWrite: false, transparent: true, toneMapped: false };
    this.line = new Line2(new LineGeometry(), new LineMaterial({ linewidth: 2.6, ...onTop }));
    this.line.frustumCulled = false;
    const ball = new THREE.SphereGeometry(1, 20, 14);
    this.held = new THREE.Mesh(ball, new THREE.MeshBasicMaterial(onTop));
    this.hand = new THREE.Mesh(ball, new THREE.MeshBasicMaterial(onTop));
    this.line.renderOrder = 10;
    this.held.renderOrder = this.hand.renderOrder = 11;
    this.root.add(this.line, this.held, this.hand);
    this.root.visible = false;
  }

  /** A line to where something is led: no spring. */
  lead(from: THREE.Vector3, to: THREE.Vector3, color: THREE.Color, eye: THREE.Vector3): void {
    this.show(from, to, color, THIN_M, eye, SMALL);
  }

  /** Draws it from `from` to `to` (world), in a scene of radius `scale` [m], its ends `size` times as large as usual. */
  show(from: THREE.Vector3, to: THREE.Vector3, color: THREE.Color, scale: number, eye: THREE.Vector3, size = 1): void {
    helix(from, to, scale, this.points);
    this.line.geometry.setPositions(this.points);
    for (const part of [this.line, this.held, this.hand]) part.material.color.copy(color);
    this.held.position.copy(from);
    this.hand.position.copy(to);
    this.held.scale.setScalar(0.006 * size * eye.distanceTo(from)); // the same size on the screen, near and far
    this.hand.scale.setScalar(0.0095 * size * eye.distanceTo(to));
    this.root.visible = true;
  }

  hide(): void {
    this.root.visible = false;
  }

  resize(width: number, height: number): void {
    this.line.material.resolution.set(width, height);
  }
}

/** Calm up to WARN of the limit, then warmer, red at the limit. */
export function forceColor(share: number): THREE.Color {
  const calm = new THREE.Color(cssColor("--accent"));
  const warm = new THREE.Color(cssColor("--warn"));
  const hot = new THREE.Color(cssColor("--alarm"));
  if (share < WARN) return calm.lerp(warm, Math.max(0, share / WARN) ** 2 * 0.6);
  return warm.lerp(hot, Math.min(1, (share - WARN) / (1 - WARN)));
}
