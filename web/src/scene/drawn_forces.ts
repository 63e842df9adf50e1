// Values at places: columns that stand there, and arrows. How long one is says how large its value is.

import * as THREE from "three";
import { numbers } from "../decode";
import { row } from "../devices";
import type { Frame } from "../frame.gen";
import type { DrawingOf } from "../protocol";
import { plain } from "../words";
import type { Bodies } from "./bodies";
import type { Drawn, Known } from "./drawings";
import { Tag } from "./drawn_words";
import type { Looking } from "./hands";

const TALLEST = 0.28; // column of a full value, in radii of the scene
const LONGEST = 0.55; // and arrow
const THICK = 0.0042; // radius of a column or of a shaft, in distances of the eye
const LEAST = 0.01; // share of a full value below which there is nothing to draw
const MOST = 1.5; // and the largest that is drawn larger
const Z = new THREE.Vector3(0, 0, 1);
const LOOK = { transparent: true, opacity: 0.8, depthTest: false, depthWrite: false, toneMapped: false };

/** What is drawn of a value, in shares of a full one; 0: nothing. */
export function shareOf(value: number, full: number): number {
  const share = full > 0 ? Math.abs(value) / full : 0;
  return share > LEAST ? Math.min(MOST, share) : 0;
}

/** The length of row k of values that come in rows of `width`. */
export function sizeOf(values: ArrayLike<number>, k: number, width: number): number {
  return width > 1 ? Math.hypot(...row(values, k, width)) : Math.abs(values[k] ?? 0);
}

function many(geometry: THREE.BufferGeometry, look: THREE.Material, count: number): THREE.InstancedMesh {
  const mesh = new THREE.InstancedMesh(geometry, look, Math.max(1, count));
  mesh.frustumCulled = false;
  mesh.renderOrder = 8;
  mesh.count = 0;
  return mesh;
}

/** A disc at each place, and on it a column as tall as its value is large. */
export class Columns implements Drawn {
  readonly root = new THREE.Group();
  private readonly look = new THREE.MeshBasicMaterial(LOOK);
  private readonly foot = new THREE.MeshBasicMaterial({ ...LOOK, opacity: 0.35, side: THREE.DoubleSide });
  private columns: THREE.InstancedMesh | null = null;
  private feet: THREE.InstancedMesh | null = null;

  constructor(
    private readonly what: Extract<DrawingOf, { kind: "columns" }>,
    private readonly known: Known,
  ) {}

  show(frame: Frame, _bodies: Bodies, { eye, scale }: Looking): void {
    const { at, values, full = 1 } = this.what;
    const [places, given] = [numbers(frame, at), numbers(frame, values)];
    const n = Math.floor(places.length / 3);
    if (!this.columns) this.build(n);
    const [X, place, still] = [new THREE.Matrix4(), new THREE.Vector3(), new THREE.Quaternion()];
    let count = 0;
    for (let k = 0; k < n; k++) {
      place.fromArray(row(places, k, 3));
      const tall = TALLEST * scale * shareOf(sizeOf(given, k, this.known.width(values)), full);
      if (!Number.isFinite(place.lengthSq() + tall)) continue;
      const thick = THICK * eye.distanceTo(place);
      this.columns!.setMatrixAt(count, X.compose(place, still, new THREE.Vector3(thick, thick, Math.max(tall, 1e-9))));
      this.feet!.setMatrixAt(count, X.compose(place, still, new THREE.Vector3(1.9 * thick, 1.9 * thick, 1)));
      count += 1;
    }
    for (const mesh of [this.columns!, this.feet!]) {
      mesh.count = count;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  private build(count: number): void {
    this.columns = many(new THREE.CylinderGeometry(1, 1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5), this.look, count);
    this.feet = many(new THREE.CircleGeometry(1, 20), this.foot, count);
    this.root.add(this.feet, this.columns);
  }

  hide(): void {}

  recolor(color: THREE.Color): void {
    for (const look of [this.look, this.foot]) look.color.copy(color);
  }

  dispose(): void {
    for (const mesh of [this.columns, this.feet]) {
      mesh?.geometry.dispose();
      mesh?.dispose();
    }
    for (const look of [this.look, this.foot]) look.dispose();
  }
}

/** Where an arrow begins, and where it goes. */
export interface Flight {
  from: THREE.Vector3;
  way: THREE.Vector3; // [m]
  value: number;
}

/**
 * The arrows of a frame, in a scene of radius `scale` [m]. A vector of the world begins at its place; a number along an axis
 * of a body ends there: that body presses.
 */
export function flights(what: Extract<DrawingOf, { kind: "arrows" }>, known: Pick<Known, "body" | "width">, frame: Frame, bodies: Pick<Bodies, "toWorld">, scale: number): Flight[] {
  const { at, bodies: names = [], axes = [], values: field, full = 1 } = what;
  const [values, width, places] = [numbers(frame, field), known.width(field), at === undefined ? [] : numbers(frame, at)];
  const n = at === undefined ? names.length : Math.floor(places.length / 3);
  return Array.from({ length: n }, (_, k) => {
    const body = names[k] === undefined ? -1 : known.body(names[k]);
    const place = body >= 0 ? bodies.toWorld(body, new THREE.Vector3()) : new THREE.Vector3().fromArray(row(places, k, 3));
    const value = sizeOf(values, k, width);
    const long = LONGEST * scale * shareOf(value, full);
    if (width > 1) return { from: place, way: new THREE.Vector3().fromArray(row(values, k, 3)).setLength(long), value };
    const way = bodies.toWorld(body, new THREE.Vector3(...(axes[k] ?? [0, 0, 1]))).sub(place).setLength(long * Math.sign(values[k] ?? 0));
    return { from: place.sub(way), way, value };
  }).filter(({ from, way }) => way.lengthSq() > 0 && Number.isFinite(from.lengthSq() + way.lengthSq()));
}

export class Arrows implements Drawn {
  readonly root = new THREE.Group();
  private readonly look = new THREE.MeshBasicMaterial({ ...LOOK, opacity: 0.95 });
  private readonly tags: Tag[] = [];
  private shafts: THREE.InstancedMesh | null = null;
  private heads: THREE.InstancedMesh | null = null;
  private ink = "";

  constructor(
    private readonly what: Extract<DrawingOf, { kind: "arrows" }>,
    private readonly known: Known,
  ) {}

  show(frame: Frame, bodies: Bodies, { eye, scale, toPixels, worn }: Looking): void {
    const all = flights(this.what, this.known, frame, bodies, scale);
    if (!this.shafts) this.build(numbers(frame, this.what.values).length);
    const X = new THREE.Matrix4();
    all.forEach(({ from, way, value }, k) => {
      const thick = THICK * eye.distanceTo(from);
      const head = Math.min(5 * thick, 0.6 * way.length());
      const turn = new THREE.Quaternion().setFromUnitVectors(Z, way.clone().normalize());
      this.shafts!.setMatrixAt(k, X.compose(from, turn, new THREE.Vector3(0.55 * thick, 0.55 * thick, way.length() - 0.9 * head)));
      this.heads!.setMatrixAt(k, X.compose(from.clone().add(way), turn, new THREE.Vector3(1.6 * thick, 1.6 * thick, head)));
      this.label(k, value, worn ? null : toPixels(from));
    });
    this.tags.slice(all.length).forEach((tag) => tag.hide());
    for (const mesh of [this.shafts!, this.heads!]) {
      mesh.count = all.length;
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  /** What it is worth, where it begins. */
  private label(k: number, value: number, at: THREE.Vector2 | null): void {
    const { unit } = this.what;
    if (!unit || !at) return this.tags[k]?.hide();
    const tag = (this.tags[k] ??= new Tag(this.known.stage, "drawn-value"));
    tag.element.style.setProperty("--color", this.ink);
    tag.say(`${plain(value, value < 10 ? 1 : 0)} ${unit}`);
    tag.put(at, "-50%", "calc(-100% - 6px)");
  }

  private build(count: number): void {
    this.shafts = many(new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5), this.look, count);
    this.heads = many(new THREE.ConeGeometry(1, 1, 16).rotateX(Math.PI / 2).translate(0, 0, -0.5), this.look, count);
    this.root.add(this.shafts, this.heads);
  }

  hide(): void {
    for (const tag of this.tags) tag.hide();
  }

  recolor(color: THREE.Color): void {
    this.look.color.copy(color);
    this.ink = `#${color.getHexString()}`;
  }

  dispose(): void {
    this.hide();
    for (const mesh of [this.shafts, this.heads]) {
      mesh?.geometry.dispose();
      mesh?.dispose();
    }
    this.look.dispose();
  }
}
