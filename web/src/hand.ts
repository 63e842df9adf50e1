// The pointer as a hand: shows what can be touched, takes hold of it, and tells the servo where it is.
// It never computes a force: the servo runs the spring. That it still holds is said again and again by socket.ts.

import * as THREE from "three";
import { el } from "./dom";
import type { ClientMessage, Vector3 } from "./protocol";
import type { SceneView } from "./scene/view";
import type { Store } from "./state";

const TOUCH_SLOP_PX = 14; // a finger is wider than a mouse
const DEPTH_PER_PIXEL = 0.0006; // of the distance to the camera, per pixel of the wheel

export class Hand {
  private pointer: number | null = null; // id of the pointer that holds
  private readonly plane = new THREE.Plane(); // faces the camera, through the held point; the pointer moves in it
  private at = { x: 0, y: 0 };
  private hoverDue = false;
  private readonly tip = el("div", { class: "tip", hidden: true });

  constructor(
    private readonly stage: HTMLElement,
    private readonly view: SceneView,
    private readonly store: Store,
    private readonly send: (message: ClientMessage) => void,
    private readonly firstGrab: () => void,
  ) {
    stage.append(this.tip);
    // In the capture phase, before the camera controls on the canvas: what takes hold does not turn the camera.
    const first = { capture: true };
    stage.addEventListener("pointerdown", (event) => this.down(event), first);
    stage.addEventListener("pointermove", (event) => this.move(event), first);
    stage.addEventListener("pointerup", (event) => this.up(event), first);
    stage.addEventListener("pointercancel", (event) => this.up(event), first);
    stage.addEventListener("lostpointercapture", (event) => this.up(event), first);
    stage.addEventListener("pointerleave", () => this.hover(0));
    stage.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    window.addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
    window.addEventListener("keydown", (event) => event.key === "Escape" && this.release());
    store.on("connection", (connection) => connection !== "open" && this.release());
    store.on("taken", (taken) => taken && this.release());
  }

  release(): void {
    if (this.pointer === null) return;
    const pointer = this.pointer;
    this.pointer = null;
    this.view.grip = null;
    this.store.set("held", 0);
    this.stage.classList.remove("holding");
    if (this.stage.hasPointerCapture(pointer)) this.stage.releasePointerCapture(pointer);
    this.send({ type: "release" });
    this.view.invalidate();
  }

  private down(event: PointerEvent): void {
    if (this.pointer !== null) return event.stopPropagation(); // a second finger changes nothing while one holds
    if (event.button !== 0 || !this.store.canTouch()) return;
    const found = this.view.pick(event.clientX, event.clientY, event.pointerType === "touch" ? TOUCH_SLOP_PX : 0);
    if (!found) return;
    event.stopPropagation();
    this.pointer = event.pointerId;
    this.stage.setPointerCapture(event.pointerId);
    this.stage.classList.add("holding");
    this.at = { x: event.clientX, y: event.clientY };
    const away = this.view.camera.getWorldDirection(new THREE.Vector3());
    this.plane.setFromNormalAndCoplanarPoint(away, found.point);
    this.view.grip = { body: found.body, atBody: this.view.toBody(found.body, found.point), target: found.point };
    this.hover(0);
    this.store.set("held", found.body);
    this.tell();
    this.firstGrab();
  }

  private move(event: PointerEvent): void {
    if (this.pointer === null) {
      if (event.buttons === 0 && event.pointerType !== "touch") this.look(event);
      return;
    }
    event.stopPropagation();
    if (event.pointerId !== this.pointer) return;
    this.at = { x: event.clientX, y: event.clientY };
    this.reach();
    this.tell();
  }

  private up(event: PointerEvent): void {
    if (event.pointerId !== this.pointer) return;
    event.stopPropagation();
    this.release();
  }

  /** Moves the plane of the drag away from the camera or nearer. */
  private wheel(event: WheelEvent): void {
    if (this.pointer === null) return;
    event.preventDefault();
    event.stopPropagation();
    const distance = this.plane.distanceToPoint(this.view.camera.position); // negative: the normal points away
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    const step = -event.deltaY * lines * DEPTH_PER_PIXEL * -distance;
    this.plane.constant -= Math.max(step, 4 * this.view.camera.near + distance); // never behind the camera
    this.reach();
    this.tell();
  }

  /** The target is where the pointer's ray meets the plane. */
  private reach(): void {
    const grip = this.view.grip;
    if (grip) this.view.ray(this.at.x, this.at.y).ray.intersectPlane(this.plane, grip.target);
    this.view.invalidate();
  }

  private tell(): void {
    const grip = this.view.grip;
    const hello = this.store.get("hello");
    if (!grip || !hello) return;
    this.send({
      type: "hand",
      body: grip.body,
      at_body: grip.atBody.toArray() as Vector3,
      target: grip.target.toArray() as Vector3,
      stiffness: hello.hand.stiffness_N_m,
    });
  }

  /** Looks once per picture for what is under the pointer. */
  private look(event: PointerEvent): void {
    this.at = { x: event.clientX, y: event.clientY };
    if (this.hoverDue) return;
    this.hoverDue = true;
    requestAnimationFrame(() => {
      this.hoverDue = false;
      if (this.pointer === null) this.hover(this.store.canTouch() ? (this.view.pick(this.at.x, this.at.y)?.body ?? 0) : 0);
    });
  }

  private hover(body: number): void {
    this.store.set("hovered", body);
    this.stage.classList.toggle("touchable", body > 0);
    this.tip.hidden = body === 0;
    if (body === 0) return;
    const box = this.stage.getBoundingClientRect();
    this.tip.textContent = this.store.bodyName(body);
    this.tip.style.transform = `translate(${this.at.x - box.left + 14}px, ${this.at.y - box.top + 18}px)`;
  }
}
