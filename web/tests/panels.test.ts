import { expect, test } from "vitest";
import { chosen } from "../src/panels/plots";
import { compared } from "../src/panels/compare";
import { STAGES, STAGE_WORDS } from "../src/panels/edit";
import { Keys, type Pressed } from "../src/panels/keys";
import { trialData } from "../src/panels/marker";
import { nextMark } from "../src/panels/marks";
import { notice } from "../src/panels/notices";
import { base64, MOST_BYTES, MOST_FILES, pathOf, worthSending } from "../src/panels/robot_files";
import { evenly, position, valueAt, worded, type Scale } from "../src/panels/slider";
import { shown } from "../src/panels/theme";
import { drawing } from "../src/panels/thumbnails";
import type { Motion, Status } from "../src/protocol";

const press = (key: string, more: Partial<Pressed> = {}): Pressed => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, ...more });

test("a key does what it is bound to, large or small, unless the browser or the focus needs it", () => {
  const keys = new Keys();
  keys.bind("Time", " ", "play or pause", () => undefined);
  keys.bind("Time", ".", "one step", () => undefined, { repeats: true });
  keys.bind("Time", "r", "reset", () => undefined);
  keys.bind("Time", "ArrowLeft", "back", () => undefined);
  expect(keys.meant(press("R"), "none")?.words).toBe("reset");
  expect(keys.meant(press("r", { ctrlKey: true }), "none")).toBeNull(); // reload
  expect(keys.meant(press("r"), "typing")).toBeNull();
  expect(keys.meant(press("r"), "choosing")).toBeNull();
  expect(keys.meant(press("r"), "sliding")?.words).toBe("reset");
  expect(keys.meant(press("ArrowLeft"), "sliding")).toBeNull();
  expect(keys.meant(press(" "), "button")).toBeNull(); // presses the button
  expect(keys.meant(press(" "), "sliding")?.words).toBe("play or pause");
  expect(keys.meant(press(" ", { repeat: true }), "none")).toBeNull();
  expect(keys.meant(press(".", { repeat: true }), "none")?.words).toBe("one step");
  expect(() => keys.bind("View", "r", "another", () => undefined)).toThrow("taken");
});

test("a key means one thing at a time, and in the scene only what no control needs", () => {
  const keys = new Keys();
  let holding = false;
  const inScene = { repeats: true, inScene: true };
  keys.bind("Touch", "ArrowLeft", "choose", () => undefined, { ...inScene, when: () => !holding });
  keys.bind("Touch", "ArrowLeft", "move", () => undefined, { ...inScene, when: () => holding });
  keys.bind("Touch", "Shift+ArrowLeft", "move finely", () => undefined, { ...inScene, when: () => holding });
  keys.bind("Touch", "Enter", "take", () => undefined, { inScene: true });
  expect(() => keys.bind("View", "ArrowLeft", "always", () => undefined)).toThrow("taken");
  expect(keys.meant(press("ArrowLeft"), "none")?.words).toBe("choose");
  expect(keys.meant(press("ArrowLeft", { shiftKey: true }), "none")).toBeNull();
  holding = true;
  expect(keys.meant(press("ArrowLeft", { repeat: true }), "none")?.words).toBe("move");
  expect(keys.meant(press("ArrowLeft", { shiftKey: true }), "none")?.words).toBe("move finely");
  expect(keys.meant(press("ArrowLeft"), "button")).toBeNull();
  expect(keys.meant(press("Enter"), "button")).toBeNull(); // presses the button
  expect(keys.meant(press("Enter"), "none")?.words).toBe("take");
});

test("the help lists each thing once, with all its keys", () => {
  const keys = new Keys();
  for (const key of ["?", "h"]) keys.bind("View", key, "help", () => undefined);
  keys.bind("Time", " ", "play", () => undefined);
  expect(keys.list("View")).toEqual([[["?", "H"], "help"]]);
  expect(keys.list("Time")).toEqual([[["Space"], "play"]]);
  for (const key of ["ArrowUp", "ArrowDown"]) keys.bind("Touch", key, "choose", () => undefined, { name: "arrows" });
  expect(keys.list("Touch")).toEqual([[["arrows"], "choose"]]);
});

const SCALES: Scale[] = [
  { least: 50, most: 5000, usual: 800, steps: 60, even: "ratios" },
  { least: 0, most: 3, usual: 1, steps: 60, even: "differences" },
];

test("a slider goes from the least to the most, upwards, and finds the usual value again", () => {
  for (const scale of SCALES) {
    const values = Array.from({ length: scale.steps + 1 }, (_, place) => valueAt(place, scale));
    expect([values[0], values.at(-1)]).toEqual([scale.least, scale.most]);
    expect(values.every((value, i) => i === 0 || value > values[i - 1]!)).toBe(true);
    expect(valueAt(position(scale.usual, scale), scale)).toBe(scale.usual);
    expect(position(1e9, scale)).toBe(scale.steps);
    expect(position(-1, scale)).toBe(0);
  }
});

test("a setting has its own steps and unit, and a value that can be sent as it is shown", () => {
  const rate = { low: -2, high: 2, step: 0.1, value: 0.5, unit: "l/s" };
  const scale = evenly(rate);
  expect(Array.from({ length: scale.steps + 1 }, (_, place) => valueAt(place, scale)).slice(18, 27)).toEqual([-0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
  expect([worded(-0.1, rate), worded(2, rate), worded(12, { step: 1, unit: "" })]).toEqual(["\u22120.1 l/s", "2.0 l/s", "12"]);
  expect([worded(0, { step: 0.05, unit: "×" }), worded(0.5, { step: 0.05, unit: "×" })]).toEqual(["none", "0.50 ×"]); // as gravity is
});

test("colours are the chosen ones, or the system's", () => {
  expect([shown("system", true), shown("system", false), shown("light", true), shown("dark", false)]).toEqual(["dark", "light", "light", "dark"]);
});

const status = (more: Partial<Status>): Status => ({ type: "status", dropped: 0, holder: false, taken: false, asked: false, asking: false, pages: 2, ...more });
const open = { connection: "open", loading: "", taken: false, held: 0, status: status({}) } as const;

test("one line says what keeps a person from touching, and how the hands go from page to page", () => {
  expect(notice(open, false)).toEqual({ text: "" });
  expect(notice({ ...open, taken: true }, false).button).toEqual({ words: "Ask for them", message: "take" });
  const asking = notice({ ...open, taken: true, status: status({ taken: true, asking: true }) }, false);
  expect(asking.button).toBeUndefined();
  expect(asking.text).toContain("Asked");
  expect(notice({ ...open, held: 3, status: status({ holder: true, asked: true }) }, true).button).toEqual({ words: "Give", message: "give" });
  expect(notice({ ...open, held: 3 }, true).text).toContain("Paused");
  expect(notice({ ...open, held: 0 }, true).text).toBe("");
});

test("while a scene loads, a lost connection is no news", () => {
  expect(notice({ ...open, connection: "lost" }, false).text).toContain("Connection lost");
  expect(notice({ ...open, connection: "lost", loading: "hrp2" }, false).text).toBe("Loading hrp2 …");
  expect(notice({ ...open, connection: "other-version", loading: "hrp2" }, false).text).toContain("Reload");
});

const file = (name: string, size = 10): { name: string; size: number } => ({ name, size });

test("of a folder, only what a robot can need is sent; what cannot be one is said", () => {
  const { files, wrong } = worthSending([file("arm.URDF"), file("link.stl"), file("README.md"), file(".DS_Store")]);
  expect([files.map(({ name }) => name), wrong]).toEqual([["arm.URDF", "link.stl"], ""]);
  expect(worthSending([file("link.stl")]).wrong).toContain(".urdf");
  expect(worthSending([]).wrong).toContain(".urdf");
  expect(worthSending([file("a.urdf"), file("b.stl", MOST_BYTES)]).wrong).toContain("34 MB");
  expect(worthSending([file("a.urdf"), ...Array.from({ length: MOST_FILES }, (_, i) => file(`${i}.stl`))]).wrong).toContain("400");
});

test("a file keeps its folders, and its bytes", () => {
  expect(pathOf({ name: "a.stl", webkitRelativePath: "robot/meshes/a.stl" })).toBe("robot/meshes/a.stl");
  expect(pathOf({ name: "a.stl", webkitRelativePath: "" })).toBe("a.stl");
  const bytes = Uint8Array.from({ length: 50_003 }, (_, i) => (i * 7) % 256); // several chunks, not a multiple of three
  const back = atob(base64(bytes));
  expect(back.length === bytes.length && bytes.every((byte, i) => back.charCodeAt(i) === byte)).toBe(true);
  expect(base64(Uint8Array.from([104, 105]))).toBe("aGk=");
  expect(base64(new Uint8Array())).toBe("");
});

test("a scene without a picture has a drawing, its own", () => {
  expect(drawing("stack")).toBe(drawing("stack"));
  expect(drawing("stack")).not.toBe(drawing("bridge"));
});

const motion = (more: Partial<Motion>): Motion => ({ duration_s: 2, path: [], clearance_m: {}, wrong: [], fastest: Math.PI, ...more });

test("before and after side by side: a larger gap is better, a smaller one worse, hardly another neither", () => {
  const before = motion({ clearance_m: { box: -0.004, wall: 0.2, ball: 0.1 } });
  const after = motion({ duration_s: 2.5, clearance_m: { box: 0.0312, wall: 0.15, ball: 0.1001, late: 0.3 } });
  const lines = Object.fromEntries(compared(before, after).map(({ name, ...rest }) => [name, rest]));
  expect(lines["duration"]).toEqual({ before: "2.00 s", after: "2.50 s", better: null });
  expect(lines["fastest joint"]!.before).toBe("180 °/s");
  expect(lines["gap to box"]).toEqual({ before: "4.0 mm inside", after: "31 mm", better: true });
  expect(lines["gap to wall"]!.better).toBe(false);
  expect(lines["gap to ball"]!.better).toBeNull();
  expect(lines["gap to late"]).toEqual({ before: "–", after: "300 mm", better: null });
});

test("every stage has words", () => {
  expect(Object.keys(STAGE_WORDS)).toEqual([...STAGES]);
});

test("markers before and after now, whichever order they came in", () => {
  const marks = [{ time_s: 5, text: "c" }, { time_s: 1, text: "a" }, { time_s: 3, text: "b" }];
  expect(nextMark(marks, 0)?.text).toBe("a");
  expect(nextMark(marks, 1)?.text).toBe("b"); // not the one we are at
  expect(nextMark(marks, 3.5, true)?.text).toBe("b");
  expect(nextMark(marks, 3, true)?.text).toBe("a");
  expect([nextMark(marks, 9), nextMark([], 0, true)]).toEqual([null, null]);
});

test("trial data are what was filled in", () => {
  expect(trialData({ condition: " soft ", stimulus: "", answer: "left" })).toEqual({ condition: "soft", answer: "left" });
  expect(trialData({ condition: " ", answer: "" })).toBeNull();
});

test("plots: what was chosen, as far as it is there; else the first ones", () => {
  const arm = ["joints", "force", "energy", "lateness"];
  expect(chosen(null, arm)).toEqual(["joints", "force"]);
  expect(chosen(null, arm.slice(1))).toEqual(["force", "energy"]);
  expect(chosen("lateness\njoints\nnonsense", arm)).toEqual(["joints", "lateness"]);
  expect(chosen("joints", ["Water level", "lateness"])).toEqual(["Water level", "lateness"]);
  expect(chosen("Water level", ["Water level", "lateness"])).toEqual(["Water level"]);
  expect(chosen("", arm)).toEqual([]);
});
