// A small picture of a scene: the one that was taken of it, or, for a scene that came later, a drawing made of its name.

import { el } from "../dom";

const TAKEN = import.meta.glob<string>("./pictures/*.png", { eager: true, query: "?url", import: "default" });

export function picture(name: string): HTMLElement {
  const source = TAKEN[`./pictures/${name}.png`];
  const content = source ? el("img", { src: source, alt: "", width: 160, height: 100, loading: "lazy" }) : el("span", { html: drawing(name) });
  return el("span", { class: "thumbnail" }, content);
}

const GROUND_Y = 82;
const SHAPES = 4;

/** Some bodies on a ground: always the same ones for the same name. */
export function drawing(name: string): string {
  const next = numbers(name);
  const bodies = Array.from({ length: SHAPES }, (_, i) => {
    const size = 12 + 16 * next();
    const x = 26 + 34 * i + 8 * next();
    const fill = `var(--line-${1 + Math.floor(8 * next())})`;
    const round = next() < 0.4;
    const [left, half, height] = [x - size / 2, size / 2, 1.4 * size].map((n) => n.toFixed(1));
    return round
      ? `<circle cx="${x.toFixed(1)}" cy="${(GROUND_Y - size / 2).toFixed(1)}" r="${half}" fill="${fill}"/>`
      : `<rect x="${left}" y="${(GROUND_Y - 1.4 * size).toFixed(1)}" width="${size.toFixed(1)}" height="${height}" rx="3" fill="${fill}"/>`;
  });
  const ground = `<path d="M8 ${GROUND_Y}h144" stroke="var(--grid)" stroke-width="1.5"/>`;
  return `<svg viewBox="0 0 160 100" width="160" height="100" aria-hidden="true">${ground}${bodies.join("")}</svg>`;
}

/** Numbers in [0, 1) that a name begins: a linear congruence, Numerical Recipes' constants. */
function numbers(name: string): () => number {
  let state = [...name].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) >>> 0, 7);
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
