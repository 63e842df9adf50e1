import * as THREE from "three";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Hand } from "../src/hand";
import type { ClientMessage, Hello } from "../src/protocol";
import type { SceneView } from "../src/scene/view";
import { Store } from "../src/state";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff", el: () => ({ style: {}, hidden: true }) }));

const ARM = 3; // can be touched; where x < 100 pixels
const BALL = 5; // can be moved; 100 <= x < 200; beyond is nothing
const AT = new THREE.Vector3(0, 2, 0); // where everything is; the camera is at the origin and looks along y

beforeEach(() => {
  const there = { addEventListener: () => undefined };
  vi.stubGlobal("window", there);
  vi.stubGlobal("document", there);
  vi.stubGlobal("requestAnimationFrame", (draw: () => void) => draw());
  vi.stubGlobal("WheelEvent", { DOM_DELTA_LINE: 1 });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A hand on a stage and in a scene that the test plays; a pixel is a centimetre at the distance of the bodies. */
function setUp() {
  const listeners = new Map<string, (event: unknown) => void>();
  const captured = new Set<number>();
  const stage = {
    append: () => undefined,
    addEventListener: (kind: string, listener: (event: unknown) => void) => listeners.set(kind, listener),
    setPointerCapture: (id: number) => captured.add(id),
    releasePointerCapture: (id: number) => captured.delete(id),
    hasPointerCapture: (id: number) => captured.has(id),
    getBoundingClientRect: () => ({ left: 0, top: 0 }),
    classList: { add: () => undefined, remove: () => undefined, toggle: () => undefined },
    style: { cursor: "" },
  };
  const camera = new THREE.PerspectiveCamera();
  camera.up.set(0, 0, 1);
  camera.lookAt(AT);
  camera.updateMatrixWorld();
  const body = (x: number): number => (x < 100 ? ARM : x < 200 ? BALL : 0);
  const find = {
    scale: 1,
    pick: (x: number) => (body(x) ? { body: body(x), point: AT.clone(), normal: new THREE.Vector3(0, -1, 0), movable: body(x) === BALL } : null),
    ray: (x: number) => ({ ray: new THREE.Ray(new THREE.Vector3(), new THREE.Vector3(0.01 * x, 2, 0).normalize()) }),
    pose: () => [0, 2.5, 0.5, 0, 1, 0, 0],
    toBody: (_: number, p: THREE.Vector3) => p.clone(),
  };
  const scene = {
    camera, find, grips: [null, null], carried: new Set<number>(), look: { dark: false, contacts: false }, highlight: () => undefined,
    invalidate: () => undefined,
  };
  const store = new Store();
  store.set("hello", { mode: "live", bodies: [], hand: { stiffness_N_m: 800, force_limit_N: 60 } } as unknown as Hello);
  store.set("connection", "open");
  const sent: ClientMessage[] = [];
  const hand = new Hand(stage as unknown as HTMLElement, scene as unknown as SceneView, store, (m) => sent.push(m), () => undefined);
  /** Sends an event to the stage; whether the camera gets it as well. */
  const play = (kind: string, id: number, x = 0, more: object = {}): boolean => {
    let passed = true;
    const stop = (): void => void (passed = false);
    const event = { pointerId: id, pointerType: "touch", button: 0, buttons: 1, clientX: x, clientY: 0, shiftKey: false };
    listeners.get(kind)!({ ...event, stopPropagation: stop, preventDefault: () => undefined, ...more });
    return passed;
  };
  return { hand, play, sent, store, scene };
}

test("each of two fingers takes a hand of its own; lifting one keeps the other", () => {
  const { play, sent, scene } = setUp();
  expect(play("pointerdown", 7, 10)).toBe(false); // the camera does not get what takes hold
  expect(play("pointerdown", 8, 20)).toBe(false);
  play("pointermove", 8, 50);
  expect(sent.at(-1)).toMatchObject({ hand: 1, body: ARM, target: [0.5, 2, 0] });
  play("pointermove", 7, -50);
  expect(sent.at(-1)).toMatchObject({ hand: 0, target: [-0.5, 2, 0] });
  play("pointerup", 7, -50);
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
  expect(scene.grips.map((grip: unknown) => grip !== null)).toEqual([false, true]);
  play("pointermove", 8, 60);
  expect(sent.at(-1)).toMatchObject({ hand: 1, target: [0.6, 2, 0] });
});

test("a finger beside everything moves the camera, and a second one joins it, wherever it lands", () => {
  const { play, sent } = setUp();
  expect(play("pointerdown", 7, 300)).toBe(true);
  expect(play("pointerdown", 8, 10)).toBe(true); // a pinch that happens to begin on the arm
  play("pointerup", 7);
  play("pointerup", 8);
  expect(sent).toEqual([]);
  play("pointerdown", 9, 10);
  expect(sent[0]).toMatchObject({ type: "hand", hand: 0 });
});

test("a hand holds while another finger moves the camera", () => {
  const { play, sent } = setUp();
  play("pointerdown", 7, 10);
  expect(play("pointerdown", 8, 300)).toBe(true);
  expect(play("pointermove", 8, 310)).toBe(true);
  expect(sent.length).toBe(1);
});

test("with Shift, or in its mode, a drag presses; otherwise it pulls", () => {
  const { hand, play, sent } = setUp();
  const kind = (): unknown => (sent.at(-1) as { kind?: unknown }).kind;
  play("pointerdown", 1, 10, { shiftKey: true });
  expect(kind()).toBe("press");
  play("pointerup", 1);
  play("pointerdown", 1, 10);
  expect(kind()).toBe("pull");
  play("pointerup", 1);
  hand.mode = "press";
  play("pointerdown", 1, 10);
  expect(kind()).toBe("press");
});

test("the wheel moves what is held in depth, and zooms when nothing is", () => {
  const { play, sent } = setUp();
  expect(play("wheel", 0, 0, { deltaY: -100, deltaMode: 0 })).toBe(true);
  play("pointerdown", 1, 0, { pointerType: "mouse" });
  expect(play("wheel", 0, 0, { deltaY: -100, deltaMode: 0 })).toBe(false);
  expect((sent.at(-1) as { target: number[] }).target[1]).toBeCloseTo(2.12);
});

test("where hands turn, the wheel turns what is held, and a second finger twists it", () => {
  const { play, sent, store } = setUp();
  const hello = store.get("hello")!;
  store.set("hello", { ...hello, hand: { ...hello.hand, turns: [0, -1, 0], stiffness_Nm_rad: 0.3 } } as unknown as Hello); // at the viewer
  /** How far it is turned, anticlockwise as it is seen. */
  const angle = (): number => {
    const [w, , y] = (sent.at(-1) as { orientation: number[] }).orientation as [number, number, number];
    return 2 * Math.atan2(-y, w);
  };
  play("pointerdown", 7, 10);
  expect(angle()).toBeCloseTo(0);
  expect(play("wheel", 0, 0, { deltaY: 100, deltaMode: 0 })).toBe(false);
  expect(angle()).toBeCloseTo(-0.15);
  expect((sent.at(-1) as { target: number[] }).target).toEqual([0, 2, 0]); // not in depth
  expect(play("pointerdown", 8, 110)).toBe(false); // to the right of the first, on an obstacle: neither camera nor hand
  play("pointermove", 8, 10 + 100 * Math.cos(0.3), { clientY: -100 * Math.sin(0.3) }); // up, so anticlockwise
  expect(angle()).toBeCloseTo(0.15);
  play("pointermove", 7, 20, { clientY: 5 }); // the first finger drags: nothing turns
  expect(angle()).toBeCloseTo(0.15);
  play("pointerup", 8);
  play("pointerup", 7);
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
});

test("a drag in a plane of the scene stays in it", () => {
  const { play, sent, store, scene } = setUp();
  const hello = store.get("hello")!;
  store.set("hello", { ...hello, hand: { ...hello.hand, plane: [0, 1, 1] } } as unknown as Hello);
  scene.find.ray = (x: number) => ({ ray: new THREE.Ray(new THREE.Vector3(), new THREE.Vector3(0, 2, 0.01 * x).normalize()) });
  play("pointerdown", 1, 0, { pointerType: "mouse" });
  play("pointermove", 1, 50, { pointerType: "mouse" });
  const target = (sent.at(-1) as { target: number[] }).target;
  [0, 1.6, 0.4].forEach((x, i) => expect(target[i]).toBeCloseTo(x)); // y + z = 2 where 2 z = 0.5 y
  expect(play("wheel", 0, 0, { deltaY: -100, deltaMode: 0 })).toBe(false);
  expect((sent.at(-1) as { target: number[] }).target).toEqual(target); // there is no depth
});

test("an obstacle is put elsewhere, as it is turned, and no hand holds it", () => {
  const { play, sent, store, scene } = setUp();
  play("pointerdown", 1, 150);
  expect(scene.carried).toEqual(new Set([BALL]));
  expect(sent).toEqual([]);
  play("pointermove", 1, 160);
  expect(sent.at(-1)).toMatchObject({ type: "event", kind: "place", body: BALL });
  const placement = (sent.at(-1) as { placement: number[] }).placement;
  [1.6, 2.5, 0.5, 0, 1, 0, 0].forEach((x, i) => expect(placement[i]).toBeCloseTo(x)); // keeps its distance to the pointer
  expect(store.get("held")).toBe(0);
  play("pointerup", 1);
  expect(scene.carried.size).toBe(0);
});

test("who may not touch gets the camera; losing the connection or the hands lets go of everything", () => {
  const { play, sent, store, scene } = setUp();
  store.set("taken", true);
  expect(play("pointerdown", 1, 10)).toBe(true);
  play("pointerup", 1);
  store.set("taken", false);
  play("pointerdown", 1, 10);
  play("pointerdown", 2, 150);
  store.set("connection", "lost");
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
  expect(scene.carried.size).toBe(0);
  expect(play("pointermove", 1, 20)).toBe(true); // it is nobody's pointer any more
});

test("what moves under a pointer that rests is noticed, but not while it turns the camera, nor after it left", () => {
  const { play, store, scene } = setUp();
  const moved = { body: BALL, point: AT.clone(), normal: new THREE.Vector3(0, -1, 0), movable: true };
  let clock = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (clock += 1000));
  const frame = (): void => store.set("frame", {} as never);
  play("pointermove", 1, 50, { pointerType: "mouse", buttons: 0 });
  expect(store.get("hovered")).toBe(ARM);
  scene.find.pick = () => moved;
  frame();
  expect(store.get("hovered")).toBe(BALL);
  scene.find.pick = () => null as never;
  play("pointermove", 1, 50, { pointerType: "mouse", buttons: 1 }); // turns the camera
  frame();
  expect(store.get("hovered")).toBe(BALL);
  play("pointermove", 1, 50, { pointerType: "mouse", buttons: 0 });
  play("pointerleave", 1);
  scene.find.pick = () => moved;
  frame();
  expect(store.get("hovered")).toBe(0);
});

test("in the dark, hovering tells nothing", () => {
  const { play, store, scene } = setUp();
  const mouse = { pointerType: "mouse", buttons: 0 };
  play("pointermove", 1, 10, mouse);
  expect(store.get("hovered")).toBe(ARM);
  scene.look.dark = true;
  play("pointermove", 1, 11, mouse);
  expect(store.get("hovered")).toBe(0);
});

test("who uses the pointer does not use the keyboard", () => {
  const { play, store } = setUp();
  store.set("chosen", ARM);
  play("pointerdown", 1, 300);
  expect(store.get("chosen")).toBe(0);
});
