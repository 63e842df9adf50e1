// How far the compiler is, over a scene that does not run yet; what would act on it waits.

import { el } from "../dom";
import type { Compiling } from "../protocol";
import type { Store } from "../state";

/** What is left, as people say it. */
export function timeLeft(seconds: number): string {
  if (seconds < 1.5) return "a moment left";
  if (seconds < 90) return `about ${Math.round(seconds)} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}

/** How much of it is done, by time: from 0 to 1. */
export function share({ elapsed, seconds }: Compiling): number {
  return elapsed / Math.max(elapsed + seconds, 1e-6);
}

export class CompilingCard {
  private readonly left = el("output", { "aria-live": "off" });
  private readonly what = el("span");
  private readonly count = el("span");
  private readonly fill = el("i");
  private readonly bar = el("div", { class: "progress", role: "progressbar", "aria-label": "compiling", "aria-valuemin": 0, "aria-valuemax": 100 }, this.fill);
  readonly root = el(
    "section",
    { class: "card compiling", hidden: true, "aria-live": "off" }, // not read out all the time
    el("p", {}, el("strong", {}, "Compiling for this machine, once"), this.left),
    this.bar,
    el("p", { class: "note" }, this.what, this.count),
  );
  private reached = 0;

  /** `waiting`: what can be used only when the scene runs. */
  constructor(store: Store, waiting: HTMLElement[]) {
    store.on("compiling", (news) => {
      this.root.hidden = news === null;
      for (const part of waiting) part.inert = news !== null;
      if (news) this.show(news);
      else this.reached = 0;
    });
  }

  private show(news: Compiling): void {
    this.reached = Math.max(this.reached, share(news)); // an estimate that grows does not take back what was seen
    this.fill.style.width = `${100 * this.reached}%`;
    this.bar.setAttribute("aria-valuenow", String(Math.round(100 * this.reached)));
    this.left.textContent = timeLeft(news.seconds);
    this.what.textContent = news.what;
    this.count.textContent = `${news.done} of ${news.of}`;
  }
}
