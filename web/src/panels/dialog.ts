// A dialog over everything: Escape, its button or a click beside it close it, and the focus goes back to where it was.

import { el } from "../dom";
import { button } from "./button";

export interface Dialog {
  element: HTMLDialogElement;
  body: HTMLElement;
  open(): void;
  close(): void;
}

export function dialog(title: string): Dialog {
  const close = (): void => element.close();
  const body = el("div", { class: "dialog-body" });
  const head = el("div", { class: "dialog-head" }, el("h2", {}, title), button({ title: "Close", key: "Esc", icon: "close" }, close));
  const element = el("dialog", { class: "card", "aria-label": title }, head, body);
  element.addEventListener("pointerdown", (event) => event.target === element && outside(element, event) && close());
  const open = (): void => {
    if (!element.open) element.showModal();
  };
  return { element, body, open, close };
}

function outside(element: HTMLElement, { clientX, clientY }: PointerEvent): boolean {
  const box = element.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}
