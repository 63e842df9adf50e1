import * as THREE from "three";
import { expect, test } from "vitest";
import { Grasps, type Found, type Scene } from "../src/grasp";
import type { ClientMessage, Hello } from "../src/protocol";
import { Store } from "../src/state";

const BODY_AT = new THREE.Matrix4().makeRotationZ(Math.PI / 2).setPosition(1, 0, 0);
const BACK = BODY_AT.clone().invert();

/** A scene with one body, turned by 90 degrees at x = 1. */
function setUp() {
  const store = new Store();
  store.set("hello", { hand: { stiffness_N_m: 800, force_limit_N: 60 } } as Hello);
  const sent: ClientMessage[] = [];
  const scene: Scene = { scale: 2, toBody: (_, point) => point.clone().applyMatrix4(BACK) };
  return { store, sent, grasps: new Grasps(store, (message) => sent.push(message), scene, () => undefined) };
}

const found = (body = 3): Found => ({ body, point: new THREE.Vector3(1, 0.2, 0), normal: new THREE.Vector3(0, 1, 0) });

test("a hand takes hold where the body is, without a jolt, in the axes of the body", () => {
  const { sent, grasps } = setUp();
  expect(grasps.take(found(), "pull")).toBe(0);
  const [said] = sent;
  expect(said).toMatchObject({ type: "hand", hand: 0, kind: "pull", body: 3, target: [1, 0.2, 0], stiffness: 800 });
  const at = (said as { at_body: number[] }).at_body;
  [0.2, 0, 0].forEach((x, i) => expect(at[i]).toBeCloseTo(x));
  expect(said).not.toHaveProperty("radius");
  expect(said).not.toHaveProperty("damping");
});

test("two hands, no third; letting one go keeps the other, and frees the first", () => {
  const { store, sent, grasps } = setUp();
  expect([grasps.take(found(3), "pull"), grasps.take(found(4), "pull"), grasps.take(found(5), "pull")]).toEqual([0, 1, null]);
  expect(store.get("held")).toBe(3);
  grasps.release(0);
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
  expect(store.get("held")).toBe(4);
  grasps.move(1, new THREE.Vector3(0, 0, 9));
  expect(sent.at(-1)).toMatchObject({ hand: 1, body: 4, target: [0, 0, 9] });
  expect(grasps.take(found(6), "pull")).toBe(0);
  const count = sent.length;
  grasps.release(1);
  grasps.release(1);
  expect(sent.length).toBe(count + 1);
});

test("a press begins with its ball on the surface, outside, and names no body: what is there is the servo's to find", () => {
  const { sent, grasps } = setUp();
  grasps.take(found(), "press");
  const said = sent[0] as { kind: string; target: number[]; radius: number };
  expect(said.kind).toBe("press");
  expect(said.radius).toBeGreaterThan(0);
  [1, 0.2 + said.radius, 0].forEach((x, i) => expect(said.target[i]).toBeCloseTo(x));
  expect(said).not.toHaveProperty("body");
  grasps.move(0, new THREE.Vector3(1, 0.1, 0));
  expect((sent[1] as { target: number[] }).target[1]).toBeCloseTo(0.1 + said.radius);
});

test("stiffness and damping of one's own are sent instead of the scene's", () => {
  const { sent, grasps } = setUp();
  grasps.take(found(), "pull");
  Object.assign(grasps, { stiffness_N_m: 250, damping: 0.5 });
  grasps.tell(0);
  expect(sent.at(-1)).toMatchObject({ stiffness: 250, damping: 0.5 });
  grasps.tell(1); // holds nothing: says nothing
  expect(sent.length).toBe(2);
});
