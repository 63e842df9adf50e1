// The scenes to choose from, each with a picture and a sentence, and a robot of one's own.

import { LOST, type Connection } from "../connection";
import { el } from "../dom";
import type { SceneCard } from "../protocol";
import type { Store } from "../state";
import { dialog } from "./dialog";
import type { Keys } from "./keys";
import { DESCRIPTIONS, encoded, MESHES, worthSending } from "./robot_files";
import { picture } from "./thumbnails";

export class Scenes {
  readonly root = dialog("Scenes");
  private readonly cards = el("ul", { class: "scenes" });
  private clock = 0;
  private readonly line = el("p", { class: "scene-line", role: "status" });

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    keys: Keys,
  ) {
    this.root.body.append(this.line, this.cards, this.ownRobot());
    keys.bind("Scene and plan", "s", "choose a scene, or a robot of your own", () => this.open());
    store.on("hello", (hello) => {
      this.cards.replaceChildren(...(hello?.scenes ?? []).map((scene) => this.card(scene, hello?.scene === scene.name)));
      this.say("");
    });
    store.on("loading", (name) => {
      this.root.element.classList.toggle("busy", name !== "");
      clearInterval(this.clock);
      if (name) this.count(name);
    });
  }

  open(): void {
    if (!this.store.get("loading")) this.say("");
    this.root.open();
    this.cards.querySelector<HTMLElement>("[aria-current=true]")?.focus();
  }

  /** A robot's task may take half a minute to find: that it goes on is shown. */
  private count(name: string): void {
    const began = performance.now();
    const tell = (): void => {
      const seconds = Math.floor((performance.now() - began) / 1000);
      this.say(`Loading ${name} …${seconds >= 3 ? ` ${seconds} s` : ""}`);
    };
    tell();
    this.clock = window.setInterval(tell, 1000);
  }

  private card({ name, about }: SceneCard, current: boolean): HTMLElement {
    const words = el("span", { class: "scene-words" }, el("b", {}, name), el("span", {}, about));
    const choose = (): void => void this.go(name, "scene", { name });
    const attributes = { type: "button", "data-scene": name, "aria-current": String(current), "aria-label": `${name}: ${about}`, onclick: choose };
    return el("li", {}, el("button", attributes, picture(name), words));
  }

  private ownRobot(): HTMLElement {
    const accept = [...DESCRIPTIONS, ...MESHES].join(",");
    const files = el("input", { type: "file", multiple: true, accept, "aria-label": "files of a robot", onchange: () => this.take(files) });
    const folder = el("input", { type: "file", webkitdirectory: true, "aria-label": "folder of a robot", onchange: () => this.take(folder) });
    const button = (words: string, input: HTMLInputElement): HTMLElement => el("label", { class: "button" }, words, input);
    return el(
      "section",
      { class: "own-robot" },
      el("div", {}, el("b", {}, "A robot of your own"), el("span", {}, "Its .urdf and its meshes (.stl, .obj, .dae, .ply), or the folder with all of them.")),
      button("Choose files", files),
      button("Choose a folder", folder),
    );
  }

  private take(input: HTMLInputElement): void {
    const { files, wrong } = worthSending([...(input.files ?? [])]);
    input.value = ""; // the same files can be chosen again
    if (wrong) return this.say(wrong, true);
    const name = files.find((file) => /\.(urdf|xml|mjcf)$/i.test(file.name))?.name ?? "the robot";
    this.say(`Reading ${files.length} ${files.length === 1 ? "file" : "files"} …`);
    encoded(files).then(
      (contents) => this.go(name, "robot", { files: contents }),
      () => this.say("The files could not be read.", true),
    );
  }

  /** The session builds it first: if that fails, what runs goes on. Then it ends, and this page finds the next one. */
  private async go(name: string, what: "scene" | "robot", more: Record<string, unknown>): Promise<void> {
    if (this.store.get("connection") !== "open") return this.say("palpate does not answer; this page comes back by itself when it runs again.", true);
    this.store.set("loading", name);
    try {
      await this.connection.request(what, more);
    } catch (error) {
      const why = (error as Error).message;
      if (why === LOST && this.store.get("connection") !== "open") return this.root.close(); // it may have gone there already
      this.store.set("loading", "");
      return this.say(`${name}: ${why}`, true);
    }
    this.root.close();
  }

  private say(text: string, wrong = false): void {
    this.line.textContent = text;
    this.line.classList.toggle("wrong", wrong);
    if (text) this.line.scrollIntoView({ block: "nearest" }); // the cards are longer than most screens
  }
}
