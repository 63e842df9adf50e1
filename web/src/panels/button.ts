// A button: what it shows, what it says to a person who cannot see it, and its key.

import { el } from "../dom";
import { ICONS } from "./icons";

export interface Face {
  title: string; // a full sentence or name; a screen reader says it
  key?: string; // shown beside the title
  words?: string;
  icon?: keyof typeof ICONS;
  class?: string;
  data?: Record<string, string>; // data-... attributes
}

export function button(face: Face, act: () => void): HTMLButtonElement {
  const title = face.key ? `${face.title} (${face.key})` : face.title;
  const look = { type: "button", class: face.class ?? (face.icon ? "quiet" : "button"), title, "aria-label": face.title };
  const made = el("button", { ...look, ...(face.icon ? { html: ICONS[face.icon] } : {}), onclick: act });
  if (face.words) made.append(el("span", {}, face.words));
  Object.assign(made.dataset, face.data ?? {});
  return made;
}
