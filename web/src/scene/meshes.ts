// Meshes of a scene: files that the server has at /mesh/NUMBER, as palpate/runtime/world/meshes.py writes them, little-endian:
// vertices n and triangles m (uint32 each), then n x 3 float32 [m], then m x 3 uint32.

import * as THREE from "three";
import { creased } from "./creases";

/** The triangles of a file, shaded; an Error if it is cut short or its triangles have no such vertices. */
export function readMesh(data: ArrayBuffer): THREE.BufferGeometry {
  const [n = 0, m = 0] = data.byteLength >= 8 ? new Uint32Array(data, 0, 2) : [];
  if (data.byteLength !== 8 + 12 * (n + m)) throw new Error("a mesh of another length than it says");
  const vertices = new Float32Array(data, 8, 3 * n);
  const triangles = new Uint32Array(data, 8 + 12 * n, 3 * m);
  if (triangles.some((i) => i >= n)) throw new Error("a mesh with a triangle of no vertex");
  const { positions, normals } = creased(vertices, triangles);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  return geometry;
}

export async function loadMesh(number: number): Promise<THREE.BufferGeometry> {
  const answer = await fetch(`./mesh/${number}`);
  if (!answer.ok) throw new Error(`mesh ${number}: ${answer.status}`);
  return readMesh(await answer.arrayBuffer());
}
