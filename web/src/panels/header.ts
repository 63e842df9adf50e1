// Name of the scene and the health line; a click on it opens what was counted.

import { el } from "../dom";
import { COUNTERS } from "../frame.gen";
import { COUNTER_WORDS, HealthMeter } from "../health";
import type { Store } from "../state";

const REFRESH_MS = 500;

export class Header {
  readonly root: HTMLElement;
  private readonly title = el("h1");
  private readonly line = el("span", { class: "health-text" });
  private readonly health: HTMLDetailsElement;
  private readonly counts = COUNTERS.map((name) => el("tr", {}, el("td", { class: "count" }), el("td", {}, COUNTER_WORDS[name])));
  private meter = new HealthMeter();
  private due = 0;

  constructor(private readonly store: Store) {
    const note = el("p", {}, "Counted since the start. What a hand could feel is never hidden.");
    this.health = el(
      "details",
      { class: "health" },
      el("summary", { title: "How well the servo keeps its rate" }, el("i", { class: "dot" }), this.line),
      el("div", { class: "card counters" }, el("table", {}, el("tbody", {}, ...this.counts)), note),
    );
    this.root = el("header", {}, el("div", { class: "brand", html: `<img src="./favicon.svg" alt="" width="22" height="22" />palpate` }), this.title, this.health);
    window.addEventListener("pointerdown", (event) => {
      if (!this.health.contains(event.target as Node)) this.health.open = false;
    });
    store.on("hello", (hello) => {
      this.meter = new HealthMeter();
      this.title.textContent = hello?.title ?? "";
      document.title = hello ? `${hello.title} · palpate` : "palpate";
    });
    store.on("frame", (frame) => frame && this.refresh());
  }

  private refresh(): void {
    const frame = this.store.get("frame")!;
    const hello = this.store.get("hello")!;
    this.meter.push(frame);
    const now = performance.now();
    if (now < this.due) return;
    this.due = now + REFRESH_MS;
    const replay = { text: `recording at ${hello.rate_hz} Hz`, level: "good" };
    const { text, level } = hello.mode === "replay" ? replay : this.meter.say(frame, hello.rate_hz);
    if (this.line.textContent !== text) this.line.textContent = text;
    this.health.dataset["level"] = level;
    this.counts.forEach((row, i) => {
      const n = frame.counters[i] ?? 0;
      row.classList.toggle("zero", n === 0);
      row.cells[0]!.textContent = n.toLocaleString("en");
    });
  }
}
