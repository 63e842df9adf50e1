import { expect, test } from "vitest";
import { mostMoving } from "../src/moving";
import { joules, plain, quantity, tick } from "../src/words";
import type { Frame } from "../src/frame.gen";
import { line, padded } from "../src/panels/cards";
import { EDGES_US, Latest, microseconds, within } from "../src/panels/lateness";
import { TimeWindow } from "../src/panels/window";
import type { PlotOf, Series } from "../src/protocol";

const still = [1, 1, 1];
const ONE = [1, 1, 1, 1, 1];

test("at first the first joints are shown, and they stay while nothing moves", () => {
  expect(mostMoving([[], [], [], []], ONE, [], 2)).toEqual([0, 1]);
  expect(mostMoving([still, still, still, still], ONE, [0, 1], 2)).toEqual([0, 1]);
  expect(mostMoving([still], ONE, [], 8)).toEqual([0]);
});

test("a joint that moves more takes the place of the one that moves least; the others keep theirs", () => {
  expect(mostMoving([[0, 3], still, [0, 2], still, [0, 5]], ONE, [0, 1], 2)).toEqual([0, 4]);
  expect(mostMoving([[0, 3], [0, 1], [0, 1.2]], ONE, [0, 1], 2)).toEqual([0, 1]); // hardly more: no change of mind
});

test("metres and degrees are compared by what is worth a look", () => {
  expect(mostMoving([[0, 8], still, [0, 0.1]], [10, 10, 0.02], [0], 1)).toEqual([2]);
});

test("numbers as people read them", () => {
  expect([0, 1e-7, 4.2e-4, 0.05, 3.14159, 45.67, 1250].map(joules)).toEqual(["0 J", "0 J", "0.42 mJ", "50.0 mJ", "3.14 J", "45.7 J", "1.25 kJ"]);
  expect([-0.04, -1.26, 2].map((x) => plain(x, 1))).toEqual(["0.0", "\u22121.3", "2.0"]);
  expect([0.30000000000000004, -5, 20000].map(tick)).toEqual(["0.3", "\u22125", "2e4"]);
});

test("a window shows the last seconds, a chosen piece, and goes back", () => {
  const window = new TimeWindow();
  expect([window.range(30), window.zoomed]).toEqual([[20, 30], false]);
  window.step(true);
  expect([window.range(30), window.zoomed]).toEqual([[25, 30], true]);
  for (let k = 0; k < 9; k++) window.step(false);
  expect(window.range(100)).toEqual([40, 100]); // no more than is kept
  expect(window.choose(3, 3)).toBe(false);
  expect(window.choose(4, 8)).toBe(true);
  expect([window.range(99), window.words(true)]).toEqual([[4, 8], "4.00 to 8.00 s"]);
  window.step(true);
  expect(window.range(99)).toEqual([5, 7]);
  window.step(false);
  expect(window.range(99)).toEqual([4, 8]);
  window.whole();
  expect([window.range(99), window.words(false)]).toEqual([[89, 99], "the last 10 s"]);
});

test("lateness: the edge that a share of all ticks stayed below", () => {
  const counts = EDGES_US.map(() => 0);
  expect(within(counts, 0.5)).toBe(0);
  Object.assign(counts, { 0: 90, 3: 9, 13: 1 });
  expect([within(counts, 0.5), within(counts, 0.99), within(counts, 1)]).toEqual([1, 10, 20000]);
});

test("the latest tick since the frame before; nothing when counting began anew", () => {
  const latest = new Latest();
  const counts = (more: Record<number, number>): number[] => Object.assign(EDGES_US.map(() => 0), more);
  expect(latest.push(counts({ 0: 5 }))).toBe(0);
  expect(latest.push(counts({ 0: 9, 4: 1 }))).toBe(20);
  expect(latest.push(counts({ 0: 12, 4: 1 }))).toBe(1);
  expect(latest.push(counts({ 0: 12, 4: 1 }))).toBe(0);
  expect(latest.push(counts({ 0: 1 }))).toBe(0);
  expect([20, 1500, 7.34].map(microseconds)).toEqual(["20 µs", "1.5 ms", "7.3 µs"]);
});

test("a plot has air around its lines, and a least height", () => {
  expect(padded(0, 100, 10)).toEqual([-8, 108]);
  expect(padded(5, 5, 10)).toEqual([0, 10]);
});

const PLOT: PlotOf = { name: "x", title: "X", unit: "N", series: [] };
const field = (name: string, kind: string, ...shape: number[]) => ({ name, kind, shape, offset: 0, length: shape.reduce((n, s) => n * s, 1) });
const FIELDS = [field("hand_force", "f", 2, 3), field("device_force", "f", 1, 3), field("q", "f", 2), field("valves", "i", 2), field("lateness", "i", 14)];
const read = (series: Partial<Series>, frame: Record<string, unknown>): string => {
  const drawn = line({ label: "", ...series }, PLOT, FIELDS);
  return drawn.words(drawn.read(frame as unknown as Frame));
};

test("a series is a number of any field, in its unit", () => {
  expect(read({ field: "q", index: 1, unit: "rad" }, { q: [1, Math.PI / 2] })).toBe("90.0°");
  expect(read({ field: "q", index: 0, unit: "m" }, { q: [-1, 0] })).toBe("\u22121.000 m");
  expect(read({ field: "valves", index: 1, unit: "turns" }, { valves: [3, 4] })).toBe("4"); // a count
  expect(read({ field: "pressure", unit: "kPa" }, { pressure: 101.325 })).toBe("101 kPa");
  expect(read({ field: "none" }, {})).toBe("0.0 N"); // a frame without it
  expect(line({ label: "", field: "q", unit: "rad", wanted: "plan_q" }, PLOT, FIELDS).wanted?.({ plan_q: [Math.PI] } as unknown as Frame)).toBeCloseTo(180);
});

test("the longest is that of all vectors in its fields", () => {
  const both = { longest: ["hand_force", "device_force"] };
  expect(read(both, { hand_force: [0, 1, 0, 3, 0, 4], device_force: [2, 3, 6] })).toBe("7.0 N");
  expect(read(both, { hand_force: [0, 1, 0, 3, 0, 4], device_force: [0, 0, 0] })).toBe("5.0 N");
  expect(read(both, { hand_force: [0, 1, 0, 0, 0, 0] })).toBe("1.0 N");
});

test("quantities as their unit is read", () => {
  expect([quantity(-3.14159, "J"), quantity(-0.00012345, "A"), quantity(2, "")]).toEqual(["\u22123.14 J", "\u22120.000123 A", "2"]);
});
