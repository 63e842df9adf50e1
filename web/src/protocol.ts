// What server and page say to each other, besides frames (frame.gen.ts).

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
  mesh?: number | null; // of a mesh: its triangles are at /mesh/NUMBER (palpate/runtime/world/meshes.py)
}

export interface Body {
  name: string;
  touchable: boolean;
  movable?: boolean; // an obstacle: "place" puts it elsewhere
  spare?: boolean; // an obstacle that waits until it is added (parked.ts)
  loose?: boolean; // a free body that waits until it is added
  parked?: boolean; // it waits at the start
  fades?: { field: string; index?: number; near: number; far: number; only?: "eyes" }; // scene/fading.ts
  led?: { field: string; index?: number }; // a hand leads it, without a spring; this is felt through it [N]
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

/** A motion as the session tells it (palpate/runtime/page/requests.py). */
export interface Motion {
  duration_s: number;
  path: Vector3[]; // of the tool, empty if there is none
  clearance_m: Record<string, number>; // smallest gap to each obstacle
  gap_m?: (number | null)[] | null; // smallest gap to any, at each point of the path; null: there is nothing to be clear of
  wrong: string[]; // in plain words: limits, collisions
  fastest: number; // [rad/s]
}

/** What a hand holds beside the page's pointer. */
export interface Device {
  name: string;
  force_limit_N: number; // 0: it makes no force
}

/** Where a field lies in a frame: offset and length in 8-byte words. */
export interface DescribedField {
  name: string;
  kind: string; // "i" int64, "f" float64
  offset: number;
  length: number;
  shape: number[];
}

/** A slider: it sends an event, and shows a field of the frame. */
export interface Setting {
  event: string;
  label: string;
  field: string;
  unit: string;
  low: number;
  high: number;
  step: number;
  value: number; // the usual one
  about?: string;
  switch?: boolean; // on (1) or off (0)
  choices?: string[]; // one of these: its value is the place of the name
}

/** What is said of a frame: a number, or which of the names it is; `share`, 0 .. 1, is how sure that is. */
export interface TextOf {
  field: string;
  index?: number;
  label?: string;
  names?: string[]; // "none" and "" are not said
  share?: string;
  unit?: string;
}

/** What is drawn of fields over the bodies (palpate/runtime/drawings.py); those of one name are turned on together. */
export type DrawingOf = { name: string; color: number; shown: boolean } & (
  | { kind: "point"; at: string; value?: string; unit?: string }
  | { kind: "polygon"; corners: string; count?: string; height?: string }
  | { kind: "columns"; at: string; values: string; full?: number; unit?: string }
  | { kind: "arrows"; at?: string; bodies?: string[]; axes?: Vector3[]; values: string; full?: number; unit?: string }
  | { kind: "label"; at?: string; body?: string; above?: number; lines: TextOf[] }
);

/** What acts by itself, and can be told to. */
export interface ActorOf {
  name: string;
  says: TextOf[];
  event: string; // its value is the place of the command
  commands: string[];
  settings: string[]; // events of those settings that are its own
}

/** A number, one of a field's numbers, or the first of a field's. */
export type Quantity = number | string | [field: string, index: number];

/** An axis of a map: from low, left or below, to high; or `half` to each side of what it follows. */
export type AxisOf = { label: string; unit: string; wraps?: boolean } & ({ low: number; high: number } | { follow: Quantity; half: number });

/** What is drawn on a map of numbers of a frame (palpate/runtime/maps.py). */
export type ItemOf = { color: number; label: string; when?: Quantity } & (
  | { kind: "point" | "cross"; x: Quantity; y: Quantity }
  | { kind: "circle"; x: Quantity; y: Quantity; radius: Quantity; filled?: boolean }
  | { kind: "arrow"; x: Quantity; y: Quantity; dx?: Quantity; dy?: Quantity; angle?: Quantity; length?: Quantity }
  | { kind: "trail"; x: Quantity; y: Quantity; seconds: number }
  | { kind: "band"; x?: Quantity; y?: Quantity; radius: Quantity }
);

export interface MapOf {
  name: string;
  x: AxisOf;
  y: AxisOf;
  items: ItemOf[];
}

/** A key that sends an event while it is held. */
export interface KeyOf {
  key: string;
  event: string;
  value: number;
  about: string;
}

/** Ways that a stick sends: to the right, ahead, and to the left about the vertical. */
export type Way = "x" | "y" | "turn";

/** A view from a point of a body, along its x, z up. */
export interface EyesOf {
  name: string;
  body: string;
  at: Vector3;
  ipd_m: number;
  fov_deg: number;
  hides: string[];
}

/** Bodies that go where a headset and its right controller are, and where the headset's space begins. */
export interface PersonOf {
  head: string;
  hand?: string;
  at: Vector3;
  turn_rad: number;
}

/** A line of a plot: a number of a frame, the largest length of some vectors, or the latest of a histogram. */
export interface Series {
  field?: string;
  index?: number;
  longest?: string[];
  latest?: string;
  label?: string; // a line alone needs none
  unit?: string; // else the plot's
  wanted?: string; // the field that says where it is wanted
  dashed?: boolean; // in the colour of a solid line: the first dashed one in that of the first, and so on
}

export interface PlotOf {
  name: string;
  title: string;
  unit: string;
  series: Series[];
  least?: number; // that it is high
  zero?: boolean; // zero is in it
  logarithmic?: boolean;
}

/** Panels that a simulation may have use for, beside what every page shows. */
export type PanelOf = "touch" | "contacts" | "edit" | "things" | "task" | "devices" | "scenes" | "lab";

/** Where a camera stands, and what it looks at [m]. */
export interface ViewOf {
  eye: Vector3;
  target: Vector3;
}

/** What a page's hands are to this simulation. */
export interface HandOf {
  stiffness_N_m: number;
  force_limit_N: number;
  plane?: Vector3; // they move only in planes with this normal
  turns?: Vector3; // they turn what they hold, about this axis of the world,
  stiffness_Nm_rad?: number; // by a spring as stiff as this
}

/** What palpate/runtime/hello.py explains; what only a World has may be missing. */
export interface Hello {
  type: "hello";
  protocol: number;
  palpate: string;
  mode: "live" | "replay" | "compiling"; // compiling: as it will begin; it does not run yet
  scene: string;
  title: string;
  rate_hz: number;
  bodies: Body[];
  start: number[][]; // pose of each body where the scene begins
  hand: HandOf;
  views: Record<string, ViewOf>;
  settings: Setting[];
  drawings?: DrawingOf[];
  actors?: ActorOf[];
  maps?: MapOf[];
  keys?: KeyOf[];
  walk?: Partial<Record<Way, string>>; // events
  eyes?: EyesOf | null;
  person?: PersonOf | null;
  tips?: string[]; // bodies that are the tips of devices, in their order
  hint?: { mouse?: string; finger?: string }; // what one does first here; else the page's own words
  events?: Record<string, { low?: number; high?: number }>;
  plots: PlotOf[];
  panels: string[];
  counters: string[];
  devices?: Device[];
  edit_modes?: string[]; // what a touch can do to the plan; empty if there is none
  tool?: string | null; // body whose path is planned
  obstacles?: string[];
  task?: { title: string; body: string; target_m: Vector3; radius_m: number; obstacles: string[] } | null; // something to learn
  loose?: Partial<Record<LooseKind, string[]>>; // free bodies that can be added
  scenes?: SceneCard[];
  frame: DescribedField[];
  path: Vector3[];
  study?: StudyOf;
  duration_s?: number;
  marks?: Mark[]; // of a recording
}

/** A study that leads this page: what of the screen it does not hide. */
export interface StudyOf {
  title: string;
  shows: string[];
}

/** A button of a study, and its key. */
export interface Choice {
  label: string;
  key: string;
  value: string | number;
}

export interface Scale {
  name: string;
  about: string;
  low: string;
  high: string;
}

/** What a participant sees now (palpate/experiments/studies/people/conduct.py). */
export interface Screen {
  number: number;
  kind: "read" | "feel" | "choose" | "number" | "scales" | "end";
  title: string;
  text: string;
  choices: Choice[];
  scales: Scale[];
  least_s: number;
  part: number;
  done: number; // trials
  of: number;
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

/** The session's answer to a request. */
export interface Answer {
  type: "answer";
  id: number;
  ok: boolean;
  error?: string;
  [more: string]: unknown;
}

/** How far the compiler is, before the scene runs. */
export interface Compiling {
  type: "compiling";
  what: string; // the function that it is at
  done: number; // functions
  of: number;
  seconds: number; // about how long it still takes
  elapsed: number; // [s]
}

/** Whether a simulation has use for a panel. */
export function wants(hello: Hello | null, panel: PanelOf): boolean {
  return hello?.panels.includes(panel) ?? false;
}

export type ClientMessage =
  | HandMessage
  | { type: "release"; hand?: number }
  | { type: "take" }
  | { type: "give" }
  | { type: "event"; kind: string; value: number; body?: number; placement?: number[] }
  | { type: "request"; id: number; what: string; [more: string]: unknown };

/** A hand that pulls at a point of a body, or presses with a ball at `target` on whatever is there. */
export type HandMessage = {
  type: "hand";
  hand?: 0 | 1;
  target: Vector3;
  stiffness: number;
  damping?: number; // times critical
} & ({ kind?: "pull"; body: number; at_body: Vector3; orientation?: Quaternion; turning?: number } | { kind: "press"; radius: number });
