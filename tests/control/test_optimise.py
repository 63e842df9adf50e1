"""Curves of free timing: known optima, limits between samples, never worse than given, one line if nothing helps."""

import math
from itertools import pairwise

import numpy as np
import pytest

from palpate.control.plans.timing import minimum_jerk
from palpate.control.sequences.optimise import Curve, Infeasible, Measured, Motion, Run, optimise, quadratic_program


def box_limits(velocity: float, acceleration: float, reach: float = np.inf):
    """Speed, acceleration and range of all joints alike."""

    def measure(motion: Motion) -> Measured:
        k = motion.q.shape[1]
        g = np.hstack([np.abs(motion.v) / velocity - 1.0, np.abs(motion.a) / acceleration - 1.0,
                       np.minimum(np.abs(motion.q) - reach, 1e3)])  # fmt: skip
        return Measured(g, lambda row, column: ("velocity", "acceleration", "range")[column // k])

    return measure


def straight(distance, via: int, measure, seconds: float = 4.0) -> Run:
    """Rest to rest by minimum jerk, with points between that may move by as much as the whole way."""
    d = np.atleast_1d(np.asarray(distance, dtype=float))
    p = minimum_jerk(np.linspace(0.0, 1.0, via + 2))[0][:, None] * d
    stops = np.zeros(via + 2, dtype=bool)
    stops[[0, -1]] = True

    def knots(x):
        moved = p.copy()
        moved[1:-1] += x.reshape(via, len(d))
        return moved

    return Run(
        Curve(np.full(via + 1, seconds / (via + 1)), p, stops), knots, np.full(via * len(d), np.abs(d).max()), measure
    )


def through(rng: np.random.Generator, measure, seconds: float = 1.0) -> Run:
    """Stops at several random postures of three joints; two points between each two may move."""
    corners = rng.normal(size=(rng.integers(3, 5), 3))
    points, stops, free = [corners[0]], [True], []
    for a, b in pairwise(corners):
        for u in minimum_jerk(np.linspace(0.0, 1.0, 4)[1:])[0]:
            points.append(a + u * (b - a))
            stops.append(bool(u == 1.0))
            free += [] if u == 1.0 else [len(points) - 1]
    p = np.array(points)

    def knots(x):
        moved = p.copy()
        moved[free] += x.reshape(len(free), 3)
        return moved

    return Run(Curve(np.full(len(p) - 1, seconds / 3), p, np.array(stops)), knots, np.full(3 * len(free), 0.5), measure)


CASES = [tuple(np.exp(np.random.default_rng(n).uniform(-1.5, 1.5, size=3))) for n in range(8)]


@pytest.mark.parametrize(("distance", "velocity", "acceleration"), CASES)
def test_one_joint_without_points_between_takes_the_shortest_quintic(distance, velocity, acceleration):
    found = optimise(straight(distance, 0, box_limits(velocity, acceleration), 8.0), rougher=np.inf, weight=0.0)
    shortest = max(15 / 8 * distance / velocity, math.sqrt(10 / math.sqrt(3) * distance / acceleration))
    assert shortest < found.best.seconds < 1.002 * shortest


@pytest.mark.parametrize(("distance", "velocity", "acceleration"), CASES[:4])
def test_one_joint_with_points_between_comes_near_the_bang_coast_bang_bound(distance, velocity, acceleration):
    """Nothing is shorter than full acceleration, full speed, full deceleration; smooth curves are 4 to 12 % above."""
    found = optimise(straight(distance, 6, box_limits(velocity, acceleration), 8.0), rougher=np.inf, weight=0.0)
    coasts = distance * acceleration > velocity**2
    bound = distance / velocity + velocity / acceleration if coasts else 2.0 * math.sqrt(distance / acceleration)
    assert bound < found.best.seconds < 1.15 * bound


@pytest.mark.parametrize(("seed", "rougher"), [(seed, (1.0, np.inf)[seed % 2]) for seed in range(6)])
def test_never_longer_and_never_rougher_than_given_and_within_limits_everywhere(seed, rougher):
    """Limits are looked at by differences of positions, between the samples that the search looked at."""
    rng = np.random.default_rng(seed)
    velocity, acceleration = np.exp(rng.uniform(-0.5, 2.0)), np.exp(rng.uniform(1.0, 4.0))
    run = through(rng, box_limits(velocity, acceleration, 4.0))
    found = optimise(run, rougher=rougher)
    assert found.best.seconds <= found.given.seconds
    assert found.best.jerk <= min(rougher, 1e9) * found.given.jerk
    assert found.given.seconds == pytest.approx(found.slowed * run.given.seconds)
    h = 2e-4
    for curve in (found.best, found.given):
        q = curve.rows(h).q
        h_s = curve.seconds / (len(q) - 1)
        assert np.abs(np.diff(q, axis=0)).max() / h_s <= velocity * (1 + 1e-3)  # rows round up to whole ticks
        assert np.abs(np.diff(q, 2, axis=0)).max() / h_s**2 <= acceleration * (1 + 2e-3)
        assert np.abs(q).max() <= 4.0
        assert np.abs(q[[0, -1]] - run.given.p[[0, -1]]).max() < 1e-12


def test_passing_without_stopping_gains_at_equal_smoothness():
    found = [optimise(through(np.random.default_rng(n), box_limits(10.0, 100.0))) for n in range(3)]
    assert all(f.best.seconds < 0.85 * f.given.seconds for f in found)


def test_jerk_is_the_integral_of_its_square():
    curve = through(np.random.default_rng(3), box_limits(1.0, 1.0)).given
    h = 1e-4
    a = curve.rows(h).a
    jerk = np.diff(a, axis=0) / h
    assert (jerk**2).sum() * h == pytest.approx(curve.jerk, rel=1e-3)


def test_rows_are_derivatives_of_each_other():
    curve = through(np.random.default_rng(4), box_limits(1.0, 1.0)).given
    h = 1e-4
    rows = curve.rows(h)
    for value, rate in ((rows.q, rows.v), (rows.v, rows.a)):
        assert np.abs((value[2:] - value[:-2]) / (2 * h) - rate[1:-1]).max() < 2e-3 * np.abs(rate).max()


def test_the_same_again_bit_for_bit():
    one, two = (optimise(through(np.random.default_rng(5), box_limits(1.0, 5.0))) for _ in range(2))
    assert np.array_equal(one.best.h, two.best.h)
    assert np.array_equal(one.best.p, two.best.p)
    assert (one.steps, one.evaluations) == (two.steps, two.evaluations)


def test_infeasible_names_the_limit_in_one_line():
    with pytest.raises(Infeasible, match="no duration is long enough: range") as said:
        optimise(straight(2.0, 2, box_limits(1.0, 1.0, reach=1.0)))
    assert "\n" not in str(said.value)


def test_progress_is_told_and_only_gets_better():
    told = []
    optimise(through(np.random.default_rng(6), box_limits(2.0, 20.0)), progress=lambda *news: told.append(news))
    assert [step for step, _, _ in told] == list(range(1, len(told) + 1))
    cost = [seconds / told[0][1] + 0.0 * jerk for _, seconds, jerk in told]
    assert cost[-1] <= cost[0]


@pytest.mark.parametrize("wrong", [{"rougher": 0.5}, {"rougher": np.nan}, {"weight": -1.0}, {"weight": np.inf}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        optimise(straight(1.0, 0, box_limits(1.0, 1.0)), **wrong)


@pytest.mark.parametrize("seed", range(20))
def test_quadratic_programs_satisfy_their_optimality_conditions(seed):
    """Karush, Kuhn and Tucker: feasible, and the slope is a combination of active constraints, none pulling."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 8)), int(rng.integers(4, 30))
    root = rng.normal(size=(n, n))
    H, c, G = root @ root.T + 0.1 * np.eye(n), 3.0 * rng.normal(size=n), rng.normal(size=(m, n))
    b = rng.uniform(0.1, 1.0, size=m)
    x = quadratic_program(H, c, G, b)
    assert (G @ x - b).max() < 1e-6
    active = G[(b - G @ x) < 1e-5]
    slope = H @ x + c
    z = np.linalg.lstsq(active.T, -slope, rcond=None)[0] if len(active) else np.zeros(0)
    assert np.abs(slope + active.T @ z).max() < 1e-4
    assert (z > -1e-4).all()
