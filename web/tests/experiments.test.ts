import { expect, test, vi } from "vitest";
import { bounds, digits, inBrief } from "../src/panels/claims";
import { elapsed, outcome, standing, type Card, type Run } from "../src/panels/experiments";
import { fetched } from "../src/panels/figures";

const run = (more: Partial<Run> = {}): Run => ({ name: "arm-line", state: "running", seconds: 8.4, lines: [], compiling: "", error: "", ...more });
const card = (more: Partial<Card> = {}): Card => ({ name: "arm-line", about: "a line", result: null, ...more });

test("numbers have four digits, and powers of ten instead of many zeros", () => {
  expect([0, 21.98, -0.05060735, 48.8612, 0.001, 123456, 2].map(digits)).toEqual(["0", "21.98", "\u22120.05061", "48.86", "0.001", "123456", "2"]);
  expect([1.104e-5, 1e-4, -2.5e7, 1e6, 9.999e-13].map(digits)).toEqual(["1.1 × 10⁻⁵", "1 × 10⁻⁴", "\u22122.5 × 10⁷", "1 × 10⁶", "1 × 10⁻¹²"]);
});

test("a claim's bounds are said in words", () => {
  expect(bounds({ low: 21.5, high: 22.5 })).toBe("between 21.5 and 22.5");
  expect(bounds({ low: 0.05, high: null })).toBe("at least 0.05");
  expect(bounds({ low: null, high: 1e-4 })).toBe("at most 1 × 10⁻⁴");
  expect(bounds({ low: 2, high: 2 })).toBe("exactly 2");
  expect(bounds({ low: null, high: null })).toBe("");
});

test("a result in brief says how many claims are met", () => {
  expect([inBrief(8, 8), inBrief(6, 8), inBrief(1, 1), inBrief(0, 1), inBrief(0, 0)]).toEqual([
    "all 8 claims met", "6 of 8 claims met", "its claim met", "0 of 1 claims met", "no claims",
  ]);
});

test("the list says what runs, what failed, and what earlier runs came to", () => {
  const done = card({ result: { met: 8, of: 8, when: 1 } });
  expect(standing(card(), null)).toEqual({ words: "not run yet", level: "" });
  expect(standing(done, null)).toEqual({ words: "all 8 claims met", level: "good" });
  expect(standing(card({ result: { met: 7, of: 8, when: 1 } }), null).level).toBe("poor");
  expect(standing(card({ result: { met: 0, of: 0, when: 1 } }), null).level).toBe("poor"); // an experiment without claims does not pass
  expect(standing(done, run())).toEqual({ words: "running, 8 s", level: "busy" });
  expect(standing(done, run({ state: "failed" }))).toEqual({ words: "failed", level: "poor" });
  expect(standing(done, run({ state: "cancelled" })).words).toBe("all 8 claims met");
  expect(standing(done, run({ name: "arm-push" })).words).toBe("all 8 claims met");
});

test("a run says how long it takes, and how it ended", () => {
  expect(outcome(run(), true)).toBe("Running: 8 s");
  expect(outcome(run({ state: "done", seconds: 125 }), true)).toBe("Done in 2 min 5 s");
  expect(outcome(run({ state: "failed", error: "the disk is full" }), false)).toBe("It failed: the disk is full");
  expect(outcome(run({ state: "cancelled" }), false)).toBe("Cancelled after 8 s");
  expect(outcome(run({ state: "cancelled" }), true)).toContain("earlier run");
  expect([0.4, 59.99, 60].map(elapsed)).toEqual(["less than 1 s", "59 s", "1 min 0 s"]);
});

/** A session that has one file, in pieces of three bytes. */
const session = (content: string, made: (from: number) => string = () => "1") => ({
  request: vi.fn(async (_: string, { from }: { from: number }) => ({ data: btoa(content.slice(from, from + 3)), size: content.length, made: made(from) })),
});
const ask = (from: ReturnType<typeof session>, file = "line.svg") => fetched(from as never, "arm-line", file);

test("a figure comes in pieces, one after the other, and is whole", async () => {
  const server = session("<svg/>!");
  const blob = await ask(server);
  expect(await blob.text()).toBe("<svg/>!");
  expect(blob.type).toBe("image/svg+xml");
  expect(server.request.mock.calls.map(([what, more]) => [what, more])).toEqual([0, 3, 6].map((from) => ["fetch", { name: "arm-line", file: "line.svg", from }]));
  expect((await ask(session(""), "report.json")).size).toBe(0);
});

test("pieces of two runs are never joined, and a file that shrank is no endless wait", async () => {
  await expect(ask(session("<svg/>!", (from) => String(from)))).rejects.toThrow("changed");
  const shrank = { request: async (_: string, { from }: { from: number }) => ({ data: from === 0 ? btoa("abc") : "", size: 7, made: "1" }) };
  await expect(ask(shrank as never)).rejects.toThrow("changed");
});
