// The bodies of a scene: made from the hello, moved by frames, picked by a ray.
// All solids of one geometry are one mesh with many instances: hundreds of bodies are a handful of draw calls.
// Meshes come later, when they have been loaded. A body that waits to be added (parked.ts) is not seen. One that fades
// (fading.ts) shares its geometry with no other.

import * as THREE from "three";
import { cssColor } from "../dom";
import type { Hello, Shape } from "../protocol";
import { fading } from "./fading";
import { loadMesh } from "./meshes";
import { Planes } from "./planes";
import type { Quality } from "./quality";
import { material, paint, placement, unit, type Unit } from "./shapes";

const SPECK = new THREE.Matrix4().makeScale(1e-9, 1e-9, 1e-9); // of what is not seen; not zero: rays need an inverse

export interface Pick {
  body: number;
  point: THREE.Vector3; // world
  normal: THREE.Vector3; // of the surface there, outward, world
  movable: boolean; // an obstacle, which is put elsewhere; otherwise it can be touched
}

/** One drawn solid. */
interface Instance {
  body: number;
  inBody: THREE.Matrix4; // its unit geometry in the body's frame
  color: THREE.Color;
}

/** Solids that share a geometry and an opacity; of a mesh, the geometry is yet to come. */
interface Group {
  instances: Instance[];
  solid: Unit;
  opacity: number;
  alone: number | undefined; // the body that fades
}

/** A group as it is drawn. */
interface Batch {
  mesh: THREE.InstancedMesh<THREE.BufferGeometry, THREE.Material>;
  instances: Instance[];
  opacity: number;
  alone: number | undefined;
}

export class Bodies {
  readonly root = new THREE.Group();
  readonly planes: Planes;
  private readonly frames: THREE.Matrix4[]; // of each body in the world
  private readonly batches: Batch[] = [];
  private readonly parked: boolean[]; // bodies that wait
  private readonly faded = new Set<number>(); // bodies of which nothing is seen
  private tinted = new Map<number, number>();
  private gone = false;

  /** `ready` is called when meshes have come. */
  constructor(
    private readonly hello: Hello,
    quality: Quality,
    ready: () => void = () => undefined,
    load: (mesh: number) => Promise<THREE.BufferGeometry> = loadMesh,
  ) {
    this.frames = hello.bodies.map(() => new THREE.Matrix4());
    this.parked = hello.bodies.map(({ parked }) => parked ?? false);
    this.planes = new Planes(quality);
    this.root.add(this.planes.root);
    const all = hello.bodies.flatMap((body, index) => seen(body.shapes).map((shape) => ({ body: index, shape })));
    const groups = new Map<string, Group>();
    const fade = fading(hello);
    for (const { body, shape } of all) {
      const look = paint(shape, body);
      if (shape.kind === "plane") this.planes.add(body, placement(shape), look.color, look.opacity);
      const solid = unit(shape, all.length);
      if (!solid) continue;
      const alone = fade.has(body) ? body : undefined;
      const key = `${solid.key}, ${look.opacity}, ${alone}`;
      const group = groups.get(key) ?? { instances: [], solid, opacity: look.opacity, alone };
      group.instances.push({ body, inBody: placement(shape, solid.scale), color: look.color });
      groups.set(key, group);
    }
    const awaited = [];
    const meshes = new Map<number, Promise<THREE.BufferGeometry>>();
    for (const group of groups.values()) {
      const { solid, opacity, alone } = group;
      const look = material(opacity, quality);
      if (alone !== undefined && hello.bodies[alone]!.fades) look.transparent = true;
      if (solid.make) this.addBatch(group, solid.make(), look);
      if (solid.mesh === undefined) continue;
      look.side = THREE.DoubleSide; // files do not agree on which way round a triangle goes
      look.shadowSide = THREE.BackSide; // fronts would throw specks of shadow on themselves
      const loading = meshes.get(solid.mesh) ?? load(solid.mesh);
      meshes.set(solid.mesh, loading);
      awaited.push(loading.then((geometry) => this.gone || this.addBatch(group, geometry, look)));
    }
    if (awaited.length > 0) void Promise.allSettled(awaited).then(() => this.gone || ready());
  }

  private addBatch({ instances, opacity, alone }: Group, geometry: THREE.BufferGeometry, look: THREE.Material): void {
    const mesh = new THREE.InstancedMesh(geometry, look, instances.length);
    instances.forEach(({ color }, i) => mesh.setColorAt(i, color));
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false; // they move: what they take up together is not worth finding out
    mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // for rays; each instance has its own besides
    mesh.castShadow = mesh.receiveShadow = opacity === 1;
    geometry.computeBoundingBox();
    this.root.add(mesh);
    this.batches.push({ mesh, instances, opacity, alone });
    this.arrange(this.batches.at(-1)!);
  }

  /** Notes which bodies wait, as a frame says it; seen when they are placed next. */
  park(parked: ArrayLike<number | boolean>): void {
    this.parked.forEach((_, i) => (this.parked[i] = Boolean(parked[i])));
  }

  /** How much is seen of each body that fades, 0 .. 1. */
  fade(share: (body: number) => number): void {
    for (const { mesh, opacity, alone } of this.batches) {
      if (alone === undefined) continue;
      const seen = share(alone);
      mesh.material.opacity = opacity * seen;
      mesh.visible = seen > 0;
      mesh.castShadow = opacity * seen === 1;
      if (seen > 0) this.faded.delete(alone);
      else this.faded.add(alone);
    }
  }

  /** Puts every body where `pose` (7 numbers each) says. */
  place(pose: ArrayLike<number>): void {
    const p = new THREE.Vector3();
    const q = new THREE.Quaternion();
    const one = new THREE.Vector3(1, 1, 1);
    this.frames.forEach((frame, i) => {
      const at = 7 * i;
      frame.compose(p.set(pose[at]!, pose[at + 1]!, pose[at + 2]!), q.set(pose[at + 4]!, pose[at + 5]!, pose[at + 6]!, pose[at + 3]!), one);
    });
    for (const batch of this.batches) this.arrange(batch);
    this.planes.place(this.frames);
  }

  /** Puts the instances of a batch where their bodies are. */
  private arrange({ mesh, instances }: Batch): void {
    const X = new THREE.Matrix4();
    instances.forEach(({ body, inBody }, i) => {
      X.multiplyMatrices(this.frames[body]!, inBody);
      mesh.setMatrixAt(i, this.parked[body] ? X.multiply(SPECK) : X);
    });
    mesh.instanceMatrix.needsUpdate = true;
  }

  touchable(body: number): boolean {
    return this.hello.bodies[body]?.touchable ?? false;
  }

  movable(body: number): boolean {
    return this.hello.bodies[body]?.movable ?? false;
  }

  /** What a ray meets first, if that can be touched or moved. */
  pick(ray: THREE.Raycaster): Pick | null {
    const hits = ray.intersectObjects([...this.batches.map(({ mesh }) => mesh), ...this.planes.fronts()], false);
    const hit = hits.find((one) => this.seen(this.instance(one)?.body ?? 0));
    const found = hit ? this.understand(hit) : null;
    return found && (this.touchable(found.body) || found.movable) ? found : null;
  }

  /** Where a ray meets this body first, whatever else is in its way. */
  surface(body: number, ray: THREE.Raycaster): Pick | null {
    const own = this.batches.filter(({ instances }) => instances.some((instance) => instance.body === body));
    for (const hit of ray.intersectObjects(own.map(({ mesh }) => mesh), false)) {
      const found = this.understand(hit);
      if (found?.body === body) return found;
    }
    return null;
  }

  /** Whether anything is seen of a body, as far as that depends on itself. */
  private seen(body: number): boolean {
    return !this.parked[body] && !this.faded.has(body);
  }

  private instance(hit: THREE.Intersection): Instance | undefined {
    return this.batches.find(({ mesh }) => mesh === hit.object)?.instances[hit.instanceId ?? -1];
  }

  /** Which body a ray has met; null for a plane, and for what waits to be added. */
  private understand(hit: THREE.Intersection): Pick | null {
    const instance = this.instance(hit);
    if (!instance || !this.seen(instance.body)) return null;
    const { body, inBody } = instance;
    const X = new THREE.Matrix4().multiplyMatrices(this.frames[body]!, inBody);
    const across = hit.normal ?? hit.face!.normal; // in the axes of the geometry
    const normal = across.clone().applyNormalMatrix(new THREE.Matrix3().getNormalMatrix(X)).normalize();
    return { body, point: hit.point.clone(), normal, movable: this.movable(body) };
  }

  /** Position and quaternion (w, x, y, z) of a body. */
  pose(body: number): number[] {
    const p = new THREE.Vector3();
    const q = new THREE.Quaternion();
    this.frames[body]!.decompose(p, q, new THREE.Vector3());
    return [...p.toArray(), q.w, q.x, q.y, q.z];
  }

  toBody(body: number, point: THREE.Vector3): THREE.Vector3 {
    return point.clone().applyMatrix4(this.frames[body]!.clone().invert());
  }

  toWorld(body: number, point: THREE.Vector3): THREE.Vector3 {
    return point.clone().applyMatrix4(this.frames[body]!);
  }

  /** Corners of the boxes around the solids of each body that has any, or of one, world; planes reach everywhere and have none. */
  corners(only?: number): Map<number, THREE.Vector3[]> {
    const found = new Map<number, THREE.Vector3[]>();
    for (const { mesh, instances } of this.batches) {
      const { min, max } = mesh.geometry.boundingBox!;
      for (const { body, inBody } of instances) {
        if (this.parked[body] || (only !== undefined && body !== only)) continue;
        const X = new THREE.Matrix4().multiplyMatrices(this.frames[body]!, inBody);
        const list = found.get(body) ?? [];
        for (const x of [min.x, max.x]) for (const y of [min.y, max.y]) for (const z of [min.z, max.z]) list.push(new THREE.Vector3(x, y, z).applyMatrix4(X));
        found.set(body, list);
      }
    }
    return found;
  }

  /** The middle of what is seen of a body, world. */
  center(body: number): THREE.Vector3 {
    const corners = this.corners(body).get(body);
    if (!corners) return new THREE.Vector3().setFromMatrixPosition(this.frames[body]!);
    return new THREE.Box3().setFromPoints(corners).getCenter(new THREE.Vector3());
  }

  /** Tints bodies, each this much: a little under the pointer, more in a hand. */
  highlight(tints: Map<number, number>): void {
    const accent = new THREE.Color(cssColor("--accent"));
    const changed = new Set([...this.tinted.keys(), ...tints.keys()]);
    for (const { mesh, instances } of this.batches) {
      instances.forEach((instance, i) => {
        if (!changed.has(instance.body)) return;
        mesh.setColorAt(i, instance.color.clone().lerp(accent, tints.get(instance.body) ?? 0));
        mesh.instanceColor!.needsUpdate = true;
      });
    }
    this.tinted = new Map(tints);
  }

  dispose(): void {
    this.gone = true;
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      mesh.material.dispose();
      mesh.dispose();
    }
    this.planes.dispose();
  }
}

/** What is drawn of a body: not what is only touched, unless there is nothing else. */
function seen(shapes: Shape[]): Shape[] {
  const visible = shapes.filter((shape) => shape.role !== "collision");
  return visible.length > 0 ? visible : shapes;
}
