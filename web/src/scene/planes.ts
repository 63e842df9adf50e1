// Planes have no end: what is drawn of them follows the scene. A level one is the ground (ground.ts). Of the others a
// square near the scene is shown, a slope as the top of a slab. From behind one looks and grabs through them.

import * as THREE from "three";
import type { Quality } from "./quality";
import { material, type BodyMaterial } from "./shapes";

const LEVEL = 0.999; // z of the normal above which a plane is the ground
const SLOPE = 0.2; // and above which it is a slope; below, a wall or a ceiling
const SLAB_EDGE = 4; // of a slope, by the radius of the scene
const WALL_EDGE = 1.8;
const THICKNESS = 0.03; // of a slab, by its edge
const WALL_OPACITY = 0.35; // at most: a wall is large, and text may stand before it
const MOST_CUTS = 6; // planes by which one is cut off

type Role = "ground" | "slope" | "wall";

/** One plane: the square that is drawn is of unit size, scaled by the scene. */
class Patch {
  readonly root = new THREE.Group();
  readonly front: THREE.Mesh<THREE.BufferGeometry, BodyMaterial>;
  readonly X = new THREE.Matrix4(); // of the plane in the world
  role: Role = "wall";
  private readonly slab: THREE.Mesh;
  private readonly materials: THREE.Material[];
  private readonly shift = new THREE.Matrix4(); // of the square in the plane

  constructor(
    readonly body: number,
    readonly inBody: THREE.Matrix4,
    color: THREE.Color,
    private readonly opacity: number,
    quality: Quality,
  ) {
    const square = new THREE.PlaneGeometry(1, 1);
    const face = material(opacity, quality);
    face.color.copy(color);
    const faint = { color, transparent: true, depthWrite: false };
    const back = new THREE.MeshBasicMaterial({ ...faint, opacity: 0.08, side: THREE.BackSide });
    const line = new THREE.LineBasicMaterial({ ...faint, opacity: 0.7 });
    const side = new THREE.MeshBasicMaterial({ ...faint, opacity: 0.35 });
    const none = new THREE.MeshBasicMaterial({ visible: false });
    this.front = new THREE.Mesh(square, face);
    this.front.receiveShadow = true;
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => new THREE.Vector3(0.5 * x!, 0.5 * y!, 0));
    const edge = new THREE.LineLoop(new THREE.BufferGeometry().setFromPoints(corners), line);
    const below = new THREE.BoxGeometry(1, 1, THICKNESS).translate(0, 0, -0.5 * THICKNESS);
    this.slab = new THREE.Mesh(below, [side, side, side, side, none, side]); // its top is the front
    this.root.add(this.front, new THREE.Mesh(square, back), edge, this.slab);
    this.root.matrixAutoUpdate = false;
    this.materials = [face, back, line, side];
  }

  place(frame: THREE.Matrix4): void {
    this.X.multiplyMatrices(frame, this.inBody);
    const z = this.normal().z;
    this.role = z > LEVEL ? "ground" : z > SLOPE ? "slope" : "wall";
    this.root.matrix.multiplyMatrices(this.X, this.shift);
    this.root.updateMatrixWorld(true);
  }

  normal(): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixColumn(this.X, 2).normalize();
  }

  plane(): THREE.Plane {
    return new THREE.Plane().setFromNormalAndCoplanarPoint(this.normal(), new THREE.Vector3().setFromMatrixPosition(this.X));
  }

  /** Shows the square nearest to `center`, with two of its edges level. */
  fit(center: THREE.Vector3, radius: number): void {
    const size = (this.role === "slope" ? SLAB_EDGE : WALL_EDGE) * radius;
    const near = center.clone().applyMatrix4(this.X.clone().invert()).setZ(0);
    const up = new THREE.Vector3(0, 0, 1).transformDirection(this.X.clone().invert()); // in the axes of the plane
    const roll = Math.hypot(up.x, up.y) > 1e-6 ? Math.atan2(-up.x, up.y) : 0;
    this.shift.makeRotationZ(roll).scale(new THREE.Vector3(size, size, size)).setPosition(near);
    const face = this.front.material;
    face.opacity = this.role === "wall" ? Math.min(WALL_OPACITY, this.opacity) : this.opacity;
    face.transparent = face.opacity < 1;
    face.depthWrite = !face.transparent;
    this.slab.visible = this.role === "slope";
    this.root.visible = this.role !== "ground";
    this.root.matrix.multiplyMatrices(this.X, this.shift);
    this.root.updateMatrixWorld(true);
  }

  /** What lies behind one of these is not shown. */
  cut(by: THREE.Plane[]): void {
    for (const one of this.materials) one.clippingPlanes = by;
  }

  /** Corners of the slab, world. */
  corners(): THREE.Vector3[] {
    const all = [-0.5, 0.5].flatMap((x) => [-0.5, 0.5].flatMap((y) => [-THICKNESS, 0].map((z) => new THREE.Vector3(x, y, z))));
    return all.map((corner) => corner.applyMatrix4(this.root.matrix));
  }

  dispose(): void {
    this.root.traverse((part) => part instanceof THREE.Mesh && (part.geometry as THREE.BufferGeometry).dispose());
    for (const one of this.materials) one.dispose();
  }
}

export class Planes {
  readonly root = new THREE.Group();
  private readonly patches: Patch[] = [];

  constructor(private readonly quality: Quality) {}

  add(body: number, inBody: THREE.Matrix4, color: THREE.Color, opacity: number): void {
    const patch = new Patch(body, inBody, color, opacity, this.quality);
    this.patches.push(patch);
    this.root.add(patch.root);
  }

  place(frames: THREE.Matrix4[]): void {
    for (const patch of this.patches) patch.place(frames[patch.body]!);
  }

  /** Shows what is near a ball of `radius` around `center`. */
  fit(center: THREE.Vector3, radius: number): void {
    for (const patch of this.patches) patch.fit(center, radius);
    for (const patch of this.patches) {
      // Solid is what lies behind any of them: there nothing of another is seen.
      const others = this.patches.filter((other) => other !== patch && other.normal().dot(patch.normal()) < LEVEL);
      patch.cut(others.slice(0, MOST_CUTS).map((other) => other.plane()));
    }
  }

  /** Height of the ground, if there is one: of the highest level plane. */
  ground(): number | null {
    const heights = this.patches.filter(({ role }) => role === "ground").map(({ X }) => new THREE.Vector3().setFromMatrixPosition(X).z);
    return heights.length > 0 ? Math.max(...heights) : null;
  }

  /** All of them, world: behind each it is solid. */
  solid(): THREE.Plane[] {
    return this.patches.map((patch) => patch.plane());
  }

  /** Corners of the slabs of slopes, world: they belong to what is looked at. */
  slopes(): THREE.Vector3[] {
    return this.patches.filter(({ role }) => role === "slope").flatMap((patch) => patch.corners());
  }

  /** What stops a ray that comes from in front. The ground does not: nothing is below it. */
  fronts(): THREE.Mesh[] {
    return this.patches.filter(({ role }) => role !== "ground").map(({ front }) => front);
  }

  dispose(): void {
    for (const patch of this.patches) patch.dispose();
  }
}
