// Frames come about as often as the screen is drawn, but not in step with it. So the picture is a little behind: it
// shows the moment one frame's interval ago, which lies between two frames that have both arrived.

const LONGEST_MS = 150; // a longer gap than this is a pause, not a rhythm
const KEPT = 8; // frames
const JUMP_M = 5; // farther from one frame to the next is a jump, of a body that was put back: nothing is between
const POSE = 7; // position and quaternion (w, x, y, z)

interface Arrival {
  at: number; // when it came [ms]
  pose: Float64Array;
  parked: ArrayLike<number>; // by body
}

export class PoseTween {
  readonly shown: Float64Array;
  private arrivals: Arrival[] = [];
  private interval = 16; // usual time between two frames [ms]
  private settled = true; // the newest frame is shown

  constructor(bodies: number) {
    this.shown = new Float64Array(POSE * bodies);
  }

  /** A new frame arrived. */
  push(pose: Float64Array, at: number, parked: ArrayLike<number> = []): void {
    const last = this.arrivals.at(-1);
    const gap = last ? at - last.at : Infinity;
    if (gap > LONGEST_MS || gap < 0) this.arrivals = []; // the first for a while: be there at once
    else this.interval += 0.1 * (gap - this.interval);
    this.arrivals.push({ at, pose, parked });
    if (this.arrivals.length > KEPT) this.arrivals.shift();
    this.settled = false;
  }

  /** Puts the poses of this moment into `shown`; false when nothing moved since the last call. */
  sample(now: number): boolean {
    if (this.settled || this.arrivals.length === 0) return false;
    const moment = now - this.interval;
    const next = this.arrivals.findIndex((arrival) => arrival.at > moment);
    const after = this.arrivals.at(next)!; // -1, none is later: the newest
    const before = next > 0 ? this.arrivals[next - 1]! : after;
    const s = after === before ? 1 : (moment - before.at) / (after.at - before.at);
    for (let i = 0; i < this.shown.length; i += POSE) {
      const same = before.parked[i / POSE] === after.parked[i / POSE]; // else it was added, or taken away: nothing is between
      blend(before.pose, after.pose, same ? s : 1, i, this.shown);
    }
    this.settled = next < 0;
    return true;
  }
}

/** Straight for the position; straight and made unit for the quaternion, which is close enough for a small turn. */
function blend(a: Float64Array, b: Float64Array, s: number, at: number, out: Float64Array): void {
  const way = Math.hypot(b[at]! - a[at]!, b[at + 1]! - a[at + 1]!, b[at + 2]! - a[at + 2]!);
  if (way > JUMP_M) s = 1;
  let dot = 0;
  for (let k = 3; k < POSE; k++) dot += a[at + k]! * b[at + k]!;
  const sign = dot < 0 ? -1 : 1; // q and -q are one orientation: take the near one
  let square = 0;
  for (let k = 0; k < POSE; k++) {
    const x = a[at + k]! * (1 - s) * (k < 3 ? 1 : sign) + b[at + k]! * s;
    out[at + k] = x;
    if (k >= 3) square += x * x;
  }
  const scale = square > 0 ? 1 / Math.sqrt(square) : 1;
  for (let k = 3; k < POSE; k++) out[at + k]! *= scale;
}
