import * as THREE from "three";
import { expect, test, vi } from "vitest";
import { DEVICE_COUNTER_WORDS, GUARD_STATES, deviceCounts, deviceLine, share } from "../src/devices";
import type { Frame } from "../src/frame.gen";
import { Devices, arrowTip, handleWay } from "../src/scene/devices";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff" }));

const NAMES = Object.keys(DEVICE_COUNTER_WORDS);
const PHANTOM = { name: "simulated:phantom-premium-1.5", force_limit_N: 8.5 };

/** Two devices; the second has this state, force [N] along y and counts. */
function frame(state: keyof typeof GUARD_STATES, force_N: number, counts: Record<string, number> = {}): Frame {
  return {
    device_state: [2, Object.keys(GUARD_STATES).indexOf(state)],
    device_force: Float64Array.from([9, 9, 9, 0, force_N, 0]),
    device_point: Float64Array.from([0, 0, 0, 1, 2, 3]),
    device_position: Float64Array.from([0, 0, 0, 1, 2, 2.9]),
    device_counters: [...NAMES.map(() => 7), ...NAMES.map((name) => counts[name] ?? 0)],
  } as unknown as Frame;
}

test("a device's line has its name, its force and what its guard does", () => {
  expect(deviceLine(PHANTOM, 1, frame("on", 2.1))).toEqual({ text: "simulated phantom-premium-1.5: 2.1 N, on", level: "good" });
  expect(deviceLine(PHANTOM, 1, frame("rising", 0)).text).toBe("simulated phantom-premium-1.5: 0.0 N, rising");
});

test("a force near its limit warns, and so does a device that is slowed, late or not engaged", () => {
  const level = (state: keyof typeof GUARD_STATES, force_N: number): string => deviceLine(PHANTOM, 1, frame(state, force_N)).level;
  expect([level("on", 5), level("on", 5.2)]).toEqual(["good", "fair"]);
  expect([level("slowed", 0), level("late", 0), level("engaging", 0)]).toEqual(["fair", "fair", "fair"]);
});

test("a fault says why there is no force and what to do", () => {
  const { text, level } = deviceLine(PHANTOM, 1, frame("fault", 0, { device_lost: 1, clamped: 12 }));
  expect(text).toBe("simulated phantom-premium-1.5: no force, the device was lost. Press reset.");
  expect(level).toBe("poor");
});

test("what never happened is not listed", () => {
  expect(deviceCounts(1, frame("on", 0, { clamped: 12, gated: 3 }))).toEqual([[3, DEVICE_COUNTER_WORDS.gated], [12, DEVICE_COUNTER_WORDS.clamped]]);
});

test("a device without force is never near its limit", () => {
  expect(share(0, 0)).toBe(0);
  expect(arrowTip(new THREE.Vector3(), new THREE.Vector3(), 0, 1)).toBeNull();
});

test("an arrow points where the hand is pushed, grows with the force, and ends growing at the limit", () => {
  const from = new THREE.Vector3(1, 2, 3);
  const long = (newtons: number): number => arrowTip(from, new THREE.Vector3(0, -newtons, 0), 8.5, 2)!.distanceTo(from);
  const tip = arrowTip(from, new THREE.Vector3(0, -4, 0), 8.5, 2)!;
  expect([tip.x, tip.z]).toEqual([1, 3]);
  expect(tip.y).toBeLessThan(2);
  expect(long(4)).toBeCloseTo(2 * long(2));
  expect(long(20)).toBeCloseTo(long(8.5));
  expect(arrowTip(from, new THREE.Vector3(1e-3, 0, 0), 8.5, 2)).toBeNull();
});

test("each device is drawn where its frame says, and a lost one is not", () => {
  const devices = new Devices();
  devices.build([PHANTOM, PHANTOM]);
  const camera = new THREE.Vector3();
  const told = frame("on", 3);
  told.device_point![0] = NaN;
  devices.show(told, camera);
  expect(devices.root.children.map((child) => child.visible)).toEqual([false, true]);
  const at = (k: number): number[][] => devices.root.children[k]!.children.map((part) => part.position.toArray());
  expect(at(1)).toContainEqual([1, 2, 3]);
  expect(at(1)).toContainEqual([1, 2, 2.9]);
});

test("a device is a thin bar that turns as the device does, and a turn that is none leaves it as it is", () => {
  const still = handleWay([1, 0, 0, 0]);
  expect(still.x).toBeLessThan(0); // to the person, who looks along x,
  expect(still.z).toBeGreaterThan(0); // and up
  const half = handleWay([0, 0, 0, 1]); // by half a turn about z
  expect([half.x, half.y, half.z].map((x, i) => x - [-still.x, -still.y, still.z][i]!).every((x) => Math.abs(x) < 1e-12)).toBe(true);
  for (const odd of [[0, 0, 0, 0], [NaN, 0, 0, 0], []]) expect(handleWay(odd).distanceTo(still)).toBeLessThan(1e-12);
  const devices = new Devices();
  devices.build([PHANTOM, PHANTOM]);
  const told = { ...frame("on", 0), device_quaternion: Float64Array.from([1, 0, 0, 0, 0, 0, 0, 1]) } as Frame;
  devices.show(told, new THREE.Vector3(0, -5, 3));
  const bars = devices.root.children.map((marker) => marker.children[3] as THREE.Mesh);
  expect(bars.map(({ visible }) => visible)).toEqual([true, true]);
  expect(bars[1]!.position.toArray()).toEqual([1, 2, 3]); // from the proxy on, which is outside of all solids
  const way = new THREE.Vector3(0, 1, 0).applyQuaternion(bars[1]!.quaternion);
  expect(way.distanceTo(half)).toBeLessThan(1e-9);
});
