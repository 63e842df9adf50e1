// The maps that a hello lists, beside the scene: where there is room all of them in a grid, the scene top right, else one
// thing at a time. A click on a map makes it large, and small again.

import { el } from "../dom";
import type { Hello } from "../protocol";
import { recall, remember } from "../remember";
import type { Store } from "../state";
import { Choice } from "./choice";
import type { Keys } from "./keys";
import { MapCard } from "./map";

const REDRAW_MS = 50; // as often as plots
const ROOMY = { width: 560, height: 400 }; // from here on all of them are legible at once [px]
const [ALL, SCENE] = ["all", "scene"];

/** What is shown next when one goes through them. */
export function nextShown(shown: string, choices: readonly string[]): string {
  return choices[(choices.indexOf(shown) + 1) % choices.length]!;
}

export class Maps {
  readonly root = el("div", { class: "maps", hidden: true });
  private readonly bar = el("div", { class: "map-bar" });
  private readonly scene = el("div", { class: "map-scene" }); // where the scene is seen
  private choice: Choice<string> | null = null;
  private cards: MapCard[] = [];
  private wanted: string = recall("maps") ?? ALL;
  private roomy = true;
  private known = "";
  private due = 0;

  /** `changed`: the scene has another place. */
  constructor(
    store: Store,
    keys: Keys,
    private readonly changed: () => void,
  ) {
    keys.bind("View", "0", "maps beside the scene: all, or one after the other", () => this.there && this.show(nextShown(this.shown, this.choices())));
    store.on("hello", (hello) => hello && this.build(hello));
    store.on("frame", (frame) => {
      if (!frame || !this.there) return;
      for (const card of this.cards) card.take(frame);
      const now = performance.now();
      if (now < this.due) return;
      this.due = now + REDRAW_MS;
      for (const card of this.cards) if (!card.root.hidden) card.draw();
    });
  }

  get there(): boolean {
    return this.cards.length > 0;
  }

  /** What is shown: all, the scene, or the map of this name. */
  get shown(): string {
    const choices = this.choices();
    return choices.includes(this.wanted) ? this.wanted : choices[0]!;
  }

  /** How wide what chooses among them is [px]. */
  get barWidth(): number {
    return this.choice?.root.offsetWidth ?? 0;
  }

  /** They have this part of the window. */
  arrange(area: DOMRect): void {
    Object.assign(this.root.style, { left: `${area.x}px`, top: `${area.y}px`, width: `${area.width}px`, height: `${area.height}px` });
    const roomy = area.width >= ROOMY.width && area.height >= ROOMY.height;
    if (roomy === this.roomy) return;
    this.roomy = roomy;
    this.offer();
  }

  /** The part of the window that is left to the scene; null: all of it. */
  sceneArea(): DOMRect | null {
    return this.there ? this.scene.getBoundingClientRect() : null;
  }

  private choices(): string[] {
    return [...(this.roomy ? [ALL] : []), SCENE, ...this.cards.map(({ what }) => what.name)];
  }

  private build(hello: Hello): void {
    const maps = hello.maps ?? [];
    const known = JSON.stringify([hello.scene, maps]);
    if (known === this.known) return; // the same scene after a reconnection: trails stay
    this.known = known;
    this.cards = maps.map((map) => new MapCard(map, () => this.show(this.shown === map.name ? (this.roomy ? ALL : SCENE) : map.name)));
    this.root.replaceChildren(this.bar, this.scene, ...this.cards.map(({ root }) => root));
    this.root.dataset["count"] = String(this.cards.length);
    this.root.hidden = !this.there;
    this.offer();
  }

  /** Other things can be chosen. */
  private offer(): void {
    const words = (name: string): string => (name === ALL ? "All" : name === SCENE ? "Scene" : name);
    this.choice = new Choice("what is shown of scene and maps", this.choices(), words, (name) => this.show(name), (name) => `Show: ${words(name)} (0)`);
    this.bar.replaceChildren(this.choice.root);
    this.tell();
  }

  private show(name: string): void {
    this.wanted = name;
    remember("maps", name);
    this.tell();
  }

  private tell(): void {
    const { shown } = this;
    this.choice!.show(shown);
    this.root.classList.toggle("one", shown !== ALL);
    this.scene.hidden = shown !== ALL && shown !== SCENE;
    for (const { root, what } of this.cards) root.hidden = shown !== ALL && shown !== what.name;
    this.cards.forEach((card) => card.draw());
    this.changed();
  }
}
