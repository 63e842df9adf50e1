// How finely to draw: with a graphics card as it should be, without one (software, remote desktops) so that it moves.

import type { WebGLRenderer } from "three";

const SLOW_MS = 45; // mean time of a picture above which fewer pixels are drawn
const FEWEST = 0.6; // pixels drawn, each way, for one of the screen

export interface Quality {
  antialias: boolean;
  pixelRatio: number;
  shadowPixels: number;
  softShadows: boolean;
  reflections: boolean; // light from the surrounding room, on every pixel
  adapt: boolean; // draw fewer pixels when pictures take long
}

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** `?quality=fine` or `?quality=plain` in the address decides; otherwise what draws. */
export function quality(): Quality {
  const asked = new URLSearchParams(location.search).get("quality");
  const plain = asked === "plain" || (asked !== "fine" && SOFTWARE.test(rendererName()));
  const adapt = asked !== "fine";
  return plain
    ? { antialias: false, pixelRatio: 1, shadowPixels: 1024, softShadows: false, reflections: false, adapt }
    : { antialias: true, pixelRatio: Math.min(2, devicePixelRatio), shadowPixels: 2048, softShadows: true, reflections: true, adapt };
}

/** On a slow machine, fewer pixels rather than a slow picture. */
export class Thrift {
  private last = 0;
  private mean = 16; // time of a picture [ms]

  constructor(
    private readonly renderer: Pick<WebGLRenderer, "getPixelRatio" | "setPixelRatio">,
    private readonly quality: Quality,
  ) {}

  /** To be called before each picture, with its time [ms]. */
  picture(now: number): void {
    const gap = now - this.last;
    this.last = now;
    if (gap > 500) return; // nothing was to be drawn
    this.mean += 0.05 * (gap - this.mean);
    const ratio = this.renderer.getPixelRatio();
    if (!this.quality.adapt || this.mean <= SLOW_MS || ratio <= FEWEST) return;
    this.renderer.setPixelRatio(Math.max(FEWEST, 0.75 * ratio));
    this.mean = 16;
  }
}

/** Name of the graphics card; empty when there is no WebGL 2. */
function rendererName(): string {
  const gl = context();
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl ? String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return name;
}

export function hasWebGL(): boolean {
  const gl = context();
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return gl !== null;
}

function context(): WebGL2RenderingContext | null {
  try {
    return document.createElement("canvas").getContext("webgl2");
  } catch {
    return null;
  }
}
