import * as THREE from "three";
import { expect, test, vi } from "vitest";
import { largestHandForce } from "../src/devices";
import type { Frame } from "../src/frame.gen";
import type { Body } from "../src/protocol";
import type { Bodies } from "../src/scene/bodies";
import { Hands, ledForce, told, type Grip, type Looking } from "../src/scene/hands";
import { normalOf, Probe } from "../src/scene/probe";

vi.mock("../src/dom", () => ({
  cssColor: () => "#0000ff",
  el: () => ({ style: { setProperty: () => undefined }, remove: () => undefined, isConnected: true }),
}));
vi.stubGlobal("document", { createElement: () => ({ getContext: () => null }) });

const [PULL, PUSH, PRESS] = [0, 1, 2]; // as palpate/frame.py numbers them

function frame(kinds: number[], forces: number[], held = [3, 0]): Frame {
  return {
    hand_body: held, hand_kind: kinds, hand_point: Float64Array.from([1, 0, 0, 0, 0, 0]), hand_target: Float64Array.from([0.9, 0, 0, 0, 0, 0]),
    hand_force: Float64Array.from(forces),
  } as unknown as Frame;
}

test("a hand of another page is drawn as what it does: a spring that pulls, a probe that presses, an arrow that pushes", () => {
  const hands = new Hands({ append: () => undefined } as unknown as HTMLElement);
  const sight: Looking = {
    eye: new THREE.Vector3(5, 0, 0), up: new THREE.Vector3(0, 0, 1), scale: 1, toPixels: () => new THREE.Vector2(), worn: false,
  };
  const [first, second] = hands.root.children as [THREE.Group, THREE.Group];
  const seen = (kind: number): boolean[] => {
    hands.show(frame([kind, 0], [-8, 0, 0, 0, 0, 0]), [null, null], [], 60, {} as Bodies, sight, false);
    return first.children.slice(0, 3).map(({ visible }) => visible); // spring, probe, arrow
  };
  expect(seen(PULL!)).toEqual([true, false, false]);
  expect(seen(PRESS!)).toEqual([false, true, false]);
  expect(seen(PUSH!)).toEqual([false, false, true]);
  expect(second.children.slice(0, 3).map(({ visible }) => visible)).toEqual([false, false, false]); // holds nothing
});

test("what is felt through a body that is led is a number of the frame, and nothing is led that is pressed or not said to be", () => {
  const bodies = [{}, { led: { field: "felt_N", index: 1 } }] as unknown as Body[];
  const told = { felt_N: Float64Array.from([2, 3]) } as unknown as Frame;
  const grip = (body: number, kind = "pull"): Grip => ({ body, kind }) as unknown as Grip;
  expect(ledForce(grip(1), bodies, told)).toBe(3);
  expect([ledForce(grip(0), bodies, told), ledForce(grip(1, "press"), bodies, told), ledForce(null, bodies, told)]).toEqual([null, null, null]);
});

test("a hand that holds nothing is not told of; one that presses is, before it touches anything", () => {
  expect(told(frame([2, 0], [0, 0, 0, 0, 0, 0]), 1)).toBeNull();
  expect(told(frame([0, 2], [0, 0, 0, 0, 0, 0]), 1)).toMatchObject({ kind: "press" });
  expect(told(frame([2, 2], [0, 0, -5, 0, 0, 0]), 0)).toMatchObject({ kind: "press", force: new THREE.Vector3(0, 0, -5) });
});

test("the tip of a probe is where the servo has it, and a line leads to a hand that has gone in", () => {
  const [probe, eye, up] = [new Probe(), new THREE.Vector3(5, 0, 0), new THREE.Vector3(0, 0, 1)];
  const at = new THREE.Vector3(1, 0, 0);
  const into = (x: number): boolean => {
    probe.show(at, at, new THREE.Vector3(x, 0, 0), new THREE.Color(), eye, up);
    return probe.root.children[0]!.visible;
  };
  expect([into(0.9), into(1)]).toEqual([true, false]);
  expect(probe.root.children[3]!.position.distanceTo(at)).toBeLessThan(0.05); // a ball of its size beside
});

test("the surface under a tip that presses is turned against its force; outside, towards the tip; else towards the eye", () => {
  const eye = new THREE.Vector3(0, 0, 9);
  const at = (force: number[], target: number[]) => ({
    point: new THREE.Vector3(1, 0, 0), force: new THREE.Vector3().fromArray(force), target: new THREE.Vector3().fromArray(target),
  });
  expect(normalOf(at([-8, 0, 0], [0.9, 0, 0]), eye).toArray()).toEqual([1, -0, -0]);
  expect(normalOf(at([0, 0, 0], [1, 0.3, 0]), eye).distanceTo(new THREE.Vector3(0, 1, 0))).toBeLessThan(1e-9);
  expect(normalOf(at([0, 0, 0], [1, 0, 0]), eye).z).toBeGreaterThan(0.9);
});

test("the force of the hands is that of the one that pulls harder", () => {
  expect(largestHandForce(frame([0, 0], [0, 3, 4, 0, 0, 12], [3, 4]))).toBe(12);
  expect(largestHandForce(frame([0, 0], [0, 3, 4, 0, 0, 0]))).toBe(5);
  expect(largestHandForce(null)).toBe(0);
});
