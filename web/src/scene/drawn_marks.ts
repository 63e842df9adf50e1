// A point with its value, and an outline: marks on the ground, or wherever they are told to be.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { numbers } from "../decode";
import { cssColor } from "../dom";
import type { Frame } from "../frame.gen";
import type { DrawingOf } from "../protocol";
import { said } from "../said";
import type { Bodies } from "./bodies";
import type { Drawn, Known } from "./drawings";
import { Tag } from "./drawn_words";
import type { Looking } from "./hands";

const MARK = 0.013; // radius, in distances of the eye
const LIFT = 2e-3; // over the ground, in radii of the scene: two faces in one place flicker
const LOOK = { transparent: true, depthWrite: false, toneMapped: false };

/** A ring with a dot, flat, as large on the screen near and far; and beside it a number that alarms below zero. */
export class Mark implements Drawn {
  readonly root = new THREE.Group();
  private readonly look = new THREE.MeshBasicMaterial({ ...LOOK, depthTest: false, side: THREE.DoubleSide });
  private readonly tag: Tag;
  private own = new THREE.Color();
  private alarm = new THREE.Color();

  constructor(
    private readonly what: Extract<DrawingOf, { kind: "point" }>,
    { stage }: Known,
  ) {
    const [ring, dot] = [new THREE.RingGeometry(0.72, 1, 40), new THREE.CircleGeometry(0.34, 24)];
    for (const geometry of [ring, dot]) {
      const mesh = new THREE.Mesh(geometry, this.look);
      mesh.renderOrder = 7;
      this.root.add(mesh);
    }
    this.tag = new Tag(stage, "drawn-value");
  }

  show(frame: Frame, _bodies: Bodies, { eye, toPixels, worn }: Looking): void {
    const { at, value, unit = "" } = this.what;
    this.root.position.fromArray(Array.from(numbers(frame, at)));
    if (!Number.isFinite(this.root.position.lengthSq())) return this.gone();
    this.root.scale.setScalar(MARK * eye.distanceTo(this.root.position));
    const text = value === undefined ? "" : said({ field: value, unit }, frame).words;
    const alarms = value !== undefined && numbers(frame, value)[0]! < 0;
    this.look.color.copy(alarms ? this.alarm : this.own);
    this.tag.element.classList.toggle("alarm", alarms);
    if (!text || worn) return this.tag.hide();
    this.tag.say(text);
    this.tag.put(toPixels(this.root.position), "18px", "-50%");
  }

  private gone(): void {
    this.root.visible = false;
    this.tag.hide();
  }

  hide(): void {
    this.tag.hide();
  }

  recolor(color: THREE.Color): void {
    this.own = color;
    this.alarm = new THREE.Color(cssColor("--alarm"));
    this.tag.element.style.setProperty("--color", `#${color.getHexString()}`);
  }

  dispose(): void {
    for (const each of this.root.children) (each as THREE.Mesh).geometry.dispose();
    this.look.dispose();
    this.tag.hide();
  }
}

/** The corners that there are, in order, each (x, y, z); those without a height have `height`. */
export function cornersOf(flat: ArrayLike<number>, width: number, count: number, height: number): THREE.Vector3[] {
  const most = width > 0 ? Math.floor(flat.length / width) : 0;
  const corner = (k: number): THREE.Vector3 => new THREE.Vector3(flat[k * width]!, flat[k * width + 1]!, width > 2 ? flat[k * width + 2]! : height);
  const corners = Array.from({ length: Math.max(0, Math.min(most, count)) }, (_, k) => corner(k));
  return corners.every((each) => Number.isFinite(each.lengthSq())) ? corners : [];
}

/** A closed line, seen through whatever stands on it, and a little colour inside. */
export class Outline implements Drawn {
  readonly root = new THREE.Group();
  private readonly line = new Line2(new LineGeometry(), new LineMaterial({ ...LOOK, linewidth: 2, opacity: 0.8, depthTest: false }));
  private readonly inside = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ ...LOOK, opacity: 0.13, side: THREE.DoubleSide }));
  private drawn = "";

  constructor(
    private readonly what: Extract<DrawingOf, { kind: "polygon" }>,
    private readonly known: Known,
  ) {
    this.line.frustumCulled = this.inside.frustumCulled = false;
    this.line.renderOrder = 6;
    this.inside.renderOrder = 5;
    this.root.add(this.inside, this.line);
  }

  show(frame: Frame, bodies: Bodies, { scale }: Looking): void {
    const { corners: field, count, height } = this.what;
    const z = height === undefined ? (bodies.planes.ground() ?? 0) : (Array.from(numbers(frame, height)).at(-1) ?? 0);
    const corners = cornersOf(numbers(frame, field), this.known.width(field), count === undefined ? Infinity : (numbers(frame, count)[0] ?? 0), z);
    this.root.visible = corners.length > 1;
    const points = corners.flatMap((corner) => [corner.x, corner.y, corner.z + LIFT * scale]);
    const now = points.map((x) => x.toFixed(4)).join();
    if (!this.root.visible || now === this.drawn) return;
    this.drawn = now;
    this.line.geometry.dispose();
    this.line.geometry = new LineGeometry().setPositions([...points, ...points.slice(0, 3)]);
    const faces = THREE.ShapeUtils.triangulateShape(corners.map(({ x, y }) => new THREE.Vector2(x, y)), []);
    this.inside.geometry.dispose();
    this.inside.geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3)).setIndex(faces.flat());
  }

  hide(): void {}

  recolor(color: THREE.Color): void {
    for (const { material } of [this.line, this.inside]) material.color.copy(color);
  }

  resize(width: number, height: number): void {
    this.line.material.resolution.set(width, height);
  }

  dispose(): void {
    for (const { geometry, material } of [this.line, this.inside]) {
      geometry.dispose();
      material.dispose();
    }
  }
}
