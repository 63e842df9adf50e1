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

const ROOM_PX = 56; // that a label of two lines needs
const BESIDE_PX = 48; // from the middle of what it is about

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
    const beside = toPixels(place);
    place.z += above;
    const over = toPixels(place);
    this.tag.say(...text);
    if (over.y > ROOM_PX) this.tag.put(over, "-50%", "-100%");
    else this.tag.put(beside, `${BESIDE_PX}px`, "-50%"); // there is no room over it
  }

  hide(): void {
    this.tag.hide();
  }

  recolor(): void {}

  dispose(): void {
    this.tag.hide();
  }
}
