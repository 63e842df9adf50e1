// Which panels are open. On a narrow screen one at a time, and none at first; on a wide one as it was left.

import { recall, remember } from "../remember";
import type { PanelName } from "./transport";

const NAMES: PanelName[] = ["actors", "edit", "controls", "plots"];
const ROOMY_PX = 1100; // from here on there is room for panels on both sides

export interface Panel {
  name: PanelName;
  open: boolean;
  there: boolean; // the scene has use for it
}

export class Folding {
  private readonly opened = new Set<PanelName>();
  private said = "";
  private readonly there = new Set<PanelName>(["controls", "plots"]);

  constructor(
    private readonly app: HTMLElement,
    private readonly narrow: MediaQueryList,
    private readonly changed: (panels: Panel[]) => void,
  ) {
    this.begin();
    narrow.addEventListener("change", () => this.begin());
  }

  private begin(): void {
    this.opened.clear();
    for (const name of NAMES) {
      const kept = recall(`panel.${name}`);
      if (!this.narrow.matches && (kept === null ? atFirst(name) : kept === "open")) this.opened.add(name);
    }
    this.show();
  }

  isOpen(panel: PanelName): boolean {
    return this.opened.has(panel) && this.there.has(panel);
  }

  /** Whether a scene has use for a panel. */
  offer(panel: PanelName, there: boolean): void {
    if (there) this.there.add(panel);
    else this.there.delete(panel);
    this.show();
  }

  toggle(panel: PanelName): void {
    this.put(panel, !this.opened.has(panel));
  }

  put(panel: PanelName, open: boolean): void {
    if (!this.there.has(panel)) return;
    if (open) for (const other of this.narrow.matches ? NAMES : besides(panel)) this.fold(other);
    if (open) {
      this.opened.add(panel);
      this.keep(panel, "open");
    } else this.fold(panel);
    this.show();
  }

  private fold(panel: PanelName): void {
    this.opened.delete(panel);
    this.keep(panel, "folded");
  }

  private keep(panel: PanelName, how: "open" | "folded"): void {
    if (!this.narrow.matches) remember(`panel.${panel}`, how);
  }

  private show(): void {
    const panels = NAMES.map((name) => ({ name, open: this.isOpen(name), there: this.there.has(name) }));
    const said = JSON.stringify(panels);
    if (said === this.said) return;
    this.said = said;
    for (const { name, open } of panels) this.app.classList.toggle(`${name}-folded`, !open);
    this.changed(panels);
  }
}

/** Plan and controls have the same place. */
function besides(panel: PanelName): PanelName[] {
  return panel === "edit" ? ["controls"] : panel === "controls" ? ["edit"] : [];
}

function atFirst(panel: PanelName): boolean {
  return panel === "plots" || ((panel === "edit" || panel === "actors") && innerWidth >= ROOMY_PX);
}
