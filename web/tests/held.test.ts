import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldEvents } from "../src/held";
import { HeldKeys } from "../src/held_keys";
import { Keys, type Pressed } from "../src/panels/keys";
import { deflected } from "../src/panels/sticks";
import type { Hello } from "../src/protocol";
import { Store } from "../src/state";

vi.mock("../src/dom", () => ({ el: () => ({}) }));

const KEYS = [
  { key: "w", event: "ahead", value: 1, about: "walk ahead" },
  { key: "s", event: "ahead", value: -1, about: "walk back" },
  { key: "e", event: "gain", value: 3, about: "" },
];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false, querySelector: () => null }));
  vi.stubGlobal("HTMLElement", class {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setUp() {
  const store = new Store();
  store.set("connection", "open");
  store.set("hello", { mode: "live", keys: KEYS, events: { ahead: { low: -1, high: 1 }, gain: { low: 0, high: 5 } } } as unknown as Hello);
  const sent: [string, number][] = [];
  const held = new HeldEvents(store, (event, value) => sent.push([event, value]));
  const keys = new Keys();
  new HeldKeys(keys, held, store);
  const key = (kind: "keydown" | "keyup", name: string, more: Partial<Pressed> = {}): boolean => {
    const event = Object.assign(new Event(kind, { cancelable: true }), { key: name, code: `Key${name.toUpperCase()}`, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...more });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };
  return { store, sent, held, keys, key };
}

test("a held key sends its value at once and ten times a second, and 0 when it is let go, then nothing more", () => {
  const { sent, key } = setUp();
  key("keydown", "w");
  key("keydown", "w", { repeat: true });
  expect(sent).toEqual([["ahead", 1]]);
  vi.advanceTimersByTime(500);
  expect(sent).toEqual(Array(6).fill(["ahead", 1]));
  key("keyup", "W", { shiftKey: true }); // Shift came down meanwhile
  expect(sent.at(-1)).toEqual(["ahead", 0]);
  const count = sent.length;
  vi.advanceTimersByTime(1000);
  expect(sent.length).toBe(count);
});

test("keys and sticks of one event are summed, within its bounds, and one that is let go leaves the other", () => {
  const { sent, held, key } = setUp();
  key("keydown", "w");
  key("keydown", "s");
  expect(sent.at(-1)).toEqual(["ahead", 0]);
  key("keyup", "s");
  expect(sent.at(-1)).toEqual(["ahead", 1]);
  held.put("stick y", "ahead", 0.7); // 1.7 is out of bounds: it is still 1, and there is nothing to say
  expect(sent.length).toBe(3);
  key("keyup", "w");
  expect(sent.at(-1)).toEqual(["ahead", 0.7]);
  held.put("stick y", "ahead", 0.701); // trembles
  expect(sent.at(-1)).toEqual(["ahead", 0.7]);
  expect(sent.length).toBe(4);
});

test.each(["blur", "hidden"])("everything is let go, with 0, on %s", (why) => {
  const { sent, held, key } = setUp();
  key("keydown", "w");
  held.put("stick", "gain", 2);
  if (why === "blur") window.dispatchEvent(new Event("blur"));
  else {
    Object.assign(document, { hidden: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }
  expect(sent.slice(-2)).toEqual([["ahead", 0], ["gain", 0]]);
  key("keydown", "w", { repeat: true }); // still down when the window is back: it must be pressed anew
  vi.advanceTimersByTime(500);
  expect(sent.length).toBe(4);
});

test("when the connection is lost, or another simulation comes, nothing is held any more", () => {
  const { store, sent, key } = setUp();
  key("keydown", "w");
  store.set("connection", "lost");
  vi.advanceTimersByTime(500);
  expect(sent).toEqual([["ahead", 1]]);
  key("keydown", "e"); // nobody hears it
  expect(sent.length).toBe(1);
  store.set("connection", "open");
  key("keydown", "e");
  expect(sent.at(-1)).toEqual(["gain", 3]);
  store.set("hello", { mode: "live", keys: [] } as unknown as Hello);
  const count = sent.length;
  vi.advanceTimersByTime(500);
  expect(sent.length).toBe(count);
});

test("a lent key goes before the page's own, which is there with Shift; who types, or a recording, has it all the same", () => {
  const { store, keys, key, sent } = setUp();
  const act = vi.fn();
  keys.bind("View", "w", "put the scene into a headset", act);
  const press = (more: Partial<Pressed>): Pressed => ({ key: "w", ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...more });
  expect(keys.meant(press({}), "none")).toBeNull();
  expect(keys.meant(press({ key: "W", shiftKey: true }), "none")?.words).toBe("put the scene into a headset");
  expect(keys.lentKey(press({ key: "W" }), "none")?.event).toBe("ahead"); // caps lock
  expect(keys.lentKey(press({ ctrlKey: true }), "none")).toBeNull();
  expect(keys.lentKey(press({}), "typing")).toBeNull();
  expect(keys.list("View")).toEqual([[["Shift W"], "put the scene into a headset"]]);
  expect(key("keydown", "W", { shiftKey: true })).toBe(false);
  expect(sent).toEqual([]);
  store.set("hello", { mode: "replay", keys: KEYS } as unknown as Hello);
  expect(keys.meant(press({}), "none")?.words).toBe("put the scene into a headset");
});

test("a stick goes no farther than its edge, up is ahead, and both ways at once are no faster", () => {
  expect(deflected(0, -40, 40)).toEqual([0, 1]);
  expect(deflected(400, 0, 40)[0]).toBe(1);
  expect(deflected(10, 20, 40)).toEqual([0.25, -0.5]);
  for (const [dx, dy] of [[99, 99], [-1e4, 3], [30, 30]] as const) expect(Math.hypot(...deflected(dx, dy, 40))).toBeLessThanOrEqual(1 + 1e-12);
});
