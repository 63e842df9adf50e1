// Shapes as three.js geometries. Sizes as palpate/model/shapes.py names them; axes along z.
// Geometries are of unit size and scaled where they are drawn, so that shapes that differ in size share one.

import * as THREE from "three";
import type { Shape } from "../protocol";
import type { Quality } from "./quality";

/** Colours for bodies that have none of their own, told apart by most eyes, in light and dark. */
const PALETTE = ["#7c93c9", "#d98f5f", "#6fae9f", "#c47f9f", "#9a86c4", "#b7a35b", "#6aa5c4", "#c9796f"];
const PLAIN = new THREE.Color("#c8ccd4");
const MANY = 80; // shapes; a scene with more has rounded ones of fewer triangles

export interface Unit {
  key: string; // equal for shapes that can share a geometry
  scale: THREE.Vector3; // of a mesh: one, it has its size
  make?: () => THREE.BufferGeometry;
  mesh?: number; // instead: its geometry is to be loaded
}

/** A solid as a unit geometry and its scale; null for a plane, which has no end, and for what cannot be drawn. */
export function unit(shape: Shape, shapes = 1): Unit | null {
  const [a = 0.1, b = 0.1, c = 0.1] = shape.size;
  const fine = shapes > MANY ? 0.5 : 1;
  switch (shape.kind) {
    case "sphere":
      return { key: "sphere", scale: new THREE.Vector3(a, a, a), make: () => new THREE.SphereGeometry(1, 40 * fine, 24 * fine) };
    case "capsule": {
      const length = Number((b / a).toFixed(3)); // by its radius: only capsules of one proportion share
      const make = (): THREE.BufferGeometry => new THREE.CapsuleGeometry(1, length, 14 * fine, 40 * fine).rotateX(Math.PI / 2);
      return { key: `capsule ${length}`, scale: new THREE.Vector3(a, a, a), make };
    }
    case "cylinder": {
      const make = (): THREE.BufferGeometry => new THREE.CylinderGeometry(1, 1, 1, 56 * fine).rotateX(Math.PI / 2);
      return { key: "cylinder", scale: new THREE.Vector3(a, a, b), make };
    }
    case "box":
      return { key: "box", scale: new THREE.Vector3(a, b, c), make: () => new THREE.BoxGeometry(1, 1, 1) };
    case "mesh":
      return typeof shape.mesh === "number" ? { key: `mesh ${shape.mesh}`, scale: new THREE.Vector3(1, 1, 1), mesh: shape.mesh } : null;
    default:
      return null;
  }
}

/** Where a shape is in its body. */
export function placement(shape: Shape, scale = new THREE.Vector3(1, 1, 1)): THREE.Matrix4 {
  const [w, x, y, z] = shape.quaternion;
  return new THREE.Matrix4().compose(new THREE.Vector3(...shape.position), new THREE.Quaternion(x, y, z, w), scale);
}

/** Colour and opacity: a shape's own, or one by the number of its body. */
export function paint(shape: Shape, body: number): { color: THREE.Color; opacity: number } {
  if (shape.color) {
    const [r, g, b, opacity] = shape.color;
    return { color: new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace), opacity };
  }
  const color = new THREE.Color(PALETTE[(body + PALETTE.length - 1) % PALETTE.length]);
  if (shape.kind === "mesh") color.lerp(PLAIN, 0.5); // a robot's links: told apart, yet of one machine
  return { color, opacity: shape.kind === "plane" ? 0.3 : 1 };
}

export type BodyMaterial = THREE.MeshStandardMaterial | THREE.MeshLambertMaterial;

/** White; bodies bring their colours. */
export function material(opacity: number, quality: Quality): BodyMaterial {
  const clear = opacity < 1;
  // What is seen through lies over what it coincides with: a second block on the first.
  const look = { opacity, transparent: clear, polygonOffset: clear, polygonOffsetFactor: -1, polygonOffsetUnits: -1 };
  return quality.reflections
    ? new THREE.MeshStandardMaterial({ roughness: 0.52, metalness: 0.04, ...look })
    : new THREE.MeshLambertMaterial(look);
}
