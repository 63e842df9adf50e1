"""What joints and connections hold: ends, dry friction, points, welds, loops."""

import math

import numpy as np
import pytest
from motions import G, force_between, set_velocity, total, velocity

import palpate as pp
from palpate.scenes.bridge import HINGE_M, PLANK_KG, PLANK_M, bridge

L = 0.5


def rod(name="rod", parent="world", at=(0, 0, 1.0), **options):
    """(Body, Joint): a rod of 1 kg that hangs on a hinge about y, its frame at the hinge."""
    inertia = (L * L / 12, L * L / 12, 1e-4)
    shape = pp.Shape("capsule", (0.01, L - 0.04), pp.Transform(p=(0, 0, -0.5 * L)))
    body = pp.Body(name, 1.0, (0, 0, -0.5 * L), inertia, (shape,))
    return body, pp.Joint(name, "revolute", parent, name, pp.Transform(p=at), axis=(0, 1, 0), **options)


def pendulum(**options):
    body, joint = rod(**options)
    return pp.MultiBody("rod", (body,), (joint,))


def test_a_joint_stops_at_its_end_and_leans_on_it():
    """Limits hold: the rod falls on its end at 0.5 rad, does not bounce, and rests there with the torque of gravity."""
    world = pp.World(pendulum(lower=0.5, upper=2.0))
    world.q[0] = 1.2
    beyond = 0.0
    for _ in range(2000):
        world.step()
        beyond = max(beyond, 0.5 - world.q[0])
    assert beyond < 2e-4
    assert world.q[0] == pytest.approx(0.5, abs=2e-4)
    assert abs(world.v[0]) < 1e-6
    r = world.arrays.rows
    assert r.lam[0, 0] / world.dt == pytest.approx(0.5 * L * G * math.sin(world.q[0]), rel=1e-5)


def test_a_joint_pushed_hard_against_its_end_stays():
    world = pp.World(pendulum(lower=-1.0, upper=1.0))
    world.tau[0] = 500.0
    world.step(1000)
    assert world.q[0] < 1.0 + 1e-3


def test_dry_friction_holds_below_its_torque_and_slides_above():
    """A joint with 1 N m of dry friction: 0.99 does not move it, 1.01 speeds it up with the rest."""
    for torque, moves in ((0.99, False), (1.01, True)):
        body, joint = rod(friction=1.0)
        world = pp.World(pp.MultiBody("rod", (body,), (joint,)), gravity=(0, 0, 0))
        world.tau[0] = torque
        world.step(500)
        a = (torque - 1.0) / (L * L / 3) if moves else 0.0
        assert world.v[0] == pytest.approx(0.5 * a, abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_what_stands_without_force_needs_no_impulse_whatever_it_had_before(seed):
    """Dry joints and a floor that braked in the last step; then all stand, and nothing pulls."""
    rng = np.random.default_rng(seed)
    body, joint = rod(friction=rng.uniform(0.1, 3.0))
    size = rng.uniform(0.05, 0.3, 3)
    box = pp.models.box(size, mass=rng.uniform(0.1, 10.0), at=(2.0, 0.0, 0.5 * size[2]))
    world = pp.World([pp.MultiBody("rod", (body,), (joint,)), box, pp.models.plane()], gravity=(0, 0, 0))
    world.v[:] = rng.normal(size=world.model.nv)
    world.v[world.model.v_index["box"]][5] = -1.0
    for _ in range(20):
        world.step()
        assert world.arrays.rows.lam[: world.arrays.rows.n_rows].any()
        kept = world.snapshot()
        world.v[:] = 0.0
        q = world.q.copy()
        world.step(2)
        assert (world.v == 0.0).all()
        assert (world.q == q).all()
        assert not world.arrays.rows.lam[: world.arrays.rows.n_rows].any()
        world.restore(kept)


def test_dry_friction_stops_a_swing():
    """Spin w0 stops after w0 I / t."""
    body, joint = rod(friction=1.0)
    world = pp.World(pp.MultiBody("rod", (body,), (joint,)), gravity=(0, 0, 0))
    world.v[0] = 4.0
    stop = 4.0 * (L * L / 3) / 1.0
    world.step(int(stop / world.dt) - 2)
    assert world.v[0] > 0.0
    world.step(5)
    assert abs(world.v[0]) < 1e-9


def test_springs_of_any_stiffness_hold_without_blowing_up():
    """Implicit springs and dampers: from soft to a thousand times stiffer than explicit ones could be at 1 ms."""
    for stiffness in (1.0, 1e3, 1e6, 1e9):
        world = pp.World(pendulum())
        world.hold(stiffness, 0.02 * stiffness, q=[0.7])
        world.v[0] = 5.0
        inertia, weight = L * L / 3, 0.5 * L * G
        most = math.sqrt(25.0 + (stiffness * 0.7**2 + 4.0 * weight) / inertia)  # all of the energy there is
        for _ in range(500):
            world.step()
            assert abs(world.v[0]) < most
        sag = 0.5 * L * G * math.sin(world.q[0]) / stiffness
        if stiffness >= 1e3:
            assert world.q[0] == pytest.approx(0.7 - sag, abs=1e-4 + 0.1 * sag)


def test_a_body_tied_at_a_point_swings_as_on_a_joint():
    """connect("world", ...): the same motion as a spherical joint there, to the first order of the step."""
    inertia = (L * L / 12, L * L / 12, 1e-4)
    body = pp.Body("rod", 1.0, (0, 0, -0.5 * L), inertia)
    R = pp.Rotation.about((0, 1, 0), 0.5)
    free = pp.MultiBody(
        "rod", (body,), (pp.Joint("rod", "free", "world", "rod"),), {"start": {"rod": (0, 0, 1, *R.wxyz)}}
    )
    joint = pp.Joint("rod", "spherical", "world", "rod", pp.Transform(p=(0, 0, 1)))
    hung = pp.MultiBody("rod", (body,), (joint,), {"start": {"rod": R.wxyz}})
    tied, jointed = pp.World(free, dt=1e-4), pp.World(hung, dt=1e-4)
    tied.connect("world", "rod", (0, 0, 1))
    for _ in range(20):
        tied.step(500)
        jointed.step(500)
        assert tied.pose("rod") == pytest.approx(jointed.pose("rod"), abs=5e-3)
        assert np.linalg.norm(tied.pose("rod")[:3, 3] - (0, 0, 1)) < 1e-5


def test_a_welded_box_moves_as_one_with_the_hand_and_falls_when_let_go():
    """A hand holds a box: the arm carries its weight; the box does not move in the hand."""
    arm, box = pp.models.puma560(), pp.models.box((0.06,) * 3, mass=1.0, at=(0.55, 0.1501, 0.55))
    world = pp.World([arm, box])
    world.hold(20000.0, 500.0)
    tie = world.connect("tool", "box", weld=True)
    X = np.linalg.inv(world.pose("tool")) @ world.pose("box")
    target = world.q.copy()
    target[world.model.q_index["joint1"]] = 0.6
    world.hold(20000.0, 500.0, q=target)
    for _ in range(20):
        world.step(100)
        now = np.linalg.inv(world.pose("tool")) @ world.pose("box")
        assert now[:3, 3] == pytest.approx(X[:3, 3], abs=1e-4)
        assert now[:3, :3] == pytest.approx(X[:3, :3], abs=1e-3)
    moved = world.pose("box")[:3, 3]
    assert np.linalg.norm(moved[:2] - (0.55, 0.1501)) > 0.1
    world.disconnect(tie)
    world.step(100)
    assert world.pose("box")[2, 3] == pytest.approx(moved[2] - 0.5 * G * 0.1**2, abs=1e-3)


def four_bar():
    """Crank, coupler and rocker of equal length as a chain from one pivot; the loop is closed on the other."""
    (a, ja), (b, jb), (c, jc) = (
        rod("crank", "world", (0, 0, 1)), rod("coupler", "crank", (0, 0, -L)), rod("rocker", "coupler", (0, 0, -L))
    )  # fmt: skip
    up = {"crank": 0.0, "coupler": -math.pi / 2, "rocker": -math.pi / 2}
    return pp.MultiBody("bars", (a, b, c), (ja, jb, jc), {"start": up})


def test_a_closed_loop_stays_closed_and_keeps_its_energy():
    """A parallelogram: crank and rocker stay parallel; it swings as a pendulum, and the tie does no work."""
    world = pp.World(four_bar(), ignore=[("crank", "rocker")])
    q = world.pose("rocker")
    end = (q @ (0, 0, -L, 1))[:3]
    world.connect("world", "rocker", end)
    world.v[0] = 2.0
    world.v[1], world.v[2] = -2.0, 2.0
    start = total(world.energy)
    for _ in range(40):
        world.step(50)
        tip = (world.pose("rocker") @ (0, 0, -L, 1))[:3]
        assert tip == pytest.approx(end, abs=2e-4)
        turn = world.pose("crank")[:3, 2] @ world.pose("rocker")[:3, 2]
        assert turn == pytest.approx(-1.0, abs=1e-4)
        assert total(world.energy) == pytest.approx(start, abs=0.02 * world.model.nv)


def test_a_bridge_of_spherical_joints_hangs_in_a_catenary():
    """Equal links at rest: the tangents of their slopes grow by equal amounts, weight by horizontal pull.

    With the hinges c above the planks' centres, each weighs against its own tilt: dtan = m g / (H + m g c / pitch).
    """
    n = 9
    world = bridge(n, slack=1.15, load=False, damping=0.2).world
    for _ in range(60):
        world.step(200)
    assert np.abs(world.v).max() < 1e-3
    tangents = []
    for k in range(n):
        x = world.pose(f"plank{k}")[:3, 0]
        tangents.append(x[2] / math.hypot(x[0], x[1]))
    growth = np.diff(tangents)
    assert growth == pytest.approx(np.full(n - 1, growth.mean()), rel=2e-3)
    assert tangents[n // 2] == pytest.approx(0.0, abs=1e-4)
    pull = world.arrays.rows.lam[0] / world.dt  # of the first tie, on the first plank
    weight, pitch = PLANK_KG * G, PLANK_M[0] + HINGE_M
    assert abs(pull[2]) == pytest.approx(0.5 * n * weight, rel=1e-3)
    assert growth.mean() == pytest.approx(weight / (abs(pull[0]) + weight * 0.5 * PLANK_M[2] / pitch), rel=2e-3)


def test_connections_that_do_not_exist_or_do_not_fit_are_refused():
    world = pp.World([pp.models.box(name="a"), pp.models.box(name="b", at=(1, 0, 0))])
    with pytest.raises(ValueError, match="no connection 3"):
        world.disconnect(3)
    with pytest.raises(ValueError, match="one rigid body"):
        world.connect("a", "a")
    for _ in range(16):
        world.connect("a", "b")
    with pytest.raises(ValueError, match="room for 16"):
        world.connect("a", "b")


def test_a_dragged_chain_of_two_ties_keeps_momentum():
    """Two free boxes tied together in weightlessness: their common momentum stays."""
    world = pp.World([pp.models.box(name="a"), pp.models.box(name="b", at=(0.3, 0, 0))], gravity=(0, 0, 0))
    world.connect("a", "b", (0.15, 0, 0))
    set_velocity(world, "a", (0, 1, 0))
    world.step(500)
    p = velocity(world, "a") + velocity(world, "b")
    assert p == pytest.approx((0, 1, 0), abs=1e-9)
    assert np.linalg.norm(velocity(world, "b")) > 0.01


def test_a_hand_squeezes_a_box_and_carries_it_by_friction():
    """Two round fingertips that press with F on a box of weight m g hold it if 2 mu F > m g, and lose it below."""
    m, mu = 0.5, 0.5
    for share, held in ((1.05, True), (0.95, False)):
        F = share * m * G / (2 * mu)
        grip = pp.Material("grip", mu)
        fingers = []
        for name, x, side in (("left", -0.06, 1.0), ("right", 0.06, -1.0)):
            body = pp.Body(name, 0.1, inertia=(1e-4,) * 3, shapes=(pp.Shape("sphere", (0.01,), material=grip),))
            slide = pp.Joint(name, "prismatic", "world", name, pp.Transform(p=(x, 0, 0.5)), axis=(side, 0, 0))
            fingers.append(pp.MultiBody(name, (body,), (slide,)))
        box = pp.models.box((0.1,) * 3, mass=m, at=(0, 0, 0.5), material=grip)
        world = pp.World([*fingers, box])
        world.tau[:2] = F
        world.step(300)
        a = 0.0 if held else G - 2 * mu * F / m
        assert velocity(world, "box")[2] == pytest.approx(-0.3 * a, abs=1e-5)
        assert abs(force_between(world, "left", "box")[0]) == pytest.approx(F, rel=1e-3)
