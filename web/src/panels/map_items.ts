// What is drawn on a map: each kind of item knows how to draw itself from numbers, and none knows what they are about.

import { read } from "../decode";
import type { Frame } from "../frame.gen";
import { History } from "../history";
import type { ItemOf, Quantity } from "../protocol";
import type { Area, Axis } from "./map_axes";

const POINT_PX = 5;
const CROSS_PX = 6;
const HEAD_PX = 8; // of an arrow
const LINE_PX = 2;
const FAINT = 0.16; // of what is filled
const LEAP_S = 1; // a longer step of time is a seek: a trail begins anew

export interface Sheet {
  pen: CanvasRenderingContext2D;
  x: Axis;
  y: Axis;
  area: Area;
}

type Place = [x: number, y: number];

/** An item of a map; a trail remembers where it was. */
export class Item {
  private readonly history: History | null;

  constructor(readonly what: ItemOf) {
    this.history = what.kind === "trail" ? new History(2, what.seconds, LEAP_S) : null;
  }

  /** A new frame. */
  take(frame: Frame): void {
    const { what } = this;
    if (what.kind === "trail") this.history!.push(frame.time_s, [read(frame, what.x), read(frame, what.y)]);
  }

  draw(frame: Frame, sheet: Sheet, color: string): void {
    const { what } = this;
    if (what.when !== undefined && !read(frame, what.when)) return;
    const { pen } = sheet;
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = LINE_PX;
    pen.globalAlpha = 1;
    pen.beginPath();
    if (what.kind === "trail") return trail(sheet, this.history!);
    if (what.kind === "band") return band(sheet, number(frame, what.x), number(frame, what.y), read(frame, what.radius));
    const at: Place = [sheet.x.px(read(frame, what.x)), sheet.y.px(read(frame, what.y))];
    if (!at.every(Number.isFinite)) return;
    if (what.kind === "circle") circle(sheet, at, read(frame, what.radius), what.filled ?? false);
    else if (what.kind === "arrow") arrow(sheet, at, reach(frame, what));
    else if (what.kind === "cross") cross(sheet, at);
    else point(sheet, at);
  }
}

function number(frame: Frame, quantity: Quantity | undefined): number {
  return quantity === undefined ? NaN : read(frame, quantity);
}

function reach(frame: Frame, what: ItemOf & { kind: "arrow" }): Place {
  if (what.angle === undefined) return [number(frame, what.dx), number(frame, what.dy)];
  const [angle, length] = [read(frame, what.angle), number(frame, what.length)];
  return [length * Math.cos(angle), length * Math.sin(angle)];
}

function point({ pen }: Sheet, [x, y]: Place): void {
  pen.arc(x, y, POINT_PX, 0, 2 * Math.PI);
  pen.fill();
}

function cross({ pen }: Sheet, [x, y]: Place): void {
  for (const way of [-1, 1]) {
    pen.moveTo(x - CROSS_PX, y - way * CROSS_PX);
    pen.lineTo(x + CROSS_PX, y + way * CROSS_PX);
  }
  pen.stroke();
}

function circle({ pen, x, y }: Sheet, [cx, cy]: Place, radius: number, filled: boolean): void {
  if (!(radius > 0)) return;
  pen.ellipse(cx, cy, Math.abs(radius * x.scale), Math.abs(radius * y.scale), 0, 0, 2 * Math.PI);
  pen.stroke();
  if (filled) fillFaintly(pen);
}

function arrow({ pen, x, y }: Sheet, [cx, cy]: Place, [dx, dy]: Place): void {
  const [tx, ty] = [dx * x.scale, dy * y.scale];
  const length = Math.hypot(tx, ty);
  if (!(length > 1)) return;
  const head = Math.min(HEAD_PX, length) / length;
  const [ux, uy] = [tx * head, ty * head];
  pen.moveTo(cx, cy);
  pen.lineTo(cx + tx, cy + ty);
  for (const side of [-0.5, 0.5]) {
    pen.moveTo(cx + tx, cy + ty);
    pen.lineTo(cx + tx - ux + side * uy, cy + ty - uy - side * ux);
  }
  pen.stroke();
}

/** Where it was, oldest first; the pen is lifted where a circle closes. */
function trail({ pen, x, y, area }: Sheet, { columns: [xs, ys] }: History): void {
  let last: Place | null = null;
  xs!.forEach((value, k) => {
    const at: Place = [x.px(value), y.px(ys![k]!)];
    if (!at.every(Number.isFinite)) return void (last = null);
    const around = last && ((x.wraps && Math.abs(at[0] - last[0]) > area.width / 2) || (y.wraps && Math.abs(at[1] - last[1]) > area.height / 2));
    if (last && !around) pen.lineTo(...at);
    else pen.moveTo(...at);
    last = at;
  });
  pen.globalAlpha = 0.6;
  pen.lineWidth = 1.5;
  pen.stroke();
}

/** A strip over all of the other axis; across the ends of a circle it goes on at the other one. */
function band({ pen, x, y, area }: Sheet, atX: number, atY: number, radius: number): void {
  const upright = Number.isFinite(atX);
  const [axis, at] = upright ? [x, atX] : [y, atY];
  if (!(radius > 0) || !Number.isFinite(at)) return;
  const [middle, half] = [axis.px(at), Math.abs(radius * axis.scale)];
  const around = upright ? area.width : area.height;
  for (const shift of axis.wraps ? [-around, 0, around] : [0]) {
    const [low, high] = [middle + shift - half, middle + shift + half];
    if (upright) pen.rect(low, area.top - LINE_PX, high - low, area.height + 2 * LINE_PX);
    else pen.rect(area.left - LINE_PX, low, area.width + 2 * LINE_PX, high - low);
  }
  pen.stroke();
  fillFaintly(pen);
}

function fillFaintly(pen: CanvasRenderingContext2D): void {
  pen.globalAlpha = FAINT;
  pen.fill();
}
