// The force of a hand in newtons, beside it: as text on the page, or, in a headset, where no page is seen, as a sign.

import * as THREE from "three";
import { el } from "../dom";

/** As people read it: "0.4 N", "12 N". */
export function newtons(force: number): string {
  return `${force.toFixed(force < 10 ? 1 : 0)} N`;
}

export class ForceLabel {
  private readonly text = el("output", { class: "force-label", "aria-live": "off", "aria-label": "force of the hand" }); // keyboard.ts says it
  private shown = "";

  constructor(private readonly stage: HTMLElement) {}

  /** Beside `at`, in pixels of the stage, on the side away from `from`. */
  show(force: number, color: THREE.Color, at: THREE.Vector2, from: THREE.Vector2): void {
    if (!this.text.isConnected) this.stage.append(this.text);
    this.text.style.setProperty("--force-color", `#${color.getHexString()}`);
    const aside = at.x >= from.x ? "20px" : "calc(-100% - 20px)";
    this.text.style.transform = `translate(${at.x}px, ${at.y}px) translate(${aside}, -50%)`;
    const text = newtons(force);
    if (text !== this.shown) this.text.textContent = this.shown = text;
  }

  hide(): void {
    this.text.remove();
  }
}

const SIGN = { width: 256, height: 96 }; // pixels
const SIGN_SIZE = 0.09; // its width, in distances of the eye

export class ForceSign {
  readonly sprite: THREE.Sprite;
  private readonly canvas = Object.assign(document.createElement("canvas"), SIGN);
  private shown = "";

  constructor() {
    const map = new THREE.CanvasTexture(this.canvas);
    map.colorSpace = THREE.SRGBColorSpace;
    this.sprite = new THREE.Sprite(new THREE.SpriteMaterial({ map, depthTest: false, depthWrite: false, toneMapped: false }));
    this.sprite.center.set(0.5, -0.6); // above
    this.sprite.renderOrder = 12;
    this.sprite.visible = false;
  }

  show(force: number, color: THREE.Color, at: THREE.Vector3, eye: THREE.Vector3): void {
    const width = SIGN_SIZE * eye.distanceTo(at);
    this.sprite.position.copy(at);
    this.sprite.scale.set(width, (width * SIGN.height) / SIGN.width, 1);
    this.sprite.visible = true;
    const text = `${newtons(force)} ${color.getHexString()}`;
    if (text !== this.shown) this.write(newtons(force), `#${color.getHexString()}`);
    this.shown = text;
  }

  private write(text: string, color: string): void {
    const ink = this.canvas.getContext("2d");
    if (!ink) return;
    ink.clearRect(0, 0, SIGN.width, SIGN.height);
    ink.fillStyle = color;
    ink.beginPath();
    ink.roundRect(0, 0, SIGN.width, SIGN.height, SIGN.height / 2);
    ink.fill();
    ink.fillStyle = "#ffffff";
    ink.font = "600 56px system-ui, sans-serif";
    [ink.textAlign, ink.textBaseline] = ["center", "middle"];
    ink.fillText(text, SIGN.width / 2, SIGN.height / 2 + 3);
    this.sprite.material.map!.needsUpdate = true;
  }

  hide(): void {
    this.sprite.visible = false;
  }
}
