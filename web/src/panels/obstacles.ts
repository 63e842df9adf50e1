// The obstacles of a scene: which are there, one more, one less. They are moved by dragging them in the scene.

import type { Connection } from "../connection";
import { el } from "../dom";
import type { Frame } from "../frame.gen";
import type { Hello, Vector3 } from "../protocol";
import type { Store } from "../state";
import { button } from "./button";
import type { Keys } from "./keys";

export const PARKED_BELOW_M = -50; // where those wait that are not needed (palpate/runtime/edits.py)
const AHEAD_M = 0.25; // of the tool
const POSE = 7; // numbers of one body

/** The middle of the view, if there is a view [m]. */
export type Middle = () => Vector3 | null;

/** Names of the obstacles that are out. */
export function present(hello: Hello, pose: ArrayLike<number>): string[] {
  return hello.bodies.filter((body, i) => body.movable && (pose[POSE * i + 2] ?? 0) > PARKED_BELOW_M).map(({ name }) => name);
}

/** Where the tool is, or null. */
export function toolAt(hello: Hello, pose: ArrayLike<number>): Vector3 | null {
  const tool = hello.bodies.findIndex(({ name }) => name === hello.tool);
  return tool > 0 ? [pose[POSE * tool] ?? 0, pose[POSE * tool + 1] ?? 0, pose[POSE * tool + 2] ?? 0] : null;
}

/** On the path, AHEAD_M from the tool; if the path does not go that far from it, that far outward, level. */
export function ahead(tool: Vector3, path: Vector3[]): Vector3 {
  const distance = (p: Vector3): number => Math.hypot(p[0] - tool[0], p[1] - tool[1], p[2] - tool[2]);
  let nearest = 0;
  path.forEach((point, i) => {
    if (distance(point) < distance(path[nearest]!)) nearest = i;
  });
  const on = [...path.slice(nearest), ...path.slice(0, nearest).reverse()].find((point) => distance(point) >= AHEAD_M);
  if (on) return [...on];
  const reach = Math.hypot(tool[0], tool[1]);
  const [x, y] = reach > 1e-6 ? [tool[0] / reach, tool[1] / reach] : [1, 0];
  return [tool[0] + AHEAD_M * x, tool[1] + AHEAD_M * y, tool[2]];
}

export class Obstacles {
  readonly root: HTMLElement;
  private readonly list = el("ul", { class: "obstacles" });
  private readonly onPath: HTMLButtonElement;
  private readonly inView: HTMLButtonElement;
  private shown = "";

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    keys: Keys,
    private readonly middle: Middle,
    private readonly complain: (why: string) => void,
  ) {
    this.onPath = button({ words: "Add before the tool", title: "Add an obstacle in the way of the tool", key: "A" }, () => this.addOnPath());
    this.inView = button({ words: "Add in the middle", title: "Add an obstacle in the middle of the view" }, () => this.add(this.middle()));
    const adding = el("div", { class: "buttons" }, this.onPath, this.inView);
    this.root = el("section", { class: "obstacle-part", hidden: true }, el("h3", {}, "Obstacles"), this.list, adding);
    keys.bind("Scene and plan", "a", "add an obstacle", () => !this.root.hidden && this.addOnPath());
    store.on("hello", (hello) => {
      const spare = hello?.bodies.some((body) => body.spare) ?? false;
      this.root.hidden = hello?.mode !== "live" || !hello.bodies.some((body) => body.movable);
      this.onPath.hidden = !spare || !hello?.tool;
      this.inView.hidden = !spare;
      this.shown = "";
    });
    store.on("frame", (frame) => frame && !this.root.hidden && this.refresh(frame));
  }

  private refresh(frame: Frame): void {
    const hello = this.store.get("hello")!;
    const names = present(hello, frame.pose);
    const key = names.join("\n");
    if (key === this.shown && this.list.children.length > 0) return;
    this.shown = key;
    const rows = names.map((name) =>
      el("li", {}, el("span", {}, name), button({ title: `Remove ${name}`, icon: "bin" }, () => this.remove(name))),
    );
    this.list.replaceChildren(...(rows.length > 0 ? rows : [el("li", { class: "note" }, "None.")]));
  }

  private addOnPath(): void {
    const hello = this.store.get("hello");
    const frame = this.store.get("frame");
    if (!hello || !frame) return;
    const tool = toolAt(hello, frame.pose);
    this.add(tool ? ahead(tool, hello.path) : this.middle());
  }

  private add(at: Vector3 | null): void {
    if (at) this.ask("add", { at });
  }

  private remove(name: string): void {
    this.ask("remove", { name });
  }

  private ask(what: string, more: Record<string, unknown>): void {
    this.complain("");
    this.connection.request(what, more).catch((error: Error) => this.complain(error.message));
  }
}
