"""Same input, same bits; in any order, the same motion; who stays keeps its state."""

import numpy as np
import pytest
from motions import random_world, velocity

import palpate as pp
from palpate.scenes.blocks import dominoes, stack
from palpate.scenes.bridge import bridge
from palpate.scenes.standing import hrp2_standing

SCENES = [lambda: dominoes(8), lambda: bridge(6), hrp2_standing, lambda: stack(5, 100.0)]


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_input_gives_the_same_bits(scene):
    a, b = scene().world, scene().world
    a.step(300)
    for _ in range(300):
        b.step()
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.v, b.v)


@pytest.mark.parametrize("scene", SCENES)
def test_a_restored_snapshot_goes_on_with_the_same_bits(scene):
    world = scene().world
    world.step(150)
    snap = world.snapshot()
    world.step(150)
    q, v, force = world.q.copy(), world.v.copy(), [c.force for c in world.contacts]
    other = scene().world  # one that has never been there
    for w in (world, other):
        w.restore(snap)
        assert w.time == snap.time
        w.step(150)
        assert np.array_equal(w.q, q)
        assert np.array_equal(w.v, v)
        assert np.array_equal([c.force for c in w.contacts], force)


def test_a_snapshot_is_not_touched_by_what_happens_after():
    world = stack(3).world
    snap = world.snapshot()
    before = {name: x.copy() for name, x in snap.arrays.items()}
    world.step(10)
    world.restore(snap)
    world.step(10)
    assert all(np.array_equal(snap.arrays[name], x) for name, x in before.items())


def test_a_snapshot_of_other_bodies_is_refused():
    world = stack(3).world
    with pytest.raises(ValueError, match="box2"):
        stack(2).world.restore(world.snapshot())


def test_the_order_of_bodies_changes_results_only_at_the_tolerance_of_the_solver():
    """Boxes and balls that fall onto a slope and each other, in three orders: while no rounding can decide a flip."""
    rough, tilt = pp.Material("rough", 0.5), pp.Rotation.between((0, 0, 1), (0.1, 0, 1))
    parts = [
        pp.models.plane(normal=(0.1, 0, 1), material=rough),
        pp.models.box((0.2, 0.2, 0.1), mass=1.0, at=(0, 0, 0.06), R=tilt, name="a"),
        pp.models.box((0.2, 0.1, 0.1), mass=2.0, at=(0.01, 0, 0.17), R=tilt, name="b"),
        pp.models.ball(0.05, mass=1.0, at=(0.6, 0.3, 0.05), material=rough, name="c"),
        pp.models.box((0.1,) * 3, mass=0.5, at=(-0.5, 0, 0.2), name="d"),
    ]  # fmt: skip
    found = []
    for order in ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 4, 0, 3, 1)):
        world = pp.World([parts[i] for i in order], tolerance=1e-10)
        world.step(300)
        found.append(np.array([[*world.pose(name)[:3, 3], *velocity(world, name)] for name in "abcd"]))
    assert found[1] == pytest.approx(found[0], abs=1e-6)
    assert found[2] == pytest.approx(found[0], abs=1e-6)


def test_those_who_stay_keep_their_state_when_others_come_and_go():
    world = random_world(np.random.default_rng(1), 4)
    world.step(200)
    kept = [f"solid{i}" for i in range(4)]
    state = {n: (world.q[world.model.q_index[n]].copy(), world.v[world.model.v_index[n]].copy()) for n in kept}
    name = world.add(pp.models.box(at=(2, 0, 0.05), name="late"))
    world.remove("solid2")
    time = world.time
    for n in ("solid0", "solid1", "solid3"):
        assert np.array_equal(world.q[world.model.q_index[n]], state[n][0])
        assert np.array_equal(world.v[world.model.v_index[n]], state[n][1])
    world.step(100)
    assert world.time == pytest.approx(time + 0.1)
    assert world.pose(name)[:3, 3] == pytest.approx((2, 0, 0.05), abs=1e-6)
    assert "solid2" not in world.parts


def test_adding_a_body_far_away_does_not_disturb_the_others():
    """They go on as if nothing had been added, to the solver's tolerance."""
    alone, joined = stack(4).world, stack(4).world
    for world in (alone, joined):
        world.step(100)
    joined.add(pp.models.ball(0.05, at=(3, 0, 0.05), name="far"))
    for world in (alone, joined):
        world.step(200)
    for i in range(4):
        assert joined.pose(f"box{i}") == pytest.approx(alone.pose(f"box{i}"), abs=1e-6)


def test_copies_of_a_model_are_told_apart():
    world = pp.World([pp.models.plane(), pp.models.puma560(), pp.models.puma560().placed(pp.Transform(p=(2, 0, 0)))])
    assert world.parts == ("plane", "puma560", "puma560.2")
    assert world.pose("puma560.2/link2")[0, 3] == pytest.approx(world.pose("link2")[0, 3] + 2.0)


def test_springs_ties_and_torques_survive_a_newcomer():
    world = bridge(5, load=False).world
    arm = world.add(pp.models.puma560().placed(pp.Transform(p=(3, 0, 1))))
    world.hold(500.0, 20.0, joints=["joint1", "joint2", "joint3", "joint4", "joint5", "joint6"])
    world.step(50)
    world.add(pp.models.ball(at=(5, 0, 1), name="late"))
    world.step(300)
    assert arm in world.parts
    assert abs(world.q[world.model.q_index["joint2"]]) < 0.3  # it would have fallen by more
    assert world.pose("plank0")[2, 3] > 0.5
    assert world.pose("plank4")[2, 3] > 0.5
