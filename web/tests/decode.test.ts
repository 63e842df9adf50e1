import { expect, test } from "vitest";
import { Layout, norm, numbers } from "../src/decode";
import { BASE, KNOWN } from "../src/frame.gen";
import type { DescribedField } from "../src/protocol";

/** Fields one after the other, in this order. */
export function described(...fields: [name: string, kind: string, ...shape: number[]][]): DescribedField[] {
  let offset = 0;
  return fields.map(([name, kind, ...shape]) => {
    const length = shape.reduce((n, s) => n * s, 1);
    offset += length;
    return { name, kind, shape, length, offset: offset - length };
  });
}

/** What every frame has, floats and integers as they come; arrays have three numbers. */
export const OF_ALL = BASE.map((name): [string, string, ...number[]] => [name, KNOWN[name]![0], ...(KNOWN[name]![1] ? [3] : [])]);

/** A message whose k-th word is k. */
function counted(fields: DescribedField[]): ArrayBuffer {
  const words = fields.reduce((n, { length }) => n + length, 0);
  const view = new DataView(new ArrayBuffer(8 * words));
  for (const { kind, offset, length } of fields) {
    for (let k = offset; k < offset + length; k++) {
      if (kind === "i") view.setBigInt64(8 * k, BigInt(k), true);
      else view.setFloat64(8 * k, k, true);
    }
  }
  return view.buffer;
}

test("every field is where the hello says, whatever the order and whosever it is", () => {
  for (const order of [(x: typeof OF_ALL) => x, (x: typeof OF_ALL) => [...x].reverse()]) {
    const fields = described(...order([["level", "f"], ["pose", "f", 2, 7], ...OF_ALL, ["valves", "i", 2]]));
    const at = (name: string): number => fields.find((field) => field.name === name)!.offset;
    const frame = Layout.of(fields)!.decode(counted(fields))!;
    expect([frame.tick, frame.time_s, frame.speed]).toEqual([at("tick"), at("time_s"), at("speed")]);
    expect(frame.counters).toEqual([0, 1, 2].map((i) => at("counters") + i));
    expect(Array.from(frame.pose!)).toEqual(Array.from({ length: 14 }, (_, i) => at("pose") + i));
    expect(Array.from(numbers(frame, "level"))).toEqual([at("level")]);
    expect(Array.from(numbers(frame, "valves"))).toEqual([at("valves"), at("valves") + 1]);
    expect([frame.q, frame.hand_force, numbers(frame, "none").length]).toEqual([undefined, undefined, 0]);
  }
});

test("nanoseconds of a machine that was on for months stay whole numbers", () => {
  const fields = described(...OF_ALL);
  const message = counted(fields);
  new DataView(message).setBigInt64(8 * fields.find(({ name }) => name === "wall_ns")!.offset, 7_776_000_000_000_000n, true); // 90 days
  expect(Layout.of(fields)!.decode(message)?.wall_ns).toBe(7_776_000_000_000_000);
});

test("a message of another size is no frame", () => {
  expect(Layout.of(described(...OF_ALL))!.decode(new ArrayBuffer(8))).toBeNull();
});

test("frames that this page does not know are of another version", () => {
  expect(Layout.of(described(...OF_ALL, ["constructor", "f"]))).not.toBeNull(); // a field of one's own
  expect(Layout.of(described(...OF_ALL.slice(1)))).toBeNull(); // without one that all have
  expect(Layout.of(described(...OF_ALL, ["pose", "i", 2, 7]))).toBeNull();
  expect(Layout.of(described(...OF_ALL, ["pose", "f", 14]))).toBeNull();
});

test("the length of a force", () => {
  expect(norm([2, 3, 6])).toBe(7);
  expect(norm([])).toBe(0);
});
