import * as THREE from "three";
import { expect, test, vi } from "vitest";
import type { Body, Hello, Shape } from "../src/protocol";
import { Bodies } from "../src/scene/bodies";

vi.mock("../src/dom", () => ({ cssColor: () => "#0000ff" }));

const QUALITY = { antialias: false, pixelRatio: 1, shadowPixels: 1, softShadows: false, reflections: false, adapt: false };
const SHAPE: Shape = { kind: "sphere", size: [0.1], position: [0, 0, 0], quaternion: [1, 0, 0, 0], color: null, role: "both" };
const PLANE: Shape = { ...SHAPE, kind: "plane", size: [] };
const H = Math.SQRT1_2;
const ORIGIN = new THREE.Vector3();

function make(bodies: Body[], poses: number[][], parked: number[] = []): Bodies {
  const made = new Bodies({ bodies } as unknown as Hello, QUALITY);
  made.park(parked);
  made.place(poses.flat());
  made.planes.fit(ORIGIN, 2);
  return made;
}

/** world, a floor at z = -0.66, a wall at x = 1 that looks to -x, a ball at (ball_x, 0, 1) that can be touched */
function scene(ball_x = 0): Bodies {
  const names = ["world", "floor", "wall", "ball"];
  const bodies = names.map((name) => ({
    name, touchable: name === "ball", shapes: name === "world" ? [] : [name === "ball" ? SHAPE : PLANE],
  }));
  return make(bodies, [
    [0, 0, 0, 1, 0, 0, 0],
    [0, 0, -0.66, 1, 0, 0, 0],
    [1, 0, 1, H, 0, -H, 0],
    [ball_x, 0, 1, 1, 0, 0, 0],
  ]);
}

function ray(from: number[], to: number[]): THREE.Raycaster {
  const a = new THREE.Vector3().fromArray(from);
  return new THREE.Raycaster(a, new THREE.Vector3().fromArray(to).sub(a).normalize());
}

function meshes(bodies: Bodies): THREE.InstancedMesh[] {
  return bodies.root.children.filter((child) => child instanceof THREE.InstancedMesh);
}

test("a level plane is the ground, wherever its body is, and the highest of several; a wall is not", () => {
  expect(scene().planes.ground()).toBeCloseTo(-0.66);
  const floors = [-1, 0.2, 0].map((z) => [0, 0, z, 1, 0, 0, 0]);
  const several = make(floors.map((_, i) => ({ name: `floor${i}`, touchable: false, shapes: [PLANE] })), floors);
  expect(several.planes.ground()).toBeCloseTo(0.2);
  expect(make([{ name: "world", touchable: false, shapes: [] }], [[0, 0, 0, 1, 0, 0, 0]]).planes.ground()).toBeNull();
});

test("what is seen takes up space, planes do not", () => {
  const corners = scene().corners();
  expect([...corners.keys()]).toEqual([3]);
  const size = new THREE.Box3().setFromPoints(corners.get(3)!).getSize(new THREE.Vector3());
  expect(size.x).toBeCloseTo(0.2, 2);
  expect(scene(0.5).center(3).distanceTo(new THREE.Vector3(0.5, 0, 1))).toBeLessThan(1e-6);
});

test("a slope is a slab of the size of the scene", () => {
  const tilt = Math.PI / 18; // half of 20 degrees
  const slope = make([{ name: "slope", touchable: false, shapes: [PLANE] }], [[0, 0, 0, Math.cos(tilt), 0, Math.sin(tilt), 0]]);
  slope.planes.fit(ORIGIN, 0.1);
  const box = new THREE.Box3().setFromPoints(slope.planes.slopes());
  expect(box.max.x - box.min.x).toBeGreaterThan(0.3);
  expect(box.max.x - box.min.x).toBeLessThan(0.5);
  expect(slope.planes.ground()).toBeNull();
});

test("a touch goes through the back of a wall, not through its front", () => {
  const hit = scene().pick(ray([3, 0, 1], [0, 0, 1]));
  expect(hit?.body).toBe(3);
  expect(hit?.point.x).toBeCloseTo(0.1, 2);
  expect(scene(2).pick(ray([0, 0, 1], [2, 0, 1]))).toBeNull();
});

test("a ground does not hide what is above it from below", () => {
  expect(scene().pick(ray([0, 0, -2], [0, 0, 1]))?.body).toBe(3);
});

test("points go to the body and back", () => {
  const bodies = scene();
  const point = new THREE.Vector3(0.1, 0.2, 1.3);
  expect(bodies.toWorld(2, bodies.toBody(2, point)).distanceTo(point)).toBeLessThan(1e-12);
});

/** n solids 1 m apart along x, of four kinds in turn and all of different sizes */
function crowd(n: number): Bodies {
  const kinds: Pick<Shape, "kind" | "size">[] = [
    { kind: "box", size: [0.1, 0.2, 0.3] },
    { kind: "sphere", size: [0.1] },
    { kind: "capsule", size: [0.1, 0.2] },
    { kind: "cylinder", size: [0.1, 0.2] },
  ];
  const bodies = Array.from({ length: n }, (_, i) => {
    const { kind, size } = kinds[i % 4]!;
    const color = [i / n, 0, 0, 1] as Shape["color"];
    return { name: `solid${i}`, touchable: true, shapes: [{ ...SHAPE, kind, size: size.map((s) => s * (1 + i / n)), color }] };
  });
  return make(bodies, bodies.map((_, i) => [i, 0, 0, 1, 0, 0, 0]));
}

test("two hundred solids of four kinds are four meshes, and a touch knows which one it met", () => {
  const bodies = crowd(200);
  expect(meshes(bodies)).toHaveLength(4);
  for (const i of [1, 2, 3, 4, 199]) {
    const hit = bodies.pick(ray([i, -3, 0], [i, 0, 0]));
    expect(hit?.body).toBe(i);
    expect(hit!.point.y).toBeCloseTo(-0.1 * (1 + i / 200), 2);
  }
  bodies.place(Array.from({ length: 200 }, (_, i) => [i, 5, 0, 1, 0, 0, 0]).flat());
  expect(bodies.pick(ray([7, -3, 0], [7, 0, 0]))?.point.y).toBeGreaterThan(4);
});

test("what is held is tinted, the others keep their colours, and it gets its own back", () => {
  const bodies = crowd(8);
  const color = (body: number): THREE.Color => {
    const out = new THREE.Color();
    meshes(bodies)[body % 4]!.getColorAt(Math.floor(body / 4), out);
    return out;
  };
  const before = [color(4), color(5)];
  bodies.highlight(new Map([[4, 0.5]]));
  expect(color(4).b).toBeGreaterThan(0.4);
  expect(color(5).equals(before[1]!)).toBe(true);
  bodies.highlight(new Map([[6, 0.5]]));
  expect(color(4).equals(before[0]!)).toBe(true);
});

test("what is only touched is not drawn, nor is what the page does not know", () => {
  const sole: Shape = { ...SHAPE, size: [0.005], role: "collision" };
  const foot: Body = { name: "foot", touchable: true, shapes: [{ ...SHAPE, kind: "box", size: [0.1, 0.1, 0.1] }, sole, sole] };
  const other: Body = { name: "scan", touchable: true, shapes: [{ ...SHAPE, kind: "mesh", size: [1, 1, 1] }] };
  const bodies = make([foot, other], [[0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0]]);
  expect(meshes(bodies).map((mesh) => mesh.count)).toEqual([1]);
  expect(bodies.center(1).x).toBe(1);
});

test("what is drawn of a wall has level edges, however the plane is turned about its normal", () => {
  const wall: Body = { name: "wall", touchable: false, shapes: [PLANE] };
  const [about, roll] = [new THREE.Quaternion(0, -H, 0, H), new THREE.Quaternion().setFromAxisAngle(new THREE.Vector3(0, 0, 1), 0.4)];
  const q = about.multiply(roll); // looks to -x
  const bodies = make([wall], [[1, 0, 0, q.w, q.x, q.y, q.z]]);
  const front = bodies.planes.fronts()[0]!;
  const edge = new THREE.Vector3(1, 0, 0).transformDirection(front.matrixWorld);
  expect(Math.abs(edge.z)).toBeLessThan(1e-6);
  expect(Math.abs(edge.y)).toBeCloseTo(1);
});

const REST = [0, 0, 0, 1, 0, 0, 0];

test("what is hit has an outward normal, also of shapes that are scaled and bodies that are turned", () => {
  const slab: Body = { name: "slab", touchable: true, shapes: [{ ...SHAPE, kind: "box", size: [2, 0.1, 0.5] }] };
  const bodies = make([slab], [[0, 0, 0, H, 0, 0, H]]); // its y is now -x
  const found = bodies.pick(ray([-3, 0.4, 0], [0, 0.4, 0]))!;
  expect(found.normal.distanceTo(new THREE.Vector3(-1, 0, 0))).toBeLessThan(1e-6);
  const ball = scene().pick(ray([-1, 0, 1.05], [1, 0, 1.05]))!;
  expect(ball.normal.distanceTo(new THREE.Vector3(-Math.sqrt(0.75), 0, 0.5))).toBeLessThan(0.02);
});

test("the surface of a body is found behind others", () => {
  const bodies = scene();
  bodies.place([REST, [0, 0, -0.66, 1, 0, 0, 0], [1, 0, 1, H, 0, -H, 0], [0, 0, 1, 1, 0, 0, 0]].flat());
  expect(bodies.surface(3, ray([3, 0, 1], [0, 0, 1]))!.point.x).toBeCloseTo(0.1, 2);
  expect(bodies.surface(3, ray([3, 0, 2], [0, 0, 2]))).toBeNull();
});

test("an obstacle is found to be moved, and not seen, nor counted, while it waits", () => {
  const ball = (name: string): Body => ({ name, touchable: false, movable: true, spare: true, shapes: [SHAPE] });
  const bodies = make([ball("a"), ball("b")], [REST, [0, 0, -100, 1, 0, 0, 0]], [0, 1]);
  expect(bodies.pick(ray([-3, 0, 0], [0, 0, 0]))).toMatchObject({ body: 0, movable: true });
  expect([...bodies.corners().keys()]).toEqual([0]);
  expect(bodies.pick(ray([-3, 0, -100], [0, 0, -100]))).toBeNull();
  const X = new THREE.Matrix4();
  meshes(bodies)[0]!.getMatrixAt(1, X);
  expect(X.getMaxScaleOnAxis()).toBeLessThan(1e-6);
  bodies.park([0, 0]); // added
  bodies.place([...REST, 1, 0, 0, 1, 0, 0, 0]);
  expect([...bodies.corners().keys()]).toEqual([0, 1]);
  expect(bodies.pose(1)).toEqual([1, 0, 0, 1, 0, 0, 0]);
});

test("whether a body is there is not a matter of height", () => {
  const bodies = make([-1e4, -60, 0, 60, 1e4].map((z): Body => ({ name: `${z}`, touchable: true, loose: z > 0, shapes: [SHAPE] })),
    [-1e4, -60, 0, 60, 1e4].map((z) => [0, 0, z, 1, 0, 0, 0]));
  expect([...bodies.corners().keys()]).toEqual([0, 1, 2, 3, 4]);
  expect(bodies.pick(ray([-3, 0, -60], [0, 0, -60]))).toMatchObject({ body: 1 });
});

test("a free body that waits is not seen, found nor counted; the same height is a place for others", () => {
  const ball = (name: string, loose: boolean): Body => ({ name, touchable: true, loose, shapes: [SHAPE] });
  const high = [0, 0, 100, 1, 0, 0, 0];
  const bodies = make([ball("waits", true), ball("flies", false)], [high, [3, 0, 100, 1, 0, 0, 0]], [1, 0]);
  expect([...bodies.corners().keys()]).toEqual([1]);
  expect(bodies.pick(ray([-3, 0, 100], [0, 0, 100]))).toMatchObject({ body: 1 }); // through the one that waits
  bodies.park([0, 0]); // added
  bodies.place([...REST, ...high]);
  expect(bodies.pick(ray([-3, 0, 0], [0, 0, 0]))).toMatchObject({ body: 0, movable: false });
  expect([...bodies.corners(0).keys()]).toEqual([0]);
});

test("each mesh is loaded once, is nothing until it has come, and can then be touched; one that fails harms nothing", async () => {
  const part = (mesh: number): Shape => ({ ...SHAPE, kind: "mesh", size: [1, 1, 1], mesh });
  const names = ["a", "b", "c"];
  const shapes = [[part(0)], [part(0), { ...SHAPE, size: [9], role: "collision" as const }], [part(1)]];
  const list = names.map((name, i): Body => ({ name, touchable: true, shapes: shapes[i]! }));
  const asked: number[] = [];
  const load = (mesh: number): Promise<THREE.BufferGeometry> => {
    asked.push(mesh);
    return mesh === 0 ? Promise.resolve(new THREE.BoxGeometry(1, 1, 1)) : Promise.reject(new Error("none"));
  };
  let bodies!: Bodies;
  await new Promise<void>((ready) => {
    bodies = new Bodies({ bodies: list } as unknown as Hello, QUALITY, ready, load);
    bodies.place([REST, [0, 5, 0, 1, 0, 0, 0], [0, 9, 0, 1, 0, 0, 0]].flat());
    expect(meshes(bodies)).toEqual([]);
    expect(bodies.pick(ray([-3, 5, 0], [0, 5, 0]))).toBeNull();
  });
  expect(asked).toEqual([0, 1]);
  expect(meshes(bodies).map((mesh) => mesh.count)).toEqual([2]);
  expect(bodies.pick(ray([-3, 5, 0], [0, 5, 0]))?.body).toBe(1);
  expect([...bodies.corners().keys()]).toEqual([0, 1]);
});
