// Words in the scene: small tags beside what they are about, and labels of a few lines over something.

import * as THREE from "three";
import { numbers } from "../decode";
import { el } from "../dom";
import type { Frame } from "../frame.gen";
import type { DrawingOf } from "../protocol";
import { inOneLine, said } from "../said";
import type { Bodies } from "./bodies";
import type { Drawn, Known } from "./drawings";
import type { Looking } from "./hands";

/** An element over the scene; it is there only while it says something. */
export class Tag {
  readonly element: HTMLElement;
  private shown = "";

  constructor(
    private readonly stage: HTMLElement,
    kind: "drawn-value" | "drawn-label",
  ) {
    this.element = el("div", { class: kind });
  }

  /** One line, or several, the first the heaviest. */
  say(...lines: string[]): void {
    const text = lines.join("\n");
    if (text === this.shown) return;
    this.shown = text;
    const [first = "", ...rest] = lines;
    if (this.element.classList.contains("drawn-value")) this.element.textContent = first;
    else this.element.replaceChildren(el("b", {}, first), ...rest.map((line) => el("span", {}, line)));
  }

  /** With its upper left corner at a pixel of the stage, moved by so much. */
  put(at: THREE.Vector2, right: string, down: string): void {
    if (!this.element.isConnected) this.stage.append(this.element);
    this.element.style.transform = `translate(${at.x.toFixed(1)}px, ${at.y.toFixed(1)}px) translate(${right}, ${down})`;
  }

  hide(): void {
    this.element.remove();
  }
}

export class Words implements Drawn {
  readonly root = new THREE.Group();
  private readonly tag: Tag;

  constructor(
    private readonly what: Extract<DrawingOf, { kind: "label" }>,
    private readonly known: Known,
  ) {
    this.tag = new Tag(known.stage, "drawn-label");
  }

  show(frame: Frame, bodies: Bodies, { toPixels, worn }: Looking): void {
    const { at, body, above = 0, lines } = this.what;
    const text = lines.map((line) => inOneLine(said(line, frame))).filter(Boolean);
    const place = body === undefined ? new THREE.Vector3().fromArray(Array.from(numbers(frame, at ?? ""))) : bodies.center(this.known.body(body));
    if (text.length === 0 || worn || !Number.isFinite(place.lengthSq())) return this.tag.hide();
    place.z += above;
    this.tag.say(...text);
    this.tag.put(toPixels(place), "-50%", "-100%");
  }

  hide(): void {
    this.tag.hide();
  }

  recolor(): void {}

  dispose(): void {
    this.tag.hide();
  }
}
