// Paths of the tool: the plan, dashed, and over it what a touch made of it. One that comes close to something, or runs
// into it, says so by its colour.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { cssColor } from "../dom";
import type { Motion, Vector3 } from "../protocol";

const NEAR_M = 0.02; // closer than this to an obstacle is close
const TOUCH_M = 1e-3; // deeper than this is more than a touch
const DASH = 0.016; // and gap, in radii of the scene

/** Colour of a path, by name, whose own is `own`. */
export function pathColor(motion: Pick<Motion, "clearance_m"> | null, own: string): string {
  const smallest = Math.min(Infinity, ...Object.values(motion?.clearance_m ?? {}));
  return smallest < -TOUCH_M ? "--alarm" : smallest < NEAR_M ? "--warn" : own;
}

class Way {
  readonly root = new THREE.Group();
  private readonly end = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ toneMapped: false }));
  private line: Line2 | null = null;
  private color = "--accent";

  constructor(
    private readonly own: string,
    private readonly material: LineMaterial,
  ) {}

  show(points: Vector3[], motion: Motion | null): void {
    this.line?.geometry.dispose();
    this.root.clear();
    this.line = null;
    if (points.length < 2) return;
    this.line = new Line2(new LineGeometry().setPositions(points.flat()), this.material);
    this.line.computeLineDistances();
    this.end.position.set(...points.at(-1)!);
    this.root.add(this.line, this.end);
    this.color = pathColor(motion, this.own);
    this.recolor();
  }

  resize(width: number, height: number, scale: number): void {
    this.material.resolution.set(width, height);
    this.material.dashSize = this.material.gapSize = DASH * scale;
    this.end.scale.setScalar(0.008 * scale);
  }

  recolor(): void {
    this.material.color.set(cssColor(this.color));
    this.end.material.color.set(cssColor(this.color));
  }
}

export class Paths {
  readonly root = new THREE.Group();
  private readonly plan = new Way("--accent", new LineMaterial({ linewidth: 2.2, dashed: true, transparent: true, opacity: 0.85, toneMapped: false }));
  private readonly motion = new Way("--line-4", new LineMaterial({ linewidth: 3, transparent: true, opacity: 0.95, toneMapped: false }));

  constructor() {
    this.root.add(this.plan.root, this.motion.root);
  }

  /** The plan (a motion, or only points), and what became of it. */
  show(plan: Motion | Vector3[], motion: Motion | null): void {
    if (Array.isArray(plan)) this.plan.show(plan, null);
    else this.plan.show(plan.path, plan);
    this.motion.show(motion?.path ?? [], motion);
  }

  /** On a stage of so many pixels, in a scene of radius `scale` [m]. */
  resize(width: number, height: number, scale: number): void {
    for (const way of [this.plan, this.motion]) way.resize(width, height, scale);
  }

  recolor(): void {
    for (const way of [this.plan, this.motion]) way.recolor();
  }
}
