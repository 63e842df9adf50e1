import * as THREE from "three";
import { expect, test } from "vitest";
import type { Hello, Shape } from "../src/protocol";
import { Bodies } from "../src/scene/bodies";

const QUALITY = { antialias: false, pixelRatio: 1, shadowPixels: 1, softShadows: false, reflections: false, adapt: false };
const SHAPE: Shape = { kind: "sphere", size: [0.1], position: [0, 0, 0], quaternion: [1, 0, 0, 0], color: null, role: "both" };
const H = Math.SQRT1_2;

/** world, a floor at z = -0.66, a wall at x = 1 that looks to -x, a ball at (ball_x, 0, 1) that can be touched */
function scene(ball_x = 0): Bodies {
  const plane: Shape = { ...SHAPE, kind: "plane", size: [] };
  const names = ["world", "floor", "wall", "ball"];
  const bodies = names.map((name) => ({
    name, touchable: name === "ball", shapes: name === "world" ? [] : [name === "ball" ? SHAPE : plane],
  }));
  const made = new Bodies({ bodies } as unknown as Hello, QUALITY);
  made.place(Float64Array.from([
    0, 0, 0, 1, 0, 0, 0,
    0, 0, -0.66, 1, 0, 0, 0,
    1, 0, 1, H, 0, -H, 0,
    ball_x, 0, 1, 1, 0, 0, 0,
  ]));
  return made;
}

function ray(from: number[], to: number[]): THREE.Raycaster {
  const a = new THREE.Vector3().fromArray(from);
  return new THREE.Raycaster(a, new THREE.Vector3().fromArray(to).sub(a).normalize());
}

test("a level plane is the ground, wherever its body is; a wall is not", () => {
  expect(scene().takeGround()).toBeCloseTo(-0.66);
});

test("what is seen takes up space, planes do not", () => {
  const size = scene().bounds().getSize(new THREE.Vector3());
  expect(size.x).toBeCloseTo(0.2, 2);
});

test("a touch goes through the back of a wall, not through its front", () => {
  const hit = scene().pick(ray([3, 0, 1], [0, 0, 1]));
  expect(hit?.body).toBe(3);
  expect(hit?.point.x).toBeCloseTo(0.1, 2);
  expect(scene(2).pick(ray([0, 0, 1], [2, 0, 1]))).toBeNull();
});

test("a ground does not hide what is above it from below", () => {
  const bodies = scene();
  bodies.takeGround();
  expect(bodies.pick(ray([0, 0, -2], [0, 0, 1]))?.body).toBe(3);
});

test("points go to the body and back", () => {
  const bodies = scene();
  const point = new THREE.Vector3(0.1, 0.2, 1.3);
  expect(bodies.toWorld(2, bodies.toBody(2, point)).distanceTo(point)).toBeLessThan(1e-12);
});
