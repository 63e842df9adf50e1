import { expect, test } from "vitest";
import type { Frame } from "../src/frame.gen";
import { axisName, legend } from "../src/panels/map";
import { Axis, axesOf, niceStep, wrapped } from "../src/panels/map_axes";
import { Item, type Sheet } from "../src/panels/map_items";
import { nextShown } from "../src/panels/maps";
import type { AxisOf, ItemOf, MapOf } from "../src/protocol";

const AREA = { left: 40, top: 10, width: 400, height: 200 };
const TURN: AxisOf = { label: "φ", unit: "rad", low: -Math.PI, high: Math.PI, wraps: true };
const metres = (low: number, high: number): AxisOf => ({ label: "x", unit: "m", low, high });
const map = (x: AxisOf, y: AxisOf): MapOf => ({ name: "map", x, y, items: [] });

function frame(fields: Record<string, number | number[]>): Frame {
  return { time_s: 0, ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? Float64Array.from(value) : value])) } as unknown as Frame;
}

/** A pen that notes what it is told. */
function draw(what: Partial<ItemOf>, frames: Frame[], { x, y }: MapOf = map(metres(-2, 2), TURN)): unknown[][] {
  const noted: unknown[][] = [];
  const pen = new Proxy({}, { get: (_, name) => (...given: unknown[]) => void noted.push([name, ...given]), set: () => true });
  const item = new Item({ color: 1, label: "", ...what } as ItemOf);
  for (const each of frames) item.take(each);
  const sheet: Sheet = { pen: pen as CanvasRenderingContext2D, area: AREA, ...axesOf(map(x, y), frames.at(-1)!, AREA) };
  item.draw(frames.at(-1)!, sheet, "blue");
  return noted.filter(([name]) => name !== "beginPath");
}

test("low is left and below, high is right and above, and with low above high it is the other way round", () => {
  const { x, y } = axesOf(map(metres(-2, 2), TURN), frame({}), AREA);
  expect([x.px(-2), x.px(2), y.px(0)]).toEqual([40, 440, 110]);
  expect(y.px(Math.PI / 2)).toBeCloseTo(60);
  const { x: back } = axesOf(map(metres(2, -2), TURN), frame({}), AREA);
  expect([back.px(2), back.px(-2)]).toEqual([40, 440]);
});

test("an angle comes back at the other end however often it has turned", () => {
  for (const turns of [-1e6, -3, 0, 1, 7]) expect(wrapped(1 + 2 * Math.PI * turns, -Math.PI, Math.PI)).toBeCloseTo(1, 6);
  const { y } = axesOf(map(metres(0, 1), TURN), frame({}), AREA);
  expect(y.px(Math.PI + 0.1)).toBeCloseTo(y.px(-Math.PI + 0.1));
});

test("two axes of one unit have one scale and show at least what is asked for, about the same middle", () => {
  const { x, y } = axesOf(map(metres(-1, 3), metres(5, 1)), frame({}), AREA); // four by four in an area of two to one
  expect(Math.abs(x.scale)).toBeCloseTo(Math.abs(y.scale));
  expect([x.from, x.to, y.from, y.to]).toEqual([-3, 5, 5, 1]);
});

test("an axis that follows is centred on what it follows, and on 0 while nobody knows where that is", () => {
  const follows: AxisOf = { label: "x", unit: "m", follow: ["place", 1], half: 2 };
  expect(axesOf(map(follows, TURN), frame({ place: [0, 7] }), AREA).x).toMatchObject({ from: 5, to: 9 });
  expect(axesOf(map(follows, TURN), frame({ place: [0, NaN] }), AREA).x).toMatchObject({ from: -2, to: 2 });
});

test("ticks are round and not crowded, of angles in degrees, at both ends of a circle", () => {
  const { x, y } = axesOf(map(metres(-2, 2), TURN), frame({}), AREA);
  expect(x.ticks("m", 46).map(([, words]) => words)).toEqual(["−2", "−1.5", "−1", "−0.5", "0", "0.5", "1", "1.5", "2"]);
  expect(y.ticks("rad", 46).map(([, words]) => words)).toEqual(["−180°", "−90°", "0°", "90°", "180°"]);
  for (const length of [1e-6, 0.3, 1, 17, 4e5]) expect(new Axis(0, length, 0, 300, false).ticks("m", 46).length).toBeLessThan(8);
  expect([0.011, 0.2, 3, 7e6].map(niceStep).map((step) => Number(step.toPrecision(6)))).toEqual([0.02, 0.2, 5, 1e7]);
});

test("what is not known, or is not to be drawn now, is not drawn", () => {
  const where = { x: ["at", 0], y: "heading" } as const;
  expect(draw({ kind: "point", ...where } as never, [frame({ at: [1], heading: 0 })]).map(([name]) => name)).toEqual(["arc", "fill"]);
  for (const kind of ["point", "cross", "circle", "arrow"] as const) {
    expect(draw({ kind, ...where, radius: 1, dx: 1, dy: 0 } as never, [frame({ at: [NaN], heading: 0 })])).toEqual([]);
  }
  expect(draw({ kind: "point", ...where } as never, [frame({})])).toEqual([]); // a frame without these fields
  expect(draw({ kind: "point", x: 0, y: 0, when: "seen" }, [frame({ seen: 0 })])).toEqual([]);
  expect(draw({ kind: "point", x: 0, y: 0, when: "seen" }, [frame({ seen: 1 })])).not.toEqual([]);
  expect(draw({ kind: "band", x: "moon", radius: 1 }, [frame({})])).toEqual([]);
});

test("a band is as wide as it is on its axis and goes over all of the other; on a circle it goes on at the other end", () => {
  const [upright] = draw({ kind: "band", x: 1, radius: 0.5 }, [frame({})]);
  expect(upright!.slice(0, 2)).toEqual(["rect", 290]);
  expect(upright![3]).toBe(100);
  expect(upright![4]).toBeGreaterThanOrEqual(AREA.height);
  const level = draw({ kind: "band", y: Math.PI, radius: 0.1 }, [frame({})]).filter(([name]) => name === "rect");
  const reached = level.map(([, , from, , high]) => [from as number, (from as number) + (high as number)]);
  expect(reached.some(([from, to]) => from! < AREA.top && to! > AREA.top)).toBe(true);
  expect(reached.some(([from, to]) => from! < AREA.top + AREA.height && to! > AREA.top + AREA.height)).toBe(true);
});

test("an arrow by its angle points as one by its ends", () => {
  const by = (more: object): unknown => draw({ kind: "arrow", x: 0, y: 0, ...more } as never, [frame({})], map(metres(-2, 2), metres(-2, 2)))[1];
  expect(by({ dx: 0, dy: 1 })).toEqual(["lineTo", 240, 60]); // up
  const [, x, y] = by({ angle: Math.PI / 2, length: 1 }) as [string, number, number];
  expect([x, y].map(Math.round)).toEqual([240, 60]);
});

test("a trail keeps its last seconds, lifts the pen where a circle closes, and forgets at a reset and at a seek", () => {
  const way = (times: number[], angles: number[]): string[] =>
    draw({ kind: "trail", x: 0, y: "heading", seconds: 2 }, times.map((time_s, k) => frame({ time_s, heading: angles[k]! }))).map(([name]) => String(name)).filter((name) => name !== "stroke");
  expect(way([0, 0.1, 0.2, 0.3], [3, 3.1, 3.2, 3.3])).toEqual(["moveTo", "lineTo", "moveTo", "lineTo"]);
  expect(way([5, 5.1, 0, 0.1], [1, 1, 1, 1])).toEqual(["moveTo", "lineTo"]); // a reset
  expect(way([0, 0.1, 30, 30.1], [1, 1, 1, 1])).toEqual(["moveTo", "lineTo"]); // a seek
  const long = Array.from({ length: 100 }, (_, k) => 0.1 * k);
  expect(way(long, long.map(() => 0)).length).toBeLessThan(25);
});

test("a legend says each label once; an axis has its unit, but for angles, whose ticks say it", () => {
  expect(legend([{ label: "robot", color: 1 }, { label: "", color: 4 }, { label: "person", color: 2 }, { label: "robot", color: 3 }])).toEqual([["robot", 1], ["person", 2]]);
  expect([axisName({ label: "x", unit: "m" }), axisName({ label: "φ", unit: "rad" })]).toEqual(["x [m]", "φ"]);
});

test("one goes through scene and maps and comes back; what is not there any more is left for the first", () => {
  const choices = ["all", "scene", "from above"];
  expect(["all", "scene", "from above", "gone"].map((shown) => nextShown(shown, choices))).toEqual(["scene", "from above", "all", "all"]);
});
