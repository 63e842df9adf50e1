// Obstacles and free bodies: which are out, one more, one less. Obstacles are moved by dragging them in the scene; free
// bodies are pulled like all others.

import type { Connection } from "../connection";
import { el } from "../dom";
import type { Frame } from "../frame.gen";
import { out } from "../parked";
import { LOOSE_KINDS, wants, type Body, type Hello, type LooseKind, type Shape, type Vector3 } from "../protocol";
import type { Store } from "../state";
import { button } from "./button";
import type { Keys } from "./keys";

const AHEAD_M = 0.25; // of the tool
const POSE = 7; // numbers of one body
const KIND_WORDS: Record<LooseKind, string> = { box: "Box", ball: "Ball" };

/** A free place in view for a ball of this radius [m], on the ground or in the air; null if there is no view. */
export type FreePlace = (radius: number, where: "ground" | "air") => Vector3 | null;

export interface Thing {
  name: string;
  kind: "obstacle" | "free body";
}

/** What is out and can be removed: obstacles first. */
export function present(hello: Hello, parked?: ArrayLike<number>): Thing[] {
  const bodies = out(hello, parked).map((i) => hello.bodies[i]!);
  const named = (those: Body[], kind: Thing["kind"]): Thing[] => those.map(({ name }) => ({ name, kind }));
  return [...named(bodies.filter(({ movable }) => movable), "obstacle"), ...named(bodies.filter(({ loose }) => loose), "free body")];
}

/** How many wait to be added, of the obstacles and of each kind of free body. */
export function waiting(hello: Hello, parked?: ArrayLike<number>): Record<"obstacle" | LooseKind, number> {
  const there = new Set(out(hello, parked).map((i) => hello.bodies[i]!.name));
  const left = (names: string[]): number => names.filter((name) => !there.has(name)).length;
  const obstacles = hello.bodies.filter(({ movable }) => movable).map(({ name }) => name);
  return { obstacle: left(obstacles), box: left(hello.loose?.box ?? []), ball: left(hello.loose?.ball ?? []) };
}

/** What a scene has of these, in words; nothing: "". */
export function headingOf(hello: Hello): string {
  const obstacles = hello.bodies.some(({ movable }) => movable);
  const loose = LOOSE_KINDS.some((kind) => hello.loose?.[kind]?.length);
  return obstacles && loose ? "Obstacles and free bodies" : obstacles ? "Obstacles" : loose ? "Free bodies" : "";
}

/** Radius of a ball around a body's origin that holds all its shapes [m]. */
export function radiusOf(shapes: Shape[]): number {
  return Math.max(0.01, ...shapes.map(({ kind, size: [a = 0.1, b = 0.1, c = 0.1], position }) => {
    const reach = { sphere: a, capsule: a + 0.5 * b, cylinder: Math.hypot(a, 0.5 * b), box: 0.5 * Math.hypot(a, b, c), mesh: a, plane: 0 };
    return Math.hypot(...position) + reach[kind];
  }));
}

/** Where the tool is, or null. */
export function toolAt(hello: Hello, pose: ArrayLike<number> = []): Vector3 | null {
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

export class Things {
  readonly root: HTMLElement;
  readonly heading = el("h3");
  private readonly list = el("ul", { class: "obstacles" });
  private readonly adders: Record<"obstacle" | LooseKind, HTMLButtonElement>;
  private readonly onPath: HTMLButtonElement;
  private shown = "";

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    keys: Keys,
    private readonly freePlace: FreePlace,
    private readonly complain: (why: string) => void,
  ) {
    const loose = (kind: LooseKind): HTMLButtonElement =>
      button({ words: KIND_WORDS[kind], title: `Add a ${kind} that falls and can be pulled`, data: { add: kind } }, () => this.addLoose(kind));
    this.adders = {
      obstacle: button({ words: "Obstacle", title: "Add an obstacle in view", data: { add: "obstacle" } }, () => this.addObstacle()),
      box: loose("box"),
      ball: loose("ball"),
    };
    this.onPath = button({ words: "Before the tool", title: "Add an obstacle in the way of the tool", key: "A", data: { add: "before the tool" } }, () => this.addOnPath());
    const adding = el("div", { class: "buttons adding", role: "group", "aria-label": "add" }, el("span", { class: "name" }, "Add"), ...Object.values(this.adders), this.onPath);
    this.root = el("section", { class: "obstacle-part", hidden: true }, this.heading, this.list, adding);
    keys.bind("Scene and plan", "a", "add an obstacle", () => !this.root.hidden && this.addOnPath());
    store.on("hello", (hello) => {
      const words = hello?.mode === "live" && wants(hello, "things") ? headingOf(hello) : "";
      this.root.hidden = words === "";
      this.heading.textContent = words;
      this.onPath.hidden = !hello?.tool || !hello.bodies.some(({ spare }) => spare);
      this.adders.obstacle.hidden = !hello?.bodies.some(({ spare }) => spare);
      for (const kind of LOOSE_KINDS) this.adders[kind].hidden = !hello?.loose?.[kind]?.length;
      this.shown = "";
    });
    store.on("frame", (frame) => frame && !this.root.hidden && this.refresh(frame));
  }

  private refresh(frame: Frame): void {
    const hello = this.store.get("hello")!;
    const things = present(hello, frame.parked);
    const left = waiting(hello, frame.parked);
    const key = JSON.stringify([things, left]);
    if (key === this.shown) return;
    this.shown = key;
    const rows = things.map(({ name, kind }) =>
      el("li", {}, el("span", { title: kind }, name), button({ title: `Remove ${name}`, icon: "bin" }, () => this.ask("remove", { name }))),
    );
    this.list.replaceChildren(...(rows.length > 0 ? rows : [el("li", { class: "note" }, "None.")]));
    for (const [kind, adder] of Object.entries(this.adders)) adder.disabled = left[kind as LooseKind] === 0; // all are out
    this.onPath.disabled = left.obstacle === 0;
  }

  private addObstacle(): void {
    const spare = this.store.get("hello")?.bodies.find((body) => body.spare);
    this.add(this.freePlace(radiusOf(spare?.shapes ?? []), "air"));
  }

  private addLoose(kind: LooseKind): void {
    const hello = this.store.get("hello");
    const body = hello?.bodies.find(({ name }) => name === hello.loose?.[kind]?.[0]);
    this.add(this.freePlace(radiusOf(body?.shapes ?? []), "ground"), kind);
  }

  private addOnPath(): void {
    const [hello, frame] = [this.store.get("hello"), this.store.get("frame")];
    if (!hello || !frame || this.onPath.disabled) return;
    const tool = toolAt(hello, frame.pose);
    if (tool && !this.onPath.hidden) this.add(ahead(tool, hello.path));
    else if (!this.adders.obstacle.hidden) this.addObstacle();
  }

  private add(at: Vector3 | null, kind?: LooseKind): void {
    if (at) this.ask("add", kind ? { at, kind } : { at });
  }

  private ask(what: string, more: Record<string, unknown>): void {
    this.complain("");
    this.connection.request(what, more).catch((error: Error) => this.complain(error.message));
  }
}
