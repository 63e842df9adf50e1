import { expect, test } from "vitest";
import { creased } from "../src/scene/creases";
import { readMesh } from "../src/scene/meshes";

/** A file as palpate/runtime/world/meshes.py writes it. */
function file(vertices: number[][], triangles: number[][]): ArrayBuffer {
  const out = new ArrayBuffer(8 + 12 * (vertices.length + triangles.length));
  new Uint32Array(out, 0, 2).set([vertices.length, triangles.length]);
  new Float32Array(out, 8, 3 * vertices.length).set(vertices.flat());
  new Uint32Array(out, 8 + 12 * vertices.length).set(triangles.flat());
  return out;
}

/** Two squares of edge one that share the edge x = 0, one level, the other folded down by `angle`; no vertex shared. */
function folded(angle: number): { vertices: Float32Array; triangles: Uint32Array } {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const flat = [[-1, 0, 0], [0, 0, 0], [0, 1, 0], [-1, 1, 0]];
  const down = [[0, 0, 0], [c, 0, -s], [c, 1, -s], [0, 1, 0]];
  return { vertices: Float32Array.from([...flat, ...down].flat()), triangles: Uint32Array.from([0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7]) };
}

/** The normal of corner k. */
const normal = (normals: Float32Array, k: number): number[] => Array.from(normals.subarray(3 * k, 3 * k + 3));

test("a gentle bend is shaded smoothly, also where the file repeats its vertices", () => {
  const { vertices, triangles } = folded(0.4);
  const { normals } = creased(vertices, triangles);
  expect(normal(normals, 0)).toEqual([0, 0, 1]); // away from the fold
  expect(Math.abs(normal(normals, 1)[0]!)).toBeGreaterThan(0.1); // at the fold: between the two
  expect(Math.abs(normal(normals, 1)[0]!)).toBeLessThan(Math.sin(0.4));
});

test("a sharp edge stays sharp", () => {
  const { vertices, triangles } = folded(Math.PI / 2);
  const { normals } = creased(vertices, triangles);
  for (let k = 0; k < 6; k++) expect(normal(normals, k)).toEqual([0, 0, 1]);
  for (let k = 6; k < 12; k++) expect(normal(normals, k)[0]).toBeCloseTo(1);
});

test("every normal is of unit length, also of triangles without area", () => {
  const { vertices, triangles } = folded(0.7);
  const bad = Uint32Array.from([...triangles, 0, 0, 1, 2, 2, 2]);
  const { normals } = creased(vertices, bad);
  for (let k = 0; k < bad.length; k++) expect(Math.hypot(...normal(normals, k))).toBeCloseTo(1, 5);
});

test("a mesh file is read as its triangles", () => {
  const geometry = readMesh(file([[0, 0, 0], [1, 0, 0], [0, 1, 0], [9, 9, 9]], [[0, 1, 2]]));
  expect(Array.from(geometry.getAttribute("position").array)).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0]);
  expect(Array.from(geometry.getAttribute("normal").array)).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1]);
});

test("a mesh file that is cut short, empty or makes no sense is refused", () => {
  const whole = file([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]);
  expect(() => readMesh(whole.slice(0, -4))).toThrow("length");
  expect(() => readMesh(new ArrayBuffer(3))).toThrow("length");
  expect(() => readMesh(file([[0, 0, 0]], [[0, 1, 0]]))).toThrow("vertex");
});
