"""What moves farther in a step than it is thick: it is stopped by what it meets, and by nothing else."""

import numpy as np
import pytest

import palpate as pp

DT_S = 1e-3
# shape, principal extents [m]; inertia is that of a box
SHAPES = {
    "ball": (pp.Shape("sphere", (0.05,)), (0.1, 0.1, 0.1)),
    "box": (pp.Shape("box", (0.1, 0.06, 0.04)), (0.1, 0.06, 0.04)),
    "plate": (pp.Shape("box", (0.2, 0.1, 0.004)), (0.2, 0.1, 0.004)),
    "capsule": (pp.Shape("capsule", (0.02, 0.1)), (0.04, 0.04, 0.14)),
    "can": (pp.Shape("cylinder", (0.04, 0.1)), (0.08, 0.08, 0.1)),
    "coin": (pp.Shape("cylinder", (0.012, 0.002)), (0.024, 0.024, 0.002)),
}


def hull(folder) -> tuple[pp.Shape, tuple[float, float, float]]:
    """A double pyramid with four sides."""
    path = folder / "stone.obj"
    corners = [(0.06, 0, 0), (0, 0.06, 0), (-0.06, 0, 0), (0, -0.06, 0), (0, 0, 0.05), (0, 0, -0.05)]
    faces = [(1, 2, 5), (2, 3, 5), (3, 4, 5), (4, 1, 5), (2, 1, 6), (3, 2, 6), (4, 3, 6), (1, 4, 6)]
    path.write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {a} {b} {c}\n" for a, b, c in faces)
    )
    return pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=path, convex=True), (0.1, 0.1, 0.08)


def thing(name: str, shape: pp.Shape, extents, restitution: float = 0.0, friction: float = 0.3) -> pp.MultiBody:
    """A free body of 1 kg, with the inertia of one four times as large.

    What becomes of a spin of several turns a step is not asked here.
    """
    shape = pp.Shape(shape.kind, shape.size, mesh=shape.mesh, convex=shape.convex,
                     material=pp.Material(friction=friction, restitution=restitution))  # fmt: skip
    x, y, z = np.square(extents) * 16.0 / 12.0 + 1e-3
    part = pp.Body(name, mass=1.0, inertia=(y + z, x + z, x + y), shapes=(shape,))
    return pp.MultiBody(name, (part,), (pp.Joint(f"{name}_joint", "free", "world", name),))


def wall(name: str, size, at) -> pp.MultiBody:
    return pp.models.box(size, at=at, fixed=True, name=name)


def turned(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def throw(world: pp.World, k: int, at, quaternion, velocity, spin) -> None:
    """Place free body k; the velocity is that in the world."""
    R = pp.Rotation(tuple(quaternion))
    world.q[7 * k : 7 * k + 7] = [*at, *quaternion]
    world.v[6 * k : 6 * k + 6] = [*spin, *R.inv().apply(velocity)]


def velocity_of(world: pp.World, k: int) -> np.ndarray:
    return pp.Rotation(tuple(world.q[7 * k + 3 : 7 * k + 7])).apply(world.v[6 * k + 3 : 6 * k + 6])


def everything(tmp_path):
    return {**SHAPES, "stone": hull(tmp_path)}


@pytest.mark.parametrize("integrator", ["semi-implicit", "runge-kutta"])
def test_what_is_thrown_at_a_wall_stays_on_its_side(integrator, tmp_path):
    """Whatever the speed, and however thin the wall and the body."""
    rng = np.random.default_rng(1)
    for name, (shape, extents) in everything(tmp_path).items():
        for thickness in (0.2, 0.02, 0.002):
            parts = [wall("wall", (thickness, 9.0, 9.0), (0.5 * thickness, 0, 0)), thing("a", shape, extents)]
            world = pp.World(parts, dt=DT_S, gravity=(0, 0, 0), integrator=integrator)
            for speed in (3.0, 30.0, 300.0, 1000.0):
                q = (1.0, 0.0, 0.0, 0.0) if speed == 300.0 else turned(rng)
                throw(world, 0, (-0.5 - rng.uniform(), 0, 0), q, (speed, 0, 0), rng.normal(size=3))
                world.step(min(int(2.0 / speed / DT_S), 700) + 60)
                assert world.q[0] < 0.0, f"{name} at {speed} m/s through {thickness} m"
                assert velocity_of(world, 0)[0] < 0.02 * speed, f"{name} at {speed} m/s is not stopped"


def room(half: float, thickness: float) -> list[pp.MultiBody]:
    walls = []
    for axis in range(3):
        for side in (-1, 1):
            size, at = np.full(3, 2.0 * (half + thickness)), np.zeros(3)
            size[axis], at[axis] = thickness, side * (half + 0.5 * thickness)
            walls.append(wall(f"wall{axis}{side}", tuple(size), tuple(at)))
    return walls


def shell(half: float, path) -> list[pp.MultiBody]:
    """A room of twelve triangles that face inwards."""
    corners = [(x, y, z) for z in (-half, half) for y in (-half, half) for x in (-half, half)]
    quads = [(1, 2, 4, 3), (5, 7, 8, 6), (1, 5, 6, 2), (3, 4, 8, 7), (1, 3, 7, 5), (2, 6, 8, 4)]
    lines = [f"v {x} {y} {z}\n" for x, y, z in corners]
    lines += [f"f {a} {b} {c}\nf {a} {c} {d}\n" for a, b, c, d in quads]
    path.write_text("".join(lines))
    part = pp.Body("shell", shapes=(pp.Shape("mesh", (1.0, 1.0, 1.0), mesh=path, convex=False),))
    return [pp.MultiBody("shell", (part,), (pp.Joint("shell_joint", "fixed", "world", "shell"),))]


def test_what_is_thrown_in_a_closed_room_never_leaves_it(tmp_path):
    """Walls of boxes, thick and thin, or of triangles without any thickness."""
    rng = np.random.default_rng(2)
    shapes = everything(tmp_path)
    for restitution, friction, thickness in ((0.0, 0.5, 0.02), (0.5, 0.0, 0.2), (0.5, 0.4, 0.005), (0.0, 0.3, 0.0)):
        things = [thing(name, *shape, restitution, friction) for name, shape in shapes.items()]
        walls = room(1.0, thickness) if thickness else shell(1.0, tmp_path / "shell.obj")
        world = pp.World([*walls, *things], dt=DT_S)
        for _ in range(5):
            for k in range(len(things)):
                at = (-0.75 + 0.25 * k, *rng.uniform(-0.5, 0.5, 2))
                way = rng.normal(size=3)
                way *= 10.0 ** rng.uniform(0.0, 3.0) / np.linalg.norm(way)
                throw(world, k, at, turned(rng), way, rng.normal(size=3) * 10.0 ** rng.uniform(0.0, 2.0))
            for step in range(25):
                world.step(8)
                out = [name for k, name in enumerate(shapes) if np.abs(world.q[7 * k : 7 * k + 3]).max() > 1.0]
                assert not out, f"{out} left after {8 * step} steps"


def test_fast_bodies_do_not_pass_through_each_other(tmp_path):
    """Two whose centres meet do not go on as if nothing were there, and keep their momentum; balls stay in order."""
    rng = np.random.default_rng(3)
    shapes = list(everything(tmp_path).values())
    for one, other in [(0, 0), (0, 1), (1, 1), (1, 4), (3, 6), (4, 4), (6, 2), (5, 0)]:
        world = pp.World([thing("a", *shapes[one]), thing("b", *shapes[other])], dt=DT_S, gravity=(0, 0, 0))
        for speed in (5.0, 60.0, 300.0, 1000.0):
            u, v = speed * rng.uniform(0.5, 1.0), -speed * rng.uniform(0.0, 1.0)
            throw(world, 0, (-1.0 - rng.uniform(), 0, 0), turned(rng), (u, 0, 0), np.zeros(3))
            throw(world, 1, (0.3, 0, 0), turned(rng), (v, 0, 0), np.zeros(3))
            world.step(min(int(3.0 / (u - v) / DT_S), 900) + 10)
            total = velocity_of(world, 0) + velocity_of(world, 1)
            assert total == pytest.approx([u + v, 0.0, 0.0], abs=1e-6 * speed)
            a, b = velocity_of(world, 0), velocity_of(world, 1)
            assert np.linalg.norm(a - [u, 0.0, 0.0]) > 0.1 * (u - v), f"{one} through {other} at {speed}"
            if one == other == 0:
                assert world.q[0] < world.q[7] - 0.099
                assert a[0] < b[0] + 1e-6 * speed


def test_what_flies_past_an_edge_is_not_deflected(tmp_path):
    """Past the edge of a block and past another body, by less than the margin: velocity and spin stay."""
    rng = np.random.default_rng(4)
    for name in ("ball", "box", "capsule", "can"):
        shape, extents = SHAPES[name]
        parts = [wall("block", (1.0, 1.0, 1.0), (0, 0, -0.5)), thing("a", shape, extents), thing("b", shape, extents)]
        world = pp.World(parts, dt=DT_S, gravity=(0, 0, 0))
        for _ in range(40):
            speed, clear = 10.0 ** rng.uniform(1.0, 3.0), 10.0 ** rng.uniform(-3.3, -2.3)
            q = turned(rng)
            low = -_lowest(shape, pp.Rotation(tuple(q)))
            # from below the edge x = 0.5 of the top, at a slant, so that the lowest point misses it
            throw(world, 0, (-1.0, rng.uniform(-0.3, 0.3), low + clear), q, (speed, 0, 0), np.zeros(3))
            throw(world, 1, (0.0, 0.0, 3.0), turned(rng), np.zeros(3), np.zeros(3))
            world.step(int(2.0 / speed / DT_S) + 5)
            assert velocity_of(world, 0) == pytest.approx([speed, 0.0, 0.0], abs=1e-9 * speed), name
            assert world.q[0] > 0.5


def _lowest(shape: pp.Shape, R: pp.Rotation) -> float:
    z, s = R.inv().apply((0.0, 0.0, 1.0)), shape.size
    if shape.kind == "sphere":
        return -s[0]
    if shape.kind == "capsule":
        return -s[0] - 0.5 * s[1] * abs(z[2])
    if shape.kind == "box":
        return -0.5 * float(np.abs(z) @ np.array(s))
    return -float(s[0] * np.hypot(z[0], z[1]) + 0.5 * s[1] * abs(z[2]))


def test_a_ball_shot_past_a_corner_keeps_its_way():
    """Diagonally past the edge of a block, where the plane of the nearest contact would bar the way."""
    rng = np.random.default_rng(5)
    world = pp.World([wall("block", (1.0, 1.0, 1.0), (0, 0, -0.5)), thing("a", *SHAPES["ball"])], gravity=(0, 0, 0))
    for _ in range(100):
        speed, clear, slope = 10.0 ** rng.uniform(1.0, 3.0), 10.0 ** rng.uniform(-3.3, -1.0), rng.uniform(0.2, 1.3)
        way = np.array([np.cos(slope), 0.0, np.sin(slope)])
        side = np.array([-way[2], 0.0, way[0]])  # up and to the left, away from the block's edge at x = -0.5, z = 0
        start = np.array([-0.5, 0.0, 0.0]) + (0.05 + clear) * side - rng.uniform(0.3, 0.6) * way
        throw(world, 0, start, (1.0, 0.0, 0.0, 0.0), speed * way, np.zeros(3))
        world.step(int(1.5 / speed / DT_S) + 3)
        assert velocity_of(world, 0) == pytest.approx(speed * way, abs=1e-9 * speed)
