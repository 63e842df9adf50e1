import * as THREE from "three";
import { expect, test, vi } from "vitest";
import { ahead, headingOf, present, radiusOf, toolAt, waiting } from "../src/panels/things";
import { out } from "../src/parked";
import type { Hello, Shape } from "../src/protocol";
import { vacancy, type Surroundings } from "../src/scene/vacancy";

vi.mock("../src/dom", () => ({ el: () => ({}) }));

const body = (name: string, more = {}): Hello["bodies"][number] => ({ name, touchable: false, shapes: [], ...more });
const hello = {
  bodies: [
    body("world"), body("tool"), body("box", { movable: true }), body("spare", { movable: true, spare: true }),
    body("loose box 1", { touchable: true, loose: true }), body("loose ball 1", { touchable: true, loose: true }),
  ],
  tool: "tool",
  loose: { box: ["loose box 1"], ball: ["loose ball 1"] },
} as unknown as Hello;
const row = (x: number, y: number, z: number): number[] => [x, y, z, 1, 0, 0, 0];
const pose = [row(0, 0, 0), row(0.5, 0.1, 0.7), row(0.4, 0, 0.2), row(0, 0, -100), row(1, 0, 0.05), row(0, 0, 102)].flat();

test("obstacles and free bodies that wait are not there", () => {
  const parked = [0, 0, 0, 1, 0, 1];
  expect(present(hello, parked)).toEqual([{ name: "box", kind: "obstacle" }, { name: "loose box 1", kind: "free body" }]);
  expect(out(hello, parked)).toEqual([0, 1, 2, 4]);
  expect(waiting(hello, parked)).toEqual({ obstacle: 1, box: 0, ball: 1 });
  expect(waiting({ ...hello, loose: {} }, parked)).toEqual({ obstacle: 1, box: 0, ball: 0 });
});

test("the heading says what a scene has", () => {
  const still = { ...hello, bodies: hello.bodies.filter(({ movable }) => !movable) };
  expect([headingOf(hello), headingOf({ ...hello, loose: {} }), headingOf(still), headingOf({ ...still, loose: {} })]).toEqual([
    "Obstacles and free bodies", "Obstacles", "Free bodies", "",
  ]);
});

test("an obstacle is put on the path ahead of the tool, a quarter of a metre from it", () => {
  const path: [number, number, number][] = Array.from({ length: 11 }, (_, i) => [0.5, -0.5 + 0.1 * i, 0.7]);
  const distance = (p: number[]): number => Math.hypot(p[0]! - 0.5, p[1]! - 0.1, p[2]! - 0.7);
  expect(ahead([0.5, 0.1, 0.7], path)[1]).toBeCloseTo(0.4);
  expect(ahead([0.5, 0.5, 0.7], path)[1]).toBeCloseTo(0.2); // at its end: back along it
  expect(distance(ahead([0.5, 0.1, 0.7], []))).toBeCloseTo(0.25); // no path: outward
  expect(ahead([0, 0, 1], [])).toEqual([0.25, 0, 1]);
  expect(toolAt(hello, pose)).toEqual([0.5, 0.1, 0.7]);
  expect(toolAt({ ...hello, tool: null }, pose)).toBeNull();
});

test("a ball around all shapes of a body", () => {
  const shape = (kind: Shape["kind"], size: number[], x = 0): Shape => ({ kind, size, position: [x, 0, 0], quaternion: [1, 0, 0, 0], color: null, role: "both" });
  expect(radiusOf([shape("sphere", [0.07])])).toBeCloseTo(0.07);
  expect(radiusOf([shape("box", [0.2, 0.2, 0.1])])).toBeCloseTo(0.15);
  expect(radiusOf([shape("sphere", [0.1]), shape("capsule", [0.1, 0.4], 0.2)])).toBeCloseTo(0.5);
  expect(radiusOf([])).toBeGreaterThan(0);
});

const RADIUS = 0.1;
const box = (x: number, y: number, half: number, top = 2): THREE.Box3 =>
  new THREE.Box3(new THREE.Vector3(x - half, y - half, 0), new THREE.Vector3(x + half, y + half, top));
const ground = new THREE.Plane(new THREE.Vector3(0, 0, 1), 0);
const around = (more: Partial<Surroundings>): Surroundings => ({
  boxes: [], walls: [ground], middle: new THREE.Vector3(0, 0, 0.8), eye: new THREE.Vector3(0, -5, 2), scale: 1, height: 0, seen: () => true, ...more,
});

test("something new is put before the camera, above the ground, clear of everything", () => {
  const boxes = [box(0, 0, 0.2), box(0, -0.4, 0.12)]; // a tower in the middle, and something right before it
  const at = vacancy(RADIUS, around({ boxes }));
  expect(at.y).toBeLessThan(0); // towards the camera
  expect(at.z).toBeGreaterThanOrEqual(RADIUS);
  expect(at.z).toBeLessThan(2 * RADIUS); // it does not fall far
  for (const taken of boxes) expect(taken.distanceToPoint(at)).toBeGreaterThan(RADIUS);
});

test("what floats is at the height of the view, and not behind a wall", () => {
  const wall = new THREE.Plane(new THREE.Vector3(0, 1, 0), 0.3); // solid beyond y < -0.3
  const at = vacancy(RADIUS, around({ walls: [ground, wall], height: null }));
  expect(at.z).toBeCloseTo(0.8);
  expect(wall.distanceToPoint(at)).toBeGreaterThan(RADIUS);
});

test("a place that is seen is better than one behind a panel, and one that is not seen better than none", () => {
  const right = vacancy(RADIUS, around({ seen: ({ x }) => x > 0.3 }));
  expect(right.x).toBeGreaterThan(0.3);
  const low = vacancy(RADIUS, around({ seen: ({ y }, edge) => y > (edge > 0 ? -0.2 : -0.9) }));
  expect(low.y).toBeGreaterThan(-0.2); // not at the very edge, if there is room elsewhere
  expect(vacancy(RADIUS, around({ seen: ({ y }, edge) => edge === 0 && y > 0.1 })).y).toBeGreaterThan(0.1);
  expect(vacancy(RADIUS, around({ seen: () => false })).z).toBeLessThan(2 * RADIUS);
});

test("where everything is full it is put on top", () => {
  const at = vacancy(RADIUS, around({ boxes: [box(0, 0, 5, 2)] }));
  expect(at.z).toBeGreaterThan(2 + RADIUS);
});
