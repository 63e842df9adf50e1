// The markers of a recording, on its time line.

import { el } from "../dom";
import type { Mark } from "../protocol";
import type { Keys } from "./keys";

const SAME_S = 0.05; // a mark so near to now is the one we are at

/** The mark after (or, backwards, before) a time; null: none. */
export function nextMark(marks: readonly Mark[], time_s: number, backwards = false): Mark | null {
  const sign = backwards ? -1 : 1;
  const coming = marks.filter((mark) => sign * (mark.time_s - time_s) > SAME_S);
  return coming.reduce<Mark | null>((next, mark) => (next && sign * (next.time_s - mark.time_s) < 0 ? next : mark), null);
}

export class Marks {
  readonly root = el("div", { class: "marks" });
  private marks: Mark[] = [];

  constructor(private readonly seek: (time_s: number) => void) {}

  bind(keys: Keys, now: () => number): void {
    const jump = (backwards: boolean): void => {
      const mark = nextMark(this.marks, now(), backwards);
      if (mark) this.seek(mark.time_s);
    };
    keys.bind("Time", "n", "in a recording: to the next marker", () => jump(false));
    keys.bind("Time", "b", "in a recording: to the marker before", () => jump(true));
  }

  show(marks: Mark[], duration_s: number): void {
    this.marks = marks;
    const pins = marks.map(({ time_s, text }) => {
      const title = `${time_s.toFixed(2)} s: ${text}`;
      const share = Math.min(1, Math.max(0, time_s / Math.max(duration_s, 1e-9)));
      return el("i", { class: "mark", title, style: `--share: ${share.toFixed(4)}`, onclick: () => this.seek(time_s) });
    });
    this.root.replaceChildren(...pins);
  }
}
