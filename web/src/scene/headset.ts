// A headset: the person stands before the scene, on its ground, and sees it as large as it is. Controllers (xr.ts) are
// the hands. In a headset y is up, so the camera's root is turned.

import * as THREE from "three";
import { cssColor } from "../dom";
import type { CameraRig } from "./camera";

const AWAY_M = 0.5; // how far from the edge of the scene the person stands
const EYES_M = 1.5; // above the ground, for a headset that does not know its own height
const RAY_M = 1.2; // how long a controller's ray is drawn

/** Why no headset can be used here, in plain words; empty if one could be. */
export function whyNoHeadset(secure = isSecureContext, xr: unknown = navigator.xr): string {
  if (!secure) return "A headset needs https: start palpate with --tls.";
  return xr ? "" : "This browser does not know headsets.";
}

/** Where a headset's space lies in the world: before a scene of `radius` around `center`, looking along `way`. */
export function standBefore(center: THREE.Vector3, radius: number, ground: number, way: THREE.Vector3): THREE.Matrix4 {
  const level = way.clone().setZ(0);
  if (level.lengthSq() < 1e-9) level.set(0, 1, 0);
  level.normalize();
  const up = new THREE.Vector3(0, 0, 1);
  const X = new THREE.Matrix4().makeBasis(level.clone().cross(up), up, level.clone().negate()); // x right, y up, -z ahead
  return X.setPosition(center.clone().addScaledVector(level, -(radius + AWAY_M)).setZ(ground));
}

/** Who uses a headset while it is on; its `space` lies at `origin` in the world. */
export interface Wearer {
  begin(session: XRSession, space: XRReferenceSpace, origin: THREE.Matrix4): void;
}

export class Headset {
  readonly root = new THREE.Group(); // the controllers
  private readonly rays: THREE.Mesh[];
  private session: XRSession | null = null;

  constructor(
    private readonly renderer: THREE.WebGLRenderer,
    private readonly scene: THREE.Scene,
    private readonly rig: CameraRig,
  ) {
    const ray = new THREE.CylinderGeometry(0.0012, 0.004, RAY_M, 8).rotateX(-Math.PI / 2).translate(0, 0, -RAY_M / 2);
    const look = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.55, toneMapped: false });
    this.rays = [0, 1].map(() => new THREE.Mesh(ray, look));
    this.rays.forEach((mesh) => Object.assign(mesh, { matrixAutoUpdate: false, visible: false }));
    this.root.add(...this.rays);
  }

  get on(): boolean {
    return this.session !== null;
  }

  /** Begins; an Error says why it cannot. `ended` is called when the person takes it off. */
  async enter(stand: THREE.Matrix4, wearers: Wearer[], ended: () => void): Promise<void> {
    const why = whyNoHeadset();
    if (why) throw new Error(why);
    const session = await navigator.xr!.requestSession("immersive-vr", { optionalFeatures: ["local-floor"] });
    const floor = session.enabledFeatures?.includes("local-floor") ?? true;
    const { xr } = this.renderer;
    xr.enabled = true;
    xr.setReferenceSpaceType(floor ? "local-floor" : "local");
    await xr.setSession(session);
    const at = floor ? stand : new THREE.Matrix4().makeTranslation(0, 0, EYES_M).multiply(stand);
    at.decompose(this.rig.root.position, this.rig.root.quaternion, this.rig.root.scale);
    this.rig.root.updateMatrixWorld(true);
    this.rig.hand(false);
    this.scene.background = new THREE.Color(cssColor("--sky-2"));
    const accent = new THREE.Color(cssColor("--accent"));
    this.rays.forEach(({ material }) => (material as THREE.MeshBasicMaterial).color.copy(accent));
    this.session = session;
    session.addEventListener("end", () => {
      this.session = null;
      xr.enabled = false;
      this.scene.background = null;
      this.rays.forEach((ray) => (ray.visible = false));
      this.rig.hand(true);
      ended();
    });
    for (const wearer of wearers) wearer.begin(session, xr.getReferenceSpace()!, at);
  }

  /** Draws the controllers where they are. */
  show(places: THREE.Matrix4[]): void {
    this.rays.forEach((ray, k) => {
      ray.visible = k < places.length;
      if (places[k]) ray.matrix.copy(places[k]);
    });
  }
}
