// The two axes of a map: from numbers to pixels. What follows something is centred on it; what wraps comes back at the
// other end; two axes of one unit have one scale.

import { read } from "../decode";
import type { Frame } from "../frame.gen";
import type { AxisOf, MapOf } from "../protocol";
import { tick } from "../words";

export const TICK_PX = { x: 46, y: 30 }; // apart, at least
const DEGREE = Math.PI / 180;
const DEGREES = [1, 2, 5, 10, 15, 30, 45, 90, 180, 360];

export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** One axis as it is drawn: `from` at its left or lower end. */
export class Axis {
  constructor(
    readonly from: number,
    readonly to: number,
    private readonly start: number, // pixels, of `from`
    private readonly end: number,
    readonly wraps: boolean,
  ) {}

  /** Pixels of a number; of one on a circle, between the ends. */
  px(value: number): number {
    return this.straight(this.wraps ? wrapped(value, this.from, this.to) : value);
  }

  /** Pixels of a number, as if nothing wrapped: both ends of a circle have their ticks. */
  straight(value: number): number {
    return this.start + this.scale * (value - this.from);
  }

  /** Pixels for one. */
  get scale(): number {
    return (this.end - this.start) / (this.to - this.from);
  }

  /** Where ticks are, and what they say. */
  ticks(unit: string, apart_px: number): [value: number, words: string][] {
    const size = unit === "rad" ? DEGREE : 1;
    const least = apart_px / Math.abs(this.scale) / size;
    const step = unit === "rad" ? (DEGREES.find((degrees) => degrees >= least) ?? 360) : niceStep(least);
    const [low, high] = [Math.min(this.from, this.to) / size, Math.max(this.from, this.to) / size];
    const first = Math.ceil(low / step - 1e-9);
    const count = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
    return Array.from({ length: count }, (_, k) => (first + k) * step).map((value) => [value * size, tick(value) + (unit === "rad" ? "°" : "")]);
  }
}

/** The number on the circle that goes from one end to the other. */
export function wrapped(value: number, from: number, to: number): number {
  const around = to - from;
  return value - around * Math.floor((value - from) / around);
}

/** 1, 2 or 5 times a power of ten, not below this. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least * (1 - 1e-9))!;
}

/** Both axes of a map in this area, for this frame. */
export function axesOf(map: MapOf, frame: Frame, area: Area): { x: Axis; y: Axis } {
  let [x, y] = [ends(map.x, frame), ends(map.y, frame)];
  if (map.x.unit === map.y.unit) {
    const per_px = Math.max(Math.abs(x[1] - x[0]) / area.width, Math.abs(y[1] - y[0]) / area.height);
    if (!map.x.wraps) x = widened(x, per_px * area.width);
    if (!map.y.wraps) y = widened(y, per_px * area.height);
  }
  const { left, top, width, height } = area;
  return { x: new Axis(...x, left, left + width, map.x.wraps ?? false), y: new Axis(...y, top + height, top, map.y.wraps ?? false) };
}

type Ends = [from: number, to: number];

function ends(axis: AxisOf, frame: Frame): Ends {
  if (!("follow" in axis)) return [axis.low, axis.high];
  const at = read(frame, axis.follow);
  const middle = Number.isFinite(at) ? at : 0;
  return [middle - axis.half, middle + axis.half];
}

function widened([from, to]: Ends, length: number): Ends {
  const [middle, half] = [(from + to) / 2, (Math.sign(to - from) * length) / 2];
  return [middle - half, middle + half];
}
