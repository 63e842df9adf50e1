// The part of time that all plots show: the last seconds, as they pass, or a piece that was chosen and stands still.

import { plain } from "../words";

export const SPANS_S = [2, 5, 10, 30, 60]; // how much of the past a live plot can show
const USUAL = 2; // of these

export class TimeWindow {
  private span = USUAL;
  private piece: [number, number] | null = null;

  get span_s(): number {
    return SPANS_S[this.span]!;
  }

  get zoomed(): boolean {
    return this.piece !== null || this.span !== USUAL;
  }

  /** From when to when, if `latest` is the newest there is [s]. */
  range(latest: number): [number, number] {
    return this.piece ?? [latest - this.span_s, latest];
  }

  /** What is shown, in words. */
  words(held: boolean): string {
    if (this.piece) return `${plain(this.piece[0], 2)} to ${plain(this.piece[1], 2)} s`;
    return `${held ? "held: " : ""}the last ${this.span_s} s`;
  }

  /** Look at this piece of time; too short a piece is none. */
  choose(from: number, to: number): boolean {
    if (!(to - from > 1e-3)) return false;
    this.piece = [from, to];
    return true;
  }

  /** One step nearer or farther: of the chosen piece, around its middle, or of the past that is shown. */
  step(nearer: boolean): void {
    if (this.piece) {
      const [from, to] = this.piece;
      const half = Math.max(0.01, (to - from) * (nearer ? 0.25 : 1));
      this.piece = [(from + to) / 2 - half, (from + to) / 2 + half];
    } else {
      this.span = Math.min(SPANS_S.length - 1, Math.max(0, this.span + (nearer ? -1 : 1)));
    }
  }

  /** Time passes again. */
  release(): void {
    this.piece = null;
  }

  whole(): void {
    this.piece = null;
    this.span = USUAL;
  }
}
