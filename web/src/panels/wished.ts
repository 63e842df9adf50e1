// A setting between a person's wish and what the servo has. Frames tell what it is; those that were under way when the
// wish was sent still tell the old value, and must not move a knob back under the finger.

const PATIENCE_MS = 1500; // after which a wish that was not followed is given up: the servo has the last word
const SAME = 1e-9;

export class Wished {
  private wish: number | null = null;
  private until = 0;
  private gripped = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** A person wants this value. */
  want(value: number): void {
    this.wish = value;
    this.until = this.now() + PATIENCE_MS;
  }

  /** While it is in a person's fingers, it is theirs. */
  grip(on: boolean): void {
    this.gripped = on;
    if (this.wish !== null) this.until = this.now() + PATIENCE_MS;
  }

  /** Whether what a frame tells is to be shown. */
  hears(told: number): boolean {
    if (this.gripped) return false;
    if (this.wish !== null && Math.abs(told - this.wish) > SAME * Math.max(1, Math.abs(told)) && this.now() < this.until) return false;
    this.wish = null;
    return true;
  }

  /** Another scene: nothing is wished for. */
  forget(): void {
    this.wish = null;
    this.gripped = false;
  }
}
