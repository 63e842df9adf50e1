// Shapes as three.js meshes. Sizes as palpate/model/shapes.py names them; axes along z.

import * as THREE from "three";
import type { Shape } from "../protocol";
import type { Quality } from "./quality";

const PLANE_EDGE = 1.6; // a plane that is no ground is shown as a square of this size [m]

/** Colours for bodies that have none of their own, told apart by most eyes, in light and dark. */
const PALETTE = ["#7c93c9", "#d98f5f", "#6fae9f", "#c47f9f", "#9a86c4", "#b7a35b", "#6aa5c4", "#c9796f"];

export function geometry(shape: Shape): THREE.BufferGeometry {
  const [a = 0.1, b = 0.1, c = 0.1] = shape.size;
  switch (shape.kind) {
    case "sphere":
      return new THREE.SphereGeometry(a, 40, 24);
    case "capsule":
      return new THREE.CapsuleGeometry(a, b, 14, 40).rotateX(Math.PI / 2);
    case "cylinder":
      return new THREE.CylinderGeometry(a, a, b, 56).rotateX(Math.PI / 2);
    case "box":
      return new THREE.BoxGeometry(a, b, c);
    case "plane":
      return new THREE.PlaneGeometry(PLANE_EDGE, PLANE_EDGE);
  }
}

export type BodyMaterial = THREE.MeshStandardMaterial | THREE.MeshLambertMaterial;

export function material(shape: Shape, body: number, quality: Quality): BodyMaterial {
  const made = quality.reflections
    ? new THREE.MeshStandardMaterial({ roughness: 0.52, metalness: 0.04 })
    : new THREE.MeshLambertMaterial();
  if (shape.color) {
    const [r, g, b, a] = shape.color;
    made.color.setRGB(r, g, b, THREE.SRGBColorSpace);
    made.opacity = a;
  } else {
    made.color.set(PALETTE[(body + PALETTE.length - 1) % PALETTE.length] as string);
    if (shape.kind === "plane") made.opacity = 0.3;
  }
  made.transparent = made.opacity < 1;
  return made;
}

/** The edge of a plane, and a breath of it from behind, where its front is not drawn: one looks and grabs through it. */
export function behind(front: BodyMaterial): THREE.Object3D {
  const h = PLANE_EDGE / 2;
  const corners = [[-h, -h], [h, -h], [h, h], [-h, h]].map(([x, y]) => new THREE.Vector3(x, y, 0));
  const { color } = front;
  const edge = new THREE.LineLoop(
    new THREE.BufferGeometry().setFromPoints(corners),
    new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.7 }),
  );
  const back = new THREE.MeshBasicMaterial({ color, transparent: true, opacity: 0.08, side: THREE.BackSide, depthWrite: false });
  return new THREE.Group().add(edge, new THREE.Mesh(new THREE.PlaneGeometry(PLANE_EDGE, PLANE_EDGE), back));
}
