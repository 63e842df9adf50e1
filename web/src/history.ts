// The last seconds of a run, as columns that a plot takes.

export class History {
  times: number[] = [];
  columns: number[][];

  constructor(
    width: number,
    private readonly span_s: number,
    private readonly leap_s = span_s, // a longer step of time is a seek, not a motion
  ) {
    this.columns = Array.from({ length: width }, () => []);
  }

  /** Adds a sample. When time goes back (reset, seek) or leaps, what was there is forgotten; when it stands, nothing happens. */
  push(time_s: number, values: ArrayLike<number>): void {
    const last = this.times.at(-1);
    if (last !== undefined && time_s === last) return;
    if (last !== undefined && (time_s < last || time_s > last + this.leap_s)) this.clear();
    this.times.push(time_s);
    this.columns.forEach((column, i) => column.push(values[i] ?? 0));
    // one sample beyond the left edge stays, so that lines reach it
    let old = 0;
    while (old + 1 < this.times.length && (this.times[old + 1] as number) < time_s - this.span_s) old++;
    if (old > 0) [this.times, ...this.columns].forEach((list) => list.splice(0, old));
  }

  clear(): void {
    this.times = [];
    this.columns = this.columns.map(() => []);
  }
}
