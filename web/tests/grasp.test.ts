import * as THREE from "three";
import { expect, test } from "vitest";
import { Grasps, type Found, type Scene } from "../src/grasp";
import type { ClientMessage, Hello } from "../src/protocol";
import { Store } from "../src/state";

const BODY_AT = new THREE.Matrix4().makeRotationZ(Math.PI / 2).setPosition(1, 0, 0);
const BACK = BODY_AT.clone().invert();

/** A scene with one body, turned by 90 degrees at x = 1, whose surface is what the test says. */
function setUp(surface: Scene["surface"] = () => null) {
  const store = new Store();
  store.set("hello", { hand: { stiffness_N_m: 800, force_limit_N: 60 } } as Hello);
  const sent: ClientMessage[] = [];
  const scene: Scene = {
    scale: 2,
    toBody: (_, point) => point.clone().applyMatrix4(BACK),
    turnToBody: (_, direction) => direction.clone().transformDirection(BACK),
    turnToWorld: (_, direction) => direction.clone().transformDirection(BODY_AT),
    surface,
  };
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
  expect(said).not.toHaveProperty("normal");
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

test("a press says the outward normal, unit, in the axes of the body", () => {
  const { sent, grasps } = setUp();
  grasps.take(found(), "press");
  expect((sent[0] as { kind: string }).kind).toBe("press");
  const normal = (sent[0] as { normal: number[] }).normal;
  expect(Math.hypot(...normal)).toBeCloseTo(1);
  [1, 0, 0].forEach((x, i) => expect(normal[i]).toBeCloseTo(x));
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

test("a tip that presses slides to where the surface is under it, and slips off where there is none", () => {
  let answer: Found | null = null;
  const looked: { from: number[]; way: number[]; reach: number }[] = [];
  const { grasps } = setUp((_, from, way, reach) => {
    looked.push({ from: from.toArray(), way: way.toArray(), reach });
    return answer;
  });
  grasps.take(found(), "press");
  grasps.move(0, new THREE.Vector3(1.3, 0.1, 0)); // 0.1 deep, 0.3 aside
  answer = { body: 3, point: new THREE.Vector3(1.3, 0.15, 0), normal: new THREE.Vector3(0.6, 0.8, 0) };
  expect(grasps.slide(0)).toBe(true);
  expect(looked[0]!.from[0]).toBeCloseTo(1.3); // from outside, against the normal, above the tip
  expect(looked[0]!.from[1]).toBeGreaterThan(0.1);
  expect(looked[0]!.way[1]).toBeCloseTo(-1);
  expect(looked[0]!.from[1]! - looked[0]!.reach).toBeLessThan(0.1);
  expect(grasps.grips[0]!.atBody.distanceTo(new THREE.Vector3(0.15, -0.3, 0))).toBeLessThan(1e-9);
  expect(grasps.grips[0]!.normal.distanceTo(new THREE.Vector3(0.8, -0.6, 0))).toBeLessThan(1e-9);
  answer = { ...answer, normal: new THREE.Vector3(0.8, -0.6, 0) }; // round an edge
  expect(grasps.slide(0)).toBe(false);
  answer = null;
  expect(grasps.slide(0)).toBe(false);
});

test("a pull never slides", () => {
  const { grasps } = setUp(() => {
    throw new Error("not asked for");
  });
  grasps.take(found(), "pull");
  expect(grasps.slide(0)).toBe(true);
});
