import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Folding, type Panel } from "../src/panels/folding";

let kept: Map<string, string>;

beforeEach(() => {
  kept = new Map();
  vi.stubGlobal("localStorage", { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) });
});

afterEach(() => vi.unstubAllGlobals());

function fold(width: number): { folding: Folding; open: () => string[]; told: Panel[][] } {
  vi.stubGlobal("innerWidth", width);
  const app = { classList: { toggle: () => undefined } } as unknown as HTMLElement;
  const narrow = { matches: width <= 760, addEventListener: () => undefined } as unknown as MediaQueryList;
  const told: Panel[][] = [];
  const folding = new Folding(app, narrow, (panels) => told.push(panels));
  return { folding, told, open: () => told.at(-1)!.filter(({ open }) => open).map(({ name }) => name) };
}

test("on a phone nothing is open at first, then one panel at a time", () => {
  const { folding, open } = fold(390);
  folding.offer("edit", true);
  expect(open()).toEqual([]);
  folding.toggle("plots");
  expect(open()).toEqual(["plots"]);
  folding.toggle("edit");
  expect(open()).toEqual(["edit"]);
  folding.toggle("edit");
  expect(open()).toEqual([]);
  expect(kept.size).toBe(0); // what is done on a small window is not for the large one
});

test("on a wide screen plan and controls share a place, beside the plots, and it is remembered", () => {
  const { folding, open } = fold(1280);
  expect(open()).toEqual(["plots"]); // this scene has no plan
  folding.offer("edit", true);
  expect(open()).toEqual(["edit", "plots"]);
  folding.toggle("controls");
  expect(open()).toEqual(["controls", "plots"]);
  const again = fold(1280);
  again.folding.offer("edit", true);
  expect(again.open()).toEqual(["controls", "plots"]);
});

test("in between, the scene has more room than the plan, until it is opened", () => {
  const { folding, open } = fold(880);
  folding.offer("edit", true);
  expect(open()).toEqual(["plots"]);
});

test("a panel that the scene has no use for cannot be opened, and nobody is told twice", () => {
  const { folding, open, told } = fold(1280);
  folding.put("edit", true);
  expect(open()).toEqual(["plots"]);
  const n = told.length;
  folding.offer("edit", false);
  expect(told.length).toBe(n);
});
