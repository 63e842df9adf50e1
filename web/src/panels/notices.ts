// One line at a time, over the scene: the connection, whose hands they are, the first-time hint.

import type { Connection } from "../connection";
import { el } from "../dom";
import { STATES } from "../frame.gen";
import { wants } from "../protocol";
import { recall, remember } from "../remember";
import type { State, Store } from "../state";
import type { Keys } from "./keys";

const KNOWS = "has-grabbed";
const HINTS = { mouse: "Grab anything and pull. It pulls back.", finger: "Put a finger on anything and pull. It pulls back." };

export interface Notice {
  text: string;
  button?: { words: string; message: "take" | "give" };
}

/** What should be said now; an empty text: nothing. */
export function notice(state: Pick<State, "connection" | "loading" | "taken" | "held" | "status">, paused: boolean): Notice {
  const { connection, loading, taken, held, status } = state;
  if (connection === "other-version") return { text: "palpate was updated while this page was open. Reload the page." };
  if (loading) return { text: `Loading ${loading} …` };
  if (connection === "connecting") return { text: "Connecting …" };
  if (connection === "lost") return { text: "Connection lost. This page comes back by itself when palpate runs again." };
  if (status?.asked) return { text: "Another page asks for the hands.", button: { words: "Give", message: "give" } };
  if (taken && status?.asking) return { text: "Another page has the hands. Asked; it can give them now." };
  if (taken) return { text: "Another page has the hands. You are watching.", button: { words: "Ask for them", message: "take" } };
  if (held > 0 && paused) return { text: "Paused. Press play, then pull." }; // a world that stands does not pull back
  return { text: "" };
}

export class Notices {
  readonly root = el("div", { class: "notices", role: "status", "aria-live": "polite" });
  private readonly text = el("span");
  private readonly button = el("button", { type: "button", class: "button", title: "(Y)" });
  private readonly banner = el("p", { class: "notice banner", hidden: true }, this.text, this.button);
  private readonly hint = el("p", { class: "notice hint", hidden: true });
  private readonly understood = new Set<string>(); // since the page was opened
  private now: Notice = { text: "" };
  private state = -1; // of the last frame

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
    keys: Keys,
  ) {
    this.root.append(this.banner, this.hint);
    this.button.addEventListener("click", () => this.act());
    keys.bind("Touch", "y", "ask another page for the hands, or give them", () => this.act());
    for (const key of ["connection", "loading", "taken", "status", "hello", "held"] as const) store.on(key, () => this.refresh());
    store.on("frame", (frame) => {
      if (!frame || frame.state === this.state) return;
      this.state = frame.state;
      this.refresh(); // paused, or on again
    });
  }

  /** The person has understood. */
  grabbed = (): void => {
    if (this.knows) return;
    this.understood.add(this.key);
    remember(this.key, "yes");
    this.refresh();
  };

  /** A hint of its own is understood for itself. */
  private get key(): string {
    const { hint, scene } = this.store.get("hello") ?? {};
    return hint && Object.keys(hint).length > 0 ? `${KNOWS}-${scene}` : KNOWS;
  }

  private get knows(): boolean {
    return this.understood.has(this.key) || recall(this.key) !== null;
  }

  private act(): void {
    if (this.now.button) this.connection.send({ type: this.now.button.message });
  }

  private refresh(): void {
    const get = this.store.get.bind(this.store);
    const state = { connection: get("connection"), loading: get("loading"), taken: get("taken"), held: get("held"), status: get("status") };
    this.now = notice(state, get("frame")?.state === STATES.PAUSED);
    const { text, button } = this.now;
    this.banner.hidden = text === "";
    if (this.text.textContent !== text) this.text.textContent = text;
    this.button.hidden = button === undefined;
    this.button.textContent = button?.words ?? "";
    const who = matchMedia("(pointer: coarse)").matches ? "finger" : "mouse";
    this.hint.textContent = get("hello")?.hint?.[who] ?? HINTS[who];
    this.hint.hidden = this.knows || text !== "" || !this.store.canTouch() || !wants(get("hello"), "touch");
  }
}
