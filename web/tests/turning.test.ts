import * as THREE from "three";
import { expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { deflection, GamepadHand, type Pad } from "../src/gamepad";
import { Grasps } from "../src/grasp";
import { Holds } from "../src/hold";
import { families } from "../src/panels/cards";
import type { ClientMessage, Hello } from "../src/protocol";
import { Store } from "../src/state";
import { Steering } from "../src/steer";
import { angleAbout, Turn } from "../src/turn";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff" }));

const Z = new THREE.Vector3(0, 0, 1);
const about = (angle: number): THREE.Quaternion => new THREE.Quaternion().setFromAxisAngle(Z, angle);

/** A hand in a plane scene: the camera looks down from the south, half way. */
function setUp(hand: Partial<Hello["hand"]> = { plane: [0, 0, 1], turns: [0, 0, 1], stiffness_Nm_rad: 0.3 }) {
  const store = new Store();
  store.set("hello", { mode: "live", hand: { stiffness_N_m: 150, force_limit_N: 20, ...hand } } as Hello);
  store.set("connection", "open");
  const sent: ClientMessage[] = [];
  const grasps = new Grasps(store, (m) => sent.push(m), { scale: 1, toBody: (_, p) => p.clone() }, () => undefined);
  const holds = new Holds({ carried: new Set(), find: { pose: () => [] }, highlight: () => undefined }, grasps, () => undefined);
  const camera = new THREE.PerspectiveCamera();
  camera.up.set(0, 0, 1);
  camera.position.set(0, -1, 1);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  const steering = new Steering({ camera, find: { scale: 1 } }, store, holds);
  /** A frame in which body 1 is turned like this. */
  const frame = (angle: number): void => {
    const { w, z } = about(angle);
    store.set("frame", { pose: Float64Array.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0.02, w, 0, 0, z]) } as unknown as Frame);
  };
  frame(0);
  const take = () => holds.take({ body: 1, point: new THREE.Vector3(0.1, 0, 0.02), normal: Z.clone(), movable: false } as never, "pull")!;
  const last = () => sent.at(-1) as { target: number[]; orientation: [number, number, number, number]; turning: number };
  const angle = (): number => angleAbout(Z, new THREE.Quaternion(...last().orientation.slice(1) as [number, number, number], last().orientation[0]));
  return { store, holds, steering, frame, take, sent, last, angle };
}

test("what is held is turned on and on; no step between messages, and no lead, reaches half a turn", () => {
  const { holds, frame, take, angle, last } = setUp();
  const hold = take();
  expect([angle(), last().turning]).toEqual([0, 0.3]);
  let [whole, before] = [0, 0];
  for (let k = 0; k < 80; k++) {
    holds.turn(hold, 0.4);
    const step = Math.atan2(Math.sin(angle() - before), Math.cos(angle() - before));
    expect(Math.abs(step)).toBeLessThan(0.51);
    [whole, before] = [whole + step, angle()];
    frame(whole - 0.3); // it comes after
  }
  expect(whole).toBeCloseTo(80 * 0.4); // five turns
  holds.turn(hold, 100);
  expect(angle()).toBeCloseTo(Math.atan2(Math.sin(whole + 0.5), Math.cos(whole + 0.5)));
});

test("the hand is never far ahead of what it cannot turn", () => {
  const turn = new Turn(Z, about(1));
  for (let k = 0; k < 20; k++) turn.by(-0.4);
  expect(turn.angle).toBeCloseTo(-2);
  turn.follow(about(0.5));
  turn.by(-0.4);
  expect(turn.angle).toBeCloseTo(-2.4);
  const [w, x, y, z] = turn.orientation();
  expect(angleAbout(Z, new THREE.Quaternion(x, y, z, w))).toBeCloseTo(1 - 2.4);
});

test("hands that turn nothing say nothing of turning", () => {
  const { holds, take, sent } = setUp({});
  const hold = take();
  holds.turn(hold, 1);
  expect(sent.length).toBe(1);
  expect(sent[0]).not.toHaveProperty("orientation");
  expect(holds.turns(hold)).toBe(false);
});

test("a hand stays in its plane, whoever moves it", () => {
  const { holds, steering, take, last } = setUp();
  const hold = take();
  holds.move(hold, new THREE.Vector3(0.3, 0.2, 0.5));
  [0.3, 0.2, 0.02].forEach((x, i) => expect(last().target[i]).toBeCloseTo(x));
  steering.move(hold, 0.1, 0, 0);
  [0.4, 0.2, 0.02].forEach((x, i) => expect(last().target[i]).toBeCloseTo(x));
  steering.move(hold, 0, 0.1, 0); // up in the picture is north in the plane, as far as a step is
  [0.4, 0.3, 0.02].forEach((x, i) => expect(last().target[i]).toBeCloseTo(x));
});

test("a gamepad takes and lets go, moves by its stick and turns by its triggers or its other stick", () => {
  const { store, holds, steering, frame, take, last, angle, sent } = setUp();
  const clock = { now: 0 };
  const pad = { axes: [0, 0, 0, 0], buttons: Array.from({ length: 17 }, () => ({ pressed: false, value: 0 })), mapping: "standard" };
  const pressed = vi.fn();
  const walked = vi.fn();
  new GamepadHand(store, holds, steering, pressed, walked, () => [null, pad as Pad], () => clock.now);
  const look = (ms = 20): void => {
    clock.now += ms;
    frame(0);
  };
  pad.axes[0] = 1;
  look();
  expect(sent).toEqual([]); // nothing is held
  expect(walked).toHaveBeenCalledWith("x", 1); // so it walks, where one walks
  pad.buttons[0]!.pressed = true;
  look();
  look();
  expect(pressed).toHaveBeenCalledTimes(1); // not again while it is down
  take();
  pad.axes = [1, -1, 0, 0];
  look();
  expect(last().target[0]).toBeCloseTo(0.1 + 0.6 * 0.02);
  expect(last().target[1]).toBeCloseTo(0.6 * 0.02);
  expect(walked.mock.calls.slice(-3).every(([, value]) => value === 0)).toBe(true); // with something in hand it stands
  look(10_000); // the page slept: nothing leaps
  expect(last().target[0]).toBeLessThan(0.15);
  pad.axes = [0.1, -0.1, 0, 0]; // a stick that does not rest quite in the middle
  const count = sent.length;
  look();
  expect(sent.length).toBe(count);
  pad.buttons[6]!.value = 1; // anticlockwise
  look();
  expect(angle()).toBeCloseTo(0.06);
  pad.buttons[6]!.value = 0;
  pad.axes[2] = 1; // clockwise
  look();
  expect(angle()).toBeCloseTo(0);
});

test("sticks are finest beside the middle", () => {
  expect([deflection(0.1), deflection(1), deflection(-2)]).toEqual([0, 1, -1]);
  expect(deflection(0.5)).toBeLessThan(0.5);
});

test("a dashed line has the colour of its solid one, one after the other or in a second block", () => {
  expect(families([{}, { dashed: true }, {}, { dashed: true }])).toEqual([0, 0, 1, 1]);
  expect(families([{}, {}, { dashed: true }, { dashed: true }])).toEqual([0, 1, 0, 1]);
});
