// All keys and gestures, in a dialog.

import { el } from "../dom";
import { dialog } from "./dialog";
import { GROUPS, keyName, type Keys } from "./keys";

/** What is done without a mouse, before the keys themselves. */
const KEYBOARD =
  "Without a mouse: Tab goes from the scene to every button and slider. In the scene, arrows choose a body and Enter " +
  "takes it; then arrows move the hand, and Enter lets go.";

const GESTURES: [string, string][] = [
  ["drag a body", "pull it, or press on it; a second finger is a second hand"],
  ["Shift + drag", "press, while in pull mode"],
  ["wheel while dragging", "farther away, or nearer; where hands turn, it turns what is held"],
  ["a second finger", "where hands turn: twist it about the first"],
  ["drag an obstacle", "move it"],
  ["drag the background", "turn the view; right button or two fingers move it, the wheel comes nearer"],
  ["gamepad", "its first button takes and lets go, the left stick moves, triggers or the right stick turn; with nothing in hand sticks walk, where one walks"],
  ["click a map", "make it large, or small again"],
  ["drag in a plot", "look at that time closely"],
];

export class Help {
  readonly root = dialog("Keys and gestures");

  constructor(private readonly keys: Keys) {
    for (const key of ["?", "h"]) keys.bind("Scene and plan", key, "this help", () => this.open());
  }

  open(): void {
    const rows = (pairs: [string[], string][]): HTMLElement[] =>
      pairs.flatMap(([keys, words]) => [el("dt", {}, ...keys.map((key) => el("kbd", {}, key))), el("dd", {}, words)]);
    const part = (title: string, pairs: [string[], string][]): HTMLElement => el("section", {}, el("h3", {}, title), el("dl", {}, ...rows(pairs)));
    const keys = GROUPS.map((group) => part(group, this.keys.list(group)));
    if (this.keys.lent.length > 0) keys.unshift(part("In this scene, while held", this.keys.lent.map(({ key, about, event }) => [[keyName(key)], about || event])));
    const pointer = part("With the pointer", GESTURES.map(([gesture, words]) => [[gesture], words]));
    this.root.body.replaceChildren(el("p", { class: "note" }, KEYBOARD), el("div", { class: "help" }, pointer, ...keys));
    this.root.open();
  }
}
