import { expect, test } from "vitest";
import { Layout, norm } from "../src/decode";
import { COUNTERS, FRAME_FIELDS, type Frame } from "../src/frame.gen";

const SIZES = { n_contacts: 4, nq: 2, nv: 2, n_bodies: 3, n_devices: 2 };

/** A message whose k-th word is k. */
function counted(layout: Layout): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(8 * layout.words));
  for (const { field, offset, length } of layout.places) {
    for (let k = offset; k < offset + length; k++) {
      if (field.kind === "i") view.setBigInt64(8 * k, BigInt(k), true);
      else view.setFloat64(8 * k, k, true);
    }
  }
  return view.buffer;
}

test("whole numbers come first, then the others, each in the order of the list", () => {
  const frame = new Layout(SIZES).decode(counted(new Layout(SIZES))) as Frame;
  expect(frame.tick).toBe(0);
  expect(frame.counters).toEqual(Array.from(COUNTERS, (_, i) => 3 + i));
  const size = (s: number | string): number => (typeof s === "string" ? SIZES[s as keyof typeof SIZES] : s);
  const whole = FRAME_FIELDS.filter((f) => f.kind === "i").reduce((n, f) => n + f.shape.map(size).reduce((a, b) => a * b, 1), 0);
  expect(frame.time_s).toBe(whole);
  const before = FRAME_FIELDS.filter((f) => f.kind === "f").findIndex((f) => f.name === "q"); // all of one number
  expect(Array.from(frame.q)).toEqual([whole + before, whole + before + 1]);
  expect(frame.pose.length).toBe(21);
  expect(frame.device_force.length).toBe(6);
  expect(frame.contact_body.length).toBe(8);
  expect([frame.hand_body.length, frame.hand_force.length]).toEqual([2, 6]); // two hands
});

test("nanoseconds of a machine that was on for months stay whole numbers", () => {
  const layout = new Layout(SIZES);
  const message = counted(layout);
  new DataView(message).setBigInt64(8, 7_776_000_000_000_000n, true); // 90 days
  expect(layout.decode(message)?.wall_ns).toBe(7_776_000_000_000_000);
});

test("a message of another size is no frame", () => {
  expect(new Layout(SIZES).decode(new ArrayBuffer(8))).toBeNull();
});

test("a server of another version is noticed", () => {
  const layout = new Layout(SIZES);
  const described = layout.places.map(({ field, offset, length }) => ({ name: field.name, kind: field.kind, offset, length }));
  expect(layout.agrees(described)).toBe(true);
  expect(layout.agrees(described.slice(1))).toBe(false);
  expect(layout.agrees(described.map((d) => ({ ...d, offset: d.offset + 1 })))).toBe(false);
});

test("the length of a force", () => {
  expect(norm([2, 3, 6])).toBe(7);
  expect(norm([])).toBe(0);
});
