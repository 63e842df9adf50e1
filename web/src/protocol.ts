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
}

export interface Body {
  name: string;
  touchable: boolean;
  shapes: Shape[];
}

/** A coordinate that is one angle or one length. */
export interface Axis {
  name: string;
  unit: "rad" | "m";
  index: number; // into q and plan_q of a frame
  held: boolean; // plan_q says where a plan or a spring wants it
}

export interface Sizes {
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
  frame: DescribedField[];
  path: Vector3[];
  duration_s?: number;
}

/** holder: this page holds the hand; taken: another page does; dropped: messages of ours that made no sense. */
export interface Status {
  type: "status";
  dropped: number;
  holder: boolean;
  taken: boolean;
}

export type EventKind = (typeof EVENT_KINDS)[number];

export type ClientMessage =
  | { type: "hand"; body: number; at_body: Vector3; target: Vector3; stiffness: number }
  | { type: "release" }
  | { type: "event"; kind: EventKind; value: number };
