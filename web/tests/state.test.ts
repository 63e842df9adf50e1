import { expect, test } from "vitest";
import { COUNTERS, STATES, type Frame } from "../src/frame.gen";
import { COUNTER_WORDS, HealthMeter, percent } from "../src/health";
import { History } from "../src/history";
import { PoseTween } from "../src/scene/tween";
import { Store } from "../src/state";

test("listeners hear what is known and what changes, once", () => {
  const store = new Store();
  const heard: number[] = [];
  store.on("held", (body) => heard.push(body));
  store.set("held", 3);
  store.set("held", 3);
  expect(heard).toEqual([0, 3]);
});

test("nothing can be touched without a connection, in a recording, or while another page holds", () => {
  const store = new Store();
  expect(store.canTouch()).toBe(false);
  store.set("connection", "open");
  store.set("hello", { mode: "replay" } as never);
  expect(store.canTouch()).toBe(false);
  store.set("hello", { mode: "live" } as never);
  expect(store.canTouch()).toBe(true);
  store.set("taken", true);
  expect(store.canTouch()).toBe(false);
});

test("history keeps its span, forgets when time goes back, waits while it stands", () => {
  const history = new History(1, 10);
  for (let t = 0; t <= 30; t++) history.push(t, [2 * t]);
  expect(history.times[0]).toBe(19); // one beyond the edge, so that the line reaches it
  expect(history.columns[0]!.at(-1)).toBe(60);
  const n = history.times.length;
  history.push(30, [0]);
  expect(history.times.length).toBe(n);
  history.push(1, [7]);
  expect([history.times, history.columns]).toEqual([[1], [[7]]]);
});

function frame(periods: number, late: number, rate = 1000, state: number = STATES.RUNNING): Frame {
  return { tick: 0, wall_ns: (periods / rate) * 1e9, state, counters: [late], lateness: [periods - 7, 7] } as unknown as Frame;
}

test("the health line is plain language, and counts while the world is paused", () => {
  const meter = new HealthMeter();
  for (let tick = 0; tick <= 10000; tick += 100) meter.push(frame(tick, tick < 5000 ? 0 : 2));
  expect(meter.say(frame(10000, 2), 1000)).toEqual({ text: "1000 Hz, 0.02 % late", level: "good" });
  const touching = (contacts: number): string => meter.say({ ...frame(10000, 2), contacts }, 1000).text;
  expect(touching(8)).toBe("1000 Hz, 0.02 % late, 8 contacts");
  expect(touching(1)).toBe("1000 Hz, 0.02 % late, 1 contact");
  const slow = new HealthMeter();
  for (let tick = 0; tick <= 10000; tick += 100) slow.push(frame(tick, tick / 5, 800));
  expect(slow.say(frame(10000, 2000, 800), 1000)).toEqual({ text: "800 of 1000 Hz, 20 % late", level: "poor" });
  expect(meter.say(frame(10001, 2, 1000, STATES.FAULT), 1000).level).toBe("poor");
});

test("another servo starts the measurement anew", () => {
  const meter = new HealthMeter();
  meter.push(frame(50000, 0));
  meter.push(frame(10, 0));
  expect(meter.say(frame(10, 0), 1000).text).toBe("starting …");
});

test("percentages", () => {
  expect([0, 1e-5, 2e-4, 0.031, 0.12].map(percent)).toEqual(["0 %", "< 0.01 %", "0.02 %", "3.1 %", "12 %"]);
});

test("every counter has words", () => {
  expect(Object.keys(COUNTER_WORDS)).toEqual([...COUNTERS]);
});

const pose = (x: number, q: number[]): Float64Array => Float64Array.from([x, 0, 0, ...q]);

test("the picture is one interval behind, between two frames, and never beyond the newest", () => {
  const tween = new PoseTween(1);
  for (let k = 0; k <= 10; k++) tween.push(pose(k, [1, 0, 0, 0]), 16 * k);
  tween.sample(160);
  expect(tween.shown[0]).toBeCloseTo(9);
  tween.sample(168);
  expect(tween.shown[0]).toBeCloseTo(9.5);
  tween.sample(500);
  expect(tween.shown[0]).toBe(10);
  expect(tween.sample(501)).toBe(false);
});

test("a body that came to rest is shown where it is, while frames go on", () => {
  const tween = new PoseTween(1);
  for (let k = 0; k <= 20; k++) {
    tween.push(pose(Math.min(k, 10), [1, 0, 0, 0]), 16 * k);
    tween.sample(16 * k + 1); // drawn just after each arrival
  }
  expect(tween.shown[0]).toBe(10);
});

test("a turn takes the short way and stays a turn", () => {
  const tween = new PoseTween(1);
  const h = Math.SQRT1_2;
  tween.push(pose(0, [1, 0, 0, 0]), 0);
  tween.push(pose(0, [-h, -h, 0, 0]), 16); // the same turn as (h, h, 0, 0)
  tween.sample(24);
  expect(Math.hypot(...tween.shown.subarray(3))).toBeCloseTo(1);
  expect(tween.shown[3]! * tween.shown[4]!).toBeGreaterThan(0);
});

test("a body that is added is at its place at once, however near it waited, and so are those beside it on their way", () => {
  const tween = new PoseTween(2);
  const both = (x: number): Float64Array => Float64Array.from([...pose(x, [1, 0, 0, 0]), ...pose(x, [1, 0, 0, 0])]);
  tween.push(both(0), 0, [1, 0]);
  tween.push(both(1), 16, [0, 0]);
  tween.sample(24);
  expect([tween.shown[0], tween.shown[7]]).toEqual([1, 0.5]);
});

test("after a pause a body is where it is, at once", () => {
  const tween = new PoseTween(1);
  tween.push(pose(0, [1, 0, 0, 0]), 0);
  tween.push(pose(5, [1, 0, 0, 0]), 5000);
  tween.sample(5000);
  expect(tween.shown[0]).toBe(5);
});

test("a body that was added or put back is there at once, and not half way", () => {
  const tween = new PoseTween(1);
  const high = Float64Array.from([0, 0, 100, 1, 0, 0, 0]);
  for (let k = 0; k <= 4; k++) tween.push(high, 16 * k);
  tween.push(pose(1, [1, 0, 0, 0]), 80);
  tween.sample(88);
  expect(Array.from(tween.shown.subarray(0, 3))).toEqual([1, 0, 0]);
});
