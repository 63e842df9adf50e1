import * as THREE from "three";
import { expect, test } from "vitest";
import { ballAround, below, stand, viewFrom, worthSeeing, type Sight } from "../src/scene/framing";
import { gridStep } from "../src/scene/ground";

/** A cube of this edge around a point. */
function cube(x: number, y: number, z: number, edge = 0.1): THREE.Vector3[] {
  const h = edge / 2;
  return [-h, h].flatMap((a) => [-h, h].flatMap((b) => [-h, h].map((c) => new THREE.Vector3(x + a, y + b, z + c))));
}

const sight = (corners: THREE.Vector3[], touchable = true): Sight => ({ touchable, corners });

test.each([
  ["an arm", [...cube(0, 0, 0.8, 1.5)], 0.4, 0.25],
  ["a coin", cube(0, 0, 0.002, 0.004), 0.4, 0.25],
  ["a row", [...cube(0, 0, 0), ...cube(3, 0, 0)], 0.4, 0.25],
  ["far from the origin", cube(120, -80, 7, 0.5), 0.2, 0.3],
])("%s is just in the picture", (_name, points, tanX, tanY) => {
  const { position, target } = stand(points, viewFrom(points), tanX, tanY);
  const camera = new THREE.PerspectiveCamera((Math.atan(tanY) * 360) / Math.PI, tanX / tanY, 1e-4, 1e4);
  camera.up.set(0, 0, 1);
  camera.position.copy(position);
  camera.lookAt(target);
  camera.updateMatrixWorld();
  const seen = points.map((point) => point.clone().project(camera));
  const reach = Math.max(...seen.map((p) => Math.max(Math.abs(p.x), Math.abs(p.y))));
  expect(reach).toBeCloseTo(1, 3);
  for (const axis of ["x", "y"] as const) {
    const sum = Math.max(...seen.map((p) => p[axis])) + Math.min(...seen.map((p) => p[axis]));
    expect(Math.abs(sum)).toBeLessThan(axis === "y" || reach < 1 ? 0.2 : 0.05);
  }
});

test("balls that rolled away do not count, those that are near do", () => {
  const start = Array.from({ length: 10 }, (_, i) => sight(cube(0.1 * i, 0, 0)));
  const now = start.map((one, i) => (i < 3 ? sight(cube(50 * (i + 1), 20, 0)) : one));
  const ball = ballAround(worthSeeing(start, [...now, sight(cube(0, 0.3, 0))]));
  expect(ball.radius).toBeLessThan(0.7);
  expect(ball.center.y).toBeGreaterThan(0.05);
});

test("a body that left where it began is followed, by itself", () => {
  const post = sight(cube(0, 0, 0), false);
  const ball = ballAround(worthSeeing([post, sight(cube(0.2, 0, 0))], [post, sight(cube(30, 5, 0))]));
  expect(ball.center.distanceTo(new THREE.Vector3(30, 5, 0))).toBeLessThan(1e-6);
  expect(ball.radius).toBeLessThan(0.1);
});

test("where everything moves away, the half that is together is looked at", () => {
  const start = Array.from({ length: 5 }, () => sight(cube(0, 0, 0)));
  const now = [1000, 10, 10.2, 10.4, -700].map((x) => sight(cube(x, 0, 0)));
  expect(ballAround(worthSeeing(start, now)).radius).toBeLessThan(0.5);
});

test("a scene above the ground is looked at with the ground below it, unless that is far", () => {
  const balls = [sight(cube(0, 0, 1)), sight(cube(0.5, 0, 1))];
  const all = worthSeeing([...balls, ...below(balls, 0)], balls);
  expect(Math.min(...all.map((p) => p.z))).toBe(0);
  expect(below(balls, null)).toEqual([]);
  expect(below(balls, 0.95)).toEqual([]); // they stand on it
  expect(below(balls, -100)).toEqual([]);
  expect(below([], 0)).toEqual([]);
});

test("nothing to see is no error", () => {
  expect(worthSeeing([], [])).toEqual([]);
});

test("flat scenes are seen from higher up", () => {
  expect(viewFrom([...cube(0, 0, 0), ...cube(2, 2, 0)]).z).toBeGreaterThan(viewFrom(cube(0, 0, 0)).z + 0.1);
});

test("the grid goes with the size of the scene", () => {
  expect([0.95, 0.08, 12].map(gridStep).map((x) => Number(x.toPrecision(6)))).toEqual([0.1, 0.01, 1]);
});
