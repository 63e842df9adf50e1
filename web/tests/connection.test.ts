import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Connection, LOST } from "../src/connection";
import { BASE, KNOWN, PROTOCOL } from "../src/frame.gen";
import type { ClientMessage } from "../src/protocol";
import type { News, Order } from "../src/socket";
import { Store } from "../src/state";

let worker: { onmessage: (event: { data: News }) => void; postMessage: (order: Order) => void };
let sent: ClientMessage[];

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  vi.stubGlobal("Worker", class {
    constructor() {
      worker = this as unknown as typeof worker;
    }

    postMessage(order: Order): void {
      if (order.do === "send") sent.push(order.message);
    }
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const hear = (said: unknown): void => worker.onmessage({ data: { said } as News });
const frame = BASE.map((name, offset) => ({ name, kind: KNOWN[name]![0], offset, length: 1, shape: KNOWN[name]![1] ? [1] : [] }));
const hello = { type: "hello", protocol: PROTOCOL, frame, bodies: [] };

test("a server of another version is noticed, and nothing of it is shown", () => {
  const store = new Store();
  new Connection(store);
  for (const other of [{ ...hello, protocol: PROTOCOL + 1 }, { ...hello, protocol: undefined }, { ...hello, frame: frame.slice(1) }]) {
    hear(other);
    expect([store.get("connection"), store.get("hello")]).toEqual(["other-version", null]);
  }
  hear(hello);
  expect(store.get("connection")).toBe("open");
});

test("a request is answered to whom asked, or fails with its one line", async () => {
  const connection = new Connection(new Store());
  hear(hello);
  const first = connection.request<{ name: string }>("add", { at: [0, 0, 1] });
  const second = connection.request("keep");
  const [a, b] = sent as { id: number; type: string; what: string }[];
  expect([a!.type, a!.what, b!.what]).toEqual(["request", "add", "keep"]);
  hear({ type: "answer", id: b!.id, ok: false, error: "nothing has moved yet" });
  hear({ type: "answer", id: a!.id, ok: true, name: "box2" });
  expect((await first).name).toBe("box2");
  await expect(second).rejects.toThrow("nothing has moved yet");
});

test("without a connection a request fails at once, and with its end those that wait", async () => {
  const connection = new Connection(new Store());
  await expect(connection.request("keep")).rejects.toThrow(LOST);
  expect(sent).toEqual([]);
  hear(hello);
  const waiting = connection.request("keep");
  worker.onmessage({ data: { lost: true } });
  await expect(waiting).rejects.toThrow(LOST);
});

test("what was asked for is there with the next hello", () => {
  const store = new Store();
  new Connection(store);
  hear(hello);
  store.set("loading", "stack");
  worker.onmessage({ data: { lost: true } });
  expect([store.get("connection"), store.get("loading")]).toEqual(["lost", "stack"]);
  hear(hello);
  expect([store.get("connection"), store.get("loading")]).toEqual(["open", ""]);
});
