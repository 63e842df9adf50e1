import * as THREE from "three";
import { expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { Person, spaceOf } from "../src/person";
import type { Body, ClientMessage, EyesOf, Hello, HandMessage, Shape } from "../src/protocol";
import { Bodies } from "../src/scene/bodies";
import { drawThrough, Pair, standAt, wholeFov } from "../src/scene/eyes";
import { share } from "../src/scene/fading";
import { Store } from "../src/state";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff", el: () => ({}) }));

const EYES: EyesOf = { name: "", body: "head", at: [0.1, 0, 0.2], ipd_m: 0.063, fov_deg: 80, hides: ["head"] };
const yaw = (angle: number): number[] => [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)];
const close = (v: THREE.Vector3, ...to: number[]): void => to.forEach((x, i) => expect(v.toArray()[i]).toBeCloseTo(x, 6));

test("eyes look along x of their body, z up, from their place in it, wherever it is and however it is turned", () => {
  const camera = new THREE.PerspectiveCamera();
  standAt(camera, EYES, [3, -1, 1.5, ...yaw(0)]);
  close(camera.position, 3.1, -1, 1.7);
  close(camera.getWorldDirection(new THREE.Vector3()), 1, 0, 0);
  standAt(camera, EYES, [3, -1, 1.5, ...yaw(Math.PI / 2)]);
  close(camera.position, 3, -0.9, 1.7);
  close(camera.getWorldDirection(new THREE.Vector3()), 0, 1, 0);
  close(new THREE.Vector3(0, 1, 0).transformDirection(camera.matrixWorld), 0, 0, 1);
});

test("two eyes are ipd_m apart, the left one on the left, look the same way, and each fills its half", () => {
  const camera = new THREE.PerspectiveCamera();
  standAt(camera, EYES, [0, 0, 0, ...yaw(0)]);
  const part = { x: 100, y: 50, width: 806, height: 200 };
  const [left, right] = new Pair().place(camera, EYES, part) as [THREE.PerspectiveCamera, THREE.PerspectiveCamera];
  close(left.position.clone().sub(right.position), 0, 0.063, 0); // y is to the left
  close(left.position.clone().add(right.position).multiplyScalar(0.5), 0.1, 0, 0.2);
  for (const eye of [left, right]) {
    close(eye.getWorldDirection(new THREE.Vector3()), 1, 0, 0);
    expect([eye.aspect, eye.fov]).toEqual([2, 80]);
  }
  const ahead = new THREE.Vector3(2, 0, 0.2); // seen by the left eye on the right, by the right one on the left
  expect(ahead.clone().project(left).x).toBeGreaterThan(0);
  expect(ahead.clone().project(right).x).toBeCloseTo(-ahead.clone().project(left).x);
});

test("pictures are drawn in their part of the stage only, and the renderer has all of it again", () => {
  const told: unknown[][] = [];
  const note = (name: string) => (...given: unknown[]): void => void told.push([name, ...given]);
  const renderer = { getSize: () => new THREE.Vector2(1000, 600), setScissorTest: note("test"), clear: note("clear"), setViewport: note("viewport"), setScissor: note("scissor"), render: note("render") };
  const draw = (n: number): void => drawThrough(renderer as unknown as THREE.WebGLRenderer, new THREE.Scene(), Array(n).fill(new THREE.Camera()), { x: 100, y: 50, width: 800, height: 300 }, 600);
  draw(2);
  expect(told.filter(([name]) => name === "scissor").map(([, x, y]) => [x, y])).toEqual([[100, 250], [500, 250]]); // from below
  expect(told.slice(-2)).toEqual([["test", false], ["viewport", 0, 0, 1000, 600]]);
  told.splice(0);
  draw(1);
  expect(told.filter(([name]) => name === "scissor")).toEqual([["scissor", 100, 250, 800, 300]]);
});

test("a part of a picture has the field of view that is asked for", () => {
  expect(wholeFov(80, 500, 500)).toBeCloseTo(80);
  const whole = wholeFov(60, 250, 500);
  expect(Math.tan((whole * Math.PI) / 360)).toBeCloseTo(2 * Math.tan(Math.PI / 6));
  expect(wholeFov(150, 1, 5000)).toBeLessThan(180);
});

const robot: Body = { name: "robot", touchable: true, shapes: [], fades: { field: "distance", near: 0.5, far: 0.7, only: "eyes" } };
const at = (distance: number): Frame => ({ distance }) as unknown as Frame;

test("a body fades from near to far, with `only` just for who is inside, and an unknown distance shows it", () => {
  expect([0, 0.5, 0.6, 0.7, 9].map((d) => Number(share(robot, [], at(d), true).toFixed(6)))).toEqual([1, 1, 0.5, 0, 0]);
  expect(share(robot, [], at(9), false)).toBe(1);
  expect(share({ ...robot, fades: { field: "distance", near: 0.5, far: 0.7 } }, [], at(9), false)).toBe(0);
  expect(share(robot, [], at(NaN), true)).toBe(1);
  expect(share(robot, [], null, true)).toBe(1);
  expect([true, false].map((inside) => share(robot, ["robot"], at(0), inside))).toEqual([0, 1]);
});

test("what has faded is neither drawn nor picked, and what it hid is; others of its shape stay as they are", () => {
  const shape: Shape = { kind: "sphere", size: [0.1], position: [0, 0, 0], quaternion: [1, 0, 0, 0], color: null, role: "both" };
  const hello = { bodies: [{ name: "world", touchable: false, shapes: [] }, { ...robot, shapes: [shape] }, { name: "ball", touchable: true, shapes: [shape] }] };
  const bodies = new Bodies(hello as unknown as Hello, { antialias: false, pixelRatio: 1, shadowPixels: 1, softShadows: false, reflections: false, adapt: false });
  bodies.place([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0]);
  const meshes = bodies.root.children.filter((child) => child instanceof THREE.InstancedMesh);
  const ray = new THREE.Raycaster(new THREE.Vector3(), new THREE.Vector3(1, 0, 0));
  expect(bodies.pick(ray)?.body).toBe(1);
  bodies.fade(() => 0.5);
  expect(meshes.map(({ material, visible, castShadow }) => [(material as THREE.Material).opacity, visible, castShadow])).toEqual([[0.5, true, false], [1, true, true]]);
  bodies.fade(() => 0);
  expect(meshes.map(({ visible }) => visible)).toEqual([false, true]);
  expect(bodies.pick(ray)?.body).toBe(2);
  bodies.fade(() => 1);
  expect(bodies.pick(ray)?.body).toBe(1);
  bodies.dispose();
});

/** A headset in a simulation that takes it as a person, whose space begins at (1, 2, 0), its ahead along y. */
function wear() {
  const store = new Store();
  const bodies = ["world", "head", "tip"].map((name) => ({ name, touchable: name !== "world", shapes: [] }));
  const person = { head: "head", hand: "tip", at: [1, 2, 0] as [number, number, number], turn_rad: Math.PI / 2 };
  store.set("hello", { mode: "live", bodies, person, hand: { stiffness_N_m: 500, force_limit_N: 10 } } as unknown as Hello);
  store.set("connection", "open");
  const sent: ClientMessage[] = [];
  const X = { head: new THREE.Matrix4().makeTranslation(0, 1.6, 0), right: new THREE.Matrix4().makeTranslation(0.3, 1.1, -0.4) };
  const lost = new Set<string>();
  const pose = (name: "head" | "right") => (lost.has(name) ? undefined : { transform: { matrix: Float32Array.from(X[name].elements) } });
  const frame = { getViewerPose: () => pose("head"), getPose: () => pose("right") } as unknown as XRFrame;
  const session = Object.assign(new EventTarget(), { inputSources: [{ handedness: "left", targetRaySpace: {} }, { handedness: "right", gripSpace: {} }], visibilityState: "visible" });
  const made = new Person(store, (message) => sent.push(message));
  made.begin(session as unknown as XRSession, {} as XRReferenceSpace, spaceOf(person));
  return { store, sent, X, lost, frame, session, made };
}

test("a headset tells where head and right hand are, in the world, x ahead, y to the left, z up", () => {
  const { sent, X, frame, made } = wear();
  made.frame(frame, 1000);
  const [head, hand] = sent as [HandMessage & { kind: "pull" }, HandMessage & { kind: "pull" }];
  expect([head.hand, head.body, hand.hand, hand.body, head.stiffness]).toEqual([1, 1, 0, 2, 500]);
  close(new THREE.Vector3(...head.target), 1, 2, 1.6);
  close(new THREE.Vector3(...hand.target), 1.3, 2.4, 1.1); // right of it is x of the world, ahead of it y
  const turned = ([w, x, y, z]: number[], v: number[]): THREE.Vector3 => new THREE.Vector3().fromArray(v).applyQuaternion(new THREE.Quaternion(x, y, z, w));
  close(turned(head.orientation!, [1, 0, 0]), 0, 1, 0);
  close(turned(head.orientation!, [0, 0, 1]), 0, 0, 1);
  X.head.makeRotationY(Math.PI / 2); // the head turns to the left
  made.frame(frame, 1100);
  close(turned((sent[2] as typeof head).orientation!, [1, 0, 0]), -1, 0, 0);
  made.frame(frame, 1101); // at once again: no need to tell
  expect(sent.length).toBe(4);
  for (let k = 0; k < 60; k++) {
    X.head.makeRotationY(0.3 * k); // several turns
    made.frame(frame, 1200 + 20 * k);
  }
  const told = (sent as (typeof head)[]).filter((message) => message.hand === 1).slice(2).map(({ orientation }) => orientation!);
  told.slice(1).forEach((q, k) => expect(q.reduce((sum, x, i) => sum + x * told[k]![i]!, 0)).toBeGreaterThan(0.9)); // no leap of sign
});

test("what is not tracked is let go, once; so is everything when the headset sleeps, is taken off, or another page has the hands", () => {
  const { store, sent, lost, frame, session, made } = wear();
  made.frame(frame, 1000);
  lost.add("right");
  made.frame(frame, 1100);
  made.frame(frame, 1200);
  expect(sent.filter(({ type }) => type === "release")).toEqual([{ type: "release", hand: 0 }]);
  expect(sent.at(-1)).toMatchObject({ type: "hand", hand: 1 });
  session.visibilityState = "hidden";
  session.dispatchEvent(new Event("visibilitychange"));
  expect(sent.at(-1)).toEqual({ type: "release", hand: 1 });
  made.frame(frame, 1300);
  store.set("taken", true);
  made.frame(frame, 1400);
  expect(sent.at(-1)).toEqual({ type: "release", hand: 1 });
  store.set("taken", false);
  made.frame(frame, 1500);
  session.dispatchEvent(new Event("end"));
  expect(sent.at(-1)).toEqual({ type: "release", hand: 1 });
  const count = sent.length;
  made.frame(frame, 1600);
  expect(sent.length).toBe(count);
});
