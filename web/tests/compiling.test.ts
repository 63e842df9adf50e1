import { expect, test, vi } from "vitest";
import { Connection } from "../src/connection";
import { BASE, KNOWN, PROTOCOL } from "../src/frame.gen";
import { share, timeLeft } from "../src/panels/compiling";
import type { Compiling } from "../src/protocol";
import type { News } from "../src/socket";
import { Store } from "../src/state";

const frame = BASE.map((name, offset) => ({ name, kind: KNOWN[name]![0], offset, length: 1, shape: KNOWN[name]![1] ? [1] : [] }));
const news: Compiling = { type: "compiling", what: "contact.solve", done: 3, of: 9, seconds: 30, elapsed: 10 };

function heard(...said: unknown[]): Store {
  let worker: { onmessage?: (event: { data: News }) => void } = {};
  vi.stubGlobal("Worker", class {
    constructor() {
      worker = this as unknown as typeof worker;
    }

    postMessage(): void {}
  });
  const store = new Store();
  new Connection(store);
  for (const each of said) worker.onmessage!({ data: (each === "lost" ? { lost: true } : { said: each }) as News });
  vi.unstubAllGlobals();
  return store;
}

const hello = (mode: string): unknown => ({ type: "hello", protocol: PROTOCOL, mode, frame, bodies: [] });

test("time is said as people say it, and what is done is a share of all of it", () => {
  expect([0.4, 34.2, 200].map(timeLeft)).toEqual(["a moment left", "about 34 s left", "about 3 min left"]);
  expect(share(news)).toBeCloseTo(0.25);
  expect(share({ ...news, elapsed: 0, seconds: 0 })).toBe(0);
});

test("a scene that is compiled is shown and not touched, and comes alive with the next hello", () => {
  const before = heard(news, hello("compiling"));
  expect([before.get("compiling"), before.get("connection"), before.canTouch()]).toEqual([news, "open", false]);
  const after = heard(news, hello("compiling"), hello("live"));
  expect([after.get("compiling"), after.canTouch()]).toEqual([null, true]);
});

test("what another session showed is not taken for what is being compiled", () => {
  expect(heard(hello("live"), "lost", news).get("hello")).toBeNull();
  expect(heard(news, "lost").get("compiling")).toBeNull();
  expect(heard({ type: "hello", protocol: PROTOCOL + 1, frame, bodies: [] }, news).get("connection")).toBe("other-version");
});
