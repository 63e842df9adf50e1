// Whoever acts by itself: what it does, what it feels and how sure it is, what it can be told, and its own settings.

import type { Connection } from "../connection";
import { el } from "../dom";
import type { Frame } from "../frame.gen";
import type { ActorOf, Hello } from "../protocol";
import { said } from "../said";
import type { Store } from "../state";
import { capital } from "../words";
import { button } from "./button";
import { SettingView } from "./setting";

const NOTHING = "–";

/** One line: its words, and if it is more or less sure, a bar. */
interface Line {
  row: HTMLElement;
  show(frame: Frame): void;
}

export class Actors {
  readonly root = el("aside", { class: "card panel actors", id: "actors", "aria-label": "who acts" });
  private lines: Line[] = [];
  private settings: SettingView[] = [];
  private known = "";

  constructor(
    private readonly store: Store,
    private readonly connection: Connection,
  ) {
    store.on("hello", (hello) => {
      if (!hello) return;
      this.root.classList.toggle("replay", hello.mode === "replay");
      const known = JSON.stringify([hello.scene, hello.actors, hello.settings]);
      if (known !== this.known) this.build(hello);
      this.known = known;
    });
    store.on("frame", (frame) => {
      if (!frame || !this.useful) return;
      for (const line of this.lines) line.show(frame);
      for (const setting of this.settings) setting.tell(frame);
    });
  }

  /** Whether anybody acts. */
  get useful(): boolean {
    return (this.store.get("hello")?.actors ?? []).length > 0;
  }

  private build({ actors = [], settings }: Hello): void {
    this.lines = [];
    this.settings = [];
    this.root.replaceChildren(...actors.flatMap((actor) => this.actor(actor, settings)));
  }

  private actor({ name, says, event, commands, settings: own }: ActorOf, settings: Hello["settings"]): HTMLElement[] {
    const lines = says.map((text) => this.line(text));
    const tell = (words: string, value: number): HTMLElement =>
      button({ words: capital(words), title: `${name}: ${words}`, data: { command: words } }, () => this.connection.event(event, value));
    const views = settings.filter((setting) => own.includes(setting.event)).map((setting) => new SettingView(setting, this.connection));
    this.lines.push(...lines);
    this.settings.push(...views);
    const parts: HTMLElement[] = [el("h2", {}, name), el("dl", { class: "says" }, ...lines.map(({ row }) => row))];
    if (commands.length > 0) parts.push(el("div", { class: "buttons live-only", role: "group", "aria-label": `tell ${name}` }, ...commands.map(tell)));
    if (views.length > 0) parts.push(el("section", { class: "live-only" }, ...views.map(({ root }) => root)));
    return parts;
  }

  private line(text: ActorOf["says"][number]): Line {
    const words = el("dd", {}, NOTHING);
    const bar = text.share === undefined ? null : el("i", { class: "share", role: "meter", "aria-label": `how sure: ${text.label ?? text.field}`, "aria-valuemin": 0, "aria-valuemax": 1 });
    const row = el("div", { "data-says": text.label ?? text.field }, el("dt", {}, text.label ?? text.field), words);
    if (bar) row.append(bar);
    let before = "";
    const show = (frame: Frame): void => {
      const { words: now, share } = said(text, frame);
      const both = `${now}/${share?.toFixed(2)}`;
      if (both === before) return;
      before = both;
      words.textContent = now || NOTHING;
      bar?.style.setProperty("--share", String(share ?? 0));
      bar?.setAttribute("aria-valuenow", (share ?? 0).toFixed(2));
      bar?.setAttribute("title", `${Math.round(100 * (share ?? 0))} % sure`);
    };
    return { row, show };
  }
}
