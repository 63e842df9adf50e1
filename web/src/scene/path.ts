// The planned path of the tool.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { cssColor } from "../dom";
import type { Vector3 } from "../protocol";

export class Path {
  readonly root = new THREE.Group();
  private readonly material = new LineMaterial({
    linewidth: 2.2, dashed: true, dashSize: 0.018, gapSize: 0.014, transparent: true, opacity: 0.85, toneMapped: false,
  });

  constructor(points: Vector3[]) {
    if (points.length < 2) return;
    const line = new Line2(new LineGeometry().setPositions(points.flat()), this.material);
    line.computeLineDistances();
    this.root.add(line);
    this.recolor();
  }

  recolor(): void {
    this.material.color.set(cssColor("--accent"));
  }
}
