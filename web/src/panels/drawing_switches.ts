// Which of the hello's drawings are seen; kept for the next visit, by their names.

import { el } from "../dom";
import type { DrawingOf } from "../protocol";
import { recall, remember } from "../remember";
import type { Store } from "../state";
import { capital } from "../words";
import { button } from "./button";

const KEPT = "drawings";

/** What was chosen before, by name; of what was never chosen nothing is known. */
export function keptChoices(kept: string | null): Record<string, boolean> {
  try {
    const read: unknown = JSON.parse(kept ?? "{}");
    const rows = Object.entries(read !== null && typeof read === "object" ? read : {});
    return Object.fromEntries(rows.filter((row): row is [string, boolean] => typeof row[1] === "boolean"));
  } catch {
    return {};
  }
}

/** The names of the drawings, and which of them are on: as chosen, else as the hello says. */
export function drawnAtFirst(drawings: readonly DrawingOf[], choices: Record<string, boolean>): { names: string[]; on: Set<string> } {
  const names = [...new Set(drawings.map(({ name }) => name))];
  const shown = (name: string): boolean => choices[name] ?? drawings.some((each) => each.name === name && each.shown);
  return { names, on: new Set(names.filter(shown)) };
}

export class DrawingSwitches {
  readonly root = el("section", { class: "drawings", hidden: true });
  private readonly chips = el("div", { class: "chips", role: "group", "aria-label": "what is drawn" });
  private names: string[] = [];

  constructor(private readonly store: Store) {
    this.root.append(el("span", { class: "name" }, "Drawn"), this.chips);
    store.on("hello", (hello) => {
      const { names, on } = drawnAtFirst(hello?.drawings ?? [], keptChoices(recall(KEPT)));
      this.names = names;
      this.chips.replaceChildren(...names.map((name) => button({ words: capital(name), title: `Drawn: ${name}`, class: "chip", data: { drawing: name } }, () => this.toggle(name))));
      this.root.hidden = names.length === 0;
      this.put(on);
    });
  }

  private toggle(name: string): void {
    const on = new Set(this.store.get("drawn"));
    if (!on.delete(name)) on.add(name);
    remember(KEPT, JSON.stringify({ ...keptChoices(recall(KEPT)), [name]: on.has(name) }));
    this.put(on);
  }

  private put(on: ReadonlySet<string>): void {
    this.store.set("drawn", on);
    this.names.forEach((name, i) => this.chips.children[i]!.setAttribute("aria-pressed", String(on.has(name))));
  }
}
