// What the page says of a device: its force and what its guard does. Names in the order of palpate/haptics/guard.py and
// palpate/frame.py; tests/page/test_describe.py compares them.

import { norm } from "./decode";
import type { Frame } from "./frame.gen";
import type { Level } from "./health";
import type { Device } from "./protocol";

export const WARN = 0.6; // share of its limit from which a force warns

/** What its guard does, as a person would say it. */
export const GUARD_STATES = {
  engaging: "no force until it touches nothing",
  rising: "rising",
  on: "on",
  slowed: "moves too fast",
  late: "late",
  fault: "no force",
} as const;

/** What each counter of a device means to a person; the first five are faults. */
export const DEVICE_COUNTER_WORDS = {
  not_finite: "the force was not a number",
  bad_reading: "the reading was not a number",
  device_lost: "the device was lost",
  link_lost: "the link was lost",
  law_failed: "a law failed",
  gated: "ticks before little force was wanted",
  rising: "ticks in which the force came slowly",
  too_fast: "ticks faster than it may move",
  late_zeroed: "ticks so late that there was no force",
  late_damped: "ticks so late that there was only damping",
  late_held: "ticks late, with the force of the one before",
  heat_limited: "ticks with the force limited by warm motors",
  clamped: "ticks with the force at its limit",
  rate_limited: "ticks with the force held back in its growth",
  stale: "ticks without a new reading",
  saturated: "ticks with a motor at its end",
} as const;

const COUNTERS = Object.values(DEVICE_COUNTER_WORDS);
const FAULTS = 5;

export interface DeviceLine {
  text: string;
  level: Level;
}

/** Row k of a field that has `width` numbers for each device; of one that a frame has not, zeros. */
export function row(field: ArrayLike<number> | undefined, k: number, width: number): number[] {
  return Array.from({ length: width }, (_, i) => field?.[k * width + i] ?? 0);
}

/** How much of its limit a force is; a device that makes no force has none. */
export function share(force_N: number, limit_N: number): number {
  return limit_N > 0 ? force_N / limit_N : 0;
}

/** The larger force of the page's two hands on their bodies [N]. */
export function largestHandForce(frame: Frame | null): number {
  return frame ? Math.max(...[0, 1].map((k) => norm(row(frame.hand_force, k, 3)))) : 0;
}

/** "phantom-premium-1.5: 2.1 N, on" */
export function deviceLine(device: Device, k: number, frame: Frame): DeviceLine {
  const force = norm(row(frame.device_force, k, 3));
  const state = Object.keys(GUARD_STATES)[frame.device_state?.[k] ?? 0] as keyof typeof GUARD_STATES;
  const name = device.name.replace(":", " ");
  if (state === "fault") return { text: `${name}: ${faultWords(k, frame)}`, level: "poor" };
  const hampered = state === "engaging" || state === "slowed" || state === "late";
  const level = hampered || share(force, device.force_limit_N) > WARN ? "fair" : "good";
  return { text: `${name}: ${force.toFixed(1)} N, ${GUARD_STATES[state]}`, level };
}

/** Why there is no force: the faults that were counted. */
function faultWords(k: number, frame: Frame): string {
  const counts = row(frame.device_counters, k, COUNTERS.length).slice(0, FAULTS);
  const why = counts.flatMap((n, i) => (n > 0 ? [COUNTERS[i]] : []));
  return `${GUARD_STATES.fault}${why.length > 0 ? `, ${why.join(", ")}` : ""}. Press reset.`;
}

/** What was counted of a device, without what never happened: [how often, in words]. */
export function deviceCounts(k: number, frame: Frame): [number, string][] {
  const counts = row(frame.device_counters, k, COUNTERS.length);
  return counts.flatMap((n, i): [number, string][] => (n > 0 ? [[n, COUNTERS[i]!]] : []));
}
