// The ground: a grid that fades into the distance, and the shadows that fall on it. The grid's step is a power of ten
// that goes with the size of the scene, every fifth line is stronger: decimetres around an arm, millimetres around a coin.

import * as THREE from "three";
import { cssColor } from "../dom";

const VERTEX = /* glsl */ `
  varying vec2 at;
  void main() {
    vec4 world = modelMatrix * vec4(position, 1.0);
    at = world.xy;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

const FRAGMENT = /* glsl */ `
  varying vec2 at;
  uniform vec3 color;
  uniform vec2 center;
  uniform float reach;
  uniform float step_m;
  float lines(float apart) {
    vec2 p = at / apart;
    vec2 width = fwidth(p);
    vec2 near = abs(fract(p - 0.5) - 0.5) / width;
    float crowded = max(width.x, width.y); // lines closer than two pixels melt into nothing
    return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.2, 0.5, crowded));
  }
  void main() {
    float fade = 1.0 - smoothstep(0.15, 1.0, length(at - center) / reach);
    float ink = max(0.16 * lines(step_m), 0.42 * lines(5.0 * step_m));
    gl_FragColor = vec4(color, ink * fade * fade);
    #include <colorspace_fragment>
  }`;

/** Between two lines, for a scene of this radius [m]: 6 to 60 of them across it. */
export function gridStep(radius: number): number {
  return 10 ** Math.floor(Math.log10(radius / 3));
}

export class Ground {
  readonly root = new THREE.Group();
  private readonly grid: THREE.ShaderMaterial;
  private readonly lines: THREE.Mesh;
  private readonly shadow: THREE.Mesh;
  private readonly shade = new THREE.ShadowMaterial({ depthWrite: false });

  constructor() {
    this.grid = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: {
        color: { value: new THREE.Color() },
        center: { value: new THREE.Vector2() },
        reach: { value: 3 },
        step_m: { value: 0.1 },
      },
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
    });
    this.shadow = new THREE.Mesh(new THREE.CircleGeometry(1, 48), this.shade);
    this.shadow.receiveShadow = true;
    this.shadow.renderOrder = -1;
    this.lines = new THREE.Mesh(new THREE.CircleGeometry(1, 48), this.grid);
    this.lines.renderOrder = -2;
    this.root.add(this.lines, this.shadow);
    this.recolor();
  }

  /** Under a ball of `radius` around `center`; shadows fall on the part around it only: that costs much to draw. */
  place(center: THREE.Vector3, height: number, radius: number): void {
    const reach = 6 * radius;
    this.root.position.set(center.x, center.y, height - 1e-4 * radius);
    this.lines.scale.setScalar(reach);
    this.shadow.scale.setScalar(1.6 * radius);
    (this.grid.uniforms["center"]!.value as THREE.Vector2).set(center.x, center.y);
    this.grid.uniforms["reach"]!.value = reach;
    this.grid.uniforms["step_m"]!.value = gridStep(radius);
  }

  recolor(): void {
    (this.grid.uniforms["color"]!.value as THREE.Color).set(cssColor("--grid"));
    this.shade.opacity = Number(cssColor("--shadow-strength"));
  }
}
