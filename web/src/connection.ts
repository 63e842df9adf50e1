// The page's end of the socket (socket.ts, in a worker): what comes in goes to the store.

import { Layout } from "./decode";
import type { ClientMessage, EventKind, Hello, Status } from "./protocol";
import type { Arrived, News, Order } from "./socket";
import type { Store } from "./state";

const STIR_MS = 100; // sign of life to the worker
const HIDDEN_MS = 1000; // how often a page that draws nothing takes a frame

export class Connection {
  private readonly worker = new Worker(new URL("./socket.worker.ts", import.meta.url), { type: "module" });
  private layout: Layout | null = null;

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

  event(kind: EventKind, value = 0): void {
    this.send({ type: "event", kind, value });
  }

  private order(order: Order): void {
    this.worker.postMessage(order);
  }

  private hear(news: News): void {
    if ("frame" in news) this.show(news);
    else if ("said" in news) this.understand(news.said);
    else this.lose();
  }

  private understand(said: Hello | Status): void {
    if (said.type === "status") {
      this.store.set("taken", said.taken);
      return;
    }
    const layout = new Layout(said.sizes);
    this.layout = layout.agrees(said.frame) ? layout : null;
    if (this.layout) {
      this.store.set("frame", null);
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

  private lose(): void {
    this.layout = null;
    this.store.set("taken", false);
    if (this.store.get("connection") !== "other-version") this.store.set("connection", "lost");
  }
}
