// What a pointer, the keyboard or a controller has in hand: a body, with a spring or a ball of the servo's, or an obstacle,
// which is not touched but put elsewhere. Whoever took it moves it and lets go.

import * as THREE from "three";
import type { Grasps, HandNumber } from "./grasp";
import { Placing } from "./placing";
import type { ClientMessage } from "./protocol";
import type { Pick } from "./scene/bodies";
import type { HandKind } from "./scene/hands";

/** What carrying needs of a scene. */
export interface Carriage {
  readonly carried: Set<number>; // obstacles on their way
  readonly find: { pose(body: number): number[] }; // position and quaternion (w, x, y, z)
  highlight(): void;
}

export interface Hold {
  readonly body: number;
  readonly target: THREE.Vector3; // where it is held to, world
  readonly hand: HandNumber | null; // that holds it; null: it is carried,
  readonly offset: THREE.Vector3; // from the held point to its origin,
  readonly quaternion: number[]; // turned as it was
  readonly ended: () => void; // it was let go
}

export class Holds {
  private readonly all = new Set<Hold>();
  private readonly placing: Placing;

  constructor(
    private readonly scene: Carriage,
    private readonly grasps: Grasps,
    send: (message: ClientMessage) => void,
  ) {
    this.placing = new Placing((body, placement) => send({ type: "event", kind: "place", value: 0, body, placement }));
  }

  /** Takes what was found, with this hand if one is wanted; null if hands are full. */
  take(found: Pick, kind: HandKind, ended: () => void = () => undefined, wanted?: HandNumber): Hold | null {
    const hand = found.movable ? null : this.grasps.take(found, kind, wanted) ?? this.grasps.take(found, kind);
    if (!found.movable && hand === null) return null;
    const pose = found.movable ? this.scene.find.pose(found.body) : [0, 0, 0];
    const offset = new THREE.Vector3().fromArray(pose).sub(found.point);
    const hold = { body: found.body, target: found.point.clone(), hand, offset, quaternion: pose.slice(3), ended };
    if (found.movable) this.scene.carried.add(found.body);
    this.all.add(hold);
    this.scene.highlight();
    return hold;
  }

  /** Moves the held point, world. */
  move(hold: Hold, to: THREE.Vector3): void {
    if (!this.all.has(hold)) return;
    hold.target.copy(to);
    if (hold.hand !== null) {
      this.grasps.move(hold.hand, to);
      hold.target.copy(this.grasps.grips[hold.hand]!.target); // it may have to stay in a plane
    } else this.placing.put(hold.body, [...to.clone().add(hold.offset).toArray(), ...hold.quaternion]);
  }

  /** What was taken last. */
  get latest(): Hold | null {
    return [...this.all].at(-1) ?? null;
  }

  /** Whether it can be turned. */
  turns({ hand }: Hold): boolean {
    return hand !== null && this.grasps.grips[hand]?.turn !== undefined;
  }

  /** Turns it by so much more [rad], where hands turn. */
  turn(hold: Hold, angle: number): void {
    if (this.all.has(hold) && hold.hand !== null) this.grasps.turn(hold.hand, angle);
  }

  letGo(hold: Hold): void {
    if (!this.all.delete(hold)) return;
    if (hold.hand !== null) this.grasps.release(hold.hand);
    else this.scene.carried.delete(hold.body);
    this.scene.highlight();
    hold.ended();
  }

  letGoOfAll(): void {
    for (const hold of [...this.all]) this.letGo(hold);
  }
}
