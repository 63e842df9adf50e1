// A few words side by side, of which one holds; a list of more; and a switch that is on or off.

import { el } from "../dom";

export class Choice<Name extends string> {
  readonly root: HTMLElement;
  private readonly buttons: HTMLButtonElement[];

  constructor(
    label: string,
    private readonly names: readonly Name[],
    words: (name: Name) => string,
    chosen: (name: Name) => void,
    titles: (name: Name) => string = words,
  ) {
    this.buttons = names.map((name) =>
      el("button", { type: "button", title: titles(name), "aria-label": titles(name), "data-choice": name, onclick: () => chosen(name) }, words(name)),
    );
    this.root = el("div", { class: "choice", role: "group", "aria-label": label }, ...this.buttons);
  }

  show(chosen: Name | null): void {
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(this.names[i] === chosen)));
  }
}

/** One of some names, in a list that opens. */
export class Listed {
  readonly root: HTMLElement;
  private readonly select: HTMLSelectElement;

  constructor(label: string, title: string, names: readonly string[], chosen: (place: number) => void) {
    const options = names.map((name, place) => el("option", { value: place }, name));
    this.select = el("select", { "aria-label": label, onchange: () => chosen(this.select.selectedIndex) }, ...options);
    this.root = el("label", { class: "row listed", title }, el("span", { class: "name" }, label), this.select);
  }

  /** It is this one, and nobody is told. */
  show(place: number): void {
    if (this.select.selectedIndex !== place) this.select.selectedIndex = place;
  }
}

export class Switch {
  readonly root: HTMLElement;
  private readonly input: HTMLInputElement;

  constructor(
    words: string,
    title: string,
    private readonly turned: (on: boolean) => void,
  ) {
    this.input = el("input", { type: "checkbox", role: "switch", "aria-label": title, onchange: () => turned(this.on) });
    this.root = el("label", { class: "switch", title }, this.input, el("span", {}, words));
  }

  get on(): boolean {
    return this.input.checked;
  }

  /** It is so, and nobody is told. */
  show(on: boolean): void {
    this.input.checked = on;
  }

  turn(on: boolean): void {
    this.input.checked = on;
    this.turned(on);
  }
}
