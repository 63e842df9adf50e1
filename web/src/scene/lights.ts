// Light as in a bright room: a soft surrounding, one lamp that throws shadows, a weak one from behind.

import * as THREE from "three";
import { RoomEnvironment } from "three/examples/jsm/environments/RoomEnvironment.js";
import { cssColor } from "../dom";
import type { Quality } from "./quality";

export class Lights {
  readonly root = new THREE.Group();
  private readonly key = new THREE.DirectionalLight("#fff4e6", 2.1);
  private readonly sky = new THREE.HemisphereLight("#ffffff", "#b9b2a8", 1);
  private readonly rim = new THREE.DirectionalLight("#dfe8ff", 0.45);

  constructor(
    private readonly scene: THREE.Scene,
    renderer: THREE.WebGLRenderer,
    quality: Quality,
  ) {
    if (quality.reflections) {
      const prefilter = new THREE.PMREMGenerator(renderer);
      const room = new RoomEnvironment();
      scene.environment = prefilter.fromScene(room, 0.04).texture;
      scene.environmentRotation.set(Math.PI / 2, 0, 0); // its up is y, ours is z
      room.dispose();
      prefilter.dispose();
    } else {
      this.sky.position.set(0, 0, 1); // light from above, where z points
      this.root.add(this.sky);
    }

    this.key.castShadow = true;
    this.key.shadow.mapSize.set(quality.shadowPixels, quality.shadowPixels);
    this.key.shadow.bias = -0.0004;
    this.key.shadow.radius = quality.shadowPixels / 220;
    this.root.add(this.key, this.key.target, this.rim, this.rim.target);
    this.recolor();
  }

  /** Shines on a ball of `radius` around `center`. */
  aim(center: THREE.Vector3, radius: number): void {
    this.key.position.copy(center).add(new THREE.Vector3(0.9, -1.1, 2.2).multiplyScalar(1.6 * radius));
    this.rim.position.copy(center).add(new THREE.Vector3(-1.5, 1.6, 0.9).multiplyScalar(2 * radius));
    this.key.target.position.copy(center);
    this.rim.target.position.copy(center);
    const camera = this.key.shadow.camera;
    const edge = 1.5 * radius;
    [camera.left, camera.right, camera.bottom, camera.top] = [-edge, edge, -edge, edge];
    [camera.near, camera.far] = [0.1 * radius, 8 * radius];
    camera.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.009 * radius;
  }

  recolor(): void {
    this.scene.environmentIntensity = Number(cssColor("--room-light"));
    this.sky.intensity = 3.7 * Number(cssColor("--room-light"));
    this.key.intensity = Number(cssColor("--key-light"));
  }
}
