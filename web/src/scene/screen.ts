// What is drawn upon: the renderer, as fine as the machine can.

import * as THREE from "three";
import { quality, Thrift, type Quality } from "./quality";

export class Screen {
  readonly quality: Quality = quality();
  readonly renderer: THREE.WebGLRenderer;
  private readonly thrift: Thrift;

  constructor(stage: HTMLElement) {
    const fine = this.quality;
    this.renderer = new THREE.WebGLRenderer({ antialias: fine.antialias, alpha: true, powerPreference: "high-performance" });
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = fine.softShadows ? THREE.PCFShadowMap : THREE.BasicShadowMap;
    this.renderer.setPixelRatio(fine.pixelRatio);
    this.renderer.localClippingEnabled = true; // planes cut each other off
    this.thrift = new Thrift(this.renderer, fine);
    stage.prepend(this.renderer.domElement);
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  /** Another picture, at this time [ms]; with `thrifty`, of fewer pixels if they take long. */
  draw(now: number, thrifty: boolean, picture: (renderer: THREE.WebGLRenderer) => void): void {
    if (thrifty) this.thrift.picture(now); // before the picture: another number of pixels empties the canvas
    picture(this.renderer);
  }
}
