// Name of the scene, the health line and a line for each device; a click on the health line opens what was counted.

import { deviceCounts, deviceLine } from "../devices";
import { el } from "../dom";
import { LATENESS_EDGES_US, type Frame } from "../frame.gen";
import { counterWords, HealthMeter } from "../health";
import { wants, type Device, type Hello } from "../protocol";
import type { Store } from "../state";
import { button } from "./button";
import type { Keys } from "./keys";
import { microseconds, within } from "./lateness";

const REFRESH_MS = 500;

export interface Doors {
  scenes: () => void;
  experiments: () => void;
  help: () => void;
}

/** The devices that have a line here. */
function devicesOf(hello: Hello | null): Device[] {
  return wants(hello, "devices") ? (hello?.devices ?? []) : [];
}

export class Header {
  readonly root: HTMLElement;
  private readonly title = el("h1");
  private readonly scenes: HTMLButtonElement;
  private readonly experiments: HTMLButtonElement;
  private readonly line = el("span", { class: "health-text" });
  private readonly health: HTMLDetailsElement;
  private readonly summary = el("p", { class: "in-words" });
  private readonly bars = el("div", { class: "bars", role: "img" });
  private counts: HTMLTableRowElement[] = [];
  private readonly counters = el("tbody");
  private readonly devices = el("ul", { class: "devices" });
  private readonly deviceCounts = el("tbody");
  private meter = new HealthMeter();
  private due = 0;

  constructor(
    private readonly store: Store,
    keys: Keys,
    doors: Doors,
  ) {
    const note = el("p", {}, "Counted since the start. What a hand could feel is never hidden.");
    const table = el("table", {}, this.counters, this.deviceCounts);
    this.bars.append(...Array.from({ length: LATENESS_EDGES_US.length + 1 }, () => el("i")));
    this.health = el(
      "details",
      { class: "health", ontoggle: () => (this.due = 0) },
      el("summary", { title: "How well the servo keeps its rate (I)" }, el("i", { class: "dot" }), this.line),
      el("div", { class: "card counters" }, this.summary, this.bars, table, note),
    );
    const door = (icon: keyof Doors, words: string, title: string, key: string): HTMLButtonElement =>
      button({ icon, words, title, key, class: "door", data: { action: icon } }, doors[icon]);
    this.scenes = door("scenes", "Scenes", "Choose a scene", "S");
    const brand = el("div", { class: "brand", html: `<img src="./favicon.svg" alt="" width="22" height="22" />palpate` });
    this.experiments = door("experiments", "Experiments", "Experiments: run them, see their figures", "O");
    brand.append(this.scenes, this.experiments, door("help", "Help", "Keys and gestures", "?"));
    this.root = el("header", {}, brand, this.title, this.health, this.devices);
    keys.bind("View", "i", "how well the servo keeps its rate", () => (this.health.open = !this.health.open));
    window.addEventListener("pointerdown", (event) => {
      if (!this.health.contains(event.target as Node)) this.health.open = false;
    });
    store.on("hello", (hello) => {
      this.meter = new HealthMeter();
      this.line.textContent = hello?.mode === "compiling" ? "not running yet" : "";
      this.title.textContent = hello?.title ?? "";
      this.scenes.hidden = hello?.mode !== "live" || !wants(hello, "scenes");
      this.experiments.hidden = hello?.mode !== "live" || !wants(hello, "lab");
      this.counts = (hello?.counters ?? []).map((name) => el("tr", {}, el("td", { class: "count" }), el("td", {}, counterWords(name))));
      this.counters.replaceChildren(...this.counts);
      const devices = devicesOf(hello);
      this.devices.replaceChildren(...devices.map(() => el("li", {}, el("i", { class: "dot" }), el("span"))));
      document.documentElement.style.setProperty("--devices", String(devices.length)); // notices make room for them
      this.deviceCounts.replaceChildren();
      document.title = hello ? `${hello.title} · palpate` : "palpate";
    });
    store.on("frame", (frame) => frame && this.refresh());
  }

  /** An experiment runs, or none does. */
  experimenting(running: boolean): void {
    this.experiments.classList.toggle("working", running);
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
    devicesOf(hello).forEach((device, k) => this.tell(device, k, frame));
    if (this.health.open) this.detail(frame, hello.rate_hz, devicesOf(hello));
  }

  private detail(frame: Frame, rate_hz: number, devices: Device[]): void {
    this.counts.forEach((row, i) => {
      const n = frame.counters[i] ?? 0;
      row.classList.toggle("zero", n === 0);
      row.cells[0]!.textContent = n.toLocaleString("en");
    });
    this.countDevices(devices, frame);
    const [due, took] = [1e6 / rate_hz, frame.tick_us].map(microseconds);
    const [half, most] = [0.5, 0.999].map((share) => microseconds(within(frame.lateness, share)));
    this.summary.textContent = `A tick is due every ${due}; the last one took ${took}. Half of all began within ${half} of their time, 99.9 % within ${most}.`;
    this.drawBars(frame);
  }

  /** Ticks by how late they began; heights by their logarithm, so that one in a million is seen. */
  private drawBars(frame: Frame): void {
    const last = microseconds(LATENESS_EDGES_US.at(-1)!);
    const largest = Math.log1p(Math.max(1, ...frame.lateness));
    frame.lateness.forEach((n, i) => {
      const bar = this.bars.children[i] as HTMLElement | undefined;
      if (!bar) return;
      bar.style.setProperty("--height", String(Math.log1p(n) / largest));
      const edge = LATENESS_EDGES_US[i];
      const late = edge === undefined ? `more than ${last}` : `up to ${microseconds(edge)}`;
      bar.title = `${n.toLocaleString("en")} ticks ${late} late`;
    });
    this.bars.setAttribute("aria-label", `ticks by how late they began, from ${LATENESS_EDGES_US[0]} µs to more than ${last}`);
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
