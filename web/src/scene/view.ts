// The scene: renderer, camera and what is drawn. It knows bodies and pixels; what a drag means is hand.ts.

import * as THREE from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello, Motion } from "../protocol";
import type { Store } from "../state";
import type { Controllers } from "../xr";
import { Bodies, type Pick } from "./bodies";
import { CameraRig, type Side } from "./camera";
import { Contacts } from "./contacts";
import { Devices } from "./devices";
import { ballAround } from "./framing";
import { Ground } from "./ground";
import { Hands, type Grips } from "./hands";
import { Headset, standBefore } from "./headset";
import { Lights } from "./lights";
import { Outlook, sights } from "./outlook";
import { Paths } from "./path";
import { quality, Thrift } from "./quality";
import { PoseTween } from "./tween";

const FOLLOW_MS = 500; // how often it is looked whether everything has left the picture
const LINGER_MS = 300; // goes on drawing this long after the last change
const HOVERED = 0.35; // tint of a body under the pointer
const HELD = 0.55; // and of one in a hand

export class SceneView {
  readonly camera: THREE.PerspectiveCamera;
  grips: Grips = [null, null]; // what our own hands hold
  readonly carried = new Set<number>(); // obstacles on their way
  controllers: Controllers | null = null; // of a headset
  private readonly renderer: THREE.WebGLRenderer;
  private readonly quality = quality();
  private readonly thrift: Thrift;
  private readonly scene = new THREE.Scene();
  private readonly rig: CameraRig;
  private readonly headset: Headset;
  private readonly outlook: Outlook;
  private readonly ground = new Ground();
  private readonly lights: Lights;
  private readonly hands: Hands;
  private readonly devices = new Devices();
  private readonly contacts = new Contacts();
  private readonly paths = new Paths();
  private readonly raycaster = new THREE.Raycaster();
  private bodies: Bodies | null = null;
  private tween: PoseTween | null = null;
  private told = false; // a frame has said where the bodies are
  private inTheDark = false;
  private contactsWanted = false;
  private followDue = 0;
  private fitted = "";
  private drawUntil = 0;

  /** `clear` gives the part of the stage that no panel covers: the scene is centred there. */
  constructor(
    private readonly stage: HTMLElement,
    private readonly store: Store,
    clear: () => DOMRect,
  ) {
    const fine = this.quality;
    this.renderer = new THREE.WebGLRenderer({ antialias: fine.antialias, alpha: true, powerPreference: "high-performance" });
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = fine.softShadows ? THREE.PCFShadowMap : THREE.BasicShadowMap;
    this.renderer.setPixelRatio(fine.pixelRatio);
    this.thrift = new Thrift(this.renderer, fine);
    this.renderer.localClippingEnabled = true; // planes cut each other off
    stage.prepend(this.renderer.domElement);

    this.rig = new CameraRig(stage, this.renderer.domElement, clear, () => this.invalidate());
    this.camera = this.rig.camera;
    this.headset = new Headset(this.renderer, this.scene, this.rig);
    this.hands = new Hands(stage);
    this.lights = new Lights(this.scene, this.renderer, fine);
    this.outlook = new Outlook(this.rig, this.ground, this.lights);
    const drawn = [this.rig, this.lights, this.ground, this.paths, this.contacts, this.hands, this.devices, this.headset];
    this.scene.add(...drawn.map(({ root }) => root));
    new ResizeObserver(() => this.resize()).observe(stage);
    onSchemeChange(() => this.recolor());
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => frame && this.take(frame));
    store.on("hovered", () => this.highlight());
    this.resize();
    this.renderer.setAnimationLoop((now, frame) => this.draw(now, frame));
  }

  get controls(): OrbitControls {
    return this.rig.controls;
  }

  /** Draw again soon: something changed. */
  invalidate(): void {
    this.drawUntil = performance.now() + LINGER_MS;
  }

  // ---- what is shown

  /** Lights off: nothing is seen but the hands' own tips and their forces. */
  get dark(): boolean {
    return this.inTheDark;
  }

  set dark(dark: boolean) {
    this.inTheDark = dark;
    this.dim();
  }

  /** Points of contact and the forces there. */
  get showContacts(): boolean {
    return this.contactsWanted;
  }

  set showContacts(wanted: boolean) {
    this.contactsWanted = wanted;
    this.dim();
  }

  /** Draws the plan (null: as the scene has it) and what a touch made of it (null: nothing). */
  showPaths(plan: Motion | null, motion: Motion | null): void {
    this.paths.show(plan ?? this.store.get("hello")?.path ?? [], motion);
    this.invalidate();
  }

  private dim(): void {
    const lit = !this.inTheDark;
    if (this.bodies) this.bodies.root.visible = lit && this.told; // unseen until the first frame says where they are
    this.ground.root.visible = this.paths.root.visible = lit;
    this.contacts.root.visible = lit && this.contactsWanted;
    this.invalidate();
  }

  // ---- what is where

  /** What can be touched or moved at this place of the window, looked for within `slop` pixels. */
  pick(clientX: number, clientY: number, slop = 0): Pick | null {
    const tries = [[0, 0]];
    for (let k = 0; slop > 0 && k < 8; k++) tries.push([slop * Math.cos((k * Math.PI) / 4), slop * Math.sin((k * Math.PI) / 4)]);
    for (const [dx, dy] of tries) {
      const found = this.pickRay(this.ray(clientX + dx!, clientY + dy!));
      if (found) return found;
    }
    return null;
  }

  pickRay(ray: THREE.Raycaster): Pick | null {
    return this.bodies?.pick(ray) ?? null;
  }

  /** Where a line from `from` along `way` (unit) meets a body within `reach` [m]. */
  surface(body: number, from: THREE.Vector3, way: THREE.Vector3, reach: number): Pick | null {
    return this.bodies?.surface(body, new THREE.Raycaster(from, way, 0, reach)) ?? null;
  }

  /** Radius of what is looked at [m]. */
  get scale(): number {
    return this.outlook.ball.radius;
  }

  ray(clientX: number, clientY: number): THREE.Raycaster {
    const box = this.stage.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster;
  }

  toBody(body: number, point: THREE.Vector3): THREE.Vector3 {
    return this.bodies!.toBody(body, point);
  }

  turnToBody(body: number, direction: THREE.Vector3): THREE.Vector3 {
    return this.bodies!.turnToBody(body, direction);
  }

  turnToWorld(body: number, direction: THREE.Vector3): THREE.Vector3 {
    return this.bodies!.turnToWorld(body, direction);
  }

  /** Position and quaternion (w, x, y, z) of a body, as the last frame has it. */
  pose(body: number): number[] {
    const told = this.store.get("frame")?.pose;
    return told ? Array.from(told.subarray(7 * body, 7 * body + 7)) : this.bodies!.pose(body);
  }

  /** Where the middle of a body is in the window, in pixels. */
  projected(bodyName: string): { x: number; y: number } | null {
    const body = this.store.get("hello")?.bodies.findIndex((b) => b.name === bodyName) ?? -1;
    if (body < 0 || !this.bodies) return null;
    const box = this.stage.getBoundingClientRect();
    const at = this.rig.toPixels(this.bodies.center(body));
    return { x: box.left + at.x, y: box.top + at.y };
  }

  /** How many bodies are in the picture, of how many that could be: for tests and for the curious. */
  inView(): { bodies: number; of: number; drawCalls: number } {
    const all = this.bodies ? sights(this.bodies) : [];
    const inside = all.filter(({ corners }) => this.rig.inPicture(ballAround(corners).center));
    return { bodies: inside.length, of: all.length, drawCalls: this.renderer.info.render.calls };
  }

  // ---- the camera

  /** Looks at everything, from the front right: at once, or going there. */
  fit(slowly = false): void {
    this.lookAt("perspective", slowly);
  }

  /** Looks at everything from the front, the side, the top, or again from the front right. */
  lookFrom(side: Side): void {
    this.lookAt(side, true);
  }

  /** Turns the camera to the right and up [rad], and goes `nearer` times as near: for keys. */
  turn(right: number, up: number, nearer = 1): void {
    this.rig.turn(right, up, nearer);
  }

  private lookAt(side: Side, slowly: boolean): void {
    if (!this.bodies || this.headset.on) return;
    this.resize();
    const path = this.store.get("hello")?.path ?? [];
    this.outlook.look(this.bodies, path.map((point) => new THREE.Vector3(...point)), side, slowly);
    this.devices.scale = this.scale;
    this.paths.resize(this.stage.clientWidth, this.stage.clientHeight, this.scale);
    this.invalidate();
  }

  /** Looks now and then whether everything has gone. */
  private follow(now: number): void {
    if (now < this.followDue || this.rig.turned || this.rig.gliding || !this.told || this.inTheDark) return;
    this.followDue = now + FOLLOW_MS;
    if (this.grips.some(Boolean) || this.carried.size > 0 || this.store.get("frame")?.hand_body.some(Boolean)) return;
    if (this.outlook.empty(this.bodies!)) this.fit(true);
  }

  /** Stands before the scene with a headset; rejects with one line if there is none. */
  async enterXR(): Promise<void> {
    const way = this.camera.getWorldDirection(new THREE.Vector3());
    const { ball, floor } = this.outlook;
    await this.headset.enter(standBefore(ball.center, ball.radius, floor, way), this.controllers, () => this.resize());
  }

  // ---- what comes in

  private build(hello: Hello): void {
    const known = JSON.stringify([hello.scene, hello.bodies]);
    this.devices.build(hello.devices ?? []);
    this.contacts.build(hello.sizes.n_contacts ?? 0);
    this.showPaths(null, null);
    if (this.bodies && known === this.fitted) return; // the same scene after a reconnection: keep the view
    if (this.bodies) this.scene.remove(this.bodies.root);
    this.bodies?.dispose();
    this.bodies = new Bodies(hello, this.quality, () => this.loaded());
    this.tween = new PoseTween(hello.sizes.n_bodies);
    this.scene.add(this.bodies.root);
    this.told = false;
    this.dim();
    this.rememberBegin(hello);
    this.fitted = known;
  }

  private rememberBegin(hello: Hello): void {
    this.bodies!.place(hello.start.flat());
    this.outlook.remember(this.bodies!);
  }

  /** Meshes have come: only now is it known how large the bodies are. */
  private loaded(): void {
    this.rememberBegin(this.store.get("hello")!);
    const frame = this.store.get("frame");
    if (frame) this.bodies!.place(frame.pose);
    if (this.told && !this.rig.turned) this.fit();
    this.highlight();
  }

  private take(frame: Frame): void {
    this.tween?.push(frame.pose, this.store.get("arrived"));
    if (this.bodies && !this.told) {
      this.told = true;
      this.dim();
      this.bodies.place(frame.pose);
      this.fit();
    }
    this.invalidate();
  }

  /** Tints what is under the pointer and what is held. */
  highlight(): void {
    const tints = new Map<number, number>();
    const hovered = this.store.get("hovered");
    if (hovered > 0) tints.set(hovered, HOVERED);
    for (const body of [...this.grips.flatMap((grip) => grip?.body ?? []), ...this.carried]) tints.set(body, HELD);
    this.bodies?.highlight(tints);
    this.invalidate();
  }

  // ---- drawing

  private draw(now: number, xr?: XRFrame): void {
    if (xr && this.headset.on) {
      this.controllers?.frame(xr, now);
      this.headset.show(this.controllers?.places(xr) ?? []);
    } else {
      this.follow(now);
      this.rig.step();
      if (now > this.drawUntil) return;
    }
    if (this.tween?.sample(performance.now())) this.bodies?.place(this.tween.shown);
    this.drawFrame();
    if (!this.headset.on) this.thrift.picture(now); // before the picture: another number of pixels empties the canvas
    this.renderer.render(this.scene, this.camera);
  }

  private drawFrame(): void {
    const frame = this.store.get("frame");
    const hello = this.store.get("hello");
    if (!frame || !hello || !this.bodies) return this.hands.hide();
    const eye = this.rig.eye();
    const up = new THREE.Vector3(0, 1, 0).transformDirection(this.camera.matrixWorld);
    const sight = { eye, up, scale: this.scale, toPixels: (point: THREE.Vector3) => this.rig.toPixels(point), worn: this.headset.on };
    this.hands.show(frame, this.grips, hello.hand.force_limit_N, this.bodies, sight, this.inTheDark);
    this.devices.show(frame, eye);
    if (this.contacts.root.visible) this.contacts.show(frame, eye, this.scale);
  }

  /** The stage or what covers it has another size. */
  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0 || this.headset.on) return;
    this.renderer.setSize(width, height);
    this.rig.resize(width, height);
    this.hands.resize(width, height);
    this.devices.resize(width, height);
    this.paths.resize(width, height, this.scale);
    this.renderer.render(this.scene, this.camera); // at once: another size empties the canvas
    this.invalidate();
  }

  private recolor(): void {
    this.ground.recolor();
    this.lights.recolor();
    this.paths.recolor();
    this.contacts.recolor();
    this.invalidate();
  }
}
