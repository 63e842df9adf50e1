// The bodies of a scene: made from the hello, moved by frames, picked by a ray.
// All solids of one geometry are one mesh with many instances: hundreds of bodies are a handful of draw calls.

import * as THREE from "three";
import { cssColor } from "../dom";
import type { Hello, Shape } from "../protocol";
import { Planes } from "./planes";
import type { Quality } from "./quality";
import { material, paint, placement, unit } from "./shapes";

export interface Pick {
  body: number;
  point: THREE.Vector3; // world
}

/** One drawn solid. */
interface Instance {
  body: number;
  inBody: THREE.Matrix4; // its unit geometry in the body's frame
  color: THREE.Color;
}

/** Solids that share a geometry and an opacity. */
interface Batch {
  mesh: THREE.InstancedMesh;
  instances: Instance[];
}

export class Bodies {
  readonly root = new THREE.Group();
  readonly planes: Planes;
  private readonly frames: THREE.Matrix4[]; // of each body in the world
  private readonly batches: Batch[] = [];
  private readonly tinted: number[] = [];

  constructor(
    private readonly hello: Hello,
    quality: Quality,
  ) {
    this.frames = hello.bodies.map(() => new THREE.Matrix4());
    this.planes = new Planes(quality);
    this.root.add(this.planes.root);
    const all = hello.bodies.flatMap((body, index) => seen(body.shapes).map((shape) => ({ body: index, shape })));
    const groups = new Map<string, { instances: Instance[]; geometry: THREE.BufferGeometry; opacity: number }>();
    for (const { body, shape } of all) {
      const look = paint(shape, body);
      if (shape.kind === "plane") this.planes.add(body, placement(shape), look.color, look.opacity);
      const solid = unit(shape, all.length);
      if (!solid) continue;
      const key = `${solid.key}, ${look.opacity}`;
      const group = groups.get(key) ?? { instances: [], geometry: solid.make(), opacity: look.opacity };
      group.instances.push({ body, inBody: placement(shape, solid.scale), color: look.color });
      groups.set(key, group);
    }
    for (const { instances, geometry, opacity } of groups.values()) this.addBatch(instances, geometry, material(opacity, quality));
  }

  private addBatch(instances: Instance[], geometry: THREE.BufferGeometry, look: THREE.Material): void {
    const mesh = new THREE.InstancedMesh(geometry, look, instances.length);
    instances.forEach(({ color }, i) => mesh.setColorAt(i, color));
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false; // they move: what they take up together is not worth finding out
    mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity); // for rays; each instance has its own besides
    mesh.castShadow = mesh.receiveShadow = !look.transparent;
    geometry.computeBoundingBox();
    this.root.add(mesh);
    this.batches.push({ mesh, instances });
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
    const X = new THREE.Matrix4();
    for (const { mesh, instances } of this.batches) {
      instances.forEach(({ body, inBody }, i) => mesh.setMatrixAt(i, X.multiplyMatrices(this.frames[body]!, inBody)));
      mesh.instanceMatrix.needsUpdate = true;
    }
    this.planes.place(this.frames);
  }

  touchable(body: number): boolean {
    return this.hello.bodies[body]?.touchable ?? false;
  }

  /** What a ray meets first, if that can be touched. */
  pick(ray: THREE.Raycaster): Pick | null {
    const hit = ray.intersectObjects([...this.batches.map(({ mesh }) => mesh), ...this.planes.fronts()], false)[0];
    const batch = this.batches.find(({ mesh }) => mesh === hit?.object);
    const body = batch?.instances[hit?.instanceId ?? -1]?.body;
    return hit && body !== undefined && this.touchable(body) ? { body, point: hit.point.clone() } : null;
  }

  toBody(body: number, point: THREE.Vector3): THREE.Vector3 {
    return point.clone().applyMatrix4(this.frames[body]!.clone().invert());
  }

  toWorld(body: number, point: THREE.Vector3): THREE.Vector3 {
    return point.clone().applyMatrix4(this.frames[body]!);
  }

  /** Corners of the boxes around the solids of each body that has any, world; planes reach everywhere and have none. */
  corners(): Map<number, THREE.Vector3[]> {
    const found = new Map<number, THREE.Vector3[]>();
    for (const { mesh, instances } of this.batches) {
      const { min, max } = mesh.geometry.boundingBox!;
      for (const { body, inBody } of instances) {
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
    const corners = this.corners().get(body);
    if (!corners) return new THREE.Vector3().setFromMatrixPosition(this.frames[body]!);
    return new THREE.Box3().setFromPoints(corners).getCenter(new THREE.Vector3());
  }

  /** Tints one body (0: none): a little under the pointer, more in the hand. */
  highlight(body: number, strength: number): void {
    const accent = new THREE.Color(cssColor("--accent"));
    const changed = new Set([...this.tinted.splice(0), body]);
    for (const { mesh, instances } of this.batches) {
      instances.forEach((instance, i) => {
        if (!changed.has(instance.body)) return;
        const tint = body > 0 && instance.body === body ? strength : 0;
        mesh.setColorAt(i, instance.color.clone().lerp(accent, tint));
        mesh.instanceColor!.needsUpdate = true;
      });
    }
    if (body > 0) this.tinted.push(body);
  }

  dispose(): void {
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
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
