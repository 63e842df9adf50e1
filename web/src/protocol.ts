// What server and page say to each other, besides frames (frame.gen.ts).

import type { EVENT_KINDS } from "./frame.gen";

export type Vector3 = [number, number, number];
export type Quaternion = [number, number, number, number]; // (w, x, y, z), as everywhere outside three.js

export type ShapeKind = "plane" | "sphere" | "capsule" | "cylinder" | "box" | "mesh";

export interface Shape {
  kind: ShapeKind;
  size: number[];
  position: Vector3;
  quaternion: Quaternion;
  color: [number, number, number, number] | null;
  role: "both" | "visual" | "collision";
  mesh?: number | null; // of a mesh: its triangles are at /mesh/NUMBER (palpate/runtime/meshes.py)
}

export interface Body {
  name: string;
  touchable: boolean;
  movable?: boolean; // an obstacle: "place" puts it elsewhere
  spare?: boolean; // an obstacle that waits until it is added (parked.ts)
  loose?: boolean; // a free body that waits until it is added
  parked?: boolean; // it waits at the start
  shapes: Shape[];
}

/** Free bodies that a scene may have to spare. */
export const LOOSE_KINDS = ["box", "ball"] as const;
export type LooseKind = (typeof LOOSE_KINDS)[number];

/** A scene to choose. */
export interface SceneCard {
  name: string;
  about: string;
}

/** A motion as the session tells it (palpate/runtime/desk.py). */
export interface Motion {
  duration_s: number;
  path: Vector3[]; // of the tool, empty if there is none
  clearance_m: Record<string, number>; // smallest gap to each obstacle
  gap_m?: (number | null)[] | null; // smallest gap to any, at each point of the path; null: there is nothing to be clear of
  wrong: string[]; // in plain words: limits, collisions
  fastest: number; // [rad/s]
}

/** A coordinate that is one angle or one length. */
export interface Axis {
  name: string;
  unit: "rad" | "m";
  index: number; // into q and plan_q of a frame
  held: boolean; // plan_q says where a plan or a spring wants it
}

export interface Sizes {
  n_contacts: number;
  nq: number;
  nv: number;
  n_bodies: number;
  n_devices: number;
}

/** What a hand holds beside the page's pointer. */
export interface Device {
  name: string;
  force_limit_N: number; // 0: it makes no force
}

export interface DescribedField {
  name: string;
  kind: string;
  offset: number;
  length: number;
}

export interface Hello {
  type: "hello";
  palpate: string;
  mode: "live" | "replay";
  scene: string;
  title: string;
  rate_hz: number;
  sizes: Sizes;
  axes: Axis[];
  bodies: Body[];
  start: number[][]; // pose of each body where the scene begins
  hand: { stiffness_N_m: number; force_limit_N: number };
  devices?: Device[]; // missing in old recordings, as is
  edit_modes?: string[]; // what a touch can do to the plan; empty if there is none
  tool?: string | null; // body whose path is planned
  obstacles?: string[];
  task?: { title: string; body: string; target_m: Vector3; radius_m: number; obstacles: string[] } | null; // something to learn
  loose?: Partial<Record<LooseKind, string[]>>; // free bodies that can be added
  scenes?: SceneCard[];
  frame: DescribedField[];
  path: Vector3[];
  duration_s?: number;
  marks?: Mark[]; // of a recording
}

/** Something worth finding again in a recording. */
export interface Mark {
  time_s: number;
  text: string;
}

/** holder: this page has the hands; taken: another page does; asked: another page asks for ours; asking: we ask;
 *  pages: how many are open; dropped: messages of ours that made no sense. */
export interface Status {
  type: "status";
  dropped: number;
  holder: boolean;
  taken: boolean;
  asked: boolean;
  asking: boolean;
  pages: number;
}

/** The session's answer to a request, or, without an id, something told to all pages. */
export interface Answer {
  type: "answer";
  id: number;
  ok: boolean;
  error?: string;
  [more: string]: unknown;
}

export interface Told {
  type: "told";
  [more: string]: unknown;
}

export type EventKind = (typeof EVENT_KINDS)[number];

export type ClientMessage =
  | HandMessage
  | { type: "release"; hand?: number }
  | { type: "take" }
  | { type: "give" }
  | { type: "event"; kind: EventKind; value: number; body?: number; placement?: number[] }
  | { type: "request"; id: number; what: string; [more: string]: unknown };

/** A hand that pulls at a point of a body, or presses with a ball at `target` on whatever is there. */
export type HandMessage = {
  type: "hand";
  hand?: 0 | 1;
  target: Vector3;
  stiffness: number;
  damping?: number; // times critical
} & ({ kind?: "pull"; body: number; at_body: Vector3 } | { kind: "press"; radius: number });
