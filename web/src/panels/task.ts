// What there is to learn in a scene: the score of this trial, as the servo keeps it, and of those before.

import { el } from "../dom";
import type { Frame } from "../frame.gen";
import { wants } from "../protocol";
import type { Store } from "../state";

const REACHED = 2; // task_state
const SHOWN = 6; // trials, the newest last

export interface Trial {
  number: number;
  reached: boolean;
  seconds: number;
  path_m: number;
  peak_N: number;
  collisions: number;
}

export function trialOf(frame: Frame): Trial {
  const { task_trial = 0, task_state = 0, task_time_s = 0, task_path_m = 0, task_peak_N = 0, task_collisions = 0 } = frame;
  return { number: task_trial, reached: task_state === REACHED, seconds: task_time_s, path_m: task_path_m, peak_N: task_peak_N, collisions: task_collisions };
}

/** "trial 3: 4.2 s, 0.61 m, at most 5.3 N, 1 hit; 12 cm to go" */
export function words(frame: Frame): string {
  const { number, reached, seconds, path_m, peak_N, collisions } = trialOf(frame);
  if (frame.task_state === 0) return `trial ${number}: begins with your first touch`;
  const hits = collisions === 0 ? "no hit" : collisions === 1 ? "1 hit" : `${collisions} hits`;
  const rest = reached ? "reached; reset (R) for the next" : `${(100 * (frame.task_distance_m ?? 0)).toFixed(0)} cm to go`;
  return `trial ${number}: ${seconds.toFixed(1)} s, ${path_m.toFixed(2)} m, at most ${peak_N.toFixed(1)} N, ${hits}; ${rest}`;
}

/** Trials with the newest state of the one that a frame is of; a number that is not the next begins them anew. */
export function kept(trials: readonly Trial[], frame: Frame): Trial[] {
  const now = trialOf(frame);
  const before = trials.filter(({ number }) => number < now.number);
  return frame.task_state === 0 ? before : [...before, now];
}

/** How a score changes from one trial to the next: the slope of the line nearest to all; 0 with fewer than two. */
export function slope(values: readonly number[]): number {
  const n = values.length;
  if (n < 2) return 0;
  const mean = values.reduce((a, b) => a + b, 0) / n;
  const middle = (n - 1) / 2;
  const across = values.reduce((sum, _, k) => sum + (k - middle) ** 2, 0);
  return values.reduce((sum, x, k) => sum + (k - middle) * (x - mean), 0) / across;
}

const signed = (x: number, digits: number): string => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`;

export class Task {
  readonly root = el("section", { class: "task", hidden: true });
  private readonly title = el("h3", {});
  private readonly now = el("p", { class: "note", role: "status" });
  private readonly table = el("table", { class: "trials" });
  private trials: Trial[] = [];
  private shown = "";

  constructor(store: Store) {
    this.root.append(this.title, this.now, this.table);
    store.on("hello", (hello) => {
      this.trials = [];
      this.root.hidden = !wants(hello, "task");
      this.title.textContent = hello?.task?.title ?? "";
    });
    store.on("frame", (frame) => {
      if (!this.root.hidden && frame) this.show(frame);
    });
  }

  private show(frame: Frame): void {
    this.now.textContent = words(frame);
    this.trials = kept(this.trials, frame);
    const done = this.trials.filter(({ reached }) => reached);
    const said = done.map(({ number }) => number).join();
    if (said === this.shown) return;
    this.shown = said;
    const row = (cells: string[], kind: "th" | "td" = "td"): HTMLElement => el("tr", {}, ...cells.map((cell) => el(kind, {}, cell)));
    const rows = done.slice(-SHOWN).map((t) => row([String(t.number), t.seconds.toFixed(1), t.path_m.toFixed(2), t.peak_N.toFixed(1), String(t.collisions)]));
    const by = (read: (t: Trial) => number, digits: number): string => signed(slope(done.map(read)), digits);
    const trend = done.length > 1 ? [row(["a trial", by((t) => t.seconds, 1), by((t) => t.path_m, 2), by((t) => t.peak_N, 1), by((t) => t.collisions, 1)], "th")] : [];
    this.table.replaceChildren(...(rows.length ? [row(["trial", "s", "m", "N", "hits"], "th"), ...rows, ...trend] : []));
  }
}
