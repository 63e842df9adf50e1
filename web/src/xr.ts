// Controllers of a headset as hands: trigger or squeeze takes hold of what the controller points at, near or far, and
// holds it until it is let go. What is held moves with the controller as if a stick joined them; it pulses with the force.

import * as THREE from "three";
import type { HandNumber } from "./grasp";
import type { Hold, Holds } from "./hold";
import type { Pick } from "./scene/bodies";
import { shares, type HandKind } from "./scene/hands";
import type { Store } from "./state";
import { angleAbout } from "./turn";

const BACK_M = 0.1; // the ray begins this far behind the controller, so that it also takes what it is inside of
const TELL_MS = 14; // how often the servo is told where a hand is
const PULSE_EVERY_MS = 50;
const PULSE_MS = 70; // each pulse: until the next, and a little more
const LEAST = 0.02; // share of the limit that is not worth a pulse
const START = ["squeezestart", "selectstart"] as const;
const END = ["squeezeend", "selectend"] as const;

/** A controller that holds something. */
interface Held {
  hold: Hold;
  inHand: THREE.Vector3; // the held point, in the axes of the controller
  turned: THREE.Quaternion; // the controller, when the servo was told
}

/** The right controller is the first hand, the left one the second; one that says nothing is the first. */
export function handOf(source: { handedness: XRHandedness }): HandNumber {
  return source.handedness === "left" ? 1 : 0;
}

/** How strongly to pulse for a force that is this share of its limit, 0 to 1. */
export function pulse(share: number): number {
  return share < LEAST ? 0 : Math.min(1, 0.1 + 0.9 * share);
}

export class Controllers {
  private session: XRSession | null = null;
  private space: XRReferenceSpace | null = null;
  private origin = new THREE.Matrix4(); // of the headset's space in the world
  private readonly held = new Map<XRInputSource, Held>();
  private told = -Infinity;
  private pulsed = -Infinity;
  private readonly listeners: [string, EventListener][];

  constructor(
    private readonly pick: (ray: THREE.Raycaster) => Pick | null,
    private readonly holds: Holds,
    private readonly store: Store,
    private readonly firstGrab: () => void,
    private readonly mode: () => HandKind = () => "pull",
  ) {
    const on = (names: readonly string[], listener: (event: XRInputSourceEvent) => void): [string, EventListener][] =>
      names.map((name) => [name, listener as unknown as EventListener]);
    this.listeners = [
      ...on(START, (event) => this.take(event.inputSource, event.frame)),
      ...on(END, (event) => this.letGo(event.inputSource)),
      ["inputsourceschange", (event) => (event as XRInputSourcesChangeEvent).removed.forEach((source) => this.letGo(source))],
      ["visibilitychange", () => this.session?.visibilityState !== "visible" && this.releaseAll()],
      ["end", () => this.end()],
    ];
  }

  /** A headset is on; its `space` lies at `origin` in the world. */
  begin(session: XRSession, space: XRReferenceSpace, origin: THREE.Matrix4): void {
    this.end();
    this.session = session;
    this.space = space;
    this.origin = origin.clone();
    for (const [name, listener] of this.listeners) session.addEventListener(name as "end", listener);
  }

  end(): void {
    this.releaseAll();
    for (const [name, listener] of this.listeners) this.session?.removeEventListener(name as "end", listener);
    this.session = this.space = null;
  }

  /** One picture of the headset: moves what is held, and pulses. */
  frame(frame: XRFrame, now: number): void {
    if (now - this.told >= TELL_MS) {
      this.told = now;
      for (const [source, { hold, inHand }] of this.held) {
        const X = this.place(source, frame);
        if (!X) continue; // not tracked just now: it stays where it was
        this.holds.move(hold, inHand.clone().applyMatrix4(X));
        this.turn(source, new THREE.Quaternion().setFromRotationMatrix(X));
      }
    }
    if (now - this.pulsed >= PULSE_EVERY_MS) {
      this.pulsed = now;
      this.pulse();
    }
  }

  /** What it holds turns with the controller, about the axis that hands turn about. */
  private turn(source: XRInputSource, now: THREE.Quaternion): void {
    const [held, axis] = [this.held.get(source)!, this.store.get("hello")?.hand.turns];
    if (axis) this.holds.turn(held.hold, angleAbout(new THREE.Vector3(...axis).normalize(), now.clone().multiply(held.turned.invert())));
    held.turned = now;
  }

  /** Where the controllers are, world: for those who draw them. */
  places(frame: XRFrame): THREE.Matrix4[] {
    return Array.from(this.session?.inputSources ?? []).flatMap((source) => this.place(source, frame) ?? []);
  }

  private place(source: XRInputSource, frame: XRFrame): THREE.Matrix4 | null {
    const pose = this.space ? frame.getPose(source.targetRaySpace, this.space) : undefined;
    return pose ? new THREE.Matrix4().fromArray(pose.transform.matrix).premultiply(this.origin) : null;
  }

  private take(source: XRInputSource, frame: XRFrame): void {
    const X = this.place(source, frame);
    if (!X || this.held.has(source) || !this.store.canTouch() || this.store.get("hello")?.person) return; // a person has other hands
    const ahead = new THREE.Vector3(0, 0, -1).transformDirection(X);
    const from = new THREE.Vector3().setFromMatrixPosition(X).addScaledVector(ahead, -BACK_M);
    const found = this.pick(new THREE.Raycaster(from, ahead));
    const hold = found && this.holds.take(found, this.mode(), () => this.held.delete(source), handOf(source));
    if (!hold) return;
    const turned = new THREE.Quaternion().setFromRotationMatrix(X);
    this.held.set(source, { hold, turned, inHand: found.point.clone().applyMatrix4(X.invert()) });
    this.firstGrab();
  }

  private letGo(source: XRInputSource): void {
    const held = this.held.get(source);
    if (held) this.holds.letGo(held.hold);
  }

  private releaseAll(): void {
    for (const source of [...this.held.keys()]) this.letGo(source);
  }

  private pulse(): void {
    const [frame, hello] = [this.store.get("frame"), this.store.get("hello")];
    if (!frame || !hello) return;
    const forces = shares(frame, hello.hand.force_limit_N);
    for (const [source, { hold }] of this.held) {
      const strength = hold.hand === null ? 0 : pulse(forces[hold.hand] ?? 0); // each with its own hand's force
      const actuator = source.gamepad?.hapticActuators?.[0] as { pulse?(strength: number, ms: number): Promise<boolean> } | undefined;
      if (strength > 0) actuator?.pulse?.(strength, PULSE_MS).catch(() => undefined);
    }
  }
}
