import * as THREE from "three";
import { expect, test, vi } from "vitest";
import type { Frame } from "../src/frame.gen";
import { arrowLength, Contacts } from "../src/scene/contacts";

const COLORS: Record<string, string> = { "--line-2": "#ff0000", "--line-3": "#00ff00", "--line-5": "#0000ff", "--line-7": "#ffffff" };
vi.mock("../src/dom", () => ({ cssColor: (name: string) => COLORS[name] ?? "#000000", el: () => ({}) }));

/** A frame with so many contacts in a row, the k-th with k newtons along y. */
function frame(contacts: number, room: number): Frame {
  const rows = (f: (k: number) => number[]): Float64Array => Float64Array.from(Array.from({ length: room }, (_, k) => f(k)).flat());
  return { contacts, contact_mode: Array.from({ length: room }, (_, k) => k % 5), contact_point: rows((k) => [k, 0, 0]), contact_force: rows((k) => [0, k, 0]) } as unknown as Frame;
}

test("an arrow is as long as its force is large, up to the longest, and a small force has none", () => {
  expect(arrowLength(5, 10, 2)).toBeCloseTo(1);
  expect(arrowLength(50, 10, 2)).toBe(2);
  expect(arrowLength(0.1, 10, 2)).toBe(0);
  expect(arrowLength(0, 0, 2)).toBe(0);
});

test("all contacts are one mesh, at their points, along their forces; no more than there is room for", () => {
  const contacts = new Contacts();
  contacts.build(4);
  expect(contacts.show(frame(9, 4), new THREE.Vector3(0, 0, 5), 1)).toBe(4);
  expect(contacts.root.children.length).toBe(1);
  const mesh = contacts.root.children[0] as THREE.InstancedMesh;
  const X = new THREE.Matrix4();
  mesh.getMatrixAt(3, X);
  expect(new THREE.Vector3().setFromMatrixPosition(X).toArray()).toEqual([3, 0, 0]);
  expect(new THREE.Vector3(0, 0, 1).transformDirection(X).y).toBeCloseTo(1);
  const reach = mesh.geometry.getAttribute("reach");
  expect(reach.getX(0)).toBe(0);
  expect(reach.getX(3)).toBeGreaterThan(reach.getX(1));
  contacts.show(frame(2, 4), new THREE.Vector3(0, 0, 5), 1);
  expect(mesh.count).toBe(2);
});

test("the colour of a contact is that of what it does", () => {
  const contacts = new Contacts();
  contacts.build(5);
  contacts.show(frame(5, 5), new THREE.Vector3(0, 0, 5), 1);
  const mesh = contacts.root.children[0] as THREE.InstancedMesh;
  const shown = [0, 1, 2, 3, 4].map((k) => {
    const color = new THREE.Color();
    mesh.getColorAt(k, color);
    return `#${color.getHexString()}`;
  });
  expect(shown).toEqual(["#00ff00", "#ffffff", "#00ff00", "#ff0000", "#0000ff"]); // unknown, open, stick, slide, roll
});

test("a scene without contacts has nothing to draw", () => {
  const contacts = new Contacts();
  contacts.build(0);
  expect(contacts.show(frame(0, 0), new THREE.Vector3(), 1)).toBe(0);
  expect(contacts.root.children).toEqual([]);
});
