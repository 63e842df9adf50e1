import * as THREE from "three";
import { expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { Grasps, type Scene } from "../src/grasp";
import { Holds } from "../src/hold";
import type { ClientMessage, Hello } from "../src/protocol";
import { motors, Rumble } from "../src/rumble";
import type { Pick } from "../src/scene/bodies";
import { Store } from "../src/state";
import { Controllers, handOf, pulse } from "../src/xr";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff", el: () => ({}) }));

/** A controller as WebXR has it: where it is (in the headset's space) and how it was shaken. */
function controller(handedness: XRHandedness) {
  const shaken: number[] = [];
  const at = new THREE.Matrix4();
  const actuator = { pulse: (strength: number) => Promise.resolve(shaken.push(strength) > 0) };
  const source = { handedness, targetRaySpace: { at }, gamepad: { hapticActuators: [actuator] } };
  return { source: source as unknown as XRInputSource, at, shaken };
}

/** A session with two controllers in a scene where a wall at y = 2 (world) can be touched. */
function setUp() {
  const [right, left] = [controller("right"), controller("left")];
  const session = Object.assign(new EventTarget(), { inputSources: [right.source, left.source], visibilityState: "visible" });
  const tracked = { lost: false };
  const obstacle = { there: false, carried: new Set<number>(), put: vi.fn() };
  const frame = {
    getPose: (space: { at: THREE.Matrix4 }) => (tracked.lost ? undefined : { transform: { matrix: Float32Array.from(space.at.elements) } }),
  } as unknown as XRFrame;
  const pickRay = ({ ray }: THREE.Raycaster): Pick | null => {
    const point = ray.intersectPlane(new THREE.Plane(new THREE.Vector3(0, -1, 0), 2), new THREE.Vector3());
    return point && { body: obstacle.there ? 9 : 4, point, normal: new THREE.Vector3(0, -1, 0), movable: obstacle.there };
  };
  const store = new Store();
  store.set("hello", { mode: "live", hand: { stiffness_N_m: 800, force_limit_N: 60 } } as Hello);
  store.set("connection", "open");
  const sent: ClientMessage[] = [];
  const same = (_: number, p: THREE.Vector3): THREE.Vector3 => p.clone();
  const scene: Scene = { scale: 1, toBody: same };
  const grasps = new Grasps(store, (message) => sent.push(message), scene, () => undefined);
  const carriage = { carried: obstacle.carried, find: { pose: () => [0, 2.2, 0.5, 0, 0, 1, 0] }, highlight: () => undefined };
  const holds = new Holds(carriage, grasps, (message) => {
    if (message.type === "event") obstacle.put(message.body, message.placement);
    else sent.push(message);
  });
  const controllers = new Controllers(pickRay, holds, store, () => undefined);
  // y of the headset is z of the world; ahead (-z) is y.
  const origin = new THREE.Matrix4().makeRotationX(Math.PI / 2);
  controllers.begin(session as unknown as XRSession, {} as XRReferenceSpace, origin);
  const say = (kind: string, source: XRInputSource): boolean => session.dispatchEvent(Object.assign(new Event(kind), { inputSource: source, frame }));
  return { session, obstacle, right, left, tracked, frame, store, sent, grasps, controllers, say };
}

const target = (message: ClientMessage | undefined): number[] => (message as { target: number[] }).target;

test("a squeeze takes hold of what the controller points at, in the world's axes; the left one is the second hand", () => {
  const { right, left, sent, say } = setUp();
  right.at.makeTranslation(0.3, 1.2, 0); // to the right, at the height of the chest
  say("squeezestart", right.source);
  expect(sent.at(-1)).toMatchObject({ type: "hand", hand: 0, kind: "pull", body: 4 });
  [0.3, 2, 1.2].forEach((x, i) => expect(target(sent.at(-1))[i]).toBeCloseTo(x, 5));
  say("selectstart", left.source);
  expect(sent.at(-1)).toMatchObject({ hand: 1 });
  expect([handOf({ handedness: "left" }), handOf({ handedness: "right" }), handOf({ handedness: "none" })]).toEqual([1, 0, 0]);
});

test("what is near is taken where it is, also when the controller is already in it", () => {
  const { right, sent, say } = setUp();
  right.at.makeTranslation(0, 1, -2.05); // 5 cm behind the surface
  say("squeezestart", right.source);
  expect(target(sent.at(-1))[1]).toBeCloseTo(2, 5);
});

test("what is held moves and swings with the controller as if a stick joined them", () => {
  const { right, sent, frame, controllers, say } = setUp();
  say("squeezestart", right.source); // at (0, 2, 0), two metres ahead
  right.at.makeTranslation(0.1, 0.2, 0.3);
  controllers.frame(frame, 1000);
  [0.1, 1.7, 0.2].forEach((x, i) => expect(target(sent.at(-1))[i]).toBeCloseTo(x, 5));
  right.at.makeRotationY(Math.PI / 2); // turned to the left
  controllers.frame(frame, 1100);
  [-2, 0, 0].forEach((x, i) => expect(target(sent.at(-1))[i]).toBeCloseTo(x, 5));
  const count = sent.length;
  controllers.frame(frame, 1101); // at once again: no need to tell
  expect(sent.length).toBe(count);
});

test("opening the hand lets go of that one only; a lost controller, or a headset taken off, of what it held", () => {
  const { session, right, left, sent, grasps, controllers, say } = setUp();
  say("squeezestart", right.source);
  say("squeezestart", left.source);
  say("squeezeend", right.source);
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
  expect(grasps.grips[1]).not.toBeNull();
  session.dispatchEvent(Object.assign(new Event("inputsourceschange"), { removed: [left.source] }));
  expect(sent.at(-1)).toEqual({ type: "release", hand: 1 });
  say("squeezestart", left.source);
  session.visibilityState = "hidden";
  session.dispatchEvent(new Event("visibilitychange"));
  expect(grasps.grips).toEqual([null, null]);
  say("squeezestart", left.source);
  session.dispatchEvent(new Event("end"));
  expect(grasps.grips).toEqual([null, null]);
  say("squeezestart", left.source); // the session is over
  expect(grasps.grips).toEqual([null, null]);
  controllers.end();
});

test("an obstacle is carried with the controller, as it is turned, and no hand holds it", () => {
  const { obstacle, right, sent, frame, controllers, say } = setUp();
  obstacle.there = true;
  say("squeezestart", right.source); // at (0, 2, 0)
  expect(obstacle.carried).toEqual(new Set([9]));
  right.at.makeTranslation(0.1, 0, 0);
  controllers.frame(frame, 1000);
  const [body, placement] = obstacle.put.mock.lastCall as [number, number[]];
  expect(body).toBe(9);
  [0.1, 2.2, 0.5, 0, 0, 1, 0].forEach((x, i) => expect(placement[i]).toBeCloseTo(x, 5));
  expect(sent).toEqual([]);
  say("squeezeend", right.source);
  expect(obstacle.carried.size).toBe(0);
});

test("a controller that is not tracked for a moment keeps what it holds, where it was", () => {
  const { right, sent, frame, tracked, controllers, say } = setUp();
  say("squeezestart", right.source);
  tracked.lost = true;
  controllers.frame(frame, 1000);
  expect(sent.length).toBe(1);
});

test("the controller that holds pulses with the force of its own hand", () => {
  const { right, left, frame, store, controllers, say } = setUp();
  say("squeezestart", left.source);
  store.set("frame", { hand_body: [0, 4], hand_force: Float64Array.from([0, 0, 0, 0, 30, 0]) } as unknown as Frame);
  controllers.frame(frame, 1000);
  controllers.frame(frame, 1010);
  expect(left.shaken).toEqual([pulse(0.5)]);
  expect(right.shaken).toEqual([]);
  expect([pulse(0), pulse(1), pulse(3)]).toEqual([0, 1, 1]);
  expect(pulse(0.6)).toBeGreaterThan(pulse(0.3));
});

test("a gamepad shakes with the larger force while this page holds something, and stops when it lets go", () => {
  const store = new Store();
  store.set("hello", { hand: { stiffness_N_m: 800, force_limit_N: 60 } } as Hello);
  const played: { strongMagnitude: number }[] = [];
  const pad = { vibrationActuator: { playEffect: (_: string, how: { strongMagnitude: number }) => Promise.resolve(played.push(how)) } };
  const clock = { now: 0 };
  new Rumble(store, () => [null, pad as unknown as Gamepad, {} as Gamepad], () => clock.now);
  const told = (tick: number): Frame => ({ tick, hand_body: [3, 4], hand_force: Float64Array.from([12, 0, 0, 0, 0, 45]) }) as unknown as Frame;
  store.set("frame", told(1)); // another page's hands
  expect(played).toEqual([]);
  store.set("held", 3);
  store.set("frame", told(2));
  expect(played.at(-1)).toMatchObject(motors(0.75));
  store.set("frame", told(3)); // no sooner than it can feel
  expect(played.length).toBe(1);
  clock.now = 1000;
  store.set("frame", told(4));
  expect(played.length).toBe(2);
  store.set("held", 0);
  expect(played.at(-1)!.strongMagnitude).toBe(0);
  expect(motors(0.01).strongMagnitude).toBe(0);
  expect(motors(7)).toEqual({ strongMagnitude: 1, weakMagnitude: 1 });
});
