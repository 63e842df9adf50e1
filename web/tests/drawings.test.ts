import * as THREE from "three";
import { expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { drawnAtFirst, keptChoices } from "../src/panels/drawing_switches";
import type { DrawingOf, Hello } from "../src/protocol";
import { inOneLine, said } from "../src/said";
import type { Bodies } from "../src/scene/bodies";
import { Drawings } from "../src/scene/drawings";
import { flights, shareOf, sizeOf } from "../src/scene/drawn_forces";
import { cornersOf } from "../src/scene/drawn_marks";
import type { Looking } from "../src/scene/hands";

interface Fake {
  text: string;
  isConnected: boolean;
  textContent: string;
}
const made: Fake[] = [];
vi.mock("../src/dom", () => ({
  cssColor: () => "#00ff00",
  el: (_tag: string, attributes: Record<string, string> = {}, ...children: string[]) => {
    const element = {
      textContent: children.join(""), text: "", isConnected: false, style: { setProperty: () => undefined, transform: "" },
      classList: { toggle: () => undefined, contains: (name: string) => attributes["class"] === name },
      replaceChildren: (...parts: { textContent: string }[]) => (element.text = parts.map((part) => part.textContent).join("|")),
      remove: () => (element.isConnected = false),
    };
    if (attributes["class"]) made.push(element);
    return element;
  },
}));

const STAGE = { append: (element: Fake) => (element.isConnected = true) } as unknown as HTMLElement;
const SIGHT: Looking = { eye: new THREE.Vector3(0, -5, 2), up: new THREE.Vector3(0, 0, 1), scale: 1, toPixels: () => new THREE.Vector2(10, 20), worn: false };
/** Body k is at (k, 0, 0), turned by a quarter about z. */
const BODIES = {
  toWorld: (body: number, p: THREE.Vector3) => new THREE.Vector3(body - p.y, p.x, p.z),
  center: (body: number) => new THREE.Vector3(body, 0, 0),
  planes: { ground: () => -0.5 },
} as unknown as Bodies;
const FIELDS: Record<string, number[]> = { at: [3], margin: [], corners: [5, 2], count: [], places: [3, 3], loads: [3, 3], grips: [2], mode: [], sure: [] };
const FRAME = {
  at: Float64Array.from([1, 2, 0.1]), margin: -0.012, corners: Float64Array.from([0, 0, 1, 0, 1, 1, 0, 1, 9, 9]), count: 4,
  places: Float64Array.from([0, 0, 0, 1, 0, 0, 2, 0, 0]), loads: Float64Array.from([0, 0, 0, 0, 0, 50, 30, 40, 0]), grips: Float64Array.from([20, -10]), mode: 2, sure: 0.873,
} as unknown as Frame;
const ALL: DrawingOf[] = [
  { name: "a", color: 1, shown: true, kind: "point", at: "at", value: "margin", unit: "m" },
  { name: "b", color: 2, shown: false, kind: "polygon", corners: "corners", count: "count", height: "at" },
  { name: "b", color: 3, shown: false, kind: "columns", at: "places", values: "loads", full: 100 },
  { name: "c", color: 4, shown: false, kind: "arrows", bodies: ["one", "two"], axes: [[1, 0, 0], [1, 0, 0]], values: "grips", full: 40, unit: "N" },
  { name: "d", color: 5, shown: false, kind: "label", body: "one", above: 0.3, lines: [{ field: "mode", names: ["none", "push", "tap"], share: "sure" }, { field: "margin", unit: "m" }] },
];
const HELLO = {
  drawings: ALL, bodies: [{ name: "world" }, { name: "one" }, { name: "two" }],
  frame: Object.entries(FIELDS).map(([name, shape]) => ({ name, shape })),
} as unknown as Hello;

function drawn(...on: string[]): Drawings {
  made.length = 0;
  const drawings = new Drawings(STAGE);
  drawings.build(HELLO);
  drawings.on = new Set(on);
  drawings.show(FRAME, BODIES, SIGHT, false);
  return drawings;
}

test("only what is turned on is drawn, and nothing in the dark", () => {
  const drawings = drawn("b");
  const seen = (): boolean[] => drawings.root.children.map(({ visible }) => visible);
  expect(seen()).toEqual([false, true, true, false, false]);
  drawings.show(FRAME, BODIES, SIGHT, true);
  expect(seen()).toEqual([false, false, false, false, false]);
  expect(made.some(({ isConnected }) => isConnected)).toBe(false);
});

test("words are there while their drawing is, and say what the frame says", () => {
  const drawings = drawn("a", "c", "d");
  const words = (): string[] => made.filter(({ isConnected }) => isConnected).map(({ text, textContent }) => text || textContent);
  expect(words().sort()).toEqual(["10 N", "20 N", "tap 87 %|−12 mm", "−12 mm"].sort());
  drawings.on = new Set();
  drawings.show(FRAME, BODIES, SIGHT, false);
  expect(words()).toEqual([]);
});

test("a polygon has the corners that it counts, at a height that is told or its own; one that is no number is not drawn", () => {
  const corners = cornersOf([0, 0, 1, 0, 1, 1, 7, 7], 2, 3, 0.25).map((corner) => corner.toArray());
  expect(corners).toEqual([[0, 0, 0.25], [1, 0, 0.25], [1, 1, 0.25]]);
  expect(cornersOf([0, 0, 5, 1, 0, 6], 3, 9, 0.25).map(({ z }) => z)).toEqual([5, 6]);
  expect(cornersOf([0, NaN], 2, 1, 0)).toEqual([]);
  expect(cornersOf([0, 0], 2, -3, 0)).toEqual([]);
});

test("a column is as tall as its value is large, up to a bound, and nothing for next to nothing", () => {
  expect(shareOf(50, 100)).toBe(0.5);
  expect(shareOf(-50, 100)).toBe(0.5);
  expect([shareOf(0.5, 100), shareOf(1e9, 100), shareOf(5, 0)]).toEqual([0, 1.5, 0]);
  expect([sizeOf([0, 3, 4], 0, 3), sizeOf([-2, 5], 0, 1)]).toEqual([5, 2]);
  const columns = drawn("b").root.children[2]!.children[1] as THREE.InstancedMesh;
  const heights = [0, 1, 2].map((k) => {
    const X = new THREE.Matrix4();
    columns.getMatrixAt(k, X);
    return new THREE.Vector3().setFromMatrixScale(X).z;
  });
  expect(heights[1]).toBeCloseTo(heights[2]!); // 50 N upward, and 50 N along the ground
  expect(heights[0]).toBeLessThan(1e-6);
});

test("an arrow along an axis of a body ends at the body, as that presses; a vector of the world begins at its place", () => {
  const known = { body: (name: string) => ["world", "one", "two"].indexOf(name), width: (field: string) => FIELDS[field]?.[1] ?? 1 };
  const [one, two] = flights(ALL[3] as Extract<DrawingOf, { kind: "arrows" }>, known, FRAME, BODIES, 1);
  expect(one!.from.clone().add(one!.way).distanceTo(new THREE.Vector3(1, 0, 0))).toBeLessThan(1e-9);
  expect(one!.way.y).toBeGreaterThan(0); // x of the body
  expect(two!.way.y).toBeCloseTo(-0.5 * one!.way.y); // half as much, the other way
  const vectors = flights({ name: "v", color: 1, shown: true, kind: "arrows", at: "places", values: "loads", full: 100 }, known, FRAME, BODIES, 1);
  expect(vectors.map(({ from }) => from.x)).toEqual([1, 2]); // no arrow of no force
  expect(vectors[1]!.way.x / vectors[1]!.way.y).toBeCloseTo(3 / 4);
});

test("a text is a number with its unit, or a name with how sure it is; what is none is not said", () => {
  const text = (mode: number, more = {}): string => inOneLine(said({ field: "mode", ...more }, { mode, sure: 0.5 } as unknown as Frame));
  const names = { names: ["none", "push", ""], share: "sure" };
  expect([text(0, names), text(1, names), text(2, names), text(9, names)]).toEqual(["", "push 50 %", "", ""]);
  expect([text(3), text(3.25, { unit: "s" }), text(0.0421, { unit: "m" }), text(NaN)]).toEqual(["3", "3.3 s", "42 mm", ""]);
});

test("what was chosen is kept by name; what never was is as the hello says, whatever lies in the store", () => {
  expect(drawnAtFirst(ALL, {})).toEqual({ names: ["a", "b", "c", "d"], on: new Set(["a"]) });
  expect(drawnAtFirst(ALL, { a: false, c: true, elsewhere: true }).on).toEqual(new Set(["c"]));
  expect(keptChoices('{"a": true, "b": 3}')).toEqual({ a: true });
  for (const odd of [null, "", "[", "null", "7"]) expect(keptChoices(odd)).toEqual({});
});
