"""Things thinner than the margin: what touches carries, however near the rest is."""

import itertools

import numpy as np
import pytest
from scenes import BOX_TRIANGLES, body, box_vertices, pose, random_rotation, write_mesh

import palpate as pp
from palpate.collision.facade import Collider

# Part of the extent of a patch up to which its corners are kept; TIE of reduce.py.
SHARE = 1e-3
# Of a patch with more corners than four: what may stick out of those that are kept.
STICKS_OUT = 0.2


def studs(points: np.ndarray) -> tuple[pp.Shape, ...]:
    """A body whose lowest points are these."""
    return tuple(pp.Shape("sphere", (1e-3,), pp.Transform(p=(x, y, z + 1e-3))) for x, y, z in points.tolist())


def kept(points: np.ndarray, margin: float, at: np.ndarray, yaw: float) -> tuple[np.ndarray, np.ndarray]:
    """Of points (n, 3) above a plane: (corners that stay, in the body's axes; their gaps)."""
    R = pp.Rotation.about((0, 0, 1), yaw)
    model = pp.compile([pp.models.plane(), body("a", *studs(points))])
    found = Collider(model, margin=margin).contacts(pose(R, at))
    return np.array([R.inv().apply(c.point - at) for c in found])[:, :2], np.array([c.gap for c in found])


def reach(points: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """How far points (n, 2) reach in each direction."""
    return (points @ np.array([np.cos(angles), np.sin(angles)])).max(axis=0)


def quadrilateral(rng: np.random.Generator) -> np.ndarray:
    """Corners of a convex quadrilateral, four points on an ellipse, and points inside."""
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, 4))
    corners = np.array([np.cos(angles), rng.uniform(0.02, 1.0) * np.sin(angles)]).T
    return rng.permutation(np.vstack([corners, rng.dirichlet(np.ones(4), size=8) @ corners]))


def test_touching_points_are_never_dropped_for_points_that_do_not():
    """Four corners and what is between them touch; others, as many and wider apart, are a little above."""
    rng, angles = np.random.default_rng(1), np.linspace(0.0, 2.0 * np.pi, 60)
    for _ in range(60):
        size, yaw = 10.0 ** rng.uniform(-3.0, 0.0), rng.uniform(0.0, 6.0)
        low = quadrilateral(rng) * size
        near = quadrilateral(rng) * size * rng.uniform(0.5, 3.0)
        above = size * 10.0 ** rng.uniform(-3.5, -2.0)
        points = rng.permutation(
            np.vstack([np.c_[low, np.zeros(len(low))], np.c_[near, rng.uniform(above, 2.0 * above, len(near))]])
        )
        at = np.array([*rng.uniform(-1.0, 1.0, 2), rng.choice([0.0, 0.1 * above, -0.5 * above])])
        corners, gaps = kept(points, 10.0 * above, at, yaw)
        touching = corners[gaps < at[2] + 0.5 * above]
        extent = np.ptp(low, axis=0).max()
        assert reach(touching, angles) == pytest.approx(reach(low, angles), abs=SHARE * extent)
        assert len(touching) <= 4
        assert len(corners) <= 7


def test_the_deepest_point_is_kept():
    rng = np.random.default_rng(2)
    for _ in range(60):
        size = 10.0 ** rng.uniform(-3.0, 0.0)
        points = rng.uniform(-1.0, 1.0, (20, 3)) * [size, size, 0.05 * size]
        at = np.array([0.0, 0.0, rng.uniform(-0.1, 0.1) * size])
        _, gaps = kept(points, 0.2 * size, at, 0.3)
        assert gaps.min() == pytest.approx(points[:, 2].min() + at[2], abs=1e-4 * size)


def test_whatever_the_outline_no_corner_far_outside_is_missed():
    rng, angles = np.random.default_rng(3), np.linspace(0.0, 2.0 * np.pi, 60)
    for n in (3, 4, 5, 6, 7, 8, 12, 24):
        for wide in (1.0, 0.5, 0.1):
            ring = np.linspace(0.0, 2.0 * np.pi, n + 1)[:n] + rng.uniform(0.0, 1.0)
            if wide < 1.0:
                ring = rng.uniform(0.0, 2.0 * np.pi, n)
            points = np.c_[np.cos(ring), wide * np.sin(ring), np.zeros(n)]
            corners, _ = kept(points, 0.01, np.zeros(3), 0.7)
            lost = reach(points[:, :2], angles) - reach(corners, angles)
            assert len(corners) <= 8
            assert lost.max() < STICKS_OUT * np.linalg.norm(np.ptp(points, axis=0))


def slab(kind: str, x: float, y: float, thickness: float, path) -> pp.Shape:
    """A flat thing with its axis along z."""
    if kind == "box":
        return pp.Shape("box", (x, y, thickness))
    if kind == "cylinder":
        return pp.Shape("cylinder", (0.5 * x, thickness))
    file = write_mesh(path / f"{kind}.obj", box_vertices(x, y, thickness), BOX_TRIANGLES)
    return pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=file, convex=kind == "hull")


GROUNDS = {
    "plane": lambda: pp.models.plane(),
    "box": lambda: pp.models.box((3.0, 3.0, 0.2), at=(0, 0, -0.1), fixed=True, name="ground"),
}


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("kind", ["box", "cylinder", "hull", "mesh"])
def test_of_a_thin_thing_only_the_lower_face_is_a_contact(kind, ground, tmp_path):
    """However thin, tilted a little, and turned: the outline of the lower face, and no point above another."""
    rng, angles = np.random.default_rng(4), np.linspace(0.0, 2.0 * np.pi, 24)
    for thickness in (5e-5, 2e-4, 1e-3, 3e-3, 2e-2):
        x, y = (0.1, 0.1) if kind == "cylinder" else (0.1, 0.06)
        collider = Collider(pp.compile([GROUNDS[ground](), body("a", slab(kind, x, y, thickness, tmp_path))]))
        for _ in range(8):
            up = rng.integers(2)
            tilt = pp.Rotation.about((np.cos(a := rng.uniform(0, 6)), np.sin(a), 0), rng.choice([0.0, 1e-9, 1e-7]))
            R = pp.Rotation.about((0, 0, 1), rng.uniform(0, 6)) @ tilt @ pp.Rotation.about((1, 0, 0), np.pi * up)
            p = np.array([0.2, -0.1, 0.5 * thickness + rng.choice([0.0, 1e-7, -1e-7])])
            found = collider.contacts(pose(R, p))
            flat = np.array([R.inv().apply(c.point - p) for c in found])
            assert len(found) == 4
            assert flat[:, 2] == pytest.approx(np.full(4, -0.5 * thickness * (1 - 2 * up)), abs=1e-6)
            outline = box_vertices(x, y, thickness)[:4, :2] if kind != "cylinder" else flat[:, :2]
            assert reach(flat[:, :2], angles) == pytest.approx(reach(outline, angles), abs=1e-5)


def thing(shape: pp.Shape, size: tuple[float, float, float], R: pp.Rotation, height: float) -> pp.MultiBody:
    """One free body of density 1000 kg/m^3, as heavy as its bounding box."""
    x, y, z = size
    m = 1000.0 * x * y * z
    inertia = (m / 12 * (y * y + z * z), m / 12 * (x * x + z * z), m / 12 * (x * x + y * y))
    part = pp.Body("thing", mass=m, inertia=inertia, shapes=(shape,))
    place = pp.Transform(R, (0.03, -0.02, height))
    return pp.MultiBody("thing", (part,), (pp.Joint("free", "free", "world", "thing", placement=place),))


LYING = pp.Rotation.about((0, 1, 0), np.pi / 2)
FLAT = [
    ("box", (0.1, 0.06), t) for t in (5e-5, 1e-3, 3e-3, 5e-2)
] + [("cylinder", (0.024, 0.024), t) for t in (5e-5, 2e-3, 5e-2)] + [(k, (0.1, 0.06), t) for k, t in
    itertools.product(("hull", "mesh"), (5e-5, 2e-3))]  # fmt: skip
BARS = [
    ("box", (0.1, 0.003), 3e-3),
    ("box", (0.3, 0.001), 1e-3),
    ("cylinder", (0.002, 0.002), 0.1),
    ("hull", (0.1, 0.003), 3e-3),
]


@pytest.mark.parametrize("ground", GROUNDS)
def test_thin_things_stay_at_rest(ground, tmp_path):
    """Coins, plates, foils and bars, at any yaw: no spin, no sinking."""
    rng = np.random.default_rng(5)
    for kind, (x, y), thickness in FLAT + BARS:
        yaw, friction = pp.Rotation.about((0, 0, 1), rng.uniform(0.0, 6.0)), rng.choice([0.0, 0.2, 1.0])
        lies = kind == "cylinder" and thickness > 4 * x
        R, height = (yaw @ LYING, 0.5 * x) if lies else (yaw, 0.5 * thickness)
        shape = slab(kind, x, y, thickness, tmp_path)
        shape = pp.Shape(shape.kind, shape.size, mesh=shape.mesh, convex=shape.convex,
                         material=pp.Material(friction=float(friction)))  # fmt: skip
        world = pp.World([GROUNDS[ground](), thing(shape, (x, y, thickness), R, height)])
        start = world.q.copy()
        world.step(200)
        case = f"{kind} {x} {y} {thickness} on {ground}"
        assert world.q[2] == pytest.approx(start[2], abs=1e-6 * max(x, 0.1)), case
        assert np.linalg.norm(world.v[:3]) < 1e-4, case
        assert world.q[3:] == pytest.approx(start[3:], abs=1e-6), case


def test_random_thin_bodies_come_to_rest_flat():
    """Dropped from just above their lower faces, a little tilted: they end flat on the floor."""
    rng = np.random.default_rng(6)
    for _ in range(6):
        thickness = 10.0 ** rng.uniform(-3.5, -2.0)
        size = (0.05 * rng.uniform(1, 3), 0.05, thickness)
        tilt = pp.Rotation.about(tuple(random_rotation(rng).apply((1, 0, 0)) * [1, 1, 0]), 2e-3)
        world = pp.World([pp.models.plane(), thing(pp.Shape("box", size), size, tilt, 0.5 * thickness + 5e-4)])
        world.step(400)
        assert np.abs(world.v).max() < 1e-6
        assert world.pose("thing")[2, 3] == pytest.approx(0.5 * thickness, abs=2e-6)
