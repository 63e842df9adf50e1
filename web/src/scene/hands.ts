// Both hands as they are seen: a spring that pulls or a probe that presses, with the force beside it. A hand of ours is
// drawn where our pointer is, without waiting for the servo; the force is always the servo's.

import * as THREE from "three";
import { norm, numbers } from "../decode";
import { row } from "../devices";
import type { Frame } from "../frame.gen";
import type { Body } from "../protocol";
import type { Turn } from "../turn";
import type { Bodies } from "./bodies";
import { Marker } from "./devices";
import { ForceLabel, ForceSign } from "./label";
import { normalOf, Probe } from "./probe";
import { forceColor, Spring } from "./spring";
import { TurnArc } from "./turn_arc";

export type HandKind = "pull" | "press"; // of our own hands; a program may also push, with a force and no spring
const KINDS = ["pull", "push", "press"] as const; // as frames number them (palpate/frame.py)

/** What a frame tells of one hand, world. */
export interface Told {
  kind: (typeof KINDS)[number];
  point: THREE.Vector3; // of the body; the ball that presses
  target: THREE.Vector3; // where the hand is
  force: THREE.Vector3; // on the body [N]
}

/** Hand k of a frame; null if it holds nothing. */
export function told(frame: Frame, k: number): Told | null {
  const kind = KINDS[frame.hand_kind?.[k] ?? 0] ?? "pull";
  if (!frame.hand_body?.[k] && kind !== "press") return null;
  const vector = (field?: ArrayLike<number>): THREE.Vector3 => new THREE.Vector3().fromArray(row(field, k, 3));
  return { kind, point: vector(frame.hand_point), target: vector(frame.hand_target), force: vector(frame.hand_force) };
}

/** What a hand of ours holds. */
export interface Grip {
  kind: HandKind;
  body: number;
  atBody: THREE.Vector3; // the point, body axes
  normal: THREE.Vector3; // of the surface there when it was taken, outward, world
  radius: number; // of the ball that presses [m]
  target: THREE.Vector3; // where the hand is, world
  plane?: THREE.Plane; // that it stays in
  turn?: Turn; // how it turns what it holds
}

/** Two hands, each with something or nothing. */
export type Grips = [Grip | null, Grip | null];

/** Where things are, for whoever draws. */
export interface Looking {
  eye: THREE.Vector3;
  up: THREE.Vector3; // of the picture, world
  scale: number; // radius of the scene [m]
  toPixels(point: THREE.Vector3): THREE.Vector2;
  worn: boolean; // a headset is
}

/** One hand. */
class HandView {
  readonly root = new THREE.Group();
  readonly spring = new Spring();
  readonly probe = new Probe();
  readonly bare = new Marker(); // in the dark: no more than the tip and its force
  private readonly arc = new TurnArc();
  private readonly label: ForceLabel;
  private readonly sign = new ForceSign();

  constructor(stage: HTMLElement) {
    this.label = new ForceLabel(stage);
    this.root.add(this.spring.root, this.probe.root, this.bare.root, this.sign.sprite, this.arc.root);
  }

  /** As our own pointer has it, or, without a grip, as a frame tells; `led`: the force beside what is led [N], null: it is not. */
  show(grip: Grip | null, told: Told | null, led: number | null, limit: number, bodies: Bodies, sight: Looking, dark: boolean): void {
    const point = grip ? bodies.toWorld(grip.body, grip.atBody) : told!.point;
    const target = grip ? grip.target : told!.target;
    const push = told?.force ?? new THREE.Vector3();
    const force = led ?? push.length();
    const color = forceColor(force / limit);
    const kind = grip?.kind ?? told!.kind;
    this.hideAll();
    if (dark) {
      this.bare.show(target, target, push.clone().negate(), limit, sight.scale, sight.eye);
      this.bare.root.visible = true;
    } else if (kind === "press") {
      const normal = grip && !force ? grip.normal : normalOf(told!, sight.eye);
      this.probe.show(told?.point ?? target, normal, target, color, sight.eye, sight.up);
    } else if (kind === "push") {
      this.bare.show(point, point, push, limit, sight.scale, sight.eye);
      this.bare.root.visible = true;
    } else if (led !== null) {
      this.spring.lead(point, target, color, sight.eye);
    } else {
      this.spring.show(point, target, color, sight.scale, sight.eye);
      if (grip?.turn) this.arc.show(grip.turn, target, color, sight.scale);
    }
    if (sight.worn) return this.sign.show(force, color, target, sight.eye);
    const at = sight.toPixels(target);
    this.label.show(force, color, at, kind === "pull" && !dark ? sight.toPixels(point) : at);
  }

  private hideAll(): void {
    this.spring.hide();
    this.probe.hide();
    this.bare.root.visible = false;
    this.sign.hide();
    this.arc.root.visible = false;
  }

  hide(): void {
    this.hideAll();
    this.label.hide();
  }
}

export class Hands {
  readonly root = new THREE.Group();
  private readonly hands: HandView[];

  constructor(stage: HTMLElement) {
    this.hands = [new HandView(stage), new HandView(stage)];
    this.root.add(...this.hands.map((hand) => hand.root));
    this.hide();
  }

  /** Our own hands as our pointers have them; otherwise those that the frame tells of (a recording, another page). */
  show(frame: Frame, grips: Grips, described: readonly Body[], limit: number, bodies: Bodies, sight: Looking, dark: boolean): void {
    this.hands.forEach((hand, k) => {
      const [grip, known] = [grips[k] ?? null, told(frame, k)];
      if (grip || known) hand.show(grip, known, ledForce(grip, described, frame), limit, bodies, sight, dark);
      else hand.hide();
    });
  }

  hide(): void {
    for (const hand of this.hands) hand.hide();
  }

  resize(width: number, height: number): void {
    for (const { spring, probe, bare } of this.hands) for (const part of [spring, probe, bare]) part.resize(width, height);
  }
}

/** What is felt through a body that goes where a hand leads it [N]; null: it is none, or its frame does not say. */
export function ledForce(grip: Grip | null, bodies: readonly Body[], frame: Frame): number | null {
  const led = grip?.kind === "pull" ? bodies[grip.body]?.led : undefined;
  return led ? (numbers(frame, led.field)[led.index ?? 0] ?? null) : null;
}

/** The force of each hand, as a share of the limit. */
export function shares(frame: Frame, limit: number): number[] {
  return (frame.hand_body ?? []).map((body, k) => (body && limit > 0 ? norm(row(frame.hand_force, k, 3)) / limit : 0));
}
