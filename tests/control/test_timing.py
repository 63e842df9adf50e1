"""Timing: no motion is faster than its limits, and none is slower than it must be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.control.plans.plan import joint_move, through
from palpate.control.plans.quintic import pieces, smoothest
from palpate.control.plans.timing import (
    DEFAULT_ACCELERATION,
    DEFAULT_VELOCITY,
    PEAK_ACCELERATION,
    PEAK_SPEED,
    limits,
    minimum_jerk,
)

N = 3
ROUNDING = 1 + 1e-12
numbers = st.floats(0.05, 20.0)
angles = st.lists(st.floats(-3.0, 3.0), min_size=N, max_size=N)


def chain(**options):
    bodies = [pp.Body(f"link{i}", 1.0, inertia=(0.1, 0.1, 0.1)) for i in range(N)]
    joints = [
        pp.Joint(f"joint{i}", "revolute", f"link{i - 1}" if i else "world", f"link{i}", axis=(0, 0, 1), **options)
        for i in range(N)
    ]
    return pp.compile(pp.MultiBody("chain", tuple(bodies), tuple(joints)))


MODEL = chain()


def test_peaks_of_minimum_jerk_are_where_the_book_has_them():
    u = np.linspace(0.0, 1.0, 100_001)
    _, ds, dds = minimum_jerk(u)
    assert ds.max() == pytest.approx(PEAK_SPEED, rel=1e-9)
    assert np.abs(dds).max() == pytest.approx(PEAK_ACCELERATION, rel=1e-9)
    assert minimum_jerk(np.array([0.5 - math.sqrt(3) / 6]))[2] == pytest.approx(PEAK_ACCELERATION)


def test_minimum_jerk_is_the_integral_of_its_derivatives():
    u = np.linspace(0.0, 1.0, 2001)
    s, ds, dds = minimum_jerk(u)
    h = u[1]
    assert np.abs((s[2:] - s[:-2]) / (2 * h) - ds[1:-1]).max() < h**2 * 60 / 6 * 1.01  # |s'''| <= 60
    assert np.abs((ds[2:] - ds[:-2]) / (2 * h) - dds[1:-1]).max() < h**2 * 360 / 6 * 1.01  # |s''''| <= 360


@settings(max_examples=100, deadline=None)
@given(angles, angles, st.lists(numbers, min_size=N, max_size=N), st.lists(numbers, min_size=N, max_size=N))
def test_a_joint_move_keeps_any_limits_and_one_tick_less_would_not(a, b, velocity, acceleration):
    dt = 0.01
    plan = joint_move(MODEL, a, b, dt, velocity=velocity, acceleration=acceleration)
    assert (np.abs(plan.v) <= np.array(velocity) * ROUNDING).all()
    assert (np.abs(plan.a) <= np.array(acceleration) * ROUNDING).all()
    T = (len(plan.q) - 2) * dt  # one tick less
    if T > 0.0:
        d = np.abs(np.subtract(b, a))
        assert (PEAK_SPEED * d / T > velocity).any() or (PEAK_ACCELERATION * d / T**2 > acceleration).any()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(angles, min_size=2, max_size=6),
    st.lists(numbers, min_size=N, max_size=N),
    st.lists(numbers, min_size=N, max_size=N),
)
def test_a_way_through_points_keeps_any_limits(points, velocity, acceleration):
    points = [p for k, p in enumerate(points) if k == 0 or np.abs(np.subtract(p, points[k - 1])).max() > 1e-3]
    if len(points) < 2:
        return
    plan = through(MODEL, points, 0.01, velocity=velocity, acceleration=acceleration)
    assert (np.abs(plan.v) <= np.array(velocity)).all()
    assert (np.abs(plan.a) <= np.array(acceleration)).all()
    assert np.abs(plan.q[0] - points[0]).max() < 1e-12
    assert np.abs(plan.q[-1] - points[-1]).max() < 1e-9


def test_a_way_through_points_is_as_fast_as_its_limits_allow():
    points = [[0, 0, 0], [1, 0, 0.3], [0.5, 1, 0], [2, 2, 2]]
    plan = through(MODEL, points, 1e-3, velocity=2.0, acceleration=3.0)
    closeness = max(np.abs(plan.v).max() / 2.0, math.sqrt(np.abs(plan.a).max() / 3.0))
    assert closeness > 0.995


def test_the_models_own_velocity_limits_hold_where_nothing_is_said():
    model = chain(velocity_limit=0.25)
    plan = joint_move(model, [0, 0, 0], [1, 0.1, 0], 1e-3)
    assert 0.2499 < np.abs(plan.v).max() <= 0.25 * ROUNDING
    own = limits(MODEL)
    assert (own.velocity == DEFAULT_VELOCITY).all()
    assert (own.acceleration == DEFAULT_ACCELERATION).all()


def jerk_cost(knots, p, v, a):
    """Integral of squared jerk over all pieces: jerk is a parabola in each, so Simpson's rule on its square is exact
    with enough points."""
    total = 0.0
    for k in range(len(knots) - 1):
        t = np.linspace(knots[k], knots[k + 1], 201)
        inner = np.clip(t, knots[k] + 1e-12, knots[k + 1] - 1e-12)
        acceleration = pieces(knots, p, v, a, inner)[2]
        jerk = np.gradient(acceleration[:, 0], t, edge_order=2)
        total += np.trapezoid(jerk**2, t)
    return total


def test_no_other_way_through_the_points_has_less_jerk():
    rng = np.random.default_rng(1)
    knots, p = np.array([0.0, 0.7, 1.0, 2.2, 3.0]), rng.normal(size=(5, 1))
    v, a = smoothest(knots, p)
    best = jerk_cost(knots, p, v, a)
    for _ in range(20):
        dv, da = np.zeros_like(v), np.zeros_like(a)
        dv[1:-1], da[1:-1] = 0.05 * rng.normal(size=(2, 3, 1))
        assert jerk_cost(knots, p, v + dv, a + da) > best


def test_two_points_give_minimum_jerk():
    plan = through(MODEL, [[0, 0, 0], [1, -2, 0.5]], 0.01, seconds=1.0)
    move = joint_move(MODEL, [0, 0, 0], [1, -2, 0.5], 0.01, seconds=1.0)
    for one, other in zip(plan, move, strict=True):
        assert np.abs(one - other).max() < 1e-12
