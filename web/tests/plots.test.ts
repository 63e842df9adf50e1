import { expect, test } from "vitest";
import { mostMoving } from "../src/moving";
import { joules, plain, tick } from "../src/words";

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
