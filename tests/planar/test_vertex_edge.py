"""Vertices on edges: which are found, by which edge they came in, and that none slips through."""

import numpy as np
import pytest
from body_doors import god_door
from polygon_families import FAMILIES, box, convex, outside_of, placed, poses, separation, shapes

from palpate.jit import Block
from palpate.planar.bodies.description import EdgeSurface, PlanarBody, Polygon
from palpate.planar.bodies.polygons import tables_of
from palpate.planar.bodies.rooms import peg_in_hole
from palpate.planar.bodies.tables import CONTINUOUS
from palpate.planar.bodies.world import PlanarWorld

SPRING = EdgeSurface(wall="seh", friction=None, impulse=False)
PULSE = EdgeSurface(wall="seh", friction=None, restitution=0.5)
NOTHING = EdgeSurface(wall="zoh", wall_settings={"stiffness_N_m": 0.0}, friction=None, impulse=False)
DT = 0.002


def god(polygon, way):
    """(n, 5) of a point on its way, as god_door has it; the polygon's centre is left where it is."""
    block = Block(tables_of([np.asarray(polygon, dtype=float)], np.ones((2, 3))))
    out = np.zeros((len(way), 5))
    god_door(block.address, np.ascontiguousarray(way, dtype=float), out)
    return out


def touching(world):
    """{(vertex, body of the edge)} that touch now."""
    c = world.contacts
    return {(int(c.vertex[row]), int(world.polygons.body[c.edge[row]])) for row in world.touching}


@pytest.mark.nojit
def test_god_object_keeps_the_edge_by_which_the_vertex_came():
    """Planar haptics, acceptance 15; the nearest edge would be another one, with a sideways force."""
    found = god(0.1 * np.array([(0, 0), (1, 0), (1, 1), (0, 1)]), [(0.085, 0.105), (0.098, 0.090)])[1]
    assert found[0] == 2  # the top one, whose normal is (0, 1)
    assert found[1] == pytest.approx(0.010, abs=1e-9)
    assert found[4] == 1  # right


def test_a_world_has_the_same_god_object():
    """Planar haptics, acceptance 15, with bodies, and the wall turned and elsewhere."""
    small = Polygon(0.001 * np.array([(0.0, 0.0), (1.0, 20.0), (-1.0, 20.0)]))
    for turn, x, y in ((0.0, 0.0, 0.0), (1.0, 3.0, -2.0), (-40.0, 100.0, 5.0)):
        c, s = np.cos(turn), np.sin(turn)
        wall = PlanarBody("wall", Polygon.box(0.1, 0.1, (0.05, 0.05)), pose=(x, y, turn), surface=NOTHING)
        there = [(x + c * u - s * v, y + s * u + c * v) for u, v in ((0.085, 0.105), (0.098, 0.090))]
        speed = np.subtract(there[1], there[0]) / DT
        body = PlanarBody("tip", small, 1.0, pose=(*there[0], turn), velocity=(*speed, 0.0), surface=NOTHING)
        world = PlanarWorld([body, wall])
        world.step(2)
        c_ = world.contacts
        (row,) = (row for row in world.touching if c_.vertex[row] == 0)
        assert c_.depth[row] == pytest.approx(0.010, abs=1e-9)
        np.testing.assert_allclose(c_.normal[row], (-s, c), atol=1e-12)
        np.testing.assert_allclose(c_.point[row], there[1], atol=1e-9)
        np.testing.assert_allclose(c_.god[row], (x + c * 0.098 - s * 0.1, y + s * 0.098 + c * 0.1), atol=1e-9)


@pytest.mark.nojit
def test_god_object_walks_around_and_the_way_along_the_surface_goes_on():
    """A point that circles just inside a polygon of many sides: its place along the surface is its angle's."""
    n, r, d = 40, 0.05, 2e-4
    angles = 2.0 * np.pi * np.arange(n) / n
    polygon = r * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    turns = np.linspace(0.05, 0.05 + 4.0 * np.pi, 1500)
    way = (r * np.cos(np.pi / n) - d) * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    way = np.concatenate([[2.0 * way[0]], way])
    found = god(polygon, way)[1:]
    assert (found[:, 0] >= 0).all()
    side = 2.0 * r * np.sin(np.pi / n)
    along = np.cumsum(np.diff(found[:, 2]) + found[1:, 3])
    assert along[-1] == pytest.approx(2.0 * n * side, abs=side)
    assert (np.diff(along) > 0.0).all()
    back = god(polygon, way[::-1].copy()[:-1])  # it is inside from the beginning: the nearest edge
    assert (back[1:, 0] >= 0).all()
    assert (np.diff(np.cumsum(np.diff(back[1:, 2]) + back[2:, 3])) < 0.0).all()


@pytest.mark.nojit
def test_contact_ends_where_it_came_in_or_where_it_slides_off():
    square = 0.1 * np.array([(0, 0), (1, 0), (1, 1), (0, 1)])
    out = god(square, [(0.05, 0.101), (0.05, 0.098), (0.05, 0.1)])
    assert list(out[1:, 0]) == [2, -1]
    off = god(square, [(0.095, 0.101), (0.099, 0.098), (0.101, 0.098)])  # past the corner, outside the right side
    assert list(off[1:, 0]) == [2, -1]
    around = god([(0.0, 0.0), (0.1, 0.0), (0.07, 0.05), (0.0, 0.08)], [(0.05, 0.08), (0.06, 0.054), (0.078, 0.03)])
    assert list(around[1:, 0]) == [2, 1]  # over an obtuse corner, inside


@pytest.mark.nojit
def test_a_point_pressed_or_thrown_through_something_thin_stays_on_the_side_it_came_from():
    plate = box(0.4, 0.002)
    slow = [(0.0, y) for y in np.linspace(0.0015, -0.01, 40)]
    for way in (slow, [(0.0, 0.5), (0.01, -0.5)], [(0.0, 0.5), (0.01, -0.5), (0.0, -0.2), (0.0, 0.0005)]):
        found = god(plate, way)
        assert found[-1, 0] == 2
        assert found[-1, 1] == pytest.approx(0.001 - way[-1][1], abs=1e-12)
    assert god(plate, [(0.0, 0.5), (0.01, -0.5), (0.3, -0.5)])[-1, 0] == -1  # off its end
    assert god(plate, [(0.15, 0.1), (0.3, -0.2)])[-1, 0] == -1  # past the end: it never met it


def test_no_turn_of_the_way_goes_on_forever_at_a_sharp_tip():
    """A wedge, and points that go past its tip in every way: an edge that they came by, or none."""
    wedge = np.array([(0.0, 0.0), (0.1, -0.002), (0.1, 0.002)])
    rng = np.random.default_rng(8)
    way = rng.uniform((-0.02, -0.01), (0.03, 0.01), (4000, 2))
    found = god(wedge, way)[1:]
    assert set(np.unique(found[:, 0])) <= {-1.0, 0.0, 1.0, 2.0}
    held = found[:, 0] >= 0
    assert (found[held, 1] > 0.0).all()
    assert held.sum() > 100


# ---- pairs of bodies


def drifting(family, rng):
    """A world of two bodies, a little apart, that drift into each other without force, slowly against their size."""
    a, b = shapes(family, rng)
    X = poses(family, rng, a, b)
    X[1, :2] = X[0, :2] + 0.2 * (X[1, :2] - X[0, :2])
    angle = rng.uniform(0.0, 2.0 * np.pi)
    way = np.array([np.cos(angle), np.sin(angle)])
    near, far = 0.0, 4.0 * (np.hypot(*a.T).max() + np.hypot(*b.T).max())
    for _ in range(60):  # how far along `way` they just touch
        middle = 0.5 * (near + far)
        gap = separation(placed(a, X[0], X[0, :2]), placed(b, X[1], X[0, :2]) + middle * way)
        near, far = (near, middle) if gap > 0.0 else (middle, far)
    size = min(np.ptp(a, axis=0).min(), np.ptp(b, axis=0).min())
    X[1, :2] += (far + 0.1 * size) * way
    speed = 0.02 * size / DT
    v = np.array([*(-way * speed), speed / np.hypot(*b.T).max() * rng.uniform(-1, 1)])
    first = PlanarBody("a", Polygon(a), 1.0, pose=tuple(X[0]), surface=NOTHING)
    return PlanarWorld([first, PlanarBody("b", Polygon(b), 1.0, pose=tuple(X[1]), velocity=tuple(v), surface=NOTHING)])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_vertex_that_is_inside_touches(family):
    """Against plain numpy, step by step, until they are deep in each other; no force, and slow."""
    rng = np.random.default_rng(17)
    inside_seen = 0
    for _ in range(4):
        world, met = drifting(family, rng), False
        polygons = [placed(body.outline, (0.0, 0.0, 0.0)) for body in world.bodies]
        for _ in range(120):
            X = world.X.copy()
            world.step()
            a, b = placed(polygons[0], X[1], X[1, :2]), placed(polygons[1], X[2], X[1, :2])
            deep = [(outside_of(b, a), 2, 0), (outside_of(a, b), 1, len(a))]
            size = min(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max())
            found = touching(world)
            for distance, other, first in deep:
                for i in np.flatnonzero(distance < -1e-9 * size):
                    assert (first + i, other) in found
                    inside_seen += 1
            met = met or separation(a, b) < 1e-9 * size
            assert met or not found
    assert inside_seen > 100


def test_a_flat_block_has_two_contacts_and_a_corner_in_a_corner_two():
    floor = PlanarBody("floor", Polygon.box(0.4, 0.05, (0.0, -0.025)), surface=SPRING)
    block = PlanarBody("block", Polygon.box(0.1, 0.06), 1.0, pose=(0.0, 0.0295, 0.0), surface=SPRING)
    world = PlanarWorld([block, floor])
    world.step()
    assert touching(world) == {(0, 2), (1, 2)}
    wall = PlanarBody("wall", Polygon.box(0.05, 0.4, (-0.075, 0.1)), surface=SPRING)
    world = PlanarWorld([block, floor, wall])
    world.place("block", (-0.0005, 0.0295, 0.0))
    world.step()
    assert touching(world) == {(0, 2), (1, 2), (0, 3), (3, 3)}


@pytest.mark.parametrize(("mouth", "of_the_peg"), [(0.0, 4), (0.10, 2)])
def test_a_peg_in_its_hole_touches_at_four_places(mouth, of_the_peg):
    """Planar haptics 2.3: partly inserted it is two of its vertices and two corners of the mouth."""
    world = PlanarWorld(peg_in_hole(SPRING, mouth_m=mouth))
    world.step()
    found = touching(world)
    assert len(found) == 4
    assert sum(vertex in world.edges("peg") for vertex, _ in found) == of_the_peg
    np.testing.assert_allclose(world.contacts.depth[world.touching], 0.001, atol=1e-12)
    assert abs(world.motion.contact[1]).max() < 1e-12  # both sides push alike


def test_corner_passes_corner_and_the_new_contact_begins_from_nothing():
    """Planar haptics, acceptance 16: a tilted block slides over the corner of another at 50 mm/s, pressed 0.6 mm in."""
    v, K, begun = 0.05, 2500.0, 0
    for tilt in (0.2, 0.35, 0.5, 0.785):
        low = Polygon.box(0.1, 0.06)
        fixed = PlanarBody("low", low, surface=SPRING)
        c, s = np.cos(tilt), np.sin(tilt)
        corner = np.array([c * -0.05 + s * 0.03, s * -0.05 - c * 0.03])  # its lowest: vertex 0 when turned so
        start = np.array([0.045, 0.0294]) - corner  # on the top side, near its right end
        block = PlanarBody("block", low, 1e6, pose=(*start, tilt), velocity=(v, 0.0, 0.0), surface=SPRING)
        world = PlanarWorld([block, fixed])
        before: dict[int, float] = {}
        for _ in range(120):
            world.step()
            c_ = world.contacts
            now = {int(row): float(c_.normal_force[row]) for row in world.touching}
            new = [row for row in now if row not in before]
            if before and new:
                begun += 1
                for row in new:
                    assert c_.depth[row] <= v * DT
                    assert now[row] <= 1.01 * 2.0 * K * v * DT
                for row in before.keys() & now.keys():
                    assert now[row] == pytest.approx(before[row], abs=1e-6 + 0.01 * before[row])
            before = now
    assert begun == 4


# ---- nothing slips through


@pytest.mark.parametrize("thickness_m", [0.05, 0.005, 0.0005, 0.00005])
def test_no_body_goes_through_a_thin_wall_however_fast(thickness_m):
    """Thrown at 0.1 to 100 m/s (200 mm a step), in all attitudes and spins; walls at rest and turned."""
    rng = np.random.default_rng(16)
    caught = 0
    for k in range(60):
        speed, turn = 10.0 ** rng.uniform(-1.0, 2.0), rng.uniform(-np.pi, np.pi)
        c, s = np.cos(turn), np.sin(turn)
        shape = Polygon(convex(rng, int(rng.integers(3, 8)))) if k % 2 else Polygon.box(0.1, 0.06)
        gap = rng.uniform(0.07, 0.2)
        sideways = rng.uniform(-0.3, 0.3) * speed
        velocity = (s * speed + c * sideways, -c * speed + s * sideways, rng.uniform(-20.0, 20.0))
        body = PlanarBody("body", shape, 1.0, pose=(-s * gap, c * gap, rng.uniform(-9.0, 9.0)), velocity=velocity,
                          surface=PULSE)  # fmt: skip
        plate = Polygon.box(8.0, thickness_m, (0.0, -0.5 * thickness_m))
        world = PlanarWorld([body, PlanarBody("wall", plate, pose=(0.0, 0.0, turn), surface=PULSE)])
        trace = world.trace(min(round(0.6 / speed / DT) + 60, 3000))
        height = -s * trace.X[:, 0] + c * trace.X[:, 1]
        assert height[-1] > 0.0
        assert trace.v[-1] @ (-s, c, 0.0) > 0.0  # on its way back
        assert trace.kinetic.max() <= trace.kinetic[0] * 1.001
        assert world.audit.worst < 1e-12
        caught += world.contacts.caught
    assert caught > 0  # they did pass between two samples


def test_two_thin_plates_thrown_at_each_other_do_not_pass():
    rng = np.random.default_rng(31)
    for _ in range(60):
        speed = 10.0 ** rng.uniform(0.0, 1.7)
        thin = [rng.uniform(1e-4, 1e-3) for _ in range(2)]
        a = PlanarBody("a", Polygon.box(thin[0], 0.2), 1.0, pose=(-0.05, rng.uniform(-0.1, 0.1), 0.0),
                       velocity=(speed, 0.0, 0.0), surface=PULSE)  # fmt: skip
        b = PlanarBody("b", Polygon.box(thin[1], 0.2), 1.0, pose=(0.05, 0.0, rng.uniform(-0.2, 0.2)),
                       velocity=(-speed, 0.0, 0.0), surface=PULSE)  # fmt: skip
        world = PlanarWorld([a, b])
        world.step(round(0.4 / speed / DT) + 5)
        assert world.audit.impulses < 0.0  # they met


def test_a_push_between_two_looks_is_not_missed():
    """At rest and far from the wall when level 1 looked; then hurled at it within less than a look."""
    for steps_before in range(1, 12):
        body = PlanarBody("body", Polygon.box(0.02, 0.02), 0.01, pose=(0.0, 0.2, 0.1), surface=PULSE)
        wall = PlanarBody("wall", Polygon.box(2.0, 0.004, (0.0, -0.002)), surface=PULSE)
        world = PlanarWorld([body, wall])
        world.step(steps_before)
        world.apply("body", (0.0, -400.0, 0.0))  # 80 m/s more in each step
        world.step(1)
        world.apply("body", (0.0, 0.0, 0.0))
        world.step(8)
        assert world.X[1, 1] > 0.0
        assert world.v[1, 1] > 0.0


def test_level_1_looks_at_its_own_rate_and_keeps_a_pair_until_it_is_well_away():
    wall = PlanarBody("wall", Polygon.box(0.4, 0.05, (0.0, -0.025)), surface=NOTHING)
    body = PlanarBody("body", Polygon.box(0.02, 0.02), 1.0, pose=(0.0, 0.04, 0.0), surface=NOTHING)
    world = PlanarWorld([body, wall])
    world.step(500)
    assert world.nearness.looks == 50
    assert world.nearness.n_active == 0
    assert world.nearness.distance[0] == 0.0  # its box was never near
    for height, active in ((0.0195, 1), (0.0205, 1), (0.0245, 1), (0.0255, 0), (0.0245, 0), (0.0205, 0), (0.0195, 1)):
        world.motion.X[1, 1] = height  # and slowly, as far as level 1 can see
        world.step(10)
        assert world.nearness.n_active == active
        assert world.nearness.distance[0] == pytest.approx(height - 0.01, abs=1e-12) or not active
    (row,) = world.nearness.closest
    np.testing.assert_allclose(row[[1, 3]], (0.0095, 0.0), atol=1e-12)
    assert not (world.contacts.state == CONTINUOUS).any()
