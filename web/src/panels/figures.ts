// Figures of an experiment: fetched in pieces, shown small, opened large, saved as PNG or SVG.

import type { Connection } from "../connection";
import { el } from "../dom";
import { button } from "./button";
import { dialog } from "./dialog";
import { offer } from "./download";

/** A figure, and as what kinds of file it is there. */
export interface Figure {
  name: string;
  as: ("png" | "svg")[];
}

interface Piece {
  data: string; // base64
  size: number; // of the whole file [bytes]
  made: string; // when, so that pieces of two runs are never joined
}

const TYPES: Record<string, string> = { png: "image/png", svg: "image/svg+xml", json: "application/json" };

/** A whole file of an experiment's results; rejects with one line. */
export async function fetched(connection: Pick<Connection, "request">, experiment: string, file: string): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [have, size, made] = [0, 1, ""];
  while (have < size) {
    const piece = await connection.request<Piece>("fetch", { name: experiment, file, from: have });
    const bytes = Uint8Array.from(atob(piece.data), (letter) => letter.charCodeAt(0));
    if ((made && piece.made !== made) || (bytes.length === 0 && piece.size > 0)) throw new Error(`${file} changed while it was read; look again`);
    parts.push(bytes);
    have += bytes.length;
    ({ size, made } = piece);
  }
  return new Blob(parts, { type: TYPES[file.split(".").at(-1)!] ?? "application/octet-stream" });
}

export class Figures {
  readonly root = el("div", { class: "figures" });
  private readonly large = dialog("Figure");
  private readonly picture = el("img", { alt: "" });
  private readonly bar = el("div", { class: "buttons" });
  private addresses: string[] = [];
  private experiment = "";
  private all: Figure[] = [];
  private at = 0; // which is shown large

  constructor(
    private readonly connection: Connection,
    private readonly complain: (why: string) => void,
  ) {
    this.large.element.classList.add("figure-large");
    this.large.body.append(el("div", { class: "sheet" }, this.picture), this.bar);
    this.large.element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) this.open(this.at + step);
    });
    this.picture.addEventListener("click", () => this.large.element.classList.toggle("full-size"));
    this.root.append(this.large.element);
  }

  /** Shows these instead; they come one after the other, for frames share the socket. */
  async show(experiment: string, all: Figure[]): Promise<void> {
    this.forget();
    this.experiment = experiment;
    this.all = all;
    const pictures = all.map(({ name }) => el("img", { alt: name }));
    const cards = all.map((figure, i) => {
      const look = button({ title: `Show ${figure.name} large`, class: "figure-button" }, () => this.open(i));
      look.append(pictures[i]!);
      return el("figure", {}, look, el("figcaption", {}, el("span", {}, figure.name), ...this.saves(figure)));
    });
    this.root.replaceChildren(...cards, this.large.element);
    for (const [i, { name, as }] of all.entries()) {
      try {
        const blob = await fetched(this.connection, experiment, `${name}.${as.includes("png") ? "png" : as[0]}`);
        if (this.all !== all) return; // others are shown meanwhile
        this.addresses[i] = URL.createObjectURL(blob);
        pictures[i]!.src = this.addresses[i]!;
      } catch (error) {
        if (this.all === all) this.complain((error as Error).message);
      }
    }
  }

  /** Shows none, and gives back the memory of those that were. */
  forget(): void {
    for (const address of this.addresses) if (address) URL.revokeObjectURL(address);
    this.addresses = [];
    this.all = [];
    this.large.close();
    this.root.replaceChildren(this.large.element);
  }

  private open(i: number): void {
    const figure = this.all[i];
    if (!figure || !this.addresses[i]) return;
    this.at = i;
    this.picture.src = this.addresses[i]!;
    this.picture.alt = figure.name;
    this.large.element.querySelector("h2")!.textContent = this.all.length > 1 ? `${figure.name} (${i + 1} of ${this.all.length})` : figure.name;
    this.large.element.classList.remove("full-size");
    const turn = (words: string, title: string, by: number): HTMLButtonElement => {
      const made = button({ words, title, key: by < 0 ? "←" : "→" }, () => this.open(i + by));
      made.disabled = this.all[i + by] === undefined;
      return made;
    };
    const turns = this.all.length > 1 ? [turn("Previous", "The figure before", -1), turn("Next", "The next figure", 1)] : [];
    this.bar.replaceChildren(...turns, ...this.saves(figure));
    this.large.open();
  }

  private saves({ name, as }: Figure): HTMLElement[] {
    const experiment = this.experiment;
    return as.map((kind) => button({ words: kind.toUpperCase(), title: `Download ${name} as ${kind.toUpperCase()}`, data: { save: `${name}.${kind}` } }, () => void this.save(experiment, `${name}.${kind}`)));
  }

  /** To the person's own disk. */
  async save(experiment: string, file: string): Promise<void> {
    try {
      offer(file === "report.json" ? `${experiment}-${file}` : file, await fetched(this.connection, experiment, file));
    } catch (error) {
      this.complain((error as Error).message);
    }
  }
}
