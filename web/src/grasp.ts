// What the two hands of this page hold, and how the servo is told: whoever moves them (pointers, controllers of a
// headset) takes, moves and lets go here. No force is computed: the servo runs the spring. That a hand still holds is
// said again and again by socket.ts.

import * as THREE from "three";
import type { ClientMessage, HandMessage, Vector3 } from "./protocol";
import type { Grip, Grips, HandKind } from "./scene/hands";
import type { Store } from "./state";

const REACH = 0.25; // how deep a tip can be in a surface, and how far off, in radii of the scene
const BEND = 0.3; // cosine of the angle about which a normal may turn from one look to the next: not around an edge

export type HandNumber = 0 | 1;

/** What was found to be held, world. */
export interface Found {
  body: number;
  point: THREE.Vector3;
  normal: THREE.Vector3;
}

/** What hands need of a scene: between the world and the axes of a body, and the surface of a body along a line. */
export interface Scene {
  readonly scale: number; // radius [m]
  toBody(body: number, point: THREE.Vector3): THREE.Vector3;
  turnToBody(body: number, direction: THREE.Vector3): THREE.Vector3;
  turnToWorld(body: number, direction: THREE.Vector3): THREE.Vector3;
  surface(body: number, from: THREE.Vector3, way: THREE.Vector3, reach: number): Found | null;
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
  ) {}

  /** Takes hold with a hand that is free, or with this one; which it was, null if there is none. */
  take(found: Found, kind: HandKind, wanted?: HandNumber): HandNumber | null {
    const free = ([0, 1] as const).find((hand) => !this.grips[hand] && (wanted === undefined || wanted === hand));
    if (free === undefined) return null;
    const { body, point, normal } = found;
    const atBody = this.scene.toBody(body, point);
    this.grips[free] = { kind, body, atBody, normal: this.scene.turnToBody(body, normal), target: point.clone() };
    this.tell(free);
    this.note();
    return free;
  }

  /**
   * A tip that presses slides: the surface under it is looked for again, along the normal it has. False if there is none
   * any more, for the tip has slipped off, or the body has gone elsewhere.
   */
  slide(hand: HandNumber): boolean {
    const grip = this.grips[hand];
    if (grip?.kind !== "press") return true;
    const normal = this.scene.turnToWorld(grip.body, grip.normal);
    const reach = REACH * this.scene.scale;
    const from = grip.target.clone().addScaledVector(normal, reach);
    const found = this.scene.surface(grip.body, from, normal.clone().negate(), 2 * reach);
    if (!found || found.normal.dot(normal) < BEND) return false;
    grip.atBody.copy(this.scene.toBody(grip.body, found.point));
    grip.normal.copy(this.scene.turnToBody(grip.body, found.normal));
    return true;
  }

  /** Moves a hand, world. */
  move(hand: HandNumber, target: THREE.Vector3): void {
    const grip = this.grips[hand];
    if (!grip) return;
    grip.target.copy(target);
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
    if (grip && hello) this.send(message(hand, grip, this.stiffness_N_m ?? hello.hand.stiffness_N_m, this.damping));
  }

  private note(): void {
    this.store.set("held", (this.grips[0] ?? this.grips[1])?.body ?? 0);
    this.changed();
  }
}

/** A grip as the servo takes it. */
export function message(hand: HandNumber, grip: Grip, stiffness: number, damping: number | null): HandMessage {
  return {
    type: "hand",
    hand,
    kind: grip.kind,
    body: grip.body,
    at_body: grip.atBody.toArray() as Vector3,
    target: grip.target.toArray() as Vector3,
    stiffness,
    ...(damping === null ? {} : { damping }),
    ...(grip.kind === "press" ? { normal: grip.normal.toArray() as Vector3 } : {}),
  };
}
