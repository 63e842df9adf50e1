// Generated from palpate/frame.py by `python -m palpate.page.generate`. Do not edit.

export const COUNTERS = ["late", "skipped", "hand_stale", "hand_refused", "capped", "clamped", "rate_limited", "events_lost", "contacts_lost", "ran_out", "watchdog", "link_stale", "link_silent"] as const;
export const LATENESS_EDGES_US = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000] as const;
export const STATES = {"PAUSED": 0, "RUNNING": 1, "FAULT": 2} as const;
export const PROTOCOL = 3 as const;
export const CONTACT_MODES = ["unknown", "open", "stick", "slide", "roll"] as const;

/** The fields that this page knows something about: their kind, and how many indices they have. */
export const KNOWN: Record<string, readonly [kind: string, rank: number]> = {
  tick: ["i", 0],
  wall_ns: ["i", 0],
  state: ["i", 0],
  counters: ["i", 1],
  lateness: ["i", 1],
  time_s: ["f", 0],
  tick_us: ["f", 0],
  speed: ["f", 0],
  hand_body: ["i", 1],
  hand_kind: ["i", 1],
  edit_mode: ["i", 0],
  edit_stage: ["i", 0],
  contacts: ["i", 0],
  contact_body: ["i", 2],
  parked: ["i", 1],
  contact_mode: ["i", 1],
  task_trial: ["i", 0],
  task_state: ["i", 0],
  task_collisions: ["i", 0],
  device_held: ["i", 1],
  device_state: ["i", 1],
  device_buttons: ["i", 1],
  device_counters: ["i", 2],
  gravity: ["f", 0],
  friction: ["f", 0],
  q: ["f", 1],
  v: ["f", 1],
  tau: ["f", 1],
  plan_q: ["f", 1],
  pose: ["f", 2],
  hand_point: ["f", 2],
  hand_target: ["f", 2],
  hand_force: ["f", 2],
  hand_torque: ["f", 2],
  hand_age_s: ["f", 1],
  granted_J: ["f", 0],
  device_position: ["f", 2],
  device_quaternion: ["f", 2],
  device_point: ["f", 2],
  device_force: ["f", 2],
  device_torque: ["f", 2],
  device_body_force: ["f", 2],
  device_age_s: ["f", 1],
  device_energy: ["f", 2],
  contact_point: ["f", 2],
  contact_force: ["f", 2],
  task_time_s: ["f", 0],
  task_path_m: ["f", 0],
  task_peak_N: ["f", 0],
  task_distance_m: ["f", 0],
  residual: ["f", 0],
  energy: ["f", 1],
};

/** Those that every frame has. */
export const BASE = ["tick", "wall_ns", "state", "counters", "lateness", "time_s", "tick_us", "speed"] as const;

/** One published tick: what every one has, and what a World adds. Arrays are flat, row by row. */
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
  /** simulated time [s] */
  time_s: number;
  /** how long the tick before this one took [us] */
  tick_us: number;
  /** of the simulation, times real time */
  speed: number;
  /** body that each hand holds or presses on, 0: none */
  hand_body?: number[];
  /** what each hand does: PULL, PUSH or PRESS */
  hand_kind?: number[];
  /** what a touch does to the plan: wait, hold, resume, blend, teach */
  edit_mode?: number;
  /** of the motion: planned, touched, edited, ended */
  edit_stage?: number;
  /** contact points solved in the tick before this one */
  contacts?: number;
  /** the two bodies of each contact, as far as there is room */
  contact_body?: number[];
  /** 1: the body waits to be added, and takes no part */
  parked?: number[];
  /** what each contact does, as CONTACT_MODES names it */
  contact_mode?: number[];
  /** number of the trial of the scene's task, 0: it has none */
  task_trial?: number;
  /** of that trial: waiting for a touch, running, reached */
  task_state?: number;
  /** times that an obstacle was hit in it */
  task_collisions?: number;
  /** body that each device holds, 0: none */
  device_held?: number[];
  /** of its guard: engaging, rising, on, slowed, late, fault */
  device_state?: number[];
  /** one bit each */
  device_buttons?: number[];
  /** as DEVICE_COUNTERS names them */
  device_counters?: number[];
  /** times the scene's own */
  gravity?: number;
  /** times the scene's own */
  friction?: number;
  /** coordinates */
  q?: Float64Array;
  /** velocities */
  v?: Float64Array;
  /** joint forces of the controller [N m or N] */
  tau?: Float64Array;
  /** where the plan, or what holds the joints, wants them */
  plan_q?: Float64Array;
  /** position [m] and quaternion (w, x, y, z) of each body in the world */
  pose?: Float64Array;
  /** the held point, or the ball that presses, world [m] */
  hand_point?: Float64Array;
  /** where the hand is, world [m] */
  hand_target?: Float64Array;
  /** force on the body from the hand, world [N] */
  hand_force?: Float64Array;
  /** torque on the body from the hand, world [N m] */
  hand_torque?: Float64Array;
  /** from the hand's sample to this force [s] */
  hand_age_s?: Float64Array;
  /** energy granted to a hand at the other end of a link so far [J] */
  granted_J?: number;
  /** where each device's hand is, world [m] */
  device_position?: Float64Array;
  /** how it is turned, (w, x, y, z) in the world */
  device_quaternion?: Float64Array;
  /** its proxy, or the point it holds, world [m] */
  device_point?: Float64Array;
  /** force on the hand, as sent, world [N] */
  device_force?: Float64Array;
  /** torque on the hand, as sent, world [N m] */
  device_torque?: Float64Array;
  /** force on the bodies it touches or holds, world [N] */
  device_body_force?: Float64Array;
  /** from its sample to this force [s] */
  device_age_s?: Float64Array;
  /** absorbed at each of DEVICE_PORTS so far [J] */
  device_energy?: Float64Array;
  /** of each contact, world [m] */
  contact_point?: Float64Array;
  /** on the second of its bodies, world [N] */
  contact_force?: Float64Array;
  /** of the trial, since its first touch [s] */
  task_time_s?: number;
  /** way of its body [m] */
  task_path_m?: number;
  /** largest force of a hand in it [N] */
  task_peak_N?: number;
  /** of its body from the target [m] */
  task_distance_m?: number;
  /** of the contact solver in the tick before, relative to the largest impulse */
  residual?: number;
  /** kinetic, potential, work of the hands so far [J] */
  energy?: Float64Array;
}
