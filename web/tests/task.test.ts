import { expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { kept, slope, trialOf, words, type Trial } from "../src/panels/task";

vi.mock("../src/dom", () => ({ el: () => ({}) }));

function frame(trial: number, state: number, more: Partial<Frame> = {}): Frame {
  const scores = { task_time_s: 4.25, task_path_m: 0.6125, task_peak_N: 5.25, task_collisions: 1, task_distance_m: 0.12 };
  return { task_trial: trial, task_state: state, ...scores, ...more } as unknown as Frame;
}

test("a trial is told in words: waiting, running, reached", () => {
  expect(words(frame(1, 0))).toBe("trial 1: begins with your first touch");
  expect(words(frame(3, 1))).toBe("trial 3: 4.3 s, 0.61 m, at most 5.3 N, 1 hit; 12 cm to go");
  expect(words(frame(3, 2, { task_collisions: 0 }))).toContain("no hit; reached");
});

test("every trial that was begun is kept, the newest as it is now; another run begins anew", () => {
  let trials: Trial[] = [];
  for (const [number, state] of [[1, 0], [1, 1], [1, 2], [2, 0], [2, 1]] as const) trials = kept(trials, frame(number, state));
  expect(trials.map(({ number, reached }) => [number, reached])).toEqual([[1, true], [2, false]]);
  expect(kept(trials, frame(1, 1))).toEqual([trialOf(frame(1, 1))]);
});

test("the trend is the slope of the nearest line", () => {
  expect(slope([5, 4, 3, 2])).toBeCloseTo(-1);
  expect(slope([1, 3, 2])).toBeCloseTo(0.5);
  expect(slope([7])).toBe(0);
});
