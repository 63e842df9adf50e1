// The page's end of the socket (socket.ts, in a worker): what comes in goes to the store.

import { Layout } from "./decode";
import { PROTOCOL } from "./frame.gen";
import type { Answer, ClientMessage, Compiling, Hello, Status } from "./protocol";
import type { Arrived, News, Order } from "./socket";
import type { Store } from "./state";

const STIR_MS = 100; // sign of life to the worker
const HIDDEN_MS = 1000; // how often a page that draws nothing takes a frame
/** Why a request came to nothing when palpate is not there. */
export const LOST = "the connection was lost";

export class Connection {
  private readonly worker = new Worker(new URL("./socket.worker.ts", import.meta.url), { type: "module" });
  private layout: Layout | null = null;
  private requests = 0;
  private readonly waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (why: Error) => void }>();

  constructor(private readonly store: Store) {
    this.worker.onmessage = (event: MessageEvent<News>) => this.hear(event.data);
    setInterval(() => this.order({ do: "stir" }), STIR_MS);
  }

  open(url: string): void {
    this.order({ do: "open", url });
  }

  send(message: ClientMessage): void {
    this.order({ do: "send", message });
  }

  event(kind: string, value = 0): void {
    this.send({ type: "event", kind, value });
  }

  /** Put an obstacle somewhere: position [m] and quaternion (w, x, y, z). */
  place(body: number, placement: number[]): void {
    this.send({ type: "event", kind: "place", value: 0, body, placement });
  }

  /** Something that takes longer than a tick; rejects with one line if it could not be done. */
  request<T>(what: string, more: Record<string, unknown> = {}): Promise<T> {
    if (this.store.get("connection") !== "open") return Promise.reject(new Error(LOST));
    const id = ++this.requests;
    this.send({ type: "request", id, what, ...more });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject }));
  }

  private order(order: Order): void {
    this.worker.postMessage(order);
  }

  private hear(news: News): void {
    if ("frame" in news) this.show(news);
    else if ("said" in news) this.understand(news.said);
    else this.lose();
  }

  private understand(said: Hello | Status | Answer | Compiling): void {
    if (said.type === "answer") return this.answer(said);
    if (said.type === "compiling") {
      if (this.store.get("hello")?.mode !== "compiling") this.store.set("hello", null); // of another session
      this.store.set("compiling", said);
      if (this.store.get("connection") !== "other-version") this.store.set("connection", "open");
      return;
    }
    if (said.type === "status") {
      this.store.set("taken", said.taken);
      this.store.set("status", said);
      return;
    }
    this.layout = said.protocol === PROTOCOL ? Layout.of(said.frame) : null;
    if (this.layout) {
      this.store.set("frame", null);
      this.store.set("loading", "");
      if (said.mode !== "compiling") this.store.set("compiling", null);
      this.store.set("hello", said);
    }
    this.store.set("connection", this.layout ? "open" : "other-version");
  }

  private show(news: Arrived): void {
    const frame = this.layout?.decode(news.frame);
    this.store.set("arrived", news.at - performance.timeOrigin);
    if (frame) this.store.set("frame", frame);
    // Asked for after the picture is drawn: what arrived meanwhile is skipped, but for the newest. A hidden page
    // draws nothing, and takes a frame now and then for its plots.
    const next = (): void => {
      clearTimeout(timer);
      cancelAnimationFrame(picture);
      this.order({ do: "next" });
    };
    const timer = setTimeout(next, HIDDEN_MS);
    const picture = requestAnimationFrame(next);
  }

  private answer(said: Answer): void {
    const asked = this.waiting.get(said.id);
    this.waiting.delete(said.id);
    if (said.ok) asked?.resolve(said);
    else asked?.reject(new Error(said.error ?? "it could not be done"));
  }

  private lose(): void {
    this.layout = null;
    for (const { reject } of this.waiting.values()) reject(new Error(LOST));
    this.waiting.clear();
    this.store.set("taken", false);
    this.store.set("status", null);
    this.store.set("compiling", null);
    if (this.store.get("connection") !== "other-version") this.store.set("connection", "lost");
  }
}
