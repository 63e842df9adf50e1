// A headset as a person in the scene: its head and its right controller are the two hands of this page, and hold the bodies
// that the hello names at their origins, turned as they are (x ahead, y to the left, z up). What is not tracked is let go.

import * as THREE from "three";
import type { HandNumber } from "./grasp";
import type { ClientMessage, PersonOf, Quaternion, Vector3 } from "./protocol";
import { LOOKS } from "./scene/eyes";
import type { Store } from "./state";
import { handOf } from "./xr";

const TELL_MS = 14; // as often as controllers do
const TURNING_NM_RAD = 1; // of a simulation that says nothing else
const [HAND, HEAD] = [0, 1] as const;

/** Where a headset's space lies in the world: its floor at a place, and ahead of it x, turned. */
export function spaceOf({ at, turn_rad }: PersonOf): THREE.Matrix4 {
  const turned = new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 0, 1), turn_rad).multiply(LOOKS);
  return new THREE.Matrix4().makeRotationFromQuaternion(turned).setPosition(...at);
}

export class Person {
  private session: XRSession | null = null;
  private space: XRReferenceSpace | null = null;
  private origin = new THREE.Matrix4();
  private readonly tracked = new Map<HandNumber, THREE.Quaternion>(); // how they were turned when they were told
  private told = -Infinity;
  private readonly pause = (): void => void (this.session?.visibilityState !== "visible" && this.release());
  private readonly stop = (): void => this.end();

  constructor(
    private readonly store: Store,
    private readonly send: (message: ClientMessage) => void,
  ) {}

  /** Whether this simulation takes a headset as a person. */
  get wanted(): PersonOf | null {
    return this.store.get("hello")?.person ?? null;
  }

  begin(session: XRSession, space: XRReferenceSpace, origin: THREE.Matrix4): void {
    this.end();
    [this.session, this.space, this.origin] = [session, space, origin.clone()];
    session.addEventListener("visibilitychange", this.pause);
    session.addEventListener("end", this.stop);
  }

  end(): void {
    this.release();
    this.session?.removeEventListener("visibilitychange", this.pause);
    this.session?.removeEventListener("end", this.stop);
    this.session = this.space = null;
  }

  /** One picture of the headset: tells where head and hand are. */
  frame(frame: XRFrame, now: number): void {
    const person = this.wanted;
    if (!person || !this.space || now - this.told < TELL_MS) return;
    this.told = now;
    const right = Array.from(this.session!.inputSources).find((source) => handOf(source) === HAND);
    this.tell(HEAD, person.head, frame.getViewerPose(this.space));
    this.tell(HAND, person.hand, right && frame.getPose(right.gripSpace ?? right.targetRaySpace, this.space));
  }

  private tell(hand: HandNumber, name: string | undefined, pose: XRPose | undefined): void {
    const hello = this.store.get("hello")!;
    const body = hello.bodies.findIndex((one) => one.name === name);
    if (body < 0 || !pose || !this.store.canTouch()) return this.letGo(hand);
    const X = new THREE.Matrix4().fromArray(pose.transform.matrix).premultiply(this.origin);
    const q = new THREE.Quaternion().setFromRotationMatrix(X).multiply(LOOKS.clone().invert());
    if ((this.tracked.get(hand) ?? new THREE.Quaternion()).dot(q) < 0) q.set(-q.x, -q.y, -q.z, -q.w); // the same, without a leap
    const target = new THREE.Vector3().setFromMatrixPosition(X).toArray() as Vector3;
    const orientation: Quaternion = [q.w, q.x, q.y, q.z];
    const { stiffness_N_m: stiffness, stiffness_Nm_rad: turning = TURNING_NM_RAD } = hello.hand;
    this.tracked.set(hand, q);
    this.send({ type: "hand", hand, kind: "pull", body, at_body: [0, 0, 0], target, stiffness, orientation, turning });
  }

  private letGo(hand: HandNumber): void {
    if (this.tracked.delete(hand)) this.send({ type: "release", hand });
  }

  private release(): void {
    for (const hand of [...this.tracked.keys()]) this.letGo(hand);
  }
}
