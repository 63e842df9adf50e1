// Making elements in fewer lines.

type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

/** An element; keys that begin with "on" are listeners, `html` is trusted markup (icons), the rest attributes. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value as unknown as EventListener);
    else if (key === "html") element.innerHTML = String(value);
    else if (value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children);
  return element;
}

/** A colour of the style sheet, as it is now (light or dark). */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Tells everybody who draws with colours of the style sheet that they are others now (panels/theme.ts). */
export const SCHEME_CHANGE = "palpate-scheme";

/** Calls back when light becomes dark or the other way round. */
export function onSchemeChange(listener: () => void): void {
  window.addEventListener(SCHEME_CHANGE, listener);
}
