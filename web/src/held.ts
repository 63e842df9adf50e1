// Events that last: sent while a key or a stick is held, again and again, so that a simulation can let go of who has
// fallen silent; and with 0 when it is let go, whatever the reason. Several that send one event are summed.

import type { Store } from "./state";

export const AGAIN_MS = 100;
const FINE = 50; // steps of a value between 0 and 1: a stick that trembles sends nothing

export class HeldEvents {
  private readonly held = new Map<string, { event: string; value: number }>(); // by what holds it
  private readonly sent = new Map<string, number>(); // by event, those that are not 0

  constructor(
    private readonly store: Store,
    private readonly send: (event: string, value: number) => void,
  ) {
    setInterval(() => this.again(), AGAIN_MS);
    window.addEventListener("blur", () => this.letGo());
    document.addEventListener("visibilitychange", () => document.hidden && this.letGo());
    store.on("connection", (connection) => connection !== "open" && this.forget());
    store.on("hello", () => this.forget()); // another simulation, and other events
  }

  /** `holder` holds an event at this value; at 0 it lets go. */
  put(holder: string, event: string, value: number): void {
    if (value === 0) this.held.delete(holder);
    else if (this.canSend()) this.held.set(holder, { event, value });
    this.tell(event);
  }

  /** Everybody lets go. */
  letGo(): void {
    this.held.clear();
    for (const event of [...this.sent.keys()]) this.tell(event);
  }

  /** To be called every AGAIN_MS. */
  again(): void {
    for (const [event, value] of this.sent) this.send(event, value);
  }

  /** Nobody hears it any more: who listened has let go by itself. */
  private forget(): void {
    this.held.clear();
    this.sent.clear();
  }

  private canSend(): boolean {
    return this.store.get("connection") === "open" && this.store.get("hello")?.mode === "live";
  }

  private tell(event: string): void {
    const sum = [...this.held.values()].filter((one) => one.event === event).reduce((total, { value }) => total + value, 0);
    const { low = -Infinity, high = Infinity } = this.store.get("hello")?.events?.[event] ?? {};
    const value = Math.min(high, Math.max(low, Math.round(FINE * sum) / FINE));
    if (value === (this.sent.get(event) ?? 0)) return;
    if (value === 0) this.sent.delete(event);
    else this.sent.set(event, value);
    this.send(event, value);
  }
}
