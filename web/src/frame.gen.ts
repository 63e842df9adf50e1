// Generated from palpate/frame.py by `python -m palpate.page.generate`. Do not edit.

export const COUNTERS = ["late", "skipped", "hand_stale", "hand_refused", "capped", "clamped", "rate_limited", "events_lost", "contacts_lost", "ran_out", "watchdog"] as const;
export const LATENESS_EDGES_US = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] as const;
export const STATES = {"PAUSED": 0, "RUNNING": 1, "FAULT": 2} as const;
export const EVENT_KINDS = ["play", "pause", "step", "reset", "seek", "speed"] as const;

/** One field of a message: all int64 fields come first, then all float64 fields, each in this order. */
export interface Field {
  readonly name: keyof Frame;
  readonly kind: "i" | "f";
  readonly shape: readonly (number | string)[];
}

export const FRAME_FIELDS: readonly Field[] = [
  {"name": "tick", "kind": "i", "shape": []},
  {"name": "wall_ns", "kind": "i", "shape": []},
  {"name": "state", "kind": "i", "shape": []},
  {"name": "counters", "kind": "i", "shape": [11]},
  {"name": "lateness", "kind": "i", "shape": [14]},
  {"name": "hand_body", "kind": "i", "shape": []},
  {"name": "contacts", "kind": "i", "shape": []},
  {"name": "time_s", "kind": "f", "shape": []},
  {"name": "tick_us", "kind": "f", "shape": []},
  {"name": "q", "kind": "f", "shape": ["nq"]},
  {"name": "v", "kind": "f", "shape": ["nv"]},
  {"name": "tau", "kind": "f", "shape": ["nv"]},
  {"name": "plan_q", "kind": "f", "shape": ["nq"]},
  {"name": "pose", "kind": "f", "shape": ["n_bodies", 7]},
  {"name": "hand_point", "kind": "f", "shape": [3]},
  {"name": "hand_target", "kind": "f", "shape": [3]},
  {"name": "hand_force", "kind": "f", "shape": [3]},
  {"name": "hand_torque", "kind": "f", "shape": [3]},
  {"name": "hand_age_s", "kind": "f", "shape": []},
  {"name": "residual", "kind": "f", "shape": []},
  {"name": "energy", "kind": "f", "shape": [3]},
];

/** One published tick. Arrays are flat, row by row. */
export interface Frame {
  /** ticks since the start */
  tick: number;
  /** monotonic clock when the tick began [ns] */
  wall_ns: number;
  /** PAUSED, RUNNING or FAULT */
  state: number;
  /** as COUNTERS names them */
  counters: number[];
  /** ticks by how late they began */
  lateness: number[];
  /** body that the hand holds, 0: none */
  hand_body: number;
  /** contact points solved in the tick before this one */
  contacts: number;
  /** simulated time [s] */
  time_s: number;
  /** how long the tick before this one took [us] */
  tick_us: number;
  /** coordinates */
  q: Float64Array;
  /** velocities */
  v: Float64Array;
  /** joint forces of the controller [N m or N] */
  tau: Float64Array;
  /** where the plan, or what holds the joints, wants them */
  plan_q: Float64Array;
  /** position [m] and quaternion (w, x, y, z) of each body in the world */
  pose: Float64Array;
  /** the held point, world [m] */
  hand_point: Float64Array;
  /** where the hand is, world [m] */
  hand_target: Float64Array;
  /** force on the body from the hand, world [N] */
  hand_force: Float64Array;
  /** torque on the body from the hand, world [N m] */
  hand_torque: Float64Array;
  /** from the hand's sample to this force [s] */
  hand_age_s: number;
  /** of the contact solver in the tick before, relative to the largest impulse */
  residual: number;
  /** kinetic, potential, work of the hand so far [J] */
  energy: Float64Array;
}
