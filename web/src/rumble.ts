// A gamepad shakes with the force of the hands, if one is plugged in. Its two motors: a heavy one for large forces, a
// light one that answers to small ones.

import type { Store } from "./state";
import { shares } from "./scene/hands";

const EVERY_MS = 60; // how often it is told
const FOR_MS = 120; // and for how long: it goes on until it is told again, and ends by itself
const LEAST = 0.02; // share of the limit that is not worth a shake

/** How strong each motor is for a force that is this share of its limit. */
export function motors(share: number): { strongMagnitude: number; weakMagnitude: number } {
  const s = Math.min(1, Math.max(0, share));
  return { strongMagnitude: s < LEAST ? 0 : s, weakMagnitude: s < LEAST ? 0 : Math.min(1, 0.15 + 0.85 * Math.sqrt(s)) };
}

export class Rumble {
  private due = 0;
  private shaking = false;

  constructor(
    private readonly store: Store,
    private readonly pads: () => (Gamepad | null)[] = () => navigator.getGamepads?.() ?? [],
    private readonly now: () => number = () => performance.now(),
  ) {
    store.on("frame", () => this.tell());
    store.on("held", (held) => held === 0 && this.rest());
  }

  /** Only our own hands shake our gamepad. */
  private tell(): void {
    const [frame, hello, now] = [this.store.get("frame"), this.store.get("hello"), this.now()];
    if (!frame || !hello || this.store.get("held") === 0 || now < this.due) return;
    this.due = now + EVERY_MS;
    this.play(motors(Math.max(...shares(frame, hello.hand.force_limit_N))));
    this.shaking = true;
  }

  private rest(): void {
    if (!this.shaking) return;
    this.shaking = false;
    this.due = 0;
    this.play(motors(0));
  }

  private play(how: ReturnType<typeof motors>): void {
    for (const pad of this.pads()) {
      // A pad without motors, or one that is being unplugged, is no reason to stop.
      pad?.vibrationActuator?.playEffect("dual-rumble", { duration: FOR_MS, ...how }).catch(() => undefined);
    }
  }
}
