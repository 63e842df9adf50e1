// Sticks on a screen without a mouse: one walks, to the sides and ahead, the other turns. They are there if the hello says
// what they send.

import { el } from "../dom";
import type { HeldEvents } from "../held";
import type { Way } from "../protocol";
import type { Store } from "../state";

/** How far a finger is from where it may be at most, -1 .. 1 each way, up positive; never longer than one. */
export function deflected(dx: number, dy: number, reach: number): [x: number, y: number] {
  const over = Math.max(1, Math.hypot(dx, dy) / reach);
  return [dx / reach / over, -dy / reach / over];
}

export class Sticks {
  readonly root = el("div", { class: "sticks", hidden: true });
  private readonly moving = this.stick("walk", ([x, y]) => [["x", x], ["y", y]]);
  private readonly turning = this.stick("turn", ([x]) => [["turn", -x]]);

  constructor(
    private readonly store: Store,
    private readonly held: HeldEvents,
    coarse = matchMedia("(pointer: coarse)"),
  ) {
    this.root.append(this.moving, this.turning);
    const show = (): void => {
      const hello = store.get("hello");
      const { x, y, turn } = hello?.walk ?? {};
      this.moving.hidden = !x && !y;
      this.turning.hidden = !turn;
      this.root.hidden = hello?.mode !== "live" || !coarse.matches || (this.moving.hidden && this.turning.hidden);
    };
    store.on("hello", show);
    coarse.addEventListener("change", show);
  }

  /** `who` walks this way; at 0 no more. */
  walk(who: string, way: Way, value: number): void {
    const event = this.store.get("hello")?.walk?.[way];
    if (event) this.held.put(`${who} ${way}`, event, value);
  }

  private stick(name: string, ways: (at: [number, number]) => [Way, number][]): HTMLElement {
    const knob = el("i");
    const root = el("div", { class: `stick ${name}`, role: "application", "aria-label": `${name}: drag; keys are in the help` }, knob, el("span", {}, name));
    const put = (x: number, y: number): void => {
      knob.style.translate = `${30 * x}px ${-30 * y}px`;
      for (const [way, value] of ways([x, y])) this.walk("stick", way, value);
    };
    const follow = (event: PointerEvent): void => {
      if (!root.hasPointerCapture(event.pointerId)) return;
      const box = root.getBoundingClientRect();
      put(...deflected(event.clientX - box.x - box.width / 2, name === "turn" ? 0 : event.clientY - box.y - box.height / 2, box.width / 2));
    };
    root.addEventListener("pointerdown", (event) => {
      root.setPointerCapture(event.pointerId);
      follow(event);
    });
    root.addEventListener("pointermove", follow);
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) root.addEventListener(end, () => put(0, 0));
    return root;
  }
}
