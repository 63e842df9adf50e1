// How finely to draw: with a graphics card as it should be, without one (software, remote desktops) so that it moves.

import type { WebGLRenderer } from "three";

const SLOW_MS = 25; // mean time of a picture above which fewer pixels are drawn: sixty a second are meant
const FEWEST = 0.6; // pixels drawn, each way, for one of the screen
const STEP = 0.75; // from one number of pixels, each way, to the next
const HELPS = 0.3; // if at least this share of a picture's time is that of its pixels
const SETTLED = 40; // pictures whose mean tells something
const PAUSE_MS = 500; // a longer gap is no slow picture
const TRY_AGAIN_MS = 20_000; // how long it must have been quick until more pixels are tried; twice as long each time they were too many

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

/**
 * On a slow machine, fewer pixels rather than a slow picture. If fewer do not help (a screen that shows thirty pictures a
 * second, a busy processor), they are given back; and once it has been quick for a while, more are tried again.
 */
export class Thrift {
  private last = 0;
  private pictures = 0; // that were timed,
  private sum = 0; // and how long they took together [ms]
  private before: { mean: number; ratio: number } | null = null; // until it is known whether fewer pixels help
  private useless = false; // they do not
  private trying = false; // more were tried
  private changedAt = 0; // [ms]
  private patience_ms = TRY_AGAIN_MS;

  constructor(
    private readonly renderer: Pick<WebGLRenderer, "getPixelRatio" | "setPixelRatio">,
    private readonly quality: Quality,
  ) {}

  /** To be called before each picture, with its time [ms]. */
  picture(now: number): void {
    const gap = now - this.last;
    this.last = now;
    if (!this.quality.adapt || gap > PAUSE_MS) return; // nothing was to be drawn
    this.sum += gap;
    if (++this.pictures < SETTLED) return;
    const mean = this.sum / this.pictures;
    this.pictures = this.sum = 0;
    const ratio = this.renderer.getPixelRatio();
    if (mean > SLOW_MS && !this.useless) this.lower(mean, ratio, now);
    else if (mean <= SLOW_MS && ratio < this.quality.pixelRatio && now - this.changedAt > this.patience_ms) this.raise(ratio, now);
  }

  private lower(mean: number, ratio: number, now: number): void {
    const { before } = this;
    this.before = null;
    if (before && mean > before.mean * (1 - HELPS * (1 - (ratio / before.ratio) ** 2))) {
      this.useless = true;
      return this.renderer.setPixelRatio(before.ratio);
    }
    if (ratio <= FEWEST) return;
    if (this.trying) this.patience_ms *= 2; // more were too many
    this.trying = false;
    this.changedAt = now;
    this.before = { mean, ratio };
    this.renderer.setPixelRatio(Math.max(FEWEST, STEP * ratio));
  }

  private raise(ratio: number, now: number): void {
    this.trying = true;
    this.changedAt = now;
    this.before = null;
    this.renderer.setPixelRatio(Math.min(this.quality.pixelRatio, ratio / STEP));
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
