// One map: a flat drawing of a frame's numbers in a card, with a legend. A click makes it large, and small again.

import { cssColor, el, onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import type { ItemOf, MapOf } from "../protocol";
import { axesOf, TICK_PX, type Area } from "./map_axes";
import { Item, type Sheet } from "./map_items";

const ROOM = { left: 42, right: 10, top: 8, bottom: 22 }; // around the drawing, for what ticks say [px]
const FONT = "11px system-ui, sans-serif";

/** What a legend says: each label once, in the colour that it has first. */
export function legend(items: Pick<ItemOf, "label" | "color">[]): [label: string, color: number][] {
  const named = items.filter(({ label }) => label !== "");
  return [...new Set(named.map(({ label }) => label))].map((label) => [label, named.find((item) => item.label === label)!.color]);
}

/** What an axis is called. */
export function axisName({ label, unit }: { label: string; unit: string }): string {
  return unit && unit !== "rad" ? `${label} [${unit}]` : label;
}

export class MapCard {
  readonly root: HTMLElement;
  private readonly canvas = el("canvas", { role: "img" });
  private readonly items: Item[];
  private frame = {} as Frame; // at first nothing is known but the axes
  private readonly colors = new Map<string, string>(); // of the style sheet

  constructor(
    readonly what: MapOf,
    clicked: () => void,
  ) {
    this.items = what.items.map((item) => new Item(item));
    const labels = legend(what.items);
    const rows = labels.map(([label, color]) => el("li", { style: `--color: var(--line-${color})` }, label));
    this.canvas.setAttribute("aria-label", `${what.name}: ${axisName(what.x)} to the right, ${axisName(what.y)} up; ${labels.map(([label]) => label).join(", ")}`);
    const heading = el("div", { class: "map-heading" }, el("h2", {}, what.name), el("ul", { class: "map-legend" }, ...rows));
    const sheet = el("div", { class: "map-sheet", onclick: clicked }, this.canvas);
    this.root = el("section", { class: "card map", "data-map": what.name, "aria-label": what.name }, heading, sheet);
    new ResizeObserver(() => this.draw()).observe(sheet);
    onSchemeChange(() => {
      this.colors.clear();
      this.draw();
    });
  }

  /** A new frame: trails grow; drawn when `draw` is called. */
  take(frame: Frame): void {
    this.frame = frame;
    for (const item of this.items) item.take(frame);
  }

  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    const pen = width > 0 && height > 0 ? this.canvas.getContext("2d") : null;
    if (!pen) return;
    const [across, down] = [width, height].map((px) => Math.round(px * devicePixelRatio)) as [number, number];
    if (this.canvas.width !== across || this.canvas.height !== down) Object.assign(this.canvas, { width: across, height: down });
    pen.setTransform(across / width, 0, 0, down / height, 0, 0);
    pen.clearRect(0, 0, width, height);
    const area: Area = { left: ROOM.left, top: ROOM.top, width: Math.max(1, width - ROOM.left - ROOM.right), height: Math.max(1, height - ROOM.top - ROOM.bottom) };
    const sheet: Sheet = { pen, area, ...axesOf(this.what, this.frame, area) };
    this.drawAxes(sheet);
    pen.save();
    pen.beginPath();
    pen.rect(area.left, area.top, area.width, area.height);
    pen.clip();
    for (const item of this.items) item.draw(this.frame, sheet, this.color(`--line-${item.what.color}`));
    pen.restore();
  }

  private color(name: string): string {
    if (!this.colors.has(name)) this.colors.set(name, cssColor(name));
    return this.colors.get(name)!;
  }

  private drawAxes({ pen, area, x, y }: Sheet): void {
    const { left, top, width, height } = area;
    pen.globalAlpha = 1;
    pen.font = FONT;
    pen.strokeStyle = this.color("--line");
    pen.fillStyle = this.color("--text-2");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.rect(left, top, width, height);
    const across = x.ticks(this.what.x.unit, TICK_PX.x).map(([value, words]) => ({ at: x.straight(value), words }));
    const up = y.ticks(this.what.y.unit, TICK_PX.y).map(([value, words]) => ({ at: y.straight(value), words }));
    for (const { at } of across) pen.rect(at, top, 0, height);
    for (const { at } of up) pen.rect(left, at, width, 0);
    pen.stroke();
    const [nameX, nameY] = [axisName(this.what.x), axisName(this.what.y)];
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const end = left + width - pen.measureText(nameX).width;
    for (const { at, words } of up) if (at > top + 18) pen.fillText(words, left - 5, Math.min(at, top + height - 5));
    pen.fillText(nameY, left - 5, top + 6);
    pen.textAlign = "center";
    const below = top + height + 12;
    for (const { at, words } of across) if (at < end - 14) pen.fillText(words, Math.max(at, left + 8), below);
    pen.textAlign = "right";
    pen.fillText(nameX, left + width, below);
  }
}
