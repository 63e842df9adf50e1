// What the two hands of this page hold, and how the servo is told: whoever moves them (pointers, controllers of a
// headset) takes, moves and lets go here. No force is computed: the servo runs the spring. That a hand still holds is
// said again and again by socket.ts.

import * as THREE from "three";
import type { ClientMessage, HandMessage, Vector3 } from "./protocol";
import type { Grip, Grips, HandKind } from "./scene/hands";
import type { Store } from "./state";
import { Turn } from "./turn";

const BALL = 0.005; // radius of the ball that presses, in radii of the scene
const LARGEST_BALL = 0.1; // [m], as the servo has it

export type HandNumber = 0 | 1;

/** What was found to be held, world. */
export interface Found {
  body: number;
  point: THREE.Vector3;
  normal: THREE.Vector3;
}

/** What hands need of a scene. */
export interface Scene {
  readonly scale: number; // radius [m]
  toBody(body: number, point: THREE.Vector3): THREE.Vector3; // from the world to its axes
}

export class Grasps {
  readonly grips: Grips = [null, null];
  stiffness_N_m: number | null = null; // null: as the scene has it
  damping: number | null = null; // times critical; null: as the servo has it

  constructor(
    private readonly store: Store,
    private readonly send: (message: ClientMessage) => void,
    private readonly scene: Scene,
    private readonly changed: () => void,
  ) {
    store.on("frame", () => this.grips.forEach((grip) => grip?.turn?.follow(this.turned(grip.body))));
  }

  /** Takes hold with a hand that is free, or with this one; which it was, null if there is none. */
  take(found: Found, kind: HandKind, wanted?: HandNumber): HandNumber | null {
    const free = ([0, 1] as const).find((hand) => !this.grips[hand] && (wanted === undefined || wanted === hand));
    if (free === undefined) return null;
    const { body, point, normal } = found;
    const radius = Math.min(BALL * this.scene.scale, LARGEST_BALL);
    this.grips[free] = { kind, body, atBody: this.scene.toBody(body, point), normal: normal.clone(), radius, target: point.clone() };
    const { plane, turns } = this.store.get("hello")?.hand ?? {};
    if (plane) this.grips[free].plane = new THREE.Plane().setFromNormalAndCoplanarPoint(new THREE.Vector3(...plane).normalize(), point);
    if (turns && kind === "pull") this.grips[free].turn = new Turn(new THREE.Vector3(...turns).normalize(), this.turned(body));
    this.tell(free);
    this.note();
    return free;
  }

  /** Moves a hand, world. */
  move(hand: HandNumber, target: THREE.Vector3): void {
    const grip = this.grips[hand];
    if (!grip) return;
    grip.target.copy(target);
    grip.plane?.projectPoint(target, grip.target);
    this.tell(hand);
  }

  /** Turns what a hand holds by so much more [rad], where hands turn. */
  turn(hand: HandNumber, angle: number): void {
    if (!this.grips[hand]?.turn) return;
    this.grips[hand].turn.by(angle);
    this.tell(hand);
  }

  release(hand: HandNumber): void {
    if (!this.grips[hand]) return;
    this.grips[hand] = null;
    this.send({ type: "release", hand });
    this.note();
  }

  /** Tells the servo where a hand is; again, when stiffness or damping has changed. */
  tell(hand: HandNumber): void {
    const [grip, hello] = [this.grips[hand], this.store.get("hello")];
    if (grip && hello) this.send(message(hand, grip, this.stiffness_N_m ?? hello.hand.stiffness_N_m, this.damping, hello.hand.stiffness_Nm_rad));
  }

  /** How a body is turned, as the last frame has it. */
  private turned(body: number): THREE.Quaternion {
    const pose = this.store.get("frame")?.pose?.subarray(7 * body + 3, 7 * body + 7);
    return pose?.length === 4 ? new THREE.Quaternion(pose[1], pose[2], pose[3], pose[0]) : new THREE.Quaternion();
  }

  private note(): void {
    this.store.set("held", (this.grips[0] ?? this.grips[1])?.body ?? 0);
    this.changed();
  }
}

/** A grip as the servo takes it: a ball that presses begins outside, where it was put on the surface. */
export function message(hand: HandNumber, grip: Grip, stiffness: number, damping: number | null, turning = 0): HandMessage {
  const spring = { stiffness, ...(damping === null ? {} : { damping }) };
  if (grip.kind === "press") {
    const target = grip.target.clone().addScaledVector(grip.normal, grip.radius).toArray() as Vector3;
    return { type: "hand", hand, kind: "press", target, radius: grip.radius, ...spring };
  }
  const at_body = grip.atBody.toArray() as Vector3;
  const turned = grip.turn && turning > 0 ? { orientation: grip.turn.orientation(), turning } : {};
  return { type: "hand", hand, kind: "pull", body: grip.body, at_body, target: grip.target.toArray() as Vector3, ...spring, ...turned };
}
