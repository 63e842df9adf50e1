// The one socket. It lives in a worker: there a busy page cannot keep it from telling the servo that the hands still
// hold, and a page that is slow to draw gets the newest frame, never a queue of old ones.

import type { Answer, ClientMessage, Compiling, Hello, Status } from "./protocol";

const FIRST_RETRY_MS = 200;
const LAST_RETRY_MS = 2000;
export const HEARTBEAT_MS = 33; // the servo lets go when it has not heard for 100 ms
export const FROZEN_MS = 500; // a page that has not stirred for so long is not holding anything

/** Page to worker. */
export type Order = { do: "open"; url: string } | { do: "send"; message: ClientMessage } | { do: "stir" } | { do: "next" };

/** Worker to page. After a frame the page asks for the "next". */
export type News = { lost: true } | { said: Hello | Status | Answer | Compiling } | Arrived;

/** A frame and when it came, by the clock of the system [ms]. */
export interface Arrived {
  frame: ArrayBuffer;
  at: number;
}

/** What one hand holds, and when that was last said. */
interface Hold {
  text: string;
  sent: number;
}

/** How long to wait before the n-th try (from 0) [ms]. */
export function retryDelay(n: number): number {
  return Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 1.6 ** n);
}

export class Socket {
  private socket: WebSocket | null = null;
  private tries = 0;
  private readonly holds = new Map<number, Hold>(); // by the number of the hand
  private stirred = 0; // when the page last gave a sign of life
  private waiting: Arrived | null = null; // newest frame that the page has not asked for yet
  private pageBusy = false;

  constructor(
    private readonly post: (news: News) => void,
    private readonly connect: (url: string) => WebSocket = (url) => new WebSocket(url),
    private readonly now: () => number = () => performance.timeOrigin + performance.now(), // one clock for all threads
  ) {}

  take(order: Order): void {
    this.stirred = this.now();
    if (order.do === "open") this.open(order.url);
    else if (order.do === "send") this.send(order.message);
    else if (order.do === "next") this.next();
  }

  /** To be called every HEARTBEAT_MS: says again what each hand holds, unless the page is frozen: then the servo lets go. */
  beat(): void {
    const now = this.now();
    if (now - this.stirred >= FROZEN_MS) return;
    for (const hold of this.holds.values()) {
      if (now - hold.sent > 0.8 * HEARTBEAT_MS) {
        hold.sent = now;
        this.write(hold.text);
      }
    }
  }

  private open(url: string): void {
    const socket = this.connect(url);
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.tries = 0;
      if (typeof event.data === "string") this.post({ said: JSON.parse(event.data) as Hello | Status | Answer | Compiling });
      else this.show({ frame: event.data, at: this.now() });
    };
    socket.onclose = () => {
      this.socket = this.waiting = null;
      this.holds.clear();
      this.post({ lost: true });
      setTimeout(() => this.open(url), retryDelay(this.tries++));
    };
    this.socket = socket;
  }

  private send(message: ClientMessage): void {
    const text = JSON.stringify(message);
    if (message.type === "hand") this.holds.set(message.hand ?? 0, { text, sent: this.now() });
    if (message.type === "release" && message.hand === undefined) this.holds.clear();
    else if (message.type === "release") this.holds.delete(message.hand!);
    this.write(text);
  }

  private write(text: string): void {
    if (this.socket?.readyState !== 1) return; // 1: open
    this.socket.send(text);
  }

  private show(arrived: Arrived): void {
    if (this.pageBusy) {
      this.waiting = arrived;
    } else {
      this.pageBusy = true;
      this.post(arrived);
    }
  }

  private next(): void {
    this.pageBusy = false;
    const arrived = this.waiting;
    this.waiting = null;
    if (arrived) this.show(arrived);
  }
}
