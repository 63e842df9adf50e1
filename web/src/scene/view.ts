// The scene: renderer, camera and what is drawn. It knows bodies and pixels; what a drag means is hand.ts.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { norm } from "../decode";
import { onSchemeChange } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello } from "../protocol";
import type { Store } from "../state";
import { Bodies, type Pick } from "./bodies";
import { Ground } from "./ground";
import { Lights } from "./lights";
import { Path } from "./path";
import { quality } from "./quality";
import { Spring } from "./spring";
import { PoseTween } from "./tween";

const VIEW_FROM = new THREE.Vector3(1.25, -1.5, 0.62).normalize();
const FIELD_OF_VIEW = 32; // narrow, as with a portrait lens: little distortion
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
  private readonly raycaster = new THREE.Raycaster();
  private bodies: Bodies | null = null;
  private path: Path | null = null;
  private tween: PoseTween | null = null;
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
    stage.prepend(this.renderer.domElement);
    stage.append(this.spring.label);

    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.54 * Math.PI; // hardly below the ground
    this.controls.minDistance = 0.2;
    this.controls.maxDistance = 20;
    this.controls.addEventListener("change", () => this.invalidate());

    this.lights = new Lights(this.scene, this.renderer, fine);
    this.scene.add(this.lights.root, this.ground.root, this.spring.root);
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

  /** Looks at everything, from the front right. */
  fit(): void {
    if (!this.bodies) return;
    const bounds = this.bodies.bounds();
    for (const point of this.store.get("hello")?.path ?? []) bounds.expandByPoint(new THREE.Vector3(...point));
    if (bounds.isEmpty()) bounds.set(new THREE.Vector3(-0.5, -0.5, 0), new THREE.Vector3(0.5, 0.5, 1));
    const ball = bounds.getBoundingSphere(new THREE.Sphere());
    const free = this.clear();
    const box = this.stage.getBoundingClientRect();
    const half = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    const fill = Math.min(free.height / box.height, free.width / box.height); // share of the height that may be filled
    const distance = (0.88 * ball.radius) / (half * fill);
    this.controls.target.copy(ball.center);
    this.camera.position.copy(ball.center).addScaledVector(VIEW_FROM, distance);
    this.controls.update();
    const height = this.bodies.takeGround() ?? bounds.min.z;
    this.ground.place(ball.center, height, ball.radius);
    this.lights.aim(ball.center, 1.3 * ball.radius);
    this.invalidate();
  }

  private build(hello: Hello): void {
    const known = JSON.stringify([hello.scene, hello.bodies]);
    if (this.bodies && known === this.fitted) return; // the same scene after a reconnection: keep the view
    if (this.bodies) this.scene.remove(this.bodies.root);
    if (this.path) this.scene.remove(this.path.root);
    this.bodies?.dispose();
    this.bodies = new Bodies(hello, this.quality);
    this.path = new Path(hello.path);
    this.tween = new PoseTween(hello.sizes.n_bodies);
    this.scene.add(this.bodies.root, this.path.root);
    this.bodies.root.visible = false; // until the first frame says where they are
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
    this.controls.update();
    if (now > this.drawUntil) return;
    if (this.tween?.sample(performance.now())) this.bodies?.place(this.tween.shown);
    this.drawSpring();
    this.renderer.render(this.scene, this.camera);
    this.spare(now);
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
