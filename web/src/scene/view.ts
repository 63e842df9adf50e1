// The scene: what is drawn, and when. Where things are is finder.ts; what a drag means is hand.ts.

import * as THREE from "three";
import { onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello, Motion } from "../protocol";
import { spaceOf, type Person } from "../person";
import type { Sight, Store } from "../state";
import type { Controllers } from "../xr";
import { Bodies } from "./bodies";
import { CameraRig, type Side } from "./camera";
import { drawThrough, Pair, standAt, wholeFov, type Part } from "./eyes";
import { share } from "./fading";
import { Finder } from "./finder";
import { Ground } from "./ground";
import type { Grips } from "./hands";
import { Headset, standBefore } from "./headset";
import { Lights } from "./lights";
import { Outlook } from "./outlook";
import { Screen } from "./screen";
import { Signs } from "./signs";
import { PoseTween } from "./tween";

const FOLLOW_MS = 500; // how often it is looked whether everything has left the picture
const LINGER_MS = 300; // goes on drawing this long after the last change
const HOVERED = 0.35; // tint of a body under the pointer, or at which the keyboard is
const HELD = 0.55; // and of one in a hand

export interface Look {
  dark: boolean; // lights off: nothing is seen but the hands' own tips and their forces
  contacts: boolean; // points of contact and the forces there
}

export class SceneView {
  readonly camera: THREE.PerspectiveCamera;
  readonly find: Finder;
  readonly look: Look = { dark: false, contacts: false };
  grips: Grips = [null, null]; // what our own hands hold
  readonly carried = new Set<number>(); // obstacles on their way
  controllers: Controllers | null = null; // of a headset
  person: Person | null = null; // who wears it
  private readonly screen: Screen;
  private readonly scene = new THREE.Scene();
  private readonly rig: CameraRig;
  private readonly headset: Headset;
  private readonly outlook: Outlook;
  private readonly ground = new Ground();
  private readonly lights: Lights;
  private readonly signs: Signs;
  private readonly pair = new Pair();
  private bodies: Bodies | null = null;
  private tween: PoseTween | null = null;
  private told = false; // a frame has said where the bodies are
  private followDue = 0;
  private fitted = "";
  private drawUntil = 0;
  private settled = false;

  /** `clear` gives the part of the stage that no panel covers: the scene is centred there. */
  constructor(
    private readonly stage: HTMLElement,
    private readonly store: Store,
    private readonly clear: () => DOMRect,
  ) {
    this.screen = new Screen(stage);
    const { renderer, quality, canvas } = this.screen;
    this.rig = new CameraRig(stage, canvas, clear, () => this.invalidate());
    this.camera = this.rig.camera;
    this.headset = new Headset(renderer, this.scene, this.rig);
    this.signs = new Signs(stage);
    this.lights = new Lights(this.scene, renderer, quality);
    this.outlook = new Outlook(this.rig, this.ground, this.lights);
    this.find = new Finder(stage, this.rig, store, this.outlook.ball);
    const drawn = [this.rig, this.lights, this.ground, this.signs, this.headset];
    this.scene.add(...drawn.map(({ root }) => root));
    new ResizeObserver(() => this.resize()).observe(stage);
    onSchemeChange(() => this.recolor());
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => frame && this.take(frame));
    store.on("connection", () => this.invalidate());
    store.on("drawn", (drawn) => {
      this.signs.turn(drawn);
      this.invalidate();
    });
    for (const key of ["hovered", "chosen"] as const) store.on(key, () => this.highlight());
    this.resize();
    renderer.setAnimationLoop((now, frame) => this.draw(now, frame));
  }

  /** Draw again soon: something changed. */
  invalidate(): void {
    this.drawUntil = performance.now() + LINGER_MS;
    this.settled = false;
  }

  // ---- what is shown

  /** Changes how it is shown. */
  show(look: Partial<Look>): void {
    Object.assign(this.look, look);
    this.dim();
  }

  /** Draws the plan (null: as the scene has it) and what a touch made of it (null: nothing). */
  showPaths(plan: Motion | null, motion: Motion | null): void {
    this.signs.showPaths(plan ?? this.store.get("hello")?.path ?? [], motion);
    this.invalidate();
  }

  private dim(): void {
    const lit = !this.look.dark;
    if (this.bodies) this.bodies.root.visible = lit && this.told; // unseen until the first frame says where they are
    this.ground.root.visible = lit;
    this.signs.dim(this.look.dark, this.look.contacts);
    this.invalidate();
  }

  /** How many bodies are in the picture, of how many that could be: for tests and for the curious. */
  inView(): { bodies: number; of: number; drawCalls: number } {
    return { ...this.find.inView(), drawCalls: this.screen.renderer.info.render.calls };
  }

  // ---- the camera

  /** Looks at everything, from the front right: at once, or going there. Whoever looks through eyes goes on to do so. */
  fit(slowly = false): void {
    this.lookAt("perspective", slowly);
  }

  /** The scene has another part of the stage: looks at it there, as it was looked at. */
  moved(): void {
    if (this.rig.turned) this.resize();
    else this.fit(true);
  }

  /** Looks at everything from the front, the side, the top, or again from the front right. */
  lookFrom(side: Side): void {
    this.lookThrough("outside");
    this.lookAt(side, true);
  }

  /** Turns the camera to the right and up [rad], and goes `nearer` times as near: for keys. */
  turn(right: number, up: number, nearer = 1): void {
    this.rig.turn(right, up, nearer);
  }

  /** Looks through the eyes of somebody in the scene, with one or with two, or from outside again, then at everything if `fitted`. */
  lookThrough(sight: Sight, fitted = false): void {
    if (this.headset.on || (sight !== "outside" && !this.store.get("hello")?.eyes)) return;
    const before = this.store.get("sight");
    this.store.set("sight", sight);
    this.find.twofold = sight === "stereo";
    if ((before === "outside") !== (sight === "outside")) this.rig.hand(sight === "outside");
    this.resize();
    if (fitted) this.fit();
  }

  private lookAt(side: Side, slowly: boolean): void {
    if (!this.bodies || this.headset.on) return;
    this.resize();
    if (this.store.get("sight") !== "outside") return;
    const { path = [], views = {} } = this.store.get("hello") ?? {};
    this.outlook.look(this.bodies, path.map((point) => new THREE.Vector3(...point)), side, slowly, views[side]);
    this.signs.resize(this.stage.clientWidth, this.stage.clientHeight, this.find.scale);
    this.invalidate();
  }

  /** Looks now and then whether everything has gone. */
  private follow(now: number): void {
    if (now < this.followDue || this.rig.turned || this.rig.gliding || !this.told || this.look.dark || this.store.get("sight") !== "outside") return;
    this.followDue = now + FOLLOW_MS;
    if (this.grips.some(Boolean) || this.carried.size > 0 || this.store.get("frame")?.hand_body?.some(Boolean)) return;
    if (this.outlook.empty(this.bodies!)) this.fit(true);
  }

  /** Stands before the scene with a headset; rejects with one line if there is none. */
  async enterXR(): Promise<void> {
    this.lookThrough("outside");
    const way = this.camera.getWorldDirection(new THREE.Vector3());
    const { ball, floor } = this.outlook;
    const person = this.person?.wanted ?? null;
    const stand = person ? spaceOf(person) : standBefore(ball.center, ball.radius, floor, way);
    const wearers = [this.controllers, this.person].filter((wearer) => wearer !== null);
    await this.headset.enter(stand, wearers, () => this.resize());
  }

  // ---- what comes in

  private build(hello: Hello): void {
    const known = JSON.stringify([hello.scene, hello.bodies, hello.eyes]);
    this.signs.build(hello);
    this.showPaths(null, null);
    if (this.bodies && known === this.fitted) return; // the same scene after a reconnection: keep the view
    this.lookThrough("outside");
    if (this.bodies) this.scene.remove(this.bodies.root);
    this.bodies?.dispose();
    this.find.bodies = this.bodies = new Bodies(hello, this.screen.quality, () => this.loaded());
    this.tween = new PoseTween(hello.bodies.length);
    this.scene.add(this.bodies.root);
    this.told = hello.mode === "compiling"; // it stands there until it runs
    this.dim();
    this.rememberBegin(hello);
    if (this.told) this.fit();
    this.fitted = known;
  }

  private rememberBegin(hello: Hello): void {
    this.bodies!.park(hello.bodies.map(({ parked }) => parked ?? false));
    this.bodies!.place(hello.start.flat());
    this.outlook.remember(this.bodies!);
  }

  /** Meshes have come: only now is it known how large the bodies are. */
  private loaded(): void {
    this.rememberBegin(this.store.get("hello")!);
    const frame = this.store.get("frame");
    if (frame) this.place(frame);
    if (this.told && !this.rig.turned) this.fit();
    this.highlight();
  }

  /** Where a frame has the bodies; one that says nothing about them leaves them where they began. */
  private place({ pose, parked }: Frame): void {
    if (parked) this.bodies!.park(parked);
    if (pose) this.bodies!.place(pose);
  }

  private take(frame: Frame): void {
    if (frame.pose) this.tween?.push(frame.pose, this.store.get("arrived"), frame.parked);
    if (frame.parked) this.bodies?.park(frame.parked);
    if (this.bodies && !this.told) {
      this.told = true;
      this.dim();
      this.place(frame);
      this.fit();
    }
    this.invalidate();
  }

  /** Tints what is under the pointer, what was chosen, and what is held. */
  highlight(): void {
    const tints = new Map<number, number>();
    for (const body of [this.store.get("hovered"), this.store.get("chosen")]) if (body > 0) tints.set(body, HOVERED);
    for (const body of [...this.grips.flatMap((grip) => grip?.body ?? []), ...this.carried]) tints.set(body, HELD);
    this.bodies?.highlight(tints);
    this.invalidate();
  }

  // ---- drawing

  private draw(now: number, xr?: XRFrame): void {
    if (xr && this.headset.on) {
      this.person?.frame(xr, now);
      this.controllers?.frame(xr, now);
      this.headset.show(this.controllers?.places(xr) ?? []);
    } else {
      this.follow(now);
      if (this.store.get("sight") === "outside") this.rig.step();
      if (this.settled) return;
      this.settled = now > this.drawUntil; // one picture more, however seldom they come: the last change is in it
    }
    if (this.tween?.sample(performance.now())) this.bodies?.place(this.tween.shown);
    this.standInside();
    this.drawFrame();
    this.screen.draw(now, !this.headset.on, (renderer) => this.picture(renderer));
  }

  /** What depends on who looks: where the eyes are, and what they do not see. */
  private standInside(): void {
    const [hello, frame, sight] = [this.store.get("hello"), this.store.get("frame"), this.store.get("sight")];
    if (!hello || !this.bodies) return;
    const inside = this.headset.on || sight !== "outside";
    this.bodies.fade((body) => share(hello.bodies[body]!, hello.eyes?.hides ?? [], frame, inside));
    if (sight === "outside" || !hello.eyes) return;
    standAt(this.camera, hello.eyes, this.bodies.pose(hello.bodies.findIndex(({ name }) => name === hello.eyes!.body)));
    this.camera.fov = wholeFov(hello.eyes.fov_deg, this.clear().height, this.stage.clientHeight);
    this.camera.updateProjectionMatrix();
  }

  private picture(renderer: THREE.WebGLRenderer): void {
    const [eyes, sight] = [this.store.get("hello")?.eyes, this.store.get("sight")];
    if (sight === "outside" || !eyes) return renderer.render(this.scene, this.camera);
    const [box, free] = [this.stage.getBoundingClientRect(), this.clear()];
    const part: Part = { x: free.x - box.x, y: free.y - box.y, width: free.width, height: free.height };
    drawThrough(renderer, this.scene, sight === "eyes" ? [this.camera] : this.pair.place(this.camera, eyes, part), part, box.height);
  }

  private drawFrame(): void {
    const frame = this.store.get("frame");
    const hello = this.store.get("hello");
    const there = this.store.get("connection") === "open"; // else nobody knows what the hands do
    if (!frame || !hello || !this.bodies || !there) return this.signs.hide();
    const eye = this.rig.eye();
    const up = new THREE.Vector3(0, 1, 0).transformDirection(this.camera.matrixWorld);
    const sight = { eye, up, scale: this.find.scale, toPixels: (point: THREE.Vector3) => this.rig.toPixels(point), worn: this.headset.on || this.find.twofold };
    this.signs.show(frame, hello, this.grips, this.bodies, sight, this.look.dark);
  }

  /** The stage or what covers it has another size. */
  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0 || this.headset.on) return;
    this.screen.renderer.setSize(width, height);
    this.rig.resize(width, height);
    this.signs.resize(width, height, this.find.scale);
    this.picture(this.screen.renderer); // at once: another size empties the canvas
    this.invalidate();
  }

  private recolor(): void {
    this.ground.recolor();
    this.lights.recolor();
    this.signs.recolor();
    this.invalidate();
  }
}
