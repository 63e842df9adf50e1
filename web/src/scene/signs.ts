// What is drawn over the bodies but is not there: hands, devices, contact forces, paths, and what a hello lists.

import * as THREE from "three";
import type { Frame } from "../frame.gen";
import type { Hello, Motion, Vector3 } from "../protocol";
import type { Bodies } from "./bodies";
import { Contacts } from "./contacts";
import { Devices } from "./devices";
import { Drawings } from "./drawings";
import { Hands, type Grips, type Looking } from "./hands";
import { Paths } from "./path";

export class Signs {
  readonly root = new THREE.Group();
  private readonly hands: Hands;
  private readonly devices = new Devices();
  private readonly contacts = new Contacts();
  private readonly paths: Paths;
  private readonly drawings: Drawings;
  private dark = false;
  private feltOnly = false; // a study hides how large forces are

  constructor(stage: HTMLElement) {
    this.hands = new Hands(stage);
    this.paths = new Paths(stage);
    this.drawings = new Drawings(stage);
    this.root.add(...[this.paths, this.contacts, this.drawings, this.hands, this.devices].map(({ root }) => root));
  }

  build(hello: Hello): void {
    this.feltOnly = hello.study !== undefined && !hello.study.shows.includes("forces");
    this.devices.build(hello.devices ?? [], hello.tips?.length ?? 0);
    this.drawings.build(hello);
    this.contacts.build(hello.frame.find(({ name }) => name === "contact_point")?.shape[0] ?? 0);
  }

  /** The plan (a motion, or only points), and what became of it. */
  showPaths(plan: Motion | Vector3[], motion: Motion | null): void {
    this.paths.show(plan, motion);
  }

  /** With lights off no more than the hands and devices is seen. */
  dim(dark: boolean, contacts: boolean): void {
    this.dark = dark;
    this.paths.root.visible = !dark;
    this.contacts.root.visible = contacts && !dark;
  }

  /** Which of the hello's drawings are seen. */
  turn(drawn: ReadonlySet<string>): void {
    this.drawings.on = drawn;
  }

  show(frame: Frame, hello: Hello, grips: Grips, bodies: Bodies, sight: Looking, dark: boolean): void {
    this.hands.show(frame, grips, hello.bodies, this.feltOnly ? Infinity : hello.hand.force_limit_N, bodies, sight, dark);
    this.devices.show(frame, sight.eye, this.feltOnly);
    this.paths.place(sight);
    this.drawings.show(frame, bodies, sight, this.dark);
    if (this.feltOnly) this.contacts.root.visible = false;
    if (this.contacts.root.visible) this.contacts.show(frame, sight.eye, sight.scale);
  }

  hide(): void {
    this.hands.hide();
    this.drawings.hide();
  }

  /** On a stage of so many pixels, in a scene of radius `scale` [m]. */
  resize(width: number, height: number, scale: number): void {
    this.devices.scale = scale;
    this.hands.resize(width, height);
    this.devices.resize(width, height);
    this.paths.resize(width, height, scale);
    this.drawings.resize(width, height);
  }

  recolor(): void {
    this.paths.recolor();
    this.contacts.recolor();
    this.drawings.recolor();
  }
}
