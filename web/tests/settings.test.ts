import { expect, test } from "vitest";
import { nextSpeed, SPEEDS } from "../src/panels/speed";
import { Wished } from "../src/panels/wished";

function setUp() {
  const clock = { now: 0 };
  return { clock, wished: new Wished(() => clock.now) };
}

test("a setting that nobody touches is what frames tell", () => {
  const { wished } = setUp();
  expect([wished.hears(1), wished.hears(0.3), wished.hears(0)]).toEqual([true, true, true]);
});

test("frames that were under way do not move a knob back; once the wish has come true all are heard", () => {
  const { clock, wished } = setUp();
  wished.want(2);
  expect([wished.hears(1), wished.hears(1)]).toEqual([false, false]);
  clock.now = 60;
  expect(wished.hears(2)).toBe(true);
  expect(wished.hears(1)).toBe(true); // another page changed it
});

test("a wish that the servo does not follow is given up: it has the last word", () => {
  const { clock, wished } = setUp();
  wished.want(2);
  clock.now = 1499;
  expect(wished.hears(1)).toBe(false);
  clock.now = 1501;
  expect(wished.hears(1)).toBe(true);
});

test("while it is held it follows the finger, however long that takes", () => {
  const { clock, wished } = setUp();
  wished.grip(true);
  wished.want(2);
  clock.now = 60_000;
  expect(wished.hears(1)).toBe(false);
  wished.grip(false);
  expect(wished.hears(1)).toBe(false); // what was wished for may be under way
  expect(wished.hears(2)).toBe(true);
  wished.grip(true);
  wished.forget(); // another scene
  expect(wished.hears(1)).toBe(true);
});

test("faster and slower go through the list, also from a speed that is none of it", () => {
  expect([nextSpeed(1, true), nextSpeed(1, false)]).toEqual([2, 0.5]);
  expect([nextSpeed(0.3, true), nextSpeed(0.3, false)]).toEqual([0.5, 0.25]);
  expect([nextSpeed(SPEEDS.at(-1)!, true), nextSpeed(SPEEDS[0]!, false)]).toEqual([SPEEDS.at(-1), SPEEDS[0]]);
});
