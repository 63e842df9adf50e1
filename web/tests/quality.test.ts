import { expect, test } from "vitest";
import { Thrift, type Quality } from "../src/scene/quality";

const QUALITY: Quality = { antialias: true, pixelRatio: 2, shadowPixels: 1, softShadows: true, reflections: true, adapt: true };

/** Draws for so many seconds on a machine whose pictures take `time(ratio)` [ms]; the numbers of pixels that were used. */
function machine(quality = QUALITY) {
  let [ratio, now] = [quality.pixelRatio, 1000];
  const used = [ratio];
  const renderer = {
    getPixelRatio: () => ratio,
    setPixelRatio: (next: number) => {
      ratio = next;
      used.push(next);
    },
  };
  const thrift = new Thrift(renderer as never, quality);
  const draw = (seconds: number, time: (ratio: number) => number): number => {
    for (const end = now + 1000 * seconds; now < end; now += time(ratio)) thrift.picture(now);
    return ratio;
  };
  return { draw, used };
}

test("a quick machine draws all pixels", () => {
  const { draw, used } = machine();
  draw(60, () => 16.7);
  expect(used).toEqual([2]);
});

test("a slow machine draws fewer pixels until its pictures are quick, and no fewer than it needs", () => {
  const { draw } = machine();
  const time = (ratio: number): number => Math.max(16.7, 16 * ratio ** 2); // of its graphics card
  const ratio = draw(15, time);
  expect(time(ratio)).toBeLessThan(25);
  expect(time(ratio / 0.75)).toBeGreaterThan(25);
});

test("there is an end to it", () => {
  const { draw } = machine();
  expect(draw(60, (ratio) => 100 * ratio ** 2)).toBeCloseTo(0.6);
});

test("where fewer pixels do not help they are given back: a screen of thirty pictures a second", () => {
  const { draw, used } = machine();
  expect(draw(120, () => 33.3)).toBe(2);
  expect(used.length).toBe(3);
});

test("when a machine is less busy, more pixels are tried again; if that is too many, not soon again", () => {
  const { draw, used } = machine();
  const busy = (ratio: number): number => Math.max(16.7, 16 * ratio ** 2);
  draw(15, busy);
  expect(draw(60, () => 16.7)).toBeCloseTo(2);
  used.splice(0);
  draw(300, busy);
  expect(used.filter((ratio, i) => i > 0 && ratio > used[i - 1]!).length).toBeLessThan(6);
});

test("pauses are no slow pictures, and who asked for fine pictures gets them", () => {
  const { draw, used } = machine();
  draw(100, () => 600);
  expect(used).toEqual([2]);
  const fine = machine({ ...QUALITY, adapt: false });
  fine.draw(60, () => 100);
  expect(fine.used).toEqual([2]);
});
