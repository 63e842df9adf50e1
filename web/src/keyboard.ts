// The keyboard as a hand: arrows choose a body, Enter takes it, arrows move the hand, Enter or Escape lets go. With nothing
// in hand, Shift and arrows turn the camera. What happens is said, for those who do not see it.

import * as THREE from "three";
import { norm } from "./decode";
import { row } from "./devices";
import { el } from "./dom";
import type { Hold, Holds } from "./hold";
import type { Keys } from "./panels/keys";
import { out } from "./parked";
import type { Finder } from "./scene/finder";
import type { HandKind } from "./scene/hands";
import { newtons } from "./scene/label";
import type { Store } from "./state";
import { Steering } from "./steer";

const STEP = 0.01; // of the hand, in radii of the scene: of a metre at the usual stiffness, 8 N
const FINE_STEP = 0.002; // with Shift
const TURN_HELD = Math.PI / 36; // of what is held, each time
const TURN = Math.PI / 36; // of the camera, each time
const NEARER = 1.1;
const SAY_EVERY_MS = 1500; // how often the force is said
const WORTH_SAYING_N = 0.5; // change of it

/** What it needs of the scene. */
export interface Seen {
  readonly camera: THREE.Camera;
  readonly look: { dark: boolean };
  readonly find: Pick<Finder, "scale" | "facing" | "onStage">;
  turn(right: number, up: number, nearer?: number): void;
}

/** Where the arrows, page up and page down go: right, up and away, as the picture has them. */
const WAYS: Record<string, [number, number, number]> = {
  ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0], PageUp: [0, 0, 1], PageDown: [0, 0, -1],
};
const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

export class KeyboardHand {
  readonly line = el("p", { class: "notice keyboard-line", hidden: true }); // what the keyboard is at, and which keys do what
  private readonly spoken = el("p", { class: "spoken", role: "status", "aria-live": "polite" }); // the force, for those who do not see it
  private readonly tag = el("div", { class: "chosen-name", hidden: true });
  readonly steering: Steering;
  private hold: Hold | null = null;
  private said = { force_N: 0, at: -Infinity };

  constructor(
    private readonly stage: HTMLElement,
    private readonly view: Seen,
    private readonly store: Store,
    private readonly holds: Holds,
    private readonly mode: () => HandKind,
    private readonly firstGrab: () => void,
    keys: Keys,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.steering = new Steering(view, store, holds);
    stage.append(this.tag, this.spoken);
    stage.addEventListener("focus", () => stage.classList.toggle("by-keys", stage.matches(":focus-visible")));
    stage.addEventListener("pointerdown", () => stage.classList.remove("by-keys"));
    this.bind(keys);
    store.on("hello", () => store.set("chosen", 0));
    store.on("chosen", () => this.tell());
    store.on("frame", () => this.follow());
  }

  /** The bodies that can be chosen: all that can be touched or moved, and are seen. */
  choices(): number[] {
    const [hello, frame] = [this.store.get("hello"), this.store.get("frame")];
    if (!hello || !frame || !this.store.canTouch()) return [];
    return out(hello, frame.parked).filter((i) => {
      const { touchable, movable, shapes } = hello.bodies[i]!;
      return (touchable || movable) && shapes.some(({ kind }) => kind !== "plane");
    });
  }

  private bind(keys: Keys): void {
    const [free, holding] = [() => !this.hold && this.store.canTouch(), () => this.hold !== null];
    const pages = "Page ↑ ↓";
    const arrows = { repeats: true, inScene: true, name: "arrows" };
    for (const key of ARROWS) {
      const way = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
      keys.bind("Touch", key, "choose a body", () => this.choose(way), { ...arrows, when: free });
    }
    keys.bind("Touch", "Enter", "take it, or let go", () => (this.hold ? this.letGo() : this.take()), { inScene: true, when: () => free() || holding() });
    keys.bind("Touch", "Escape", "let go of everything", () => this.leave());
    for (const key of Object.keys(WAYS)) {
      const inDepth = key.startsWith("Page");
      const how = { ...arrows, name: inDepth ? pages : arrows.name, when: holding };
      const words = inDepth ? "move what is held away, or nearer" : "move what is held; with Shift finely";
      keys.bind("Touch", key, words, () => this.nudge(WAYS[key]!, STEP), how);
      keys.bind("Touch", `Shift+${key}`, words, () => this.nudge(WAYS[key]!, FINE_STEP), how);
    }
    const turning = { repeats: true, when: () => this.holds.latest !== null && this.holds.turns(this.holds.latest) };
    for (const [key, way] of [["<", 1], [">", -1]] as const) {
      keys.bind("Touch", key, "turn what is held, where hands turn", () => this.holds.latest && this.holds.turn(this.holds.latest, way * TURN_HELD), turning);
    }
    const looking = { ...arrows, when: () => this.hold === null };
    for (const key of ARROWS) {
      const [right, up] = WAYS[key]!;
      keys.bind("View", `Shift+${key}`, "turn the view", () => this.view.turn(TURN * right, TURN * up), { ...looking, name: "Shift arrows" });
    }
    for (const [key, nearer] of [["PageUp", NEARER], ["PageDown", 1 / NEARER]] as const) {
      keys.bind("View", key, "nearer, or farther", () => this.view.turn(0, 0, nearer), { ...looking, name: pages });
    }
  }

  private choose(way: 1 | -1): void {
    const all = this.choices();
    if (all.length === 0) return;
    const at = all.indexOf(this.store.get("chosen"));
    const next = at < 0 ? (way > 0 ? 0 : all.length - 1) : (at + way + all.length) % all.length;
    this.stage.focus({ preventScroll: true }); // from now on keys mean the scene
    this.stage.classList.add("by-keys");
    this.store.set("chosen", all[next]!);
    this.follow();
  }

  private take(): void {
    const chosen = this.store.get("chosen");
    if (!this.choices().includes(chosen)) return this.choose(1); // nothing is chosen yet
    const found = this.view.find.facing(chosen);
    this.hold = found && this.holds.take(found, this.mode(), () => this.ended());
    if (!this.hold) return this.say(`${this.store.bodyName(chosen)} cannot be taken just now.`);
    this.said = { force_N: 0, at: this.now() };
    this.firstGrab();
    this.tell();
  }

  /** Takes what is chosen, or the first there is; or lets go. */
  takeOrLetGo(): void {
    if (this.hold) return this.letGo();
    if (!this.choices().includes(this.store.get("chosen"))) this.choose(1);
    this.take();
  }

  private letGo(): void {
    if (this.hold) this.holds.letGo(this.hold);
  }

  private ended(): void {
    this.hold = null;
    this.spoken.textContent = "";
    this.tell();
  }

  private leave(): void {
    this.letGo();
    this.store.set("chosen", 0);
  }

  /** Moves the hand by a share of the scene. */
  private nudge([right, up, away]: [number, number, number], share: number): void {
    if (this.hold) this.steering.move(this.hold, share * right, share * up, share * away);
  }

  /** The name stays at the body; the force is said when it has changed. */
  private follow(): void {
    const chosen = this.store.get("chosen");
    if (chosen > 0 && !this.hold && !this.choices().includes(chosen)) this.store.set("chosen", 0); // it is not there any more
    const at = chosen > 0 && !this.hold && !this.view.look.dark ? this.view.find.onStage(chosen) : null; // in the dark nothing tells where it is
    this.tag.hidden = at === null;
    if (at) this.tag.style.transform = `translate(${at.x}px, ${at.y}px) translate(-50%, -50%)`;
    this.sayForce();
  }

  private sayForce(): void {
    const [frame, hand] = [this.store.get("frame"), this.hold?.hand ?? null];
    if (!frame || hand === null || this.now() - this.said.at < SAY_EVERY_MS) return;
    const force_N = norm(row(frame.hand_force, hand, 3));
    if (Math.abs(force_N - this.said.force_N) < WORTH_SAYING_N) return;
    this.said = { force_N, at: this.now() };
    this.spoken.textContent = newtons(force_N);
  }

  /** What the keyboard is at, and which keys do what. */
  private tell(): void {
    const chosen = this.store.get("chosen");
    const name = this.store.bodyName(this.hold?.body ?? chosen);
    this.tag.textContent = name;
    const turning = this.hold && this.holds.turns(this.hold) ? ", < and > turn it" : "";
    if (this.hold) return this.say(`Holding ${name}. Arrows and page keys move it, Shift finely${turning}; Enter lets go.`);
    const all = this.choices();
    this.say(chosen > 0 ? `${name}, ${all.indexOf(chosen) + 1} of ${all.length}. Enter takes it, arrows choose another.` : "");
  }

  private say(text: string): void {
    this.line.textContent = text;
    this.line.hidden = text === "";
  }
}
