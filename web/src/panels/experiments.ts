// The experiments: a list with their newest results; of one, how it goes, what it claims, and its figures.

import type { Connection } from "../connection";
import { el } from "../dom";
import type { Store } from "../state";
import { button } from "./button";
import { claimTable, inBrief, type Claim } from "./claims";
import { dialog } from "./dialog";
import { Figures, type Figure } from "./figures";
import type { Keys } from "./keys";

/** What the session tells (palpate/runtime/page/experiments.py). */
export interface Told {
  experiments: Card[];
  run: Run | null; // the last one of this session
  cannot: string; // why this page may not run one; "": it may
}

export interface Card {
  name: string;
  about: string;
  result: { met: number; of: number; when: number } | null; // when: seconds since 1970
}

export interface Run {
  name: string;
  state: "running" | "done" | "failed" | "cancelled";
  seconds: number;
  lines: string[];
  compiling: string;
  error: string;
}

interface Report {
  claims: Claim[];
  figures: Figure[];
  recordings: string[];
  options: Record<string, string>;
  seconds: number | null;
  when: number;
  folder: string;
}

const RUNNING_MS = 1000; // how often a run is asked after,
const LOOKING_MS = 4000; // and whether another page has started one, while the list is looked at

/** How it is with an experiment, in a few words, and how that looks. */
export function standing(card: Card, run: Run | null): { words: string; level: "" | "busy" | "good" | "poor" } {
  if (run?.name === card.name && run.state === "running") return { words: `running, ${elapsed(run.seconds)}`, level: "busy" };
  if (run?.name === card.name && run.state === "failed") return { words: "failed", level: "poor" };
  if (!card.result) return { words: "not run yet", level: "" };
  const { met, of } = card.result;
  return { words: inBrief(met, of), level: of > 0 && met === of ? "good" : "poor" };
}

/** What a run comes to, in one line; `earlier`: there are results of one before it. */
export function outcome(run: Run, earlier: boolean): string {
  if (run.state === "running") return `Running: ${elapsed(run.seconds)}`;
  if (run.state === "done") return `Done in ${elapsed(run.seconds)}`;
  if (run.state === "cancelled") return `Cancelled after ${elapsed(run.seconds)}${earlier ? "; these are the results of an earlier run." : ""}`;
  return `It failed: ${run.error}`;
}

/** "less than 1 s", "8 s", "2 min 5 s". */
export function elapsed(seconds: number): string {
  const whole = Math.floor(seconds);
  if (whole < 1) return "less than 1 s";
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

export class Experiments {
  readonly root = dialog("Experiments");
  private readonly line = el("p", { class: "scene-line", role: "status" });
  private readonly intro = el("p", { class: "note" }, "Each runs by itself, in simulated time, beside the scene. It claims numbers, checks them, and draws figures.");
  private readonly list = el("ul", { class: "experiments" });
  private readonly detail = el("section", { class: "experiment", hidden: true });
  private readonly about = el("p", { class: "note" });
  private readonly outcome = el("p", { class: "outcome", role: "status" });
  private readonly lines = el("ol", { class: "said", "aria-label": "what it says" });
  private readonly results = el("div", { class: "results" });
  private readonly figures: Figures;
  private readonly buttons: Record<"back" | "run" | "cancel" | "save", HTMLButtonElement>;
  private told: Told | null = null;
  private chosen = ""; // the experiment that is looked at
  private shown = ""; // of which results are shown, and when they were made
  private timer = 0;
  private readonly says = { lost: "", wrong: "", notice: "" }; // the first of them that is not empty is shown

  constructor(
    store: Store,
    private readonly connection: Connection,
    keys: Keys,
    private readonly busy: (running: boolean) => void,
  ) {
    this.figures = new Figures(connection, (why) => this.say({ wrong: why }));
    this.buttons = {
      back: button({ words: "← All", title: "Back to all experiments", data: { experimenting: "back" } }, () => this.choose("")),
      run: button({ words: "Run", title: "Run this experiment", data: { experimenting: "run" } }, () => this.ask("run", { name: this.chosen })),
      cancel: button({ words: "Cancel", title: "Cancel the run", data: { experimenting: "cancel" } }, () => this.ask("cancel", {})),
      save: button({ words: "Report as JSON", title: "Download the report", data: { experimenting: "report" } }, () => void this.figures.save(this.chosen, "report.json")),
    };
    const { back, run, cancel, save } = this.buttons;
    run.classList.add("strong");
    this.detail.append(el("div", { class: "buttons" }, back, run, cancel, save), this.about, this.outcome, this.lines, this.results, this.figures.root);
    this.root.body.append(this.line, this.intro, this.list, this.detail);
    this.root.element.classList.add("lab");
    this.root.element.addEventListener("close", () => this.wait());
    keys.bind("Scene and plan", "o", "experiments", () => this.open());
    store.on("hello", () => void (this.told && this.refresh())); // perhaps another session
  }

  open(): void {
    this.say({ wrong: "" });
    this.root.open();
    void this.refresh();
  }

  private async refresh(): Promise<void> {
    try {
      this.take(await this.connection.request<Told>("experiments"));
      this.say({ lost: "" });
    } catch (error) {
      this.say({ lost: (error as Error).message });
    }
    this.wait();
  }

  /** Ask again in a while, if there is anything to see. */
  private wait(): void {
    clearTimeout(this.timer);
    const running = this.told?.run?.state === "running";
    if (running || this.root.element.open) this.timer = window.setTimeout(() => void this.refresh(), running ? RUNNING_MS : LOOKING_MS);
  }

  private take(told: Told): void {
    const before = this.told?.run;
    this.told = told;
    const ended = before?.state === "running" && !told.run;
    if (ended) this.say({ wrong: `${before.name} was ended: an experiment lives as long as the scene beside it.` });
    this.say({ notice: told.cannot });
    this.busy(told.run?.state === "running");
    this.draw();
  }

  private draw(): void {
    const { experiments, run, cannot } = this.told!;
    const card = experiments.find(({ name }) => name === this.chosen);
    this.root.element.querySelector("h2")!.textContent = card?.name ?? "Experiments";
    this.list.hidden = this.intro.hidden = card !== undefined;
    this.detail.hidden = card === undefined;
    if (card) this.drawOne(card, run?.name === card.name ? run : null, run?.state === "running", cannot);
    else this.drawList(experiments, run);
  }

  private drawList(experiments: Card[], run: Run | null): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset["experiment"];
    const rows = experiments.map((card) => {
      const { words, level } = standing(card, run);
      const state = el("span", { class: "standing", "data-level": level }, el("i", { class: "dot" }), words);
      const attributes = { type: "button", "data-experiment": card.name, onclick: () => this.choose(card.name) };
      return el("li", {}, el("button", attributes, el("b", {}, card.name), el("span", {}, card.about), state));
    });
    this.list.replaceChildren(...rows);
    if (focused) this.list.querySelector<HTMLElement>(`[data-experiment="${focused}"]`)?.focus(); // drawn anew
  }

  private drawOne(card: Card, run: Run | null, running: boolean, cannot: string): void {
    const { run: start, cancel, save } = this.buttons;
    const mine = run?.state === "running";
    start.hidden = mine || cannot !== "";
    start.disabled = running;
    start.title = running ? `${this.told!.run!.name} is running: one at a time` : "Run this experiment";
    start.firstElementChild!.textContent = card.result ? "Run again" : "Run";
    cancel.hidden = !mine || cannot !== "";
    save.hidden = !card.result;
    this.about.textContent = card.about;
    const text = run ? outcome(run, card.result !== null) : card.result ? "" : "It has not run yet.";
    if (this.outcome.textContent !== text) this.outcome.textContent = text;
    this.outcome.classList.toggle("wrong", run?.state === "failed");
    this.outcome.hidden = text === "";
    const said = [...(run?.lines ?? []), ...(run?.compiling ? [run.compiling] : [])];
    this.lines.replaceChildren(...said.map((line) => el("li", {}, line)));
    this.lines.hidden = said.length === 0;
    void this.showResults(card);
  }

  /** Claims and figures, asked for once for each run. */
  private async showResults({ name, result }: Card): Promise<void> {
    const wanted = `${name} ${result?.when ?? ""}`;
    if (wanted === this.shown) return;
    this.shown = wanted;
    this.results.replaceChildren();
    this.figures.forget();
    if (!result) return;
    try {
      const report = await this.connection.request<Report>("report", { name });
      if (wanted !== this.shown) return; // another one is looked at meanwhile
      this.results.replaceChildren(el("h3", {}, verdict(report)), claimTable(report.claims), el("p", { class: "note" }, ...history(report)));
      await this.figures.show(name, report.figures);
    } catch (error) {
      if (wanted === this.shown) this.say({ wrong: (error as Error).message });
    }
  }

  private choose(name: string): void {
    const before = this.chosen;
    this.chosen = name;
    this.say({ wrong: "" });
    this.draw();
    this.root.body.scrollTop = 0;
    if (name) this.buttons.back.focus();
    else this.list.querySelector<HTMLElement>(`[data-experiment="${before}"]`)?.focus();
  }

  private ask(what: "run" | "cancel", more: Record<string, unknown>): void {
    this.say({ wrong: "" });
    this.connection.request(what, more).then(() => this.refresh(), (error: Error) => this.say({ wrong: error.message }));
  }

  private say(more: Partial<Experiments["says"]>): void {
    const { lost, wrong, notice } = Object.assign(this.says, more);
    const text = lost || wrong || notice;
    if (this.line.textContent !== text) this.line.textContent = text;
    this.line.classList.toggle("wrong", text !== notice);
  }
}

function verdict({ claims }: Report): string {
  const words = inBrief(claims.filter(({ passed }) => passed).length, claims.length);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** When, how long, with which options, and where its files are. */
function history({ when, seconds, options, recordings, folder }: Report): (Node | string)[] {
  const set = Object.entries(options).map(([name, value]) => `${name} = ${value}`).join(", ");
  const made = new Date(1000 * when).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  const took = seconds === null ? "" : `, in ${elapsed(seconds)}`;
  const replay = recordings.flatMap((file) => [" Recorded: ", el("code", {}, `palpate replay ${folder}/${file}`)]);
  return [`Made ${made}${took}${set ? `, with ${set}` : ""}; its files are in ${folder}.`, ...replay];
}
