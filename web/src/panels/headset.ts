// The way into a headset, where there is one; where only https is missing, that is said.

import { el } from "../dom";
import { whyNoHeadset } from "../scene/headset";
import { button } from "./button";
import type { Keys } from "./keys";

export function headsetPart(keys: Keys, enter: () => Promise<void>): HTMLElement {
  const line = el("p", { class: "note", role: "status" });
  const go = (): void => void enter().catch((error: Error) => (line.textContent = error.message));
  const enterButton = button({ words: "Enter VR", title: "Put the scene into a headset", key: "W" }, go);
  enterButton.hidden = true;
  const part = el("section", { hidden: true }, enterButton, line);
  const offer = (): void => {
    part.hidden = enterButton.hidden = false;
  };
  if (!isSecureContext) {
    part.hidden = false;
    line.textContent = whyNoHeadset();
  } else {
    navigator.xr?.isSessionSupported("immersive-vr").then((there) => there && offer(), () => undefined);
  }
  keys.bind("View", "w", "put the scene into a headset", () => !enterButton.hidden && go());
  return part;
}
