// Generated from palpate/frame.py by `python -m palpate.page.generate`. Do not edit.

export const COUNTERS = ["late", "skipped", "hand_stale", "hand_refused", "capped", "clamped", "rate_limited", "events_lost", "contacts_lost", "ran_out", "watchdog", "link_stale", "link_silent"] as const;
export const LATENESS_EDGES_US = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] as const;
export const STATES = {"PAUSED": 0, "RUNNING": 1, "FAULT": 2} as const;
export const EVENT_KINDS = ["play", "pause", "step", "reset", "seek", "speed", "mode", "place", "gravity", "friction"] as const;
export const CONTACT_MODES = ["unknown", "open", "stick", "slide", "roll"] as const;

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
  {"name": "counters", "kind": "i", "shape": [13]},
  {"name": "lateness", "kind": "i", "shape": [14]},
  {"name": "hand_body", "kind": "i", "shape": [2]},
  {"name": "hand_kind", "kind": "i", "shape": [2]},
  {"name": "edit_mode", "kind": "i", "shape": []},
  {"name": "edit_stage", "kind": "i", "shape": []},
  {"name": "contacts", "kind": "i", "shape": []},
  {"name": "contact_body", "kind": "i", "shape": ["n_contacts", 2]},
  {"name": "parked", "kind": "i", "shape": ["n_bodies"]},
  {"name": "contact_mode", "kind": "i", "shape": ["n_contacts"]},
  {"name": "task_trial", "kind": "i", "shape": []},
  {"name": "task_state", "kind": "i", "shape": []},
  {"name": "task_collisions", "kind": "i", "shape": []},
  {"name": "device_held", "kind": "i", "shape": ["n_devices"]},
  {"name": "device_state", "kind": "i", "shape": ["n_devices"]},
  {"name": "device_buttons", "kind": "i", "shape": ["n_devices"]},
  {"name": "device_counters", "kind": "i", "shape": ["n_devices", 16]},
  {"name": "time_s", "kind": "f", "shape": []},
  {"name": "tick_us", "kind": "f", "shape": []},
  {"name": "speed", "kind": "f", "shape": []},
  {"name": "gravity", "kind": "f", "shape": []},
  {"name": "friction", "kind": "f", "shape": []},
  {"name": "q", "kind": "f", "shape": ["nq"]},
  {"name": "v", "kind": "f", "shape": ["nv"]},
  {"name": "tau", "kind": "f", "shape": ["nv"]},
  {"name": "plan_q", "kind": "f", "shape": ["nq"]},
  {"name": "pose", "kind": "f", "shape": ["n_bodies", 7]},
  {"name": "hand_point", "kind": "f", "shape": [2, 3]},
  {"name": "hand_target", "kind": "f", "shape": [2, 3]},
  {"name": "hand_force", "kind": "f", "shape": [2, 3]},
  {"name": "hand_torque", "kind": "f", "shape": [2, 3]},
  {"name": "hand_age_s", "kind": "f", "shape": [2]},
  {"name": "granted_J", "kind": "f", "shape": []},
  {"name": "device_position", "kind": "f", "shape": ["n_devices", 3]},
  {"name": "device_quaternion", "kind": "f", "shape": ["n_devices", 4]},
  {"name": "device_point", "kind": "f", "shape": ["n_devices", 3]},
  {"name": "device_force", "kind": "f", "shape": ["n_devices", 3]},
  {"name": "device_torque", "kind": "f", "shape": ["n_devices", 3]},
  {"name": "device_body_force", "kind": "f", "shape": ["n_devices", 3]},
  {"name": "device_age_s", "kind": "f", "shape": ["n_devices"]},
  {"name": "device_energy", "kind": "f", "shape": ["n_devices", 4]},
  {"name": "contact_point", "kind": "f", "shape": ["n_contacts", 3]},
  {"name": "contact_force", "kind": "f", "shape": ["n_contacts", 3]},
  {"name": "task_time_s", "kind": "f", "shape": []},
  {"name": "task_path_m", "kind": "f", "shape": []},
  {"name": "task_peak_N", "kind": "f", "shape": []},
  {"name": "task_distance_m", "kind": "f", "shape": []},
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
  /** body that each hand holds or presses on, 0: none */
  hand_body: number[];
  /** what each hand does: PULL, PUSH or PRESS */
  hand_kind: number[];
  /** what a touch does to the plan: wait, hold, resume, blend, teach */
  edit_mode: number;
  /** of the motion: planned, touched, edited, ended */
  edit_stage: number;
  /** contact points solved in the tick before this one */
  contacts: number;
  /** the two bodies of each contact, as far as there is room */
  contact_body: number[];
  /** 1: the body waits to be added, and takes no part */
  parked: number[];
  /** what each contact does, as CONTACT_MODES names it */
  contact_mode: number[];
  /** number of the trial of the scene's task, 0: it has none */
  task_trial: number;
  /** of that trial: waiting for a touch, running, reached */
  task_state: number;
  /** times that an obstacle was hit in it */
  task_collisions: number;
  /** body that each device holds, 0: none */
  device_held: number[];
  /** of its guard: engaging, rising, on, slowed, late, fault */
  device_state: number[];
  /** one bit each */
  device_buttons: number[];
  /** as DEVICE_COUNTERS names them */
  device_counters: number[];
  /** simulated time [s] */
  time_s: number;
  /** how long the tick before this one took [us] */
  tick_us: number;
  /** of the simulation, times real time */
  speed: number;
  /** times the scene's own */
  gravity: number;
  /** times the scene's own */
  friction: number;
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
  /** the held point, or the ball that presses, world [m] */
  hand_point: Float64Array;
  /** where the hand is, world [m] */
  hand_target: Float64Array;
  /** force on the body from the hand, world [N] */
  hand_force: Float64Array;
  /** torque on the body from the hand, world [N m] */
  hand_torque: Float64Array;
  /** from the hand's sample to this force [s] */
  hand_age_s: Float64Array;
  /** energy granted to a hand at the other end of a link so far [J] */
  granted_J: number;
  /** where each device's hand is, world [m] */
  device_position: Float64Array;
  /** how it is turned, (w, x, y, z) in the world */
  device_quaternion: Float64Array;
  /** its proxy, or the point it holds, world [m] */
  device_point: Float64Array;
  /** force on the hand, as sent, world [N] */
  device_force: Float64Array;
  /** torque on the hand, as sent, world [N m] */
  device_torque: Float64Array;
  /** force on the bodies it touches or holds, world [N] */
  device_body_force: Float64Array;
  /** from its sample to this force [s] */
  device_age_s: Float64Array;
  /** absorbed at each of DEVICE_PORTS so far [J] */
  device_energy: Float64Array;
  /** of each contact, world [m] */
  contact_point: Float64Array;
  /** on the second of its bodies, world [N] */
  contact_force: Float64Array;
  /** of the trial, since its first touch [s] */
  task_time_s: number;
  /** way of its body [m] */
  task_path_m: number;
  /** largest force of a hand in it [N] */
  task_peak_N: number;
  /** of its body from the target [m] */
  task_distance_m: number;
  /** of the contact solver in the tick before, relative to the largest impulse */
  residual: number;
  /** kinetic, potential, work of the hands so far [J] */
  energy: Float64Array;
}
