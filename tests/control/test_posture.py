"""Postures, blended on the manifold: they end exactly, nothing jumps, and about one axis they are the quintic."""

from itertools import pairwise

import numpy as np
import pytest
from mechanisms import ALL_JOINTS, random_state, random_tree

import palpate as pp
from palpate.control.plans.posture import Postures
from palpate.control.plans.timing import minimum_jerk_rows
from palpate.jit import DISABLED
from palpate.scenes.standing import hrp2_standing

DT = 1e-3


def tree_and_postures(seed):
    """A tree of all kinds of joints and three postures of it."""
    rng = np.random.default_rng(seed)
    model = pp.compile(random_tree(rng, [k for k in ALL_JOINTS if k != "free"], 9, "tree", True, "free"))
    q = [random_state(rng, model)[0] for _ in range(3)]
    for each in q[1:]:
        each[:7] = q[0][:7]  # the root is not driven
    return model, q


def follow(postures, ticks):
    """(q, v) of so many ticks, rows."""
    q, v, rows = np.zeros(postures.model.nq), np.zeros(postures.model.nv), []
    for _ in range(ticks):
        postures.step(DT, q, v)
        rows.append((q.copy(), v.copy()))
    return np.array([q for q, _ in rows]), np.array([v for _, v in rows])


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(4))
def test_a_blend_ends_exactly_and_its_velocity_is_that_of_its_path(seed):
    model, (start, end, _) = tree_and_postures(seed)
    postures = Postures(model, start)
    postures.go(end, 0.4)
    q, v = follow(postures, 401)
    assert (q[-1] == end).all()
    assert (q[399] == end).all()
    assert (v[399:] == 0.0).all()
    assert not postures.moving
    speed = np.array([pp.difference(model, q[k - 1], q[k + 1]) / (2 * DT) for k in range(1, 398, 9)])
    assert np.abs(speed - v[1:398:9]).max() < 3e-3 * np.abs(v).max()


@pytest.mark.parametrize("seed", range(4))
def test_another_posture_on_the_way_jumps_neither_in_place_nor_in_velocity(seed):
    model, (start, middle, end) = tree_and_postures(10 + seed)
    postures = Postures(model, start)
    postures.go(middle, 0.5)
    q1, v1 = follow(postures, 230)
    postures.go(end, 0.6)
    q2, v2 = follow(postures, 600)
    assert (q2[-1] == end).all()
    assert (v2[-1] == 0.0).all()
    v, q = np.vstack([v1, v2]), np.vstack([q1, q2])
    steps = np.abs(np.diff(v, axis=0)).max(axis=1)
    assert steps[229] < 3.0 * np.median(steps) + 0.02  # rad/s in a tick, about like all the others
    ways = np.array([np.abs(pp.difference(model, a, b)).max() for a, b in pairwise(q)])
    assert ways[229] < 1.1 * max(ways[228], ways[230]) + 1e-6


@pytest.mark.nojit
def test_about_one_axis_it_is_the_quintic():
    """A spherical joint about any axis, and a revolute one: s(t) of minimum jerk times the way."""
    model = pp.compile(pp.models.human())
    start = model.posture("standing")
    way = np.zeros(model.nv)
    way[model.v_index["shoulder_r"]] = (0.4, -1.1, 0.6)
    way[model.v_index["knee_l"]] = 0.7
    postures = Postures(model, start)
    postures.go(pp.integrate(model, start, way, 1.0), 0.3)
    q, v = follow(postures, 300)
    s, ds, _ = minimum_jerk_rows(300, DT)
    for k in range(0, 299, 13):
        assert q[k] == pytest.approx(pp.integrate(model, start, way, float(s[k + 1, 0])), abs=1e-12)
        assert v[k] == pytest.approx(ds[k + 1, 0] * way, abs=1e-9)


@pytest.mark.skipif(DISABLED, reason="a second of a world")
def test_the_springs_of_a_standing_robot_follow_it():
    """State.q_hold and v_hold: the implicit PD has no lag that damping would cause, HRP-2 lifts its arms in 1 s."""
    world = hrp2_standing().world
    state, model = world.arrays.state, world.model
    goal = world.q.copy()
    for joint in ("RARM_JOINT0", "LARM_JOINT0"):
        goal[model.q_index[joint]] -= 0.8
    postures = Postures(model, state.q_hold, root="WAIST")
    postures.go(goal, 1.0)
    worst = 0.0
    arms = [model.q_index[j].start for j in ("RARM_JOINT0", "LARM_JOINT0")]
    for k in range(1300):
        postures.step(world.dt, state.q_hold, state.v_hold)
        world.step()
        if k > 50:
            worst = max(worst, float(np.abs(world.q - state.q_hold)[arms].max()))
    assert world.q[arms] == pytest.approx(goal[arms], abs=0.02)
    assert worst < 0.02
    assert (state.v_hold == 0.0).all()


def test_what_makes_no_sense_is_refused():
    model, (start, end, _) = tree_and_postures(1)
    postures = Postures(model, start)
    with pytest.raises(ValueError, match="seconds"):
        postures.go(end, -1.0)
    with pytest.raises(ValueError, match="shape"):
        postures.go(end[1:], 1.0)
    with pytest.raises(ValueError, match="not finite"):
        postures.go(np.where(np.arange(model.nq) == 8, np.nan, end), 1.0)
