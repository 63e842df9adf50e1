// Name of the scene, the health line and a line for each device; a click on the health line opens what was counted.

import { deviceCounts, deviceLine } from "../devices";
import { el } from "../dom";
import { COUNTERS, type Frame } from "../frame.gen";
import { COUNTER_WORDS, HealthMeter } from "../health";
import type { Device } from "../protocol";
import type { Store } from "../state";

const REFRESH_MS = 500;

export class Header {
  readonly root: HTMLElement;
  private readonly title = el("h1");
  private readonly line = el("span", { class: "health-text" });
  private readonly health: HTMLDetailsElement;
  private readonly counts = COUNTERS.map((name) => el("tr", {}, el("td", { class: "count" }), el("td", {}, COUNTER_WORDS[name])));
  private readonly devices = el("ul", { class: "devices" });
  private readonly deviceCounts = el("tbody");
  private meter = new HealthMeter();
  private due = 0;

  constructor(private readonly store: Store) {
    const note = el("p", {}, "Counted since the start. What a hand could feel is never hidden.");
    this.health = el(
      "details",
      { class: "health" },
      el("summary", { title: "How well the servo keeps its rate" }, el("i", { class: "dot" }), this.line),
      el("div", { class: "card counters" }, el("table", {}, el("tbody", {}, ...this.counts), this.deviceCounts), note),
    );
    this.root = el("header", {}, el("div", { class: "brand", html: `<img src="./favicon.svg" alt="" width="22" height="22" />palpate` }), this.title, this.health, this.devices);
    window.addEventListener("pointerdown", (event) => {
      if (!this.health.contains(event.target as Node)) this.health.open = false;
    });
    store.on("hello", (hello) => {
      this.meter = new HealthMeter();
      this.title.textContent = hello?.title ?? "";
      const devices = hello?.devices ?? [];
      this.devices.replaceChildren(...devices.map(() => el("li", {}, el("i", { class: "dot" }), el("span"))));
      document.documentElement.style.setProperty("--devices", String(devices.length)); // notices make room for them
      this.deviceCounts.replaceChildren();
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
    (hello.devices ?? []).forEach((device, k) => this.tell(device, k, frame));
    if (this.health.open) this.countDevices(hello.devices ?? [], frame);
  }

  /** One line: what a device feels, and what its guard does. */
  private tell(device: Device, k: number, frame: Frame): void {
    const { text, level } = deviceLine(device, k, frame);
    const line = this.devices.children[k] as HTMLElement;
    line.dataset["level"] = level;
    if (line.lastElementChild!.textContent !== text) line.lastElementChild!.textContent = text;
  }

  private countDevices(devices: Device[], frame: Frame): void {
    const rows = devices.flatMap(({ name }, k) => [
      el("tr", {}, el("th", { colspan: 2 }, name.replace(":", " "))),
      ...deviceCounts(k, frame).map(([n, words]) => el("tr", {}, el("td", { class: "count" }, n.toLocaleString("en")), el("td", {}, words))),
    ]);
    this.deviceCounts.replaceChildren(...rows);
  }
}
