import * as THREE from "three";
import { beforeEach, expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { Grasps } from "../src/grasp";
import { Holds } from "../src/hold";
import { KeyboardHand } from "../src/keyboard";
import { Keys, type Focus } from "../src/panels/keys";
import type { ClientMessage, Hello } from "../src/protocol";
import { Store } from "../src/state";

interface Made {
  textContent: string;
  hidden: boolean;
  style: Record<string, string>;
  class: string;
}
const made: Made[] = [];
vi.mock("../src/dom", () => ({
  cssColor: () => "#0000ff",
  el: (_: string, { class: name }: { class: string }) => {
    made.push({ textContent: "", hidden: true, style: {}, class: name });
    return made.at(-1);
  },
}));
beforeEach(() => void made.splice(0));
const shown = (name: string): Made => made.find((element) => element.class.includes(name))!;

const bodies = ["world", "base", "link1", "link2", "obstacle", "spare", "link without a shape"].map((name) => ({
  name, touchable: name.startsWith("link"), movable: name === "obstacle" || name === "spare", shapes: name.includes("without") ? [] : [{ kind: "box" }],
}));
const AT = new THREE.Vector3(0, 2, 1); // where everything is; the camera is at (0, 0, 1) and looks along y

function frame(more: Partial<Frame> = {}): Frame {
  const pose = Float64Array.from(bodies.flatMap(() => [0, 2, 1, 1, 0, 0, 0]));
  const parked = bodies.map(({ name }) => Number(name === "spare"));
  return { pose, parked, hand_body: [0, 0], hand_point: new Float64Array(6), hand_force: new Float64Array(6), ...more } as Frame;
}

function setUp() {
  const camera = new THREE.PerspectiveCamera();
  camera.up.set(0, 0, 1);
  camera.position.set(0, 0, 1);
  camera.lookAt(AT);
  camera.updateMatrixWorld();
  const store = new Store();
  const sent: ClientMessage[] = [];
  const turned: number[][] = [];
  const clock = { now: 0 };
  const same = (_: number, p: THREE.Vector3): THREE.Vector3 => p.clone();
  const grasps = new Grasps(store, (m) => sent.push(m), { scale: 1, toBody: same, turnToBody: same, turnToWorld: same, surface: () => null }, () => undefined);
  const holds = new Holds({ carried: new Set(), find: { pose: () => [0, 2, 1, 1, 0, 0, 0] }, highlight: () => undefined }, grasps, (m) => sent.push(m));
  const facing = (body: number) => ({ body, point: AT.clone(), normal: new THREE.Vector3(0, -1, 0), movable: bodies[body]!.movable });
  const view = {
    camera,
    look: { dark: false },
    find: { scale: 2, facing: vi.fn(facing), onStage: () => new THREE.Vector2(100, 50) },
    turn: (...how: number[]) => void turned.push(how),
  };
  const stage = { append: () => undefined, addEventListener: () => undefined, classList: { add: () => undefined }, focus: vi.fn() };
  const keys = new Keys();
  new KeyboardHand(stage as unknown as HTMLElement, view as never, store, holds, () => "pull", () => undefined, keys, () => clock.now);
  store.set("hello", { mode: "live", bodies, hand: { stiffness_N_m: 800, force_limit_N: 60 } } as unknown as Hello);
  store.set("connection", "open");
  store.set("frame", frame());
  /** Presses keys; whether all of them meant something. */
  const press = (names: string, focus: Focus = "none"): boolean =>
    names.split(" ").every((name) => {
      const shiftKey = name.startsWith("Shift+");
      const key = keys.meant({ key: name.replace("Shift+", ""), shiftKey, ctrlKey: false, metaKey: false, altKey: false, repeat: false }, focus);
      key?.act();
      return key !== null;
    });
  const target = (): number[] => (sent.at(-1) as { target: number[] }).target;
  return { store, sent, turned, clock, view, stage, keys, press, target };
}

test("arrows go through all that can be touched or moved and is there, around, each named on the screen", () => {
  const { store, press, stage } = setUp();
  const names: string[] = [];
  for (let k = 0; k < 4; k++) {
    press("ArrowRight");
    names.push(store.bodyName(store.get("chosen")));
  }
  expect(names).toEqual(["link1", "link2", "obstacle", "link1"]);
  press("ArrowUp");
  expect(shown("chosen-name").textContent).toBe("obstacle");
  expect(shown("chosen-name").hidden).toBe(false);
  expect(shown("keyboard-line").textContent).toBe("obstacle, 3 of 3. Enter takes it, arrows choose another.");
  expect(stage.focus).toHaveBeenCalled();
});

test("Enter takes the chosen body without a jolt, arrows move the hand as the picture has it, Enter lets go", () => {
  const { press, sent, target } = setUp();
  press("ArrowRight Enter");
  expect(sent.at(-1)).toMatchObject({ type: "hand", hand: 0, body: 2, target: AT.toArray() });
  expect(shown("keyboard-line").textContent).toContain("Holding link1");
  expect(shown("chosen-name").hidden).toBe(false); // until the next frame
  const moved = (key: string): number[] => {
    const before = target();
    press(key);
    return target().map((x, i) => Number((x - before[i]!).toFixed(6)));
  };
  expect(moved("ArrowRight")).toEqual([0.02, 0, 0]); // a hundredth of the scene's radius
  expect(moved("ArrowUp")).toEqual([0, 0, 0.02]);
  expect(moved("PageUp")).toEqual([0, 0.02, 0]); // away
  expect(moved("Shift+ArrowLeft")).toEqual([-0.004, 0, 0]); // finely
  expect(moved("Shift+PageDown")).toEqual([0, -0.004, 0]);
  press("Enter");
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
  expect(shown("keyboard-line").textContent).toContain("link1, 1 of 3");
});

test("Enter chooses first if nothing was chosen, and Escape lets go and chooses nothing", () => {
  const { press, store, sent } = setUp();
  press("Enter");
  expect([store.get("chosen"), sent.length]).toEqual([2, 0]);
  press("Enter Escape");
  expect(sent.at(-1)).toEqual({ type: "release", hand: 0 });
  expect([store.get("chosen"), shown("keyboard-line").hidden]).toEqual([0, true]);
});

test("an obstacle is carried by keys, and no hand holds it", () => {
  const { press, sent, store } = setUp();
  press("ArrowLeft Enter ArrowRight");
  expect(sent.at(-1)).toMatchObject({ type: "event", kind: "place", body: 4 });
  expect((sent.at(-1) as { placement: number[] }).placement[0]).toBeCloseTo(0.02);
  expect(store.get("held")).toBe(0);
});

test("a key that is held down does not carry the hand out of sight", () => {
  const { press, store, target } = setUp();
  press("ArrowRight Enter");
  store.set("frame", frame({ hand_body: [2, 0], hand_point: Float64Array.from([...AT.toArray(), 0, 0, 0]) }));
  for (let k = 0; k < 300; k++) press("ArrowRight");
  expect(target()[0]).toBeCloseTo(2); // a radius of the scene from the body
});

test("with nothing in hand Shift and arrows turn the camera, and page up and down zoom, also where nothing can be touched", () => {
  const { press, turned, store } = setUp();
  store.set("taken", true);
  expect(press("Shift+ArrowRight Shift+ArrowUp PageUp PageDown")).toBe(true);
  expect(turned[0]![0]).toBeGreaterThan(0);
  expect(turned[1]![1]).toBeGreaterThan(0);
  expect(turned[2]![2]! * turned[3]![2]!).toBeCloseTo(1);
  expect(press("ArrowRight")).toBe(false);
  store.set("taken", false);
  press("ArrowRight Enter");
  const count = turned.length;
  press("Shift+ArrowRight PageUp");
  expect(turned.length).toBe(count);
});

test("buttons, lists and sliders keep their keys", () => {
  const { press, store } = setUp();
  for (const focus of ["button", "choosing", "sliding", "typing"] as const) expect(press("ArrowRight", focus) || press("Enter", focus)).toBe(false);
  expect(store.get("chosen")).toBe(0);
});

test("the force is said when it has changed, not all the time", () => {
  const { press, store, clock } = setUp();
  press("ArrowRight Enter");
  const pull = (force: number): string => {
    store.set("frame", frame({ hand_body: [2, 0], hand_force: Float64Array.from([0, force, 0, 0, 0, 0]) }));
    return shown("spoken").textContent;
  };
  clock.now = 1000;
  expect(pull(8)).toBe("");
  clock.now = 2000;
  expect(pull(8)).toBe("8.0 N");
  clock.now = 2100;
  expect(pull(30)).toBe("8.0 N");
  clock.now = 4000;
  expect(pull(30.2)).toBe("30 N");
  press("Enter");
  expect(shown("spoken").textContent).toBe("");
});

test("in the dark a body has a name and no place", () => {
  const { press, view } = setUp();
  view.look.dark = true;
  press("ArrowRight");
  expect([shown("chosen-name").hidden, shown("keyboard-line").hidden]).toEqual([true, false]);
});

test("what goes away is not chosen any more, and one that cannot be taken says so", () => {
  const { press, store, view } = setUp();
  press("ArrowLeft");
  const gone = frame();
  gone.parked![4] = 1;
  store.set("frame", gone);
  expect(store.get("chosen")).toBe(0);
  view.find.facing.mockReturnValue(null as never);
  press("ArrowRight Enter");
  expect(shown("keyboard-line").textContent).toBe("link1 cannot be taken just now.");
});
