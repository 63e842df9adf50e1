// Pointers as hands: shows what can be touched, takes hold of it, and tells the servo where the hands are. The mouse or
// the first finger is one hand, a second finger the other. An obstacle is not touched but put elsewhere.

import * as THREE from "three";
import { el } from "./dom";
import { Drag } from "./drag";
import { Grasps, type HandNumber } from "./grasp";
import { Placing } from "./placing";
import type { ClientMessage } from "./protocol";
import type { Pick } from "./scene/bodies";
import type { HandKind } from "./scene/hands";
import type { SceneView } from "./scene/view";
import type { Store } from "./state";
import { Controllers } from "./xr";

const TOUCH_SLOP_PX = 14; // a finger is wider than a mouse
const KEYBOARD = -1; // the pointer that is none
const LINE_PX = 30; // of the wheel, in browsers that count lines

/** A pointer that does something. */
interface Held {
  drag: Drag;
  at: { x: number; y: number };
  hand?: HandNumber; // that moves with it; or
  carried?: { body: number; offset: THREE.Vector3; quaternion: number[] }; // the obstacle, from where it was taken
}

export class Hand {
  mode: HandKind = "pull"; // what a drag does; with Shift it presses
  readonly grasps: Grasps;
  private readonly held = new Map<number, Held>(); // by the pointer's id
  private readonly turning = new Set<number>(); // fingers that move the camera
  private readonly placing: Placing;
  private latest = -1; // pointer that the wheel is meant for
  private at = { x: 0, y: 0 };
  private hoverDue = false;
  private readonly tip = el("div", { class: "tip", hidden: true });

  constructor(
    private readonly stage: HTMLElement,
    private readonly view: SceneView,
    private readonly store: Store,
    send: (message: ClientMessage) => void,
    private readonly firstGrab: () => void,
  ) {
    this.grasps = new Grasps(store, send, view, () => view.highlight());
    this.placing = new Placing((body, placement) => send({ type: "event", kind: "place", value: 0, body, placement }));
    view.grips = this.grasps.grips;
    const put = (body: number, placement: number[]): void => this.placing.put(body, placement);
    view.controllers = new Controllers(view, this.grasps, store, firstGrab, () => this.mode, put);
    stage.append(this.tip);
    // In the capture phase, before the camera controls on the canvas: what takes hold does not turn the camera.
    const first = { capture: true };
    stage.addEventListener("pointerdown", (event) => this.down(event), first);
    stage.addEventListener("pointermove", (event) => this.move(event), first);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) stage.addEventListener(end, (event) => this.up(event), first);
    stage.addEventListener("pointerleave", () => this.hover(null));
    stage.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    window.addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
    window.addEventListener("keydown", (event) => event.key === "Escape" && this.release());
    store.on("connection", (connection) => connection !== "open" && this.release());
    store.on("taken", (taken) => taken && this.release());
    store.on("hello", () => this.release());
    store.on("frame", () => this.slide());
  }

  /** Lets go of everything. */
  release(): void {
    for (const pointer of [...this.held.keys()]) this.drop(pointer);
    for (const hand of [0, 1] as const) this.grasps.release(hand); // what a headset holds
  }

  /** How stiff and how damped (times critical) the hands are from now on; null: as the scene has it. */
  feel(stiffness_N_m: number | null, damping: number | null): void {
    Object.assign(this.grasps, { stiffness_N_m, damping });
    for (const hand of [0, 1] as const) this.grasps.tell(hand);
  }

  /** Takes hold of a body, or of an obstacle, without a pointer: where it is seen. False if it is not, or hands are full. */
  takeBody(body: number): boolean {
    const at = this.view.projected(this.store.bodyName(body));
    const found = at && this.store.canTouch() && !this.held.has(KEYBOARD) ? this.view.pick(at.x, at.y, TOUCH_SLOP_PX) : null;
    const held = found?.body === body ? this.begin(found, this.mode) : null;
    if (!at || !held) return false;
    this.held.set(KEYBOARD, { ...held, at: { ...at } });
    this.latest = KEYBOARD;
    this.firstGrab();
    return true;
  }

  /** Moves what takeBody took, by so many pixels to the right and down, and of the wheel away (negative) or nearer. */
  nudge(right: number, down: number, wheel = 0): void {
    const held = this.held.get(KEYBOARD);
    if (!held) return;
    held.at = { x: held.at.x + right, y: held.at.y + down };
    held.drag.wheel(wheel, this.view.camera.position, 4 * this.view.camera.near);
    this.reach(held);
  }

  private down(event: PointerEvent): void {
    const finger = event.pointerType === "touch";
    if (finger && this.turning.size > 0) return void this.turning.add(event.pointerId); // joins the camera's gesture
    const found = event.button === 0 && this.store.canTouch() ? this.view.pick(event.clientX, event.clientY, finger ? TOUCH_SLOP_PX : 0) : null;
    if (!found) {
      if (finger) this.turning.add(event.pointerId);
      return;
    }
    event.stopPropagation();
    const held = this.begin(found, event.shiftKey ? "press" : this.mode);
    if (!held) return; // both hands are full
    this.held.set(event.pointerId, { ...held, at: { x: event.clientX, y: event.clientY } });
    this.latest = event.pointerId;
    this.stage.setPointerCapture(event.pointerId);
    this.stage.classList.add("holding");
    this.hover(null);
    this.firstGrab();
  }

  private begin(found: Pick, kind: HandKind): Omit<Held, "at"> | null {
    const drag = new Drag(found.point, this.view.camera.getWorldDirection(new THREE.Vector3()));
    if (found.movable) {
      const pose = this.view.pose(found.body);
      const offset = new THREE.Vector3().fromArray(pose).sub(found.point);
      this.view.carried.add(found.body);
      this.view.highlight();
      return { drag, carried: { body: found.body, offset, quaternion: pose.slice(3) } };
    }
    const hand = this.grasps.take(found, kind);
    return hand === null ? null : { drag, hand };
  }

  private move(event: PointerEvent): void {
    const held = this.held.get(event.pointerId);
    if (!held) {
      if (event.buttons === 0 && event.pointerType !== "touch") this.look(event);
      return;
    }
    event.stopPropagation();
    held.at = { x: event.clientX, y: event.clientY };
    this.latest = event.pointerId;
    this.reach(held);
  }

  private up(event: PointerEvent): void {
    this.turning.delete(event.pointerId);
    if (!this.held.has(event.pointerId)) return;
    event.stopPropagation();
    this.drop(event.pointerId);
  }

  private drop(pointer: number): void {
    const held = this.held.get(pointer);
    this.held.delete(pointer);
    if (held?.hand !== undefined) this.grasps.release(held.hand);
    if (held?.carried) this.view.carried.delete(held.carried.body);
    if (this.stage.hasPointerCapture(pointer)) this.stage.releasePointerCapture(pointer);
    this.stage.classList.toggle("holding", this.held.size > 0);
    this.view.highlight();
  }

  private wheel(event: WheelEvent): void {
    const held = this.held.get(this.latest) ?? [...this.held.values()].at(-1);
    if (!held) return;
    event.preventDefault();
    event.stopPropagation();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    held.drag.wheel(event.deltaY * lines, this.view.camera.position, 4 * this.view.camera.near);
    this.reach(held);
  }

  /** The hand, or the obstacle, goes where the pointer's ray meets the plane of its drag. */
  private reach({ drag, at, hand, carried }: Held): void {
    const target = drag.meet(this.view.ray(at.x, at.y).ray);
    if (!target) return;
    if (hand !== undefined) this.grasps.move(hand, target);
    if (carried) this.placing.put(carried.body, [...target.add(carried.offset).toArray(), ...carried.quaternion]);
    this.view.invalidate();
  }

  /** The bodies have moved: a tip that presses is on another point of the surface now, or has slipped off. */
  private slide(): void {
    for (const [pointer, { hand }] of this.held) {
      if (hand === undefined || this.grasps.grips[hand]?.kind !== "press") continue;
      if (this.grasps.slide(hand)) this.grasps.tell(hand);
      else this.drop(pointer);
    }
  }

  /** Looks once per picture for what is under the pointer. */
  private look(event: PointerEvent): void {
    this.at = { x: event.clientX, y: event.clientY };
    if (this.hoverDue) return;
    this.hoverDue = true;
    requestAnimationFrame(() => {
      this.hoverDue = false;
      if (this.held.size > 0) return;
      const seeing = this.store.canTouch() && !this.view.dark; // in the dark nothing tells what is there
      this.hover(seeing ? this.view.pick(this.at.x, this.at.y) : null);
    });
  }

  private hover(found: Pick | null): void {
    this.store.set("hovered", found?.body ?? 0);
    this.stage.classList.toggle("touchable", found !== null);
    this.stage.classList.toggle("movable", found?.movable ?? false);
    this.stage.style.cursor = this.held.size > 0 ? "" : found?.movable ? "move" : found && this.mode === "press" ? "crosshair" : "";
    this.tip.hidden = found === null;
    if (!found) return;
    const box = this.stage.getBoundingClientRect();
    const name = this.store.bodyName(found.body);
    this.tip.textContent = found.movable ? `${name} · drag to move` : name;
    this.tip.style.transform = `translate(${this.at.x - box.left + 14}px, ${this.at.y - box.top + 18}px)`;
  }
}
