// What a hello wants drawn of a frame's fields, over the bodies (palpate/runtime/drawings.py): each kind knows how to
// draw itself from numbers, and none knows what they are about.

import * as THREE from "three";
import { cssColor } from "../dom";
import type { Frame } from "../frame.gen";
import type { DrawingOf, Hello } from "../protocol";
import type { Bodies } from "./bodies";
import { Arrows, Columns } from "./drawn_forces";
import { Mark, Outline } from "./drawn_marks";
import { Words } from "./drawn_words";
import type { Looking } from "./hands";

/** One drawing. What it says is an element of the page, the rest is in `root`. */
export interface Drawn {
  readonly root: THREE.Object3D;
  show(frame: Frame, bodies: Bodies, sight: Looking): void;
  hide(): void; // its words
  recolor(color: THREE.Color): void;
  resize?(width: number, height: number): void;
  dispose(): void;
}

/** Where things are told to be: body numbers by name, and the numbers in a row of each field. */
export interface Known {
  stage: HTMLElement;
  body(name: string): number;
  width(field: string): number;
}

function drawn(what: DrawingOf, known: Known): Drawn {
  switch (what.kind) {
    case "point":
      return new Mark(what, known);
    case "polygon":
      return new Outline(what, known);
    case "columns":
      return new Columns(what, known);
    case "arrows":
      return new Arrows(what, known);
    case "label":
      return new Words(what, known);
  }
}

export class Drawings {
  readonly root = new THREE.Group();
  on: ReadonlySet<string> = new Set();
  private all: { what: DrawingOf; drawn: Drawn }[] = [];
  private size: [number, number] = [1, 1];

  constructor(private readonly stage: HTMLElement) {}

  build(hello: Hello): void {
    this.hide();
    for (const { drawn } of this.all) drawn.dispose();
    this.root.clear();
    const shapes = new Map(hello.frame.map(({ name, shape }) => [name, shape]));
    const known: Known = {
      stage: this.stage,
      body: (name) => hello.bodies.findIndex((body) => body.name === name),
      width: (field) => shapes.get(field)?.[1] ?? 1,
    };
    this.all = (hello.drawings ?? []).map((what) => ({ what, drawn: drawn(what, known) }));
    for (const { drawn } of this.all) this.root.add(drawn.root);
    this.recolor();
    this.resize(...this.size);
  }

  /** In the dark nothing of it is seen. */
  show(frame: Frame, bodies: Bodies, sight: Looking, dark: boolean): void {
    for (const { what, drawn } of this.all) {
      drawn.root.visible = this.on.has(what.name) && !dark;
      if (drawn.root.visible) drawn.show(frame, bodies, sight);
      else drawn.hide();
    }
  }

  hide(): void {
    for (const { drawn } of this.all) {
      drawn.root.visible = false;
      drawn.hide();
    }
  }

  resize(width: number, height: number): void {
    this.size = [width, height];
    for (const { drawn } of this.all) drawn.resize?.(width, height);
  }

  recolor(): void {
    for (const { what, drawn } of this.all) drawn.recolor(new THREE.Color(cssColor(`--line-${what.color}`)));
  }
}
