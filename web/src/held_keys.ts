// Keys that a simulation has use for while they are held, as its hello lists them. They go before the page's own, which
// are still there with Shift (panels/keys.ts).

import type { HeldEvents } from "./held";
import { focusOf, type Keys } from "./panels/keys";
import type { KeyOf } from "./protocol";
import type { Store } from "./state";

export class HeldKeys {
  private readonly down = new Map<string, KeyOf>(); // by where it is on the keyboard: Shift changes what it says

  constructor(
    private readonly keys: Keys,
    private readonly held: HeldEvents,
    store: Store,
  ) {
    store.on("hello", (hello) => {
      this.down.clear();
      keys.lent = hello?.mode === "live" ? (hello.keys ?? []) : [];
    });
    window.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("keyup", (event) => this.open(event));
  }

  private press(event: KeyboardEvent): void {
    if (document.querySelector("dialog[open]")) return;
    const key = this.keys.lentKey(event, focusOf(event.target));
    if (!key) return;
    event.preventDefault();
    if (event.repeat) return;
    this.down.set(event.code, key);
    this.held.put(`key ${key.key}`, key.event, key.value);
  }

  private open(event: KeyboardEvent): void {
    const key = this.down.get(event.code);
    if (!this.down.delete(event.code)) return;
    this.held.put(`key ${key!.key}`, key!.event, 0);
  }
}
