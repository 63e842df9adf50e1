// The bodies of a scene: made from the hello, moved by frames, picked by a ray.

import * as THREE from "three";
import { cssColor } from "../dom";
import type { Hello, Shape } from "../protocol";
import type { Quality } from "./quality";
import { behind, geometry, material, type BodyMaterial } from "./shapes";

export interface Pick {
  body: number;
  point: THREE.Vector3; // world
}

export class Bodies {
  readonly root = new THREE.Group();
  private readonly groups: THREE.Group[] = [];
  private readonly meshes: THREE.Mesh<THREE.BufferGeometry, BodyMaterial>[] = [];

  constructor(
    private readonly hello: Hello,
    private readonly quality: Quality,
  ) {
    hello.bodies.forEach((body, index) => {
      const group = new THREE.Group();
      const seen = body.shapes.filter((shape) => shape.role !== "collision");
      for (const shape of seen.length > 0 ? seen : body.shapes) {
        this.addMesh(group, shape, index);
      }
      this.groups.push(group);
      this.root.add(group);
    });
  }

  private addMesh(group: THREE.Group, shape: Shape, body: number): void {
    const mesh = new THREE.Mesh(geometry(shape), material(shape, body, this.quality));
    mesh.position.fromArray(shape.position);
    const [w, x, y, z] = shape.quaternion;
    mesh.quaternion.set(x, y, z, w);
    mesh.castShadow = mesh.receiveShadow = !mesh.material.transparent;
    mesh.userData = { body, color: mesh.material.color.clone() };
    if (shape.kind === "plane") mesh.add(behind(mesh.material));
    group.add(mesh);
    this.meshes.push(mesh);
  }

  /** Puts every body where `pose` (7 numbers each) says. */
  place(pose: Float64Array): void {
    this.groups.forEach((group, i) => {
      const p = pose.subarray(7 * i, 7 * i + 7);
      group.position.set(p[0]!, p[1]!, p[2]!);
      group.quaternion.set(p[4]!, p[5]!, p[6]!, p[3]!);
    });
    this.root.updateMatrixWorld();
  }

  touchable(body: number): boolean {
    return this.hello.bodies[body]?.touchable ?? false;
  }

  /** What a ray meets first, if that can be touched. */
  pick(ray: THREE.Raycaster): Pick | null {
    const hit = ray.intersectObjects(this.meshes, false)[0];
    const body = hit?.object.userData["body"] as number | undefined;
    return hit && body !== undefined && this.touchable(body) ? { body, point: hit.point.clone() } : null;
  }

  toBody(body: number, point: THREE.Vector3): THREE.Vector3 {
    return this.groups[body]!.worldToLocal(point.clone());
  }

  toWorld(body: number, point: THREE.Vector3): THREE.Vector3 {
    return this.groups[body]!.localToWorld(point.clone());
  }

  /** The middle of what is seen of a body, world. */
  center(body: number): THREE.Vector3 {
    const box = new THREE.Box3().setFromObject(this.groups[body]!, true);
    return box.isEmpty() ? this.groups[body]!.position.clone() : box.getCenter(new THREE.Vector3());
  }

  /** What all bodies take up; planes reach everywhere and do not count. */
  bounds(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const mesh of this.meshes) if (!isPlane(mesh)) box.expandByObject(mesh);
    return box;
  }

  /** Height of a plane that is level and looks up, if there is one; the ground is drawn in its place. */
  takeGround(): number | null {
    let height: number | null = null;
    for (const mesh of this.meshes.filter(isPlane)) {
      const normal = new THREE.Vector3(0, 0, 1).applyQuaternion(mesh.getWorldQuaternion(new THREE.Quaternion()));
      if (normal.z < 0.999) continue;
      height = mesh.getWorldPosition(new THREE.Vector3()).z;
      mesh.visible = false;
      mesh.layers.disableAll(); // a ray does not see it either
    }
    return height;
  }

  /** Tints one body (0: none): a little under the pointer, more in the hand. */
  highlight(body: number, strength: number): void {
    const accent = new THREE.Color(cssColor("--accent"));
    for (const mesh of this.meshes) {
      mesh.material.color.copy(mesh.userData["color"] as THREE.Color);
      if (body > 0 && mesh.userData["body"] === body) mesh.material.color.lerp(accent, strength);
    }
  }

  dispose(): void {
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
  }
}

function isPlane(mesh: THREE.Mesh): boolean {
  return mesh.geometry.type === "PlaneGeometry";
}
