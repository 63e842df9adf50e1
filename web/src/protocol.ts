// What server and page say to each other, besides frames (frame.gen.ts).

import type { EVENT_KINDS } from "./frame.gen";

export type Vector3 = [number, number, number];
export type Quaternion = [number, number, number, number]; // (w, x, y, z), as everywhere outside three.js

export type ShapeKind = "plane" | "sphere" | "capsule" | "cylinder" | "box";

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

export interface Sizes {
  nq: number;
  nv: number;
  n_bodies: number;
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
  joints: string[];
  joint_units: string[];
  bodies: Body[];
  hand: { stiffness_N_m: number; force_limit_N: number };
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
