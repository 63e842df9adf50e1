import { expect, test, vi } from "vitest";
import { millimetres, nearness, smallestGap } from "../src/clearance";
import { entries } from "../src/panels/legend";
import type { Motion, Vector3 } from "../src/protocol";
import { pathColors } from "../src/scene/path";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff", el: () => ({}) }));

const motion = (gap_m: (number | null)[] | null): Motion => ({ duration_s: 2, path: [], clearance_m: {}, wrong: [], fastest: 1, gap_m });

test("a path is calm where it is clear, warns below 20 mm, and is red where it touches", () => {
  const gaps = [0.3, 0.021, 0.019, 0.001, 0.0004, -0.02];
  const points = gaps.map((_, i): Vector3 => [i, 0, 0]);
  expect(pathColors(points, gaps, "--own")).toEqual(["--own", "--own", "--warn", "--warn", "--alarm", "--alarm"]);
  expect(pathColors(points, null, "--own")).toEqual(gaps.map(() => "--own"));
  expect(pathColors(points, gaps.map(() => null), "--own")).toEqual(gaps.map(() => "--own")); // nothing to be clear of
  expect(nearness(NaN)).toBe("clear");
});

test("where a path comes closest", () => {
  expect(smallestGap([0.3, null, 0.02, 0.05])).toEqual({ gap_m: 0.02, index: 2 });
  expect([smallestGap([null, null]), smallestGap([]), smallestGap(null), smallestGap(undefined)]).toEqual([null, null, null, null]);
});

test("gaps in millimetres, overlaps said so", () => {
  expect([0, 0.0042, 0.031, 0.3, -0.004, -1e-9].map(millimetres)).toEqual(["0.0 mm", "4.2 mm", "31 mm", "300 mm", "4.0 mm inside", "0.0 mm"]);
});

test("the legend says what the colours mean, no more than are there, and how near each path comes", () => {
  expect(entries(motion([0.3, 0.1]), motion([0.2, 0.3])).map(({ words }) => words)).toEqual([
    "plan: 100 mm or more from everything", "motion: 200 mm or more from everything",
  ]);
  expect(entries(motion([0.3, -0.004]), motion([0.012, 0.3])).map(({ words }) => words)).toEqual([
    "plan: 4.0 mm inside something", "motion: 12 mm or more from everything", "less than 20 mm from something", "touches something",
  ]);
  expect(entries(motion(null), motion([0.0001])).map(({ words }) => words)).toEqual(["plan", "motion: touches something", "touches something"]);
});
