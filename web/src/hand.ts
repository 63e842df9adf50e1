// Pointers as hands: shows what can be touched, takes hold of it, and tells the servo where the hands are. The mouse or
// the first finger is one hand, a second finger the other. An obstacle is not touched but put elsewhere.

import * as THREE from "three";
import { el } from "./dom";
import { Drag } from "./drag";
import { Grasps } from "./grasp";
import { Holds, type Hold } from "./hold";
import type { ClientMessage } from "./protocol";
import type { Pick } from "./scene/bodies";
import type { HandKind } from "./scene/hands";
import type { SceneView } from "./scene/view";
import type { Store } from "./state";
import { wrapped } from "./turn";
import { Controllers } from "./xr";

const TOUCH_SLOP_PX = 14; // a finger is wider than a mouse
const TURN_PER_PX = 0.0015; // of the wheel [rad]
const FAR = 4; // radii of the scene: a pointer's ray that meets the plane beyond looks along it
const LINE_PX = 30; // of the wheel, in browsers that count lines
const LOOK_MS = 100; // between looks for what has moved under a pointer that rests

/** A pointer that holds something. */
interface Held {
  drag: Drag;
  at: { x: number; y: number };
  hold: Hold;
}

export class Hand {
  mode: HandKind = "pull"; // what a drag does; with Shift it presses
  readonly grasps: Grasps;
  readonly holds: Holds;
  private readonly held = new Map<number, Held>(); // by the pointer's id
  private twist: { pointer: number; about: number; at: Held["at"]; angle: number } | null = null; // a second finger that turns what the first holds
  private readonly turning = new Set<number>(); // fingers that move the camera
  private latest = -1; // pointer that the wheel is meant for
  private at = { x: 0, y: 0 };
  private over = false; // a mouse is at `at`, over the stage, with no button pressed
  private looked = 0; // when, on the page's clock [ms]
  private hoverDue = false;
  private readonly tip = el("div", { class: "tip", hidden: true });

  constructor(
    private readonly stage: HTMLElement,
    private readonly view: SceneView,
    private readonly store: Store,
    send: (message: ClientMessage) => void,
    private readonly firstGrab: () => void,
  ) {
    this.grasps = new Grasps(store, send, view.find, () => view.highlight());
    this.holds = new Holds(view, this.grasps, send);
    view.grips = this.grasps.grips;
    view.controllers = new Controllers((ray) => view.find.pickRay(ray), this.holds, store, firstGrab, () => this.mode);
    stage.append(this.tip);
    // In the capture phase, before the camera controls on the canvas: what takes hold does not turn the camera.
    const first = { capture: true };
    stage.addEventListener("pointerdown", (event) => this.down(event), first);
    stage.addEventListener("pointermove", (event) => this.move(event), first);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) stage.addEventListener(end, (event) => this.up(event), first);
    stage.addEventListener("pointerleave", () => {
      this.over = false;
      this.hover(null);
    });
    stage.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    window.addEventListener("blur", () => this.release());
    document.addEventListener("visibilitychange", () => document.hidden && this.release());
    window.addEventListener("keydown", (event) => event.key === "Escape" && this.release());
    store.on("connection", (connection) => connection !== "open" && this.release());
    store.on("taken", (taken) => taken && this.release());
    store.on("hello", () => this.release());
    store.on("frame", () => void (this.over && performance.now() > this.looked + LOOK_MS && this.look()));
  }

  /** Lets go of everything, whoever holds it: pointers, keys, controllers. */
  release(): void {
    this.holds.letGoOfAll();
  }

  /** How stiff and how damped (times critical) the hands are from now on; null: as the scene has it. */
  feel(stiffness_N_m: number | null, damping: number | null): void {
    Object.assign(this.grasps, { stiffness_N_m, damping });
    for (const hand of [0, 1] as const) this.grasps.tell(hand);
  }

  private down(event: PointerEvent): void {
    this.store.set("chosen", 0); // the pointer is used, not the keyboard
    const finger = event.pointerType === "touch";
    if (finger && this.turning.size > 0) return void this.turning.add(event.pointerId); // joins the camera's gesture
    if (finger && this.beginTwist(event)) return;
    const found = event.button === 0 && this.store.canTouch() ? this.view.find.pick(event.clientX, event.clientY, finger ? TOUCH_SLOP_PX : 0) : null;
    if (!found) {
      if (finger) this.turning.add(event.pointerId);
      return;
    }
    event.stopPropagation();
    const pointer = event.pointerId;
    const hold = this.holds.take(found, event.shiftKey ? "press" : this.mode, () => this.drop(pointer));
    if (!hold) return; // both hands are full
    const plane = this.store.get("hello")?.hand.plane;
    const drag = new Drag(found.point, plane && !found.movable ? new THREE.Vector3(...plane).normalize() : this.view.camera.getWorldDirection(new THREE.Vector3()));
    this.held.set(pointer, { drag, hold, at: { x: event.clientX, y: event.clientY } });
    this.latest = pointer;
    this.stage.setPointerCapture(pointer);
    this.stage.classList.add("holding");
    this.hover(null);
    this.firstGrab();
  }

  private move(event: PointerEvent): void {
    const held = this.held.get(event.pointerId);
    if (this.twist?.pointer === event.pointerId) return this.twistOn(event);
    if (!held) {
      this.over = event.buttons === 0 && event.pointerType !== "touch";
      this.at = { x: event.clientX, y: event.clientY };
      if (this.over) this.look();
      return;
    }
    event.stopPropagation();
    held.at = { x: event.clientX, y: event.clientY };
    this.latest = event.pointerId;
    if (this.twist?.about === event.pointerId) this.twist.angle = direction(held.at, this.twist.at); // a drag does not turn
    this.reach(held);
  }

  private up(event: PointerEvent): void {
    this.turning.delete(event.pointerId);
    if (this.twist?.pointer === event.pointerId) {
      event.stopPropagation();
      this.twist = null;
    }
    const held = this.held.get(event.pointerId);
    if (!held) return;
    event.stopPropagation();
    this.holds.letGo(held.hold);
  }

  /** What this pointer held has been let go. */
  private drop(pointer: number): void {
    this.held.delete(pointer);
    if (this.twist?.about === pointer) this.twist = null;
    if (this.stage.hasPointerCapture(pointer)) this.stage.releasePointerCapture(pointer);
    this.stage.classList.toggle("holding", this.held.size > 0);
  }

  private wheel(event: WheelEvent): void {
    const held = this.held.get(this.latest) ?? [...this.held.values()].at(-1);
    if (!held) return;
    event.preventDefault();
    event.stopPropagation();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    if (this.holds.turns(held.hold)) {
      this.holds.turn(held.hold, -this.sense() * TURN_PER_PX * lines * event.deltaY);
      this.view.invalidate();
    } else if (!this.store.get("hello")?.hand.plane) {
      held.drag.wheel(event.deltaY * lines, this.view.camera.position, 4 * this.view.camera.near);
      this.reach(held);
    }
  }

  /** A second finger turns what the first one holds, where hands turn; whether this is one. */
  private beginTwist(event: PointerEvent): boolean {
    const [about, held] = [...this.held].find(([, { hold }]) => this.holds.turns(hold)) ?? [];
    if (about === undefined || !held) return false;
    event.stopPropagation();
    const at = { x: event.clientX, y: event.clientY };
    this.twist ??= { pointer: event.pointerId, about, at, angle: direction(held.at, at) };
    this.stage.setPointerCapture(event.pointerId);
    return true;
  }

  private twistOn(event: PointerEvent): void {
    const held = this.held.get(this.twist!.about);
    event.stopPropagation();
    if (!held) return;
    const at = { x: event.clientX, y: event.clientY };
    const angle = direction(held.at, at);
    this.holds.turn(held.hold, this.sense() * wrapped(angle - this.twist!.angle));
    Object.assign(this.twist!, { at, angle });
    this.view.invalidate();
  }

  /** 1 if the axis that hands turn about points at the viewer, so that turns are seen anticlockwise; else -1. */
  private sense(): number {
    const axis = new THREE.Vector3(...(this.store.get("hello")?.hand.turns ?? [0, 0, 1]));
    return this.view.camera.getWorldDirection(new THREE.Vector3()).dot(axis) <= 0 ? 1 : -1;
  }

  /** The hand, or the obstacle, goes where the pointer's ray meets the plane of its drag. */
  private reach({ drag, at, hold }: Held): void {
    const target = drag.meet(this.view.find.ray(at.x, at.y).ray);
    if (!target || (this.store.get("hello")?.hand.plane && target.distanceTo(hold.target) > FAR * this.view.find.scale)) return;
    this.holds.move(hold, target);
    this.view.invalidate();
  }

  /** Looks once per picture for what is under the pointer. */
  private look(): void {
    if (this.hoverDue) return;
    this.hoverDue = true;
    requestAnimationFrame(() => {
      this.hoverDue = false;
      this.looked = performance.now();
      if (this.held.size > 0 || !this.over) return;
      const seeing = this.store.canTouch() && !this.view.look.dark; // in the dark nothing tells what is there
      this.hover(seeing ? this.view.find.pick(this.at.x, this.at.y) : null);
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

/** From one place of the window to another [rad], anticlockwise. */
function direction(from: Held["at"], to: Held["at"]): number {
  return Math.atan2(from.y - to.y, to.x - from.x);
}
