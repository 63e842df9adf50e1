import * as THREE from "three";
import { expect, test, vi } from "vitest";
import { Drag } from "../src/drag";
import { Placing } from "../src/placing";

const AWAY = new THREE.Vector3(0, 1, 0); // the camera is at the origin and looks along y
const EYE = new THREE.Vector3();

function ray(x: number, z: number): THREE.Ray {
  return new THREE.Ray(EYE, new THREE.Vector3(x, 1, z).normalize());
}

test("a drag moves in the plane of what was taken, facing the camera", () => {
  const drag = new Drag(new THREE.Vector3(0.3, 2, 0.1), AWAY);
  const at = drag.meet(ray(0.5, -0.25))!;
  expect(at.distanceTo(new THREE.Vector3(1, 2, -0.5))).toBeLessThan(1e-9);
  expect(drag.meet(new THREE.Ray(EYE, new THREE.Vector3(0, -1, 0)))).toBeNull();
});

test("the wheel moves it in depth by a share of the distance: up is away, and never behind the camera", () => {
  const drag = new Drag(new THREE.Vector3(0, 2, 0), AWAY);
  drag.wheel(-100, EYE, 0.1);
  expect(drag.meet(ray(0, 0))!.y).toBeCloseTo(2.12);
  drag.wheel(100, EYE, 0.1);
  expect(drag.meet(ray(0, 0))!.y).toBeLessThan(2.12);
  drag.wheel(1e6, EYE, 0.1);
  expect(drag.meet(ray(0, 0))!.y).toBeCloseTo(0.1);
});

test("an obstacle is placed at once, then at most 30 times a second, and where it was left", () => {
  vi.useFakeTimers();
  const placed: [number, number][] = [];
  const placing = new Placing((body, [x]) => placed.push([body, x!]));
  for (let ms = 0; ms < 1000; ms += 4) {
    placing.put(5, [ms]);
    vi.advanceTimersByTime(4);
  }
  expect(placed[0]).toEqual([5, 0]);
  expect(placed.length).toBeLessThanOrEqual(31);
  expect(placed.length).toBeGreaterThan(20);
  vi.advanceTimersByTime(100);
  expect(placed.at(-1)).toEqual([5, 996]);
  const count = placed.length;
  vi.advanceTimersByTime(1000);
  expect(placed.length).toBe(count); // silence when nothing moves
  placing.put(6, [1]);
  expect(placed.at(-1)).toEqual([6, 1]);
  vi.useRealTimers();
});
