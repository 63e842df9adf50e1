// Paths of the tool: the plan, dashed, and over it what a touch made of it. Where one comes close to something, or runs
// into it, its colour says so, and where it comes closest, a number.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { millimetres, nearness, smallestGap, type Nearness } from "../clearance";
import { cssColor, el } from "../dom";
import type { Motion, Vector3 } from "../protocol";
import type { Looking } from "./hands";

const DASH = 0.016; // and gap, in radii of the scene
const LABELLED_M = 0.1; // a gap larger than this is nobody's concern

export type Own = "--accent" | "--line-4";
const NEARNESS_COLORS: Record<Exclude<Nearness, "clear">, string> = { near: "--warn", touching: "--alarm" };

/** Names of the colours of a path's points, whose own is `own`. */
export function pathColors(points: Vector3[], gaps: Motion["gap_m"], own: string): string[] {
  return points.map((_, i) => {
    const how = nearness(gaps?.[i] ?? null);
    return how === "clear" ? own : NEARNESS_COLORS[how];
  });
}

class Way {
  readonly root = new THREE.Group();
  private readonly end = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ toneMapped: false }));
  private readonly label = el("div", { class: "gap-label", hidden: true });
  private line: Line2 | null = null;
  private colors: string[] = [];
  private closest: THREE.Vector3 | null = null;

  constructor(
    stage: HTMLElement,
    private readonly own: Own,
    private readonly material: LineMaterial,
  ) {
    stage.append(this.label);
  }

  show(points: Vector3[], gaps: Motion["gap_m"]): void {
    this.line?.geometry.dispose();
    this.root.clear();
    this.line = this.closest = null;
    this.label.hidden = true;
    if (points.length < 2) return;
    this.line = new Line2(new LineGeometry().setPositions(points.flat()), this.material);
    this.line.computeLineDistances();
    this.end.position.set(...points.at(-1)!);
    this.root.add(this.line, this.end);
    this.colors = pathColors(points, gaps, this.own);
    this.recolor();
    const smallest = smallestGap(gaps);
    if (!smallest || smallest.gap_m > LABELLED_M) return;
    this.closest = new THREE.Vector3(...points[smallest.index]!);
    this.label.textContent = millimetres(smallest.gap_m);
    this.label.dataset["near"] = nearness(smallest.gap_m);
  }

  /** The number stays where the path comes closest. */
  place({ toPixels, worn }: Looking, shown: boolean): void {
    this.label.hidden = this.closest === null || worn || !shown;
    if (this.label.hidden) return;
    const at = toPixels(this.closest!);
    this.label.style.transform = `translate(${at.x}px, ${at.y}px) translate(-50%, calc(-100% - 8px))`;
  }

  resize(width: number, height: number, scale: number): void {
    this.material.resolution.set(width, height);
    this.material.dashSize = this.material.gapSize = DASH * scale;
    this.end.scale.setScalar(0.008 * scale);
  }

  recolor(): void {
    if (!this.line) return;
    const known = new Map([...new Set(this.colors)].map((name) => [name, new THREE.Color(cssColor(name))]));
    this.line.geometry.setColors(this.colors.flatMap((name) => known.get(name)!.toArray()));
    this.end.material.color.copy(known.get(this.colors.at(-1)!)!);
  }
}

export class Paths {
  readonly root = new THREE.Group();
  private readonly plan: Way;
  private readonly motion: Way;

  constructor(stage: HTMLElement) {
    const look = { transparent: true, toneMapped: false, vertexColors: true };
    this.plan = new Way(stage, "--accent", new LineMaterial({ linewidth: 2.2, dashed: true, opacity: 0.85, ...look }));
    this.motion = new Way(stage, "--line-4", new LineMaterial({ linewidth: 3, opacity: 0.95, ...look }));
    this.root.add(this.plan.root, this.motion.root);
  }

  /** The plan (a motion, or only points), and what became of it. */
  show(plan: Motion | Vector3[], motion: Motion | null): void {
    if (Array.isArray(plan)) this.plan.show(plan, null);
    else this.plan.show(plan.path, plan.gap_m);
    this.motion.show(motion?.path ?? [], motion?.gap_m);
  }

  place(sight: Looking): void {
    for (const way of [this.plan, this.motion]) way.place(sight, this.root.visible);
  }

  /** On a stage of so many pixels, in a scene of radius `scale` [m]. */
  resize(width: number, height: number, scale: number): void {
    for (const way of [this.plan, this.motion]) way.resize(width, height, scale);
  }

  recolor(): void {
    for (const way of [this.plan, this.motion]) way.recolor();
  }
}
