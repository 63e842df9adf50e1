// How far a hand has turned ahead of what it holds: an arc around the hand, from the body's direction to the hand's.

import * as THREE from "three";
import type { Turn } from "../turn";

const RADIUS = 0.13; // in radii of the scene
const WIDTH = 0.12; // of its radius
const LEAST = 0.03; // that is worth an arc [rad]
const PIECES = 40; // of a whole turn
const Z = new THREE.Vector3(0, 0, 1);

export class TurnArc {
  readonly root: THREE.Mesh<THREE.RingGeometry, THREE.MeshBasicMaterial>;

  constructor() {
    const look = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.85, depthTest: false, depthWrite: false, toneMapped: false, side: THREE.DoubleSide });
    this.root = new THREE.Mesh(new THREE.RingGeometry(), look);
    this.root.renderOrder = 9;
    this.root.frustumCulled = false;
    this.root.visible = false;
  }

  show(turn: Turn, at: THREE.Vector3, color: THREE.ColorRepresentation, scale: number): void {
    const { lead } = turn;
    this.root.visible = Math.abs(lead) > LEAST;
    if (!this.root.visible) return;
    const radius = RADIUS * scale;
    const pieces = Math.max(3, Math.ceil((PIECES * Math.abs(lead)) / (2 * Math.PI)));
    this.root.geometry.dispose();
    this.root.geometry = new THREE.RingGeometry(radius * (1 - WIDTH), radius, pieces, 1, turn.angle - lead, lead);
    this.root.material.color.set(color);
    this.root.position.copy(at);
    this.root.quaternion.setFromUnitVectors(Z, turn.axis);
  }
}
