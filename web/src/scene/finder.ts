// What is where: between pixels of the window, the world, and the axes of bodies.

import * as THREE from "three";
import type { Store } from "../state";
import type { Bodies, Pick } from "./bodies";
import type { CameraRig } from "./camera";
import { ballAround } from "./framing";
import { sights } from "./outlook";
import { vacancy } from "./vacancy";

const CORNERS = 8; // of the box around one solid
const AROUND = 8; // places that are tried around one that was missed

export class Finder {
  bodies: Bodies | null = null;
  twofold = false; // the picture is there twice: a place of the window is no place of the scene
  private readonly raycaster = new THREE.Raycaster();

  /** `looked` is the ball around what is looked at. */
  constructor(
    private readonly stage: HTMLElement,
    private readonly rig: CameraRig,
    private readonly store: Store,
    private readonly looked: THREE.Sphere,
  ) {}

  /** Radius of what is looked at [m]. */
  get scale(): number {
    return this.looked.radius;
  }

  ray(clientX: number, clientY: number): THREE.Raycaster {
    const box = this.stage.getBoundingClientRect();
    const at = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
    this.raycaster.setFromCamera(at, this.rig.camera);
    return this.raycaster;
  }

  /** What can be touched or moved at this place of the window, looked for within `slop` pixels. */
  pick(clientX: number, clientY: number, slop = 0): Pick | null {
    if (this.twofold) return null;
    const tries = [[0, 0]];
    for (let k = 0; slop > 0 && k < AROUND; k++) {
      const angle = (2 * Math.PI * k) / AROUND;
      tries.push([slop * Math.cos(angle), slop * Math.sin(angle)]);
    }
    for (const [dx, dy] of tries) {
      const found = this.pickRay(this.ray(clientX + dx!, clientY + dy!));
      if (found) return found;
    }
    return null;
  }

  pickRay(ray: THREE.Raycaster): Pick | null {
    return this.bodies?.pick(ray) ?? null;
  }

  /** The surface of a body that faces the eye, whatever is before it: in the middle of the body, or of one of its solids. */
  facing(body: number): Pick | null {
    const corners = this.bodies?.corners(body).get(body);
    if (!corners) return null;
    const solids = Array.from({ length: corners.length / CORNERS }, (_, k) => corners.slice(CORNERS * k, CORNERS * (k + 1)));
    const eye = this.rig.eye();
    for (const middle of [corners, ...solids].map((part) => ballAround(part).center)) {
      const found = this.bodies?.surface(body, new THREE.Raycaster(eye, middle.sub(eye).normalize()));
      if (found) return found;
    }
    return null;
  }

  toBody(body: number, point: THREE.Vector3): THREE.Vector3 {
    return this.bodies!.toBody(body, point);
  }

  /** Position and quaternion (w, x, y, z) of a body, as the last frame has it. */
  pose(body: number): number[] {
    const told = this.store.get("frame")?.pose;
    return told ? Array.from(told.subarray(7 * body, 7 * body + 7)) : this.bodies!.pose(body);
  }

  /** Where the middle of a body is on the stage, in pixels; null if it is not in the picture. */
  onStage(body: number): THREE.Vector2 | null {
    const middle = this.bodies?.center(body);
    return middle && this.rig.inPicture(middle) ? this.rig.toPixels(middle) : null;
  }

  /** Where the middle of a body is in the window, in pixels. */
  projected(bodyName: string): { x: number; y: number } | null {
    const body = this.store.get("hello")?.bodies.findIndex((b) => b.name === bodyName) ?? -1;
    if (body < 0 || !this.bodies) return null;
    const box = this.stage.getBoundingClientRect();
    const at = this.rig.toPixels(this.bodies.center(body));
    return { x: box.left + at.x, y: box.top + at.y };
  }

  /** How many bodies are in the picture, of how many that could be. */
  inView(): { bodies: number; of: number } {
    const all = this.bodies ? sights(this.bodies) : [];
    const inside = all.filter(({ corners }) => this.rig.inPicture(ballAround(corners).center));
    return { bodies: inside.length, of: all.length };
  }

  /** A free place before the camera for a ball of this radius [m]: on the ground, or in the air. */
  freePlace(radius: number, where: "ground" | "air"): THREE.Vector3 | null {
    if (!this.bodies) return null;
    const boxes = [...this.bodies.corners().values()].map((corners) => new THREE.Box3().setFromPoints(corners));
    const middle = this.rig.controls.target;
    return vacancy(radius, {
      boxes, walls: this.bodies.planes.solid(), middle, eye: this.rig.eye(), scale: this.scale,
      height: where === "ground" ? this.bodies.planes.ground() : null,
      seen: (point, edge) => this.rig.inClear(point, edge),
    });
  }
}
