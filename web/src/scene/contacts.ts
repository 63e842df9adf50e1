// Contacts: a dot where two bodies touch, and an arrow for the force on the second of them. All are one mesh: a dot, a
// shaft and a head that the vertex shader draws out along z by what each contact needs, so that heads keep their shape.
// Their colour says whether the contact sticks, slides, rolls or is open.

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { norm } from "../decode";
import { cssColor } from "../dom";
import { CONTACT_MODES, type Frame } from "../frame.gen";
import { MODE_COLORS } from "./modes";

const DOT = 0.0042; // radius of a dot, in distances of the eye
const LONGEST = 0.45; // arrow of the largest force, in radii of the scene
const SHORTEST = 4.2; // arrow, in radii of a dot: its head looks out
const LEAST = 0.02; // share of the largest force below which a contact is a dot
const FADE = 0.995; // of what counts as the largest force, per picture: arrows do not jump when it goes

const Z = new THREE.Vector3(0, 0, 1);

/** Length of an arrow [m] for a force, when `full` [N] is the largest and `longest` [m] its arrow. */
export function arrowLength(force: number, full: number, longest: number): number {
  const share = full > 0 ? force / full : 0;
  return share > LEAST ? longest * Math.min(1, share) : 0;
}

/** A dot of radius one, and on it a head and a shaft that are moved along z by `along` (0 or 1) times the length. */
function arrow(): THREE.BufferGeometry {
  const part = (geometry: THREE.BufferGeometry, along: (z: number) => number): THREE.BufferGeometry => {
    const z = geometry.getAttribute("position");
    geometry.setAttribute("along", new THREE.BufferAttribute(Float32Array.from({ length: z.count }, (_, i) => along(z.getZ(i))), 1));
    return geometry;
  };
  const dot = part(new THREE.SphereGeometry(1, 10, 8), () => 0);
  const shaft = part(new THREE.CylinderGeometry(0.34, 0.34, 1, 8, 1, true).rotateX(Math.PI / 2).translate(0, 0, 0.5), (z) => (z > 0.5 ? 1 : 0));
  const head = part(new THREE.ConeGeometry(1, 2.6, 12).rotateX(Math.PI / 2).translate(0, 0, -1.3), () => 1); // its tip is at the length
  const p = shaft.getAttribute("position");
  for (let i = 0; i < p.count; i++) p.setZ(i, p.getZ(i) > 0.5 ? -2 : 0); // ends inside the head
  return mergeGeometries([dot, shaft, head]);
}

export class Contacts {
  readonly root = new THREE.Group();
  private mesh: THREE.InstancedMesh | null = null;
  private readonly look = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9, depthTest: false, depthWrite: false, toneMapped: false });
  private full = 0; // force of the longest arrow [N]
  private colors: THREE.Color[] = []; // by mode

  constructor() {
    this.look.onBeforeCompile = (shader) => {
      // A contact without an arrow is a dot: what is drawn out shrinks into it.
      const moved = "vec3 transformed = along * reach > 0.0 || along == 0.0 ? position + vec3(0.0, 0.0, along * reach) : vec3(0.0);";
      shader.vertexShader = `attribute float along;\nattribute float reach;\n${shader.vertexShader.replace("#include <begin_vertex>", moved)}`;
    };
    this.root.visible = false;
  }

  /** Room for so many. */
  build(most: number): void {
    this.mesh?.geometry.dispose();
    this.mesh?.dispose();
    this.root.clear();
    this.full = 0;
    this.mesh = most > 0 ? new THREE.InstancedMesh(arrow(), this.look, most) : null;
    if (!this.mesh) return;
    this.mesh.geometry.setAttribute("reach", new THREE.InstancedBufferAttribute(new Float32Array(most), 1));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 8;
    this.mesh.count = 0;
    this.root.add(this.mesh);
    this.recolor();
  }

  /** As many as are told of, in a scene of radius `scale` [m]; how many that are. */
  show(frame: Frame, eye: THREE.Vector3, scale: number): number {
    const { contact_point: points, contact_force: forces } = frame;
    if (!this.mesh || !points || !forces) return 0;
    const count = Math.min(frame.contacts ?? 0, this.mesh.instanceMatrix.count);
    const reach = this.mesh.geometry.getAttribute("reach") as THREE.InstancedBufferAttribute;
    const [at, force, turn, X] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Quaternion(), new THREE.Matrix4()];
    this.full *= FADE;
    for (let k = 0; k < count; k++) this.full = Math.max(this.full, norm(forces.subarray(3 * k, 3 * k + 3)));
    for (let k = 0; k < count; k++) {
      at.fromArray(points, 3 * k);
      force.fromArray(forces, 3 * k);
      const size = DOT * eye.distanceTo(at); // the same size on the screen, near and far
      const length = arrowLength(force.length(), this.full, LONGEST * scale);
      reach.setX(k, length > 0 ? Math.max(length / size, SHORTEST) : 0);
      turn.setFromUnitVectors(Z, length > 0 ? force.normalize() : Z);
      this.mesh.setMatrixAt(k, X.compose(at, turn, new THREE.Vector3(size, size, size)));
      this.mesh.setColorAt(k, this.colors[frame.contact_mode?.[k] ?? 0] ?? this.colors[0]!);
    }
    this.mesh.count = count;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    this.mesh.instanceMatrix.needsUpdate = reach.needsUpdate = true;
    return count;
  }

  recolor(): void {
    this.colors = CONTACT_MODES.map((mode) => new THREE.Color(cssColor(MODE_COLORS[mode])));
  }
}
