import * as THREE from "three";
import { expect, test } from "vitest";
import { around, between, SIDES } from "../src/scene/camera";
import { stand } from "../src/scene/framing";
import { standBefore, whyNoHeadset } from "../src/scene/headset";

const A = { position: new THREE.Vector3(4, 0, 1), target: new THREE.Vector3(0, 0, 1) };
const B = { position: new THREE.Vector3(1, -2, 0), target: new THREE.Vector3(1, 0, 0) };

test("a glide begins here, ends there, and goes around what is looked at, not through it", () => {
  for (const [share, stand] of [[0, A], [1, B]] as const) {
    const at = between(A, B, share);
    expect(at.position.distanceTo(stand.position)).toBeLessThan(1e-9);
    expect(at.target.distanceTo(stand.target)).toBeLessThan(1e-9);
  }
  let least = Infinity;
  const opposite = { position: new THREE.Vector3(-4, 0.1, 1), target: A.target };
  for (let s = 0; s <= 1; s += 0.05) {
    const at = between(A, opposite, s);
    least = Math.min(least, at.position.distanceTo(at.target));
  }
  expect(least).toBeGreaterThan(3.9);
});

test("keys turn the camera to the right and up about what it looks at, not over the top, and bring it nearer", () => {
  const front = { position: new THREE.Vector3(2, 0, 1), target: new THREE.Vector3(0, 0, 1) };
  const right = around(front, Math.PI / 2, 0, 1);
  expect(right.position.distanceTo(new THREE.Vector3(0, 2, 1))).toBeLessThan(1e-9);
  expect(around(front, 0, 0.5, 1).position.z).toBeCloseTo(1 + 2 * Math.sin(0.5));
  expect(around(front, 0, 9, 1).position.distanceTo(new THREE.Vector3(0, 0, 3))).toBeLessThan(0.01);
  expect(around(front, 0, 0, 2).position.distanceTo(new THREE.Vector3(1, 0, 1))).toBeLessThan(1e-9);
});

test.each([
  ["front", [1, 0, 0]],
  ["side", [0, -1, 0]],
  ["top", [0, 0, 1]],
] as const)("the %s view looks from there", (side, direction) => {
  expect(SIDES[side].dot(new THREE.Vector3(...direction))).toBeGreaterThan(0.99);
});

test("from the top, x is to the right and y up", () => {
  const { position, target } = stand([new THREE.Vector3(-1, -1, 0), new THREE.Vector3(1, 1, 0)], SIDES.top, 0.3, 0.3);
  const camera = new THREE.PerspectiveCamera();
  camera.up.set(0, 0, 1);
  camera.position.copy(position);
  camera.lookAt(target);
  camera.updateMatrixWorld();
  expect(new THREE.Vector3(1, 0, 0).transformDirection(camera.matrixWorld).x).toBeCloseTo(1);
  expect(new THREE.Vector3(0, 1, 0).transformDirection(camera.matrixWorld).y).toBeCloseTo(1, 4);
});

test("with a headset one stands on the ground before the scene, upright, and looks at it", () => {
  const X = standBefore(new THREE.Vector3(2, 1, 0.7), 1.5, -0.66, new THREE.Vector3(0, 1, -0.8));
  const at = new THREE.Vector3().setFromMatrixPosition(X);
  expect(at.distanceTo(new THREE.Vector3(2, -1, -0.66))).toBeLessThan(1e-9);
  expect(new THREE.Vector3(0, 1, 0).transformDirection(X).z).toBeCloseTo(1); // up of the headset
  expect(new THREE.Vector3(0, 0, -1).transformDirection(X).y).toBeCloseTo(1); // ahead
  expect(X.determinant()).toBeCloseTo(1); // at scale
});

test("it says why there can be no headset", () => {
  expect(whyNoHeadset(false, null)).toContain("--tls");
  expect(whyNoHeadset(true, null)).toContain("browser");
  expect(whyNoHeadset(true, {})).toBe("");
});
