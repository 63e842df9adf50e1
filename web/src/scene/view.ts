// The scene: renderer, camera and what is drawn. It knows bodies and pixels; what a drag means is hand.ts.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { norm } from "../decode";
import { onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello } from "../protocol";
import type { Store } from "../state";
import { Bodies, type Pick } from "./bodies";
import { Devices } from "./devices";
import { ballAround, below, stand, viewFrom, worthSeeing, type Sight, type Stand } from "./framing";
import { Ground } from "./ground";
import { Lights } from "./lights";
import { Path } from "./path";
import { quality } from "./quality";
import { Spring } from "./spring";
import { PoseTween } from "./tween";

const FIELD_OF_VIEW = 32; // narrow, as with a portrait lens: little distortion
const FILL = 0.92; // share of the free part of the stage that the scene fills
const ROOM = 2.5; // how much more is shown around one or two bodies with nothing beside them: they will be moved
const FOLLOW_MS = 500; // how often it is looked whether everything has left the picture
const GLIDE = 0.15; // share of the way that the camera goes to follow, per picture
const SLOW_MS = 45; // mean time of a picture above which the page draws fewer pixels
const LINGER_MS = 300; // goes on drawing this long after the last change

/** What our own hand holds: drawn without waiting for the servo to tell us. */
export interface Grip {
  body: number;
  atBody: THREE.Vector3;
  target: THREE.Vector3;
}

export class SceneView {
  readonly camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.02, 60);
  readonly controls: OrbitControls;
  grip: Grip | null = null;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly quality = quality();
  private readonly scene = new THREE.Scene();
  private readonly ground = new Ground();
  private readonly lights: Lights;
  private readonly spring = new Spring();
  private readonly devices = new Devices();
  private readonly raycaster = new THREE.Raycaster();
  private bodies: Bodies | null = null;
  private path: Path | null = null;
  private tween: PoseTween | null = null;
  private begin: Sight[] = []; // where the scene began
  private turned = false; // a person has moved the camera since it was fitted
  private goal: Stand | null = null; // where the camera is on its way to
  private followDue = 0;
  private fitted = "";
  private drawUntil = 0;
  private clear: () => DOMRect;

  /** `clear` gives the part of the stage that no panel covers: the scene is centred there. */
  constructor(
    private readonly stage: HTMLElement,
    private readonly store: Store,
    clear: () => DOMRect,
  ) {
    this.clear = clear;
    const fine = this.quality;
    this.renderer = new THREE.WebGLRenderer({ antialias: fine.antialias, alpha: true, powerPreference: "high-performance" });
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = fine.softShadows ? THREE.PCFShadowMap : THREE.BasicShadowMap;
    this.renderer.setPixelRatio(fine.pixelRatio);
    this.renderer.localClippingEnabled = true; // planes cut each other off
    stage.prepend(this.renderer.domElement);
    stage.append(this.spring.label);

    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.54 * Math.PI; // hardly below the ground
    this.controls.addEventListener("change", () => this.invalidate());
    this.controls.addEventListener("start", () => {
      this.turned = true;
      this.goal = null;
    });

    this.lights = new Lights(this.scene, this.renderer, fine);
    this.scene.add(this.lights.root, this.ground.root, this.spring.root, this.devices.root);
    new ResizeObserver(() => this.resize()).observe(stage);
    onSchemeChange(() => this.recolor());
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => frame && this.take(frame));
    for (const key of ["hovered", "held"] as const) store.on(key, () => this.highlight());
    this.resize();
    this.renderer.setAnimationLoop((now) => this.draw(now));
  }

  /** Draw again soon: something changed. */
  invalidate(): void {
    this.drawUntil = performance.now() + LINGER_MS;
  }

  /** What can be touched at this place of the window, looked for within `slop` pixels. */
  pick(clientX: number, clientY: number, slop = 0): Pick | null {
    const tries = [[0, 0]];
    for (let k = 0; slop > 0 && k < 8; k++) tries.push([slop * Math.cos((k * Math.PI) / 4), slop * Math.sin((k * Math.PI) / 4)]);
    for (const [dx, dy] of tries) {
      const found = this.bodies?.pick(this.ray(clientX + dx!, clientY + dy!));
      if (found) return found;
    }
    return null;
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

  /** Where the middle of a body is in the window, in pixels. */
  projected(bodyName: string): { x: number; y: number } | null {
    const body = this.store.get("hello")?.bodies.findIndex((b) => b.name === bodyName) ?? -1;
    if (body < 0 || !this.bodies) return null;
    const box = this.stage.getBoundingClientRect();
    const at = this.toPixels(this.bodies.center(body));
    return { x: box.left + at.x, y: box.top + at.y };
  }

  /** How many bodies are in the picture, of how many that could be: for tests and for the curious. */
  inView(): { bodies: number; of: number; drawCalls: number } {
    const sights = this.bodies ? this.sights() : [];
    const inside = sights.filter((sight) => this.inPicture(sight));
    return { bodies: inside.length, of: sights.length, drawCalls: this.renderer.info.render.calls };
  }

  private inPicture({ corners }: Sight): boolean {
    const p = ballAround(corners).center.project(this.camera);
    return Math.max(Math.abs(p.x), Math.abs(p.y), Math.abs(p.z)) < 1;
  }

  /** When all that can be touched has left the free part of the picture, and nobody chose that, the camera goes after it. */
  private follow(now: number): void {
    if (now < this.followDue || this.turned || this.goal || !this.bodies?.root.visible) return;
    this.followDue = now + FOLLOW_MS;
    if (this.grip || this.store.get("frame")?.hand_body) return;
    const touchable = this.sights().filter((sight) => sight.touchable);
    const box = this.stage.getBoundingClientRect();
    const free = this.clear();
    const there = touchable.some((sight) => {
      const at = this.toPixels(ballAround(sight.corners).center).add(new THREE.Vector2(box.left, box.top));
      return this.inPicture(sight) && at.x > free.left && at.x < free.right && at.y > free.top && at.y < free.bottom;
    });
    if (touchable.length > 0 && !there) this.fit(true);
  }

  /** Looks at everything, from the front right: at once, or going there. */
  fit(slowly = false): void {
    if (!this.bodies) return;
    this.turned = false;
    this.resize();
    const now = this.sights();
    const points = worthSeeing(this.begin, now);
    for (const point of this.store.get("hello")?.path ?? []) points.push(new THREE.Vector3(...point));
    if (points.length === 0) points.push(new THREE.Vector3(-0.5, -0.5, 0), new THREE.Vector3(0.5, 0.5, 1));
    const room = now.length <= 2 && now.every(({ touchable }) => touchable) ? ROOM : 1;
    const content = ballAround(points);
    this.bodies.planes.fit(content.center, content.radius);
    const slopes = this.bodies.planes.slopes();
    const all = [...points, ...slopes];
    const ball = ballAround(all);
    const free = this.clear();
    const box = this.stage.getBoundingClientRect();
    const half = (FILL * Math.tan((FIELD_OF_VIEW * Math.PI) / 360)) / (slopes.length > 0 ? 1 : room) / box.height;
    this.goal = stand(all, viewFrom(all), half * free.width, half * free.height);
    this.setScale(room * ball.radius, this.goal.position.distanceTo(this.goal.target));
    this.go(slowly ? GLIDE : 1);
    const height = this.bodies.planes.ground() ?? new THREE.Box3().setFromPoints(all).min.z;
    this.ground.place(ball.center, height, room * ball.radius);
    this.lights.aim(ball.center, 1.3 * room * ball.radius);
    this.invalidate();
  }

  /** Goes this share of the way to the goal. */
  private go(share: number): void {
    if (!this.goal) return;
    const { position, target } = this.goal;
    this.camera.position.lerp(position, share);
    this.controls.target.lerp(target, share);
    this.controls.update();
    if (this.camera.position.distanceTo(position) < 0.01 * position.distanceTo(target)) this.goal = null;
    this.invalidate();
  }

  /** What is near, far and large, in a scene of this radius seen from this far. */
  private setScale(radius: number, distance: number): void {
    const far = Math.max(40 * radius, 3 * distance);
    this.controls.minDistance = 0.1 * radius;
    this.controls.maxDistance = far;
    this.camera.near = 0.02 * radius;
    this.camera.far = far + 20 * radius;
    this.camera.updateProjectionMatrix();
    this.spring.scale = this.devices.scale = radius;
  }

  private sights(): Sight[] {
    const bodies = this.bodies!;
    return [...bodies.corners()].map(([body, corners]) => ({ touchable: bodies.touchable(body), corners }));
  }

  private build(hello: Hello): void {
    const known = JSON.stringify([hello.scene, hello.bodies]);
    this.devices.build(hello.devices ?? []);
    if (this.bodies && known === this.fitted) return; // the same scene after a reconnection: keep the view
    if (this.bodies) this.scene.remove(this.bodies.root);
    if (this.path) this.scene.remove(this.path.root);
    this.bodies?.dispose();
    this.bodies = new Bodies(hello, this.quality);
    this.path = new Path(hello.path);
    this.tween = new PoseTween(hello.sizes.n_bodies);
    this.scene.add(this.bodies.root, this.path.root);
    this.bodies.root.visible = false; // until the first frame says where they are
    this.bodies.place(hello.start.flat());
    this.begin = this.sights();
    this.begin.push(...below(this.begin, this.bodies.planes.ground()));
    this.fitted = known;
  }

  private take(frame: Frame): void {
    this.tween?.push(frame.pose, this.store.get("arrived"));
    if (this.bodies && !this.bodies.root.visible) {
      this.bodies.root.visible = true;
      this.bodies.place(frame.pose);
      this.fit();
    }
    this.invalidate();
  }

  private draw(now: number): void {
    this.follow(now);
    if (this.goal) this.go(GLIDE);
    else this.controls.update();
    if (now > this.drawUntil) return;
    if (this.tween?.sample(performance.now())) this.bodies?.place(this.tween.shown);
    this.drawSpring();
    const frame = this.store.get("frame");
    if (frame) this.devices.show(frame, this.camera);
    this.spare(now); // before the picture: another number of pixels empties the canvas
    this.renderer.render(this.scene, this.camera);
  }

  /** Our own grip as our pointer has it; otherwise the hand that the frame tells of (a recording, another page). */
  private drawSpring(): void {
    const frame = this.store.get("frame");
    const hello = this.store.get("hello");
    if (!frame || !hello || !this.bodies || (!this.grip && frame.hand_body === 0)) return this.spring.hide();
    const from = this.grip ? this.bodies.toWorld(this.grip.body, this.grip.atBody) : new THREE.Vector3().fromArray(frame.hand_point);
    const to = this.grip ? this.grip.target : new THREE.Vector3().fromArray(frame.hand_target);
    this.spring.show(from, to, norm(frame.hand_force), hello.hand.force_limit_N, this.camera);
    const a = this.toPixels(from);
    const b = this.toPixels(to);
    this.spring.moveLabel(b.x, b.y, b.x >= a.x);
  }

  private toPixels(point: THREE.Vector3): THREE.Vector2 {
    const p = point.clone().project(this.camera);
    return new THREE.Vector2(((p.x + 1) * this.stage.clientWidth) / 2, ((1 - p.y) * this.stage.clientHeight) / 2);
  }

  private highlight(): void {
    const held = this.store.get("held");
    this.bodies?.highlight(held || this.store.get("hovered"), held ? 0.55 : 0.35);
    this.invalidate();
  }

  /** The stage or what covers it has another size. */
  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    const box = this.stage.getBoundingClientRect();
    const free = this.clear();
    const x = (box.left + box.right - free.left - free.right) / 2;
    const y = (box.top + box.bottom - free.top - free.bottom) / 2;
    this.camera.setViewOffset(width, height, x, y, width, height);
    this.camera.updateProjectionMatrix();
    this.spring.resize(width, height);
    this.devices.resize(width, height);
    this.renderer.render(this.scene, this.camera); // at once: another size empties the canvas
    this.invalidate();
  }

  private recolor(): void {
    this.ground.recolor();
    this.lights.recolor();
    this.path?.recolor();
    this.invalidate();
  }

  private lastDrawn = 0;
  private meanMs = 16;

  /** On a slow machine, fewer pixels rather than a slow picture. */
  private spare(now: number): void {
    const gap = now - this.lastDrawn;
    this.lastDrawn = now;
    if (gap > 500) return;
    this.meanMs += 0.05 * (gap - this.meanMs);
    const ratio = this.renderer.getPixelRatio();
    if (this.quality.adapt && this.meanMs > SLOW_MS && ratio > 0.6) {
      this.renderer.setPixelRatio(Math.max(0.6, 0.75 * ratio));
      this.meanMs = 16;
    }
  }
}
