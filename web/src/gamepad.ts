// A gamepad as a hand: its left stick moves what is held, its triggers or its right stick turn it, and its first button
// takes hold and lets go, as Enter does. With nothing in hand its sticks walk, where one walks. Browsers have no events
// for sticks: they are looked at with every frame.

import type { Holds } from "./hold";
import type { Way } from "./protocol";
import type { Steering } from "./steer";
import type { Store } from "./state";

const DEAD = 0.15; // of a stick: it never rests quite in the middle
const SPEED = 0.6; // of a stick at its end, in radii of the scene per second
const TURN_SPEED = 3; // [rad/s]
const LONGEST_S = 0.05; // between two looks: after a pause nothing leaps
const [TAKE, LEFT_TRIGGER, RIGHT_TRIGGER] = [0, 6, 7]; // of the mapping that browsers call standard

export interface Pad {
  axes: readonly number[];
  buttons: readonly { pressed: boolean; value: number }[];
  mapping: string;
}

/** What a stick's position means, -1 .. 1: nothing near the middle, and finely beside it. */
export function deflection(x = 0): number {
  const beyond = (Math.min(1, Math.abs(x)) - DEAD) / (1 - DEAD);
  return beyond > 0 ? Math.sign(x) * beyond * beyond : 0;
}

export class GamepadHand {
  private looked = 0; // [ms]
  private pressed = false;
  private there = false; // a pad was, at the last look

  constructor(
    private readonly store: Store,
    private readonly holds: Holds,
    private readonly steering: Steering,
    private readonly takeOrLetGo: () => void,
    private readonly walk: (way: Way, value: number) => void = () => undefined,
    private readonly pads: () => (Pad | null)[] = () => navigator.getGamepads?.() ?? [],
    private readonly now: () => number = () => performance.now(),
  ) {
    store.on("frame", (frame) => frame && this.look());
  }

  private look(): void {
    const now = this.now();
    const dt = Math.min(LONGEST_S, (now - this.looked) / 1000);
    this.looked = now;
    const pads = this.pads().filter((pad) => pad !== null);
    if (pads.length === 0 && !this.there) return;
    this.there = pads.length > 0; // one that is gone is looked at once more: it lets go
    const most = (read: (pad: Pad) => number): number => pads.map(read).reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
    const usual = (pad: Pad): boolean => pad.mapping === "standard"; // of others only the first stick is known
    const pressed = pads.some((pad) => usual(pad) && pad.buttons[TAKE]?.pressed);
    if (pressed && !this.pressed && this.store.canTouch()) this.takeOrLetGo();
    this.pressed = pressed;
    const hold = this.holds.latest;
    const right = most(({ axes }) => deflection(axes[0]));
    const up = -most(({ axes }) => deflection(axes[1]));
    this.walk("x", hold ? 0 : right);
    this.walk("y", hold ? 0 : up);
    this.walk("turn", hold ? 0 : -most((pad) => (usual(pad) ? deflection(pad.axes[2]) : 0)));
    if (!hold) return;
    const away = this.holds.turns(hold) ? 0 : -most((pad) => (usual(pad) ? deflection(pad.axes[3]) : 0));
    if (right || up || away) this.steering.move(hold, SPEED * dt * right, SPEED * dt * up, SPEED * dt * away);
    const trigger = (pad: Pad, button: number): number => (usual(pad) ? (pad.buttons[button]?.value ?? 0) : 0);
    const clockwise = most((pad) => trigger(pad, RIGHT_TRIGGER) - trigger(pad, LEFT_TRIGGER) || (usual(pad) ? deflection(pad.axes[2]) : 0));
    if (clockwise) this.holds.turn(hold, -TURN_SPEED * dt * clockwise);
  }
}
