"""Placed bodies in a World: nothing pushes them, all else feels them as it feels fixed ones, and they can be moved."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.collision.facade import Collider, ContactPoint
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.surface import Surface
from palpate.world.defaults import DefaultDynamics

G = 9.81
KINDS = ("fixed", "placed")
TILT, UPRIGHT = pp.Rotation.rpy(0.1, 0.05, 0.3), pp.Rotation()
numbers = st.floats(-2.0, 2.0)


def table(kind, **options):
    """A slab whose top is at z = 0.4; kind: "fixed" or "placed"."""
    return pp.models.box((0.6, 0.6, 0.2), at=(0.0, 0.0, 0.3), name="table", **{kind: True}, **options)


def cargo(height=0.05, **options):
    return pp.models.box((0.1, 0.1, 0.1), mass=2.0, at=(0.01, 0.02, 0.4 + height), name="cargo", **options)


def at(x, y, z, R=UPRIGHT):
    return pp.Transform(R, (x, y, z))


def force_on(world, body):
    """Sum of contact forces on a body [N]."""
    total = np.zeros(3)
    for c in world.contacts:
        total += c.force * ((c.body_b == body) - (c.body_a == body))
    return total


# ---- as a fixed one


@pytest.mark.parametrize("first", ["table", "cargo"])
def test_a_box_lands_and_rests_on_a_placed_body_as_on_a_fixed_one(first):
    """Forces and motion, step by step, whichever of the two comes first in the world."""
    worlds = []
    for kind in KINDS:
        parts = [table(kind), cargo(0.08, R=TILT)]
        worlds.append(pp.World(parts if first == "table" else parts[::-1]))
    fixed, placed = worlds
    for _ in range(60):
        for world in worlds:
            world.step(10)
        assert placed.pose("cargo") == pytest.approx(fixed.pose("cargo"), abs=1e-6)
        assert force_on(placed, "cargo") == pytest.approx(force_on(fixed, "cargo"), abs=1e-6)
        assert len(placed.contacts) == len(fixed.contacts)
    assert force_on(placed, "cargo") == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-4)
    assert force_on(placed, "table") == pytest.approx([0.0, 0.0, -2.0 * G], abs=1e-4)
    for c in placed.contacts:  # the normal points from the first to the second
        assert c.normal[2] == pytest.approx(1.0 if c.body_b == "cargo" else -1.0, abs=1e-6)
        assert c.normal_force >= 0.0


@pytest.mark.nojit
def test_a_sliding_box_is_braked_by_mu_m_g():
    rough = pp.Material("rough", 0.4)
    world = pp.World([cargo(material=rough), table("placed", material=rough)])
    world.v[3] = 0.5
    world.step(20)
    assert world.v[3] == pytest.approx(0.5 - 0.4 * G * 0.02, abs=1e-5)
    assert {c.mode for c in world.contacts} == {"slide"}
    assert force_on(world, "cargo") == pytest.approx([-0.4 * 2.0 * G, 0.0, 2.0 * G], abs=1e-3)


@pytest.mark.nojit
def test_a_ball_comes_back_from_a_placed_wall_with_all_its_speed():
    rubber = pp.Material("rubber", friction=0.0, restitution=1.0)
    ball = pp.models.ball(0.05, mass=1.0, material=rubber)
    wall = pp.models.box((0.1, 1.0, 1.0), at=(0.105, 0.0, 0.0), name="wall", placed=True, material=rubber)
    world = pp.World([ball, wall], gravity=(0, 0, 0))
    world.v[3] = 1.0
    world.step(20)
    assert world.v[3:6] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
    assert pp.momentum(world.model, world.q, world.v)[3:] == pytest.approx([-1.0, 0.0, 0.0], abs=1e-9)
    assert world.energy.total == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("first", ["plate", "table"])
def test_a_plane_that_moves_rests_on_a_placed_body(first):
    """The one contact in which the placed body may be the second: forces are still on the second, from the first."""
    below = pp.Transform(pp.Rotation.about((1, 0, 0), np.pi))  # solid above it
    plate = pp.MultiBody(
        "plate", (pp.Body("plate", 2.0, inertia=(0.1, 0.1, 0.1), shapes=(pp.Shape("plane", placement=below),)),),
        (pp.Joint("plate", "free", "world", "plate"),), {"start": {"plate": (0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0)}},
    )  # fmt: skip
    parts = [plate, table("placed")]
    world = pp.World(parts if first == "plate" else parts[::-1])
    world.step(200)
    assert world.pose("plate")[2, 3] == pytest.approx(0.4, abs=2e-4)
    assert force_on(world, "plate") == pytest.approx([0.0, 0.0, 2.0 * G], abs=1e-4)
    assert {c.body_a for c in world.contacts} == {first}
    for c in world.contacts:
        assert c.normal[2] == pytest.approx(1.0 if c.body_b == "plate" else -1.0, abs=1e-6)


def test_boxes_on_one_placed_table_do_not_feel_each_other():
    """Each is an island, as on fixed ground: what one does to the solver cannot cost another its accuracy."""
    boxes = [pp.models.box(at=(x, 0.0, 0.45), name=f"box{x}") for x in (-0.2, 0.0, 0.2)]
    world = pp.World([table("placed"), *boxes])
    world.step(10)
    assert world.report.islands == 3


def test_the_ledger_is_that_of_a_fixed_one():
    ledgers = []
    for kind in KINDS:
        world = pp.World([table(kind), cargo(0.1, R=TILT)], ledger=True)
        world.step(500)
        ledgers.append(world.ledger)
    fixed, placed = ledgers
    for name in ("kinetic", "potential", "contacts", "hands", "joints", "step"):
        assert getattr(placed, name) == pytest.approx(getattr(fixed, name), abs=1e-9)
    assert placed.by_joint["table"] == 0.0


def test_an_arm_driven_against_a_placed_ball_stops_there():
    """PUMA 560: its first joint is to turn by 1 rad, with a ball half way, at the end of its third link."""
    ends, forces = [], []
    for kind in KINDS:
        arm = pp.models.puma560()
        model = pp.compile(arm)
        goal = model.posture("start")
        goal[0] += 0.5
        tip = pp.forward_kinematics(model, goal)[model.body("link6")][:3, 3]
        world = pp.World([arm, pp.models.ball(0.07, at=tuple(tip), name="stop", **{kind: True})])
        q = world.q.copy()
        q[0] += 1.0
        world.hold([200.0, *[5000.0] * 5], 60.0, q=q)
        world.step(2000)
        ends.append(world.q[:6].copy())
        forces.append(np.linalg.norm(force_on(world, "stop")))
        assert 0.05 < world.q[0] < goal[0]  # it went there and did not get past
        assert np.abs(world.v).max() < 1e-3
        assert world.pose("stop")[:3, 3] == pytest.approx(tip, abs=1e-12)
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)
    assert forces[1] == pytest.approx(forces[0], abs=1e-6)
    assert forces[1] > 1.0


def test_hrp2_stands_on_a_placed_box_as_on_a_fixed_one():
    """articulated-haptics.md acceptance 28, on ground that can be moved: 58 kg on the soles."""
    heights = []
    for kind in KINDS:
        ground = pp.models.box((1.0, 1.0, 0.2), at=(0.0, 0.0, -0.1), name="ground", **{kind: True})
        world = pp.World([pp.models.hrp2(sole="spheres"), ground])
        world.hold(2000.0, 60.0)
        world.step(4000)
        assert force_on(world, "ground")[2] == pytest.approx(-58.0 * G, abs=0.1)
        assert world.report.ran_out == 0
        heights.append(world.pose("WAIST"))
    assert heights[1] == pytest.approx(heights[0], abs=1e-6)


@pytest.mark.nojit
def test_the_proxy_of_a_hand_feels_a_placed_body_as_a_static_one():
    """Pressed 3 mm into its top and drawn aside, with friction: the same force on the hand at every update."""
    felt = Surface(static_friction=0.5, dynamic_friction=0.3, damping_Ns_m=0.0)
    hips = [(0.0, 0.0, 0.41), (0.0, 0.0, 0.397), *((0.0005 * k, 0.0, 0.397) for k in range(8))]
    fixed, placed = (Proxy(table(kind), felt).follow(hips) for kind in KINDS)
    assert placed[0] == pytest.approx(fixed[0], abs=1e-12)
    assert placed[1] == pytest.approx(fixed[1], abs=1e-9)
    assert placed[1][1] == pytest.approx([0.0, 0.0, 3.0], abs=1e-6)  # 1 N/mm


# ---- nothing moves it


def pushed_for_a_second(**options):
    """A placed body, turned, under 100 N and 10 N m for 1 s; how far it went [m, quaternion] and its speed."""
    world = pp.World([cargo(9.0), table("placed", R=TILT)], **options)  # nothing falls on it meanwhile
    before = world.q.copy()
    for _ in range(1000):
        world.apply("table", force=(60.0, 0.0, -80.0), torque=(0.0, 10.0, 0.0))
        world.step()
    return np.abs(world.q - before)[7:].max(), np.abs(world.v[6:]).max()


def test_a_push_of_100_N_for_a_second_does_not_move_it():
    assert pushed_for_a_second() == (0.0, 0.0)


def test_nor_does_it_with_runge_and_kutta_s_rule():
    assert pushed_for_a_second(integrator="runge-kutta") == (0.0, 0.0)


@pytest.mark.nojit
def test_a_velocity_that_was_written_into_v_is_gone_after_a_step():
    world = pp.World([cargo(1.0), table("placed")])
    before = world.q[7:].copy()
    world.v[6:] = (1.0, -2.0, 3.0, 4.0, 5.0, -6.0)
    world.step()
    assert np.array_equal(world.q[7:], before)
    assert not world.v[6:].any()


def test_gravity_does_not_act_on_it_and_energy_and_momentum_do_not_know_it():
    alone, both = pp.World(cargo(1.0, R=TILT)), pp.World([cargo(1.0, R=TILT), table("placed")])
    for world in (alone, both):
        world.v[:6] = (3.0, -1.0, 2.0, 0.5, 0.0, 1.0)
        world.step(300)
    assert both.q[:7] == pytest.approx(alone.q, abs=1e-12)
    assert both.energy.total == pytest.approx(alone.energy.total, abs=1e-12)
    assert pp.momentum(both.model, both.q, both.v) == pytest.approx(
        pp.momentum(alone.model, alone.q, alone.v), abs=1e-12
    )
    assert both.pose("table")[:3, 3] == pytest.approx([0.0, 0.0, 0.3], abs=0.0)


@pytest.mark.nojit
def test_placed_bodies_touch_neither_static_ones_nor_each_other():
    here = {"at": (0.0, 0.0, 0.0), "placed": True}
    world = pp.World([
        pp.models.plane(), pp.models.box(name="rock", fixed=True), pp.models.box(name="a", **here),
        pp.models.ball(name="b", **here), pp.models.box(name="c", at=(0.0, 0.0, 2.0)),
    ])  # fmt: skip
    before = world.q.copy()
    world.step(3)
    assert world.report.candidates == 0
    assert np.array_equal(world.q[:14], before[:14])


# ---- place


@pytest.mark.nojit
def test_what_stood_on_it_falls_when_it_is_taken_away():
    """z = z0 - g t^2 / 2, from the step after."""
    world = pp.World([table("placed"), cargo()])
    world.step(20)
    z = world.pose("cargo")[2, 3]
    world.place("table", at(5.0, 0.0, 0.3))
    world.step(20)
    assert world.pose("cargo")[2, 3] - z == pytest.approx(-0.5 * G * 0.02**2, abs=1e-6)
    assert world.contacts == []
    assert world.pose("table")[:3, 3] == pytest.approx([5.0, 0.0, 0.3], abs=0.0)


def test_what_it_is_put_into_is_parted_from_it_and_not_shot_away():
    """Raised by 5 mm under a box that rests on it: the box is lifted, and the velocities are those of rest."""
    world = pp.World([table("placed"), cargo()])
    world.step(100)
    world.place("table", at(0.0, 0.0, 0.305))
    fastest = 0.0
    for _ in range(100):
        world.step()
        fastest = max(fastest, np.abs(world.v).max())
    assert world.pose("cargo")[2, 3] == pytest.approx(0.455, abs=2e-4)
    assert fastest < 1e-3


def test_what_falls_is_caught_where_it_was_put():
    world = pp.World([table("placed"), cargo(0.6)])
    world.place("table", at(0.0, 0.0, 0.6))
    world.step(1500)
    assert world.pose("cargo")[2, 3] == pytest.approx(0.75, abs=2e-4)
    assert force_on(world, "table") == pytest.approx([0.0, 0.0, -2.0 * G], abs=1e-4)


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[numbers] * 3), st.tuples(*[numbers] * 3), st.booleans())
def test_pose_is_where_a_body_was_placed(p, rotation, is_placed):
    """Also through a joint that stands elsewhere in the world; free bodies too, and they are then at rest."""
    part = pp.models.box(name="thing", placed=is_placed).placed(at(1.0, -2.0, 0.5, TILT))
    world, X = pp.World([part, cargo()]), at(*p, pp.Rotation.exp(rotation))
    world.v[:6] = 1.0
    world.place("thing", X)
    assert world.pose("thing") == pytest.approx(X.matrix(), abs=1e-12)
    assert not world.v[:6].any()


@settings(max_examples=20, deadline=None)
@given(st.tuples(*[st.floats(-1.0, 1.0)] * 3))
def test_the_distance_is_that_from_where_it_was_placed(p):
    ball, obstacle = pp.models.ball(0.1, name="ball", at=(0.0, 0.0, 5.0)), pp.models.ball(0.2, name="o", placed=True)
    world = pp.World([ball, obstacle])
    world.place("o", at(*p))
    found = Collider(world.model).distance(world.q, "ball", "o")
    assert found.gap == pytest.approx(np.linalg.norm(np.subtract((0, 0, 5), p)) - 0.3, abs=1e-9)


def test_a_second_copy_is_placed_by_the_name_of_its_part_or_of_its_body():
    world = pp.World([table("placed"), table("placed")])
    for k, name in enumerate(("table.2", "table.2/table")):
        world.place(name, at(k + 1.0, 0.0, 0.0))
        assert world.pose("table.2/table")[0, 3] == k + 1.0
    assert world.pose("table")[0, 3] == 0.0


def test_a_snapshot_holds_where_it_was_placed():
    world = pp.World([table("placed"), cargo(0.1, R=TILT)])
    world.place("table", at(0.1, 0.0, 0.3, pp.Rotation.about((0, 0, 1), 0.4)))
    world.step(100)
    snap, pose = world.snapshot(), world.pose("table")
    world.step(200)
    q = world.q.copy()
    world.place("table", at(3.0, 0.0, 0.0))
    world.step(50)
    world.restore(snap)
    assert np.array_equal(world.pose("table"), pose)
    world.step(200)
    assert np.array_equal(world.q, q)


def test_it_stays_where_it_was_placed_when_others_come_and_go():
    world = pp.World([table("placed"), cargo()])
    world.place("table", at(0.0, 0.1, 0.3))
    name = world.add(pp.models.ball(at=(2.0, 0.0, 1.0), placed=True))
    assert world.pose("table")[1, 3] == 0.1
    world.place(name, at(0.0, 0.0, 3.0))
    world.remove("table")
    assert world.pose("ball")[2, 3] == 3.0
    world.step(100)
    assert world.pose("cargo")[2, 3] < 0.41


def test_a_weight_hangs_on_a_placed_body_as_on_the_world():
    """A point tie; then the peg is lowered, and the weight goes with it."""
    weight = pp.models.ball(0.05, mass=2.0, at=(0.3, 0.0, 0.7), name="weight")
    peg = pp.models.ball(0.02, at=(0.0, 0.0, 1.0), name="peg", placed=True)
    worlds = [pp.World([weight, peg], ledger=True) for _ in range(2)]
    for world, anchor in zip(worlds, ("world", "peg"), strict=True):
        world.connect(anchor, "weight", (0.0, 0.0, 1.0))
        world.step(500)
    assert worlds[1].q[:7] == pytest.approx(worlds[0].q[:7], abs=1e-6)
    assert np.array_equal(worlds[1].q[7:], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    for z in np.linspace(1.0, 0.9, 100):
        worlds[1].place("peg", at(0.0, 0.0, z))
        worlds[1].step(5)
    worlds[1].step(200)
    X = worlds[1].pose("weight")  # the tied point of the ball began at (-0.3, 0, 0.3) from its centre
    assert X[:3, :3] @ (-0.3, 0.0, 0.3) + X[:3, 3] == pytest.approx([0.0, 0.0, 0.9], abs=1e-3)


def test_the_step_in_python_agrees_with_the_compiled_one():
    """Modules of one's own see placed bodies too, first or second of a pair."""
    for parts in ([table("placed"), cargo(0.06)], [cargo(0.06), table("placed")]):
        compiled, python = pp.World(parts, tolerance=1e-10), pp.World(
            parts, tolerance=1e-10, dynamics=DefaultDynamics()
        )  # fmt: skip
        for world in (compiled, python):
            world.v[-3 if parts[1].name == "cargo" else 3] = 0.3
            world.step(120)
        assert python.q == pytest.approx(compiled.q, abs=1e-6)
        assert force_on(python, "cargo") == pytest.approx(force_on(compiled, "cargo"), abs=1e-4)


def test_a_detector_that_says_that_placed_and_fixed_bodies_touch_is_refused_in_one_line():
    class Detector:
        def contacts(self, world):
            return [ContactPoint("plane", "table", "plane", "table", np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.0, 0)]

    world = pp.World([pp.models.plane(), table("placed")], collision=Detector())
    with pytest.raises(ValueError, match="'plane' and 'table': neither can be pushed"):
        world.step()


def test_what_cannot_be_placed_is_refused_in_one_line():
    world = pp.World([table("placed"), pp.models.puma560(), pp.models.hrp2(), pp.models.plane()])
    X = at(0.0, 0.0, 0.0)
    wrong = {
        "no body 'tabel'; did you mean 'table'": ("tabel", X),
        "'plane' is fixed in the world": ("plane", X),
        "'world' is fixed": ("world", X),
        "'link2' is part of a tree": ("link2", X),
        "'WAIST' is part of a tree": ("WAIST", X),
        "by a Transform, got tuple": ("table", (0.0, 0.0, 0.0)),
    }
    for message, arguments in wrong.items():
        with pytest.raises(ValueError, match=message) as caught:
            world.place(*arguments)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="neither 'table' nor 'plane' can be pulled"):
        world.connect("table", "plane")


# ---- parked


def test_a_parked_body_takes_no_part_until_it_is_placed():
    """It neither falls nor is pushed; placed again it falls as any other."""
    world = pp.World([pp.models.plane(), cargo()])
    world.place("cargo", at(0, 0, 50), parked=True)
    world.apply("cargo", (100.0, 0.0, 0.0))
    world.step(100)
    assert world.pose("cargo")[:3, 3].tolist() == [0.0, 0.0, 50.0]
    assert not world.v.any()
    world.place("cargo", at(0, 0, 50))
    world.step(100)
    assert world.pose("cargo")[2, 3] == pytest.approx(50.0 - 0.5 * G * 0.1**2, abs=1e-9)


def test_parking_is_part_of_a_snapshot_and_outlives_a_change_of_bodies():
    world = pp.World([pp.models.plane(), cargo()])
    world.place("cargo", at(0, 0, 50), parked=True)
    parked = world.snapshot()
    world.place("cargo", at(0, 0, 50))
    world.restore(parked)
    world.add(pp.models.ball(name="another", at=(1, 0, 1)))
    world.step(100)
    assert world.pose("cargo")[2, 3] == 50.0
    assert world.pose("another")[2, 3] < 1.0
