// One line at a time, over the scene: the connection, another page's hand, the first-time hint.

import { el } from "../dom";
import { STATES } from "../frame.gen";
import type { Store } from "../state";

const KNOWS = "palpate.has-grabbed";

export class Notices {
  readonly root = el("div", { class: "notices", role: "status", "aria-live": "polite" });
  private readonly banner = el("p", { class: "notice banner", hidden: true });
  private readonly hint = el("p", { class: "notice hint", hidden: true });
  private knows = remembered();

  constructor(private readonly store: Store) {
    this.root.append(this.banner, this.hint);
    for (const key of ["connection", "taken", "hello", "held"] as const) store.on(key, () => this.refresh());
  }

  /** The person has understood. */
  grabbed = (): void => {
    if (this.knows) return;
    this.knows = true;
    try {
      localStorage.setItem(KNOWS, "yes");
    } catch {
      // private mode: the hint comes again next time
    }
    this.refresh();
  };

  private refresh(): void {
    const text = this.say();
    this.banner.hidden = text === "";
    this.banner.textContent = text;
    const finger = matchMedia("(pointer: coarse)").matches;
    this.hint.textContent = finger ? "Put a finger on anything and pull. It pulls back." : "Grab anything and pull. It pulls back.";
    this.hint.hidden = this.knows || text !== "" || !this.store.canTouch();
  }

  private say(): string {
    switch (this.store.get("connection")) {
      case "connecting": return "Connecting …";
      case "lost": return "Connection lost. This page comes back by itself when palpate runs again.";
      case "other-version": return "palpate was updated while this page was open. Reload the page.";
      case "open": return this.store.get("taken") ? "Another page has the hand. You are watching." : this.paused();
    }
  }

  /** A world that stands does not pull back. */
  private paused(): string {
    const standing = this.store.get("held") > 0 && this.store.get("frame")?.state === STATES.PAUSED;
    return standing ? "Paused. Press play, then pull." : "";
  }
}

function remembered(): boolean {
  try {
    return localStorage.getItem(KNOWS) !== null;
  } catch {
    return false;
  }
}
