import { expect, test, vi } from "vitest";
import { chosen, label, magnitude } from "../src/panels/study";
import { Keys } from "../src/panels/keys";
import type { Screen } from "../src/protocol";

vi.mock("../src/dom", () => ({ el: () => ({ append: () => undefined }) }));

const screen = (choices: Screen["choices"]): Screen => ({ number: 1, kind: "choose", title: "", text: "", choices, scales: [], least_s: 0, part: 0, done: 0, of: 0 });

test("a key means the choice that has it; Enter the only one", () => {
  const two = screen([{ label: "the first", key: "1", value: 0 }, { label: "again", key: "q", value: "again-0" }]);
  expect(chosen(two, "1")?.value).toBe(0);
  expect(chosen(two, "Q")?.value).toBe("again-0");
  expect(chosen(two, "Enter")).toBeNull();
  expect(chosen(two, "3")).toBeNull();
  expect(chosen(screen([{ label: "Next", key: " ", value: "next" }]), "Enter")?.value).toBe("next");
});

test("a button that waits says for how long", () => {
  const go = { label: "Go on", key: " ", value: "next" };
  expect(label(go, 9.2)).toBe("Go on (10 s)");
  expect(label(go, 0)).toBe("Go on");
});

test("a magnitude is a positive number, with a point or a comma", () => {
  expect(magnitude(" 12,5 ")).toBe(12.5);
  for (const text of ["", "  ", "-3", "0", "much", "1e999"]) expect(magnitude(text)).toBeNull();
});

test("in a study no key does anything but what a hand does in the scene", () => {
  const keys = new Keys();
  keys.bind("View", "c", "controls", () => undefined);
  keys.bind("Touch", "Enter", "take", () => undefined, { inScene: true });
  const pressed = (key: string) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false });
  expect(keys.meant(pressed("c"), "none")).not.toBeNull();
  keys.led = true;
  expect(keys.meant(pressed("c"), "none")).toBeNull();
  expect(keys.meant(pressed("Enter"), "none")).not.toBeNull();
});
