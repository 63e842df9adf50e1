"""Trajectories: smoothed, cut, resampled and checked, a motion stays the motion it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanisms import all_kinds_forest, random_state

import palpate as pp
from palpate.control.plans.plan import Plan, joint_move, rest, through
from palpate.control.plans.rates import motion_of, rates_of
from palpate.control.plans.trajectory import Trajectory, TrajectoryError, spline
from palpate.scenes.arm import tool_line

DT = 2e-3


@pytest.fixture(scope="module")
def model():
    return pp.compile(pp.models.puma560())


@pytest.fixture(scope="module")
def line(model):
    return Trajectory.of_plan(tool_line(model, DT), DT, model.joint_names)


@pytest.fixture(scope="module")
def forest():
    """A motion of joints of every kind, and its model."""
    model, rng = all_kinds_forest(5), np.random.default_rng(5)
    points = [model.neutral()]
    for _ in range(3):
        points.append(pp.integrate(model, points[-1], rng.normal(scale=0.6, size=model.nv), 1.0))
    return model, Trajectory.of_plan(through(model, points, DT, seconds=2.0), DT, model.joint_names)


def shaken(model, motion, size=1e-3, seed=0):
    """The motion with noise on all coordinates."""
    rng = np.random.default_rng(seed)
    q = np.array([pp.integrate(model, row, size * rng.normal(size=model.nv), 1.0) for row in motion.q])
    q[[0, -1]] = motion.q[[0, -1]]
    return Trajectory.from_motion(motion.time_s, q, motion.v, motion.names)


def off(model, a, b):
    """Largest difference of two tables of coordinates, on the manifold."""
    return max(np.abs(pp.difference(model, x, y)).max() for x, y in zip(a, b, strict=True))


# ---- rates


def test_rates_and_motion_are_inverse_for_every_joint():
    model, rng = all_kinds_forest(6), np.random.default_rng(6)
    states = [random_state(rng, model) for _ in range(20)]
    q, v, a = (np.array(each) for each in zip(*states, strict=True))
    back_q, back_v, back_a = motion_of(model, q, *rates_of(model, q, v, a))
    assert np.abs(back_q - q).max() < 1e-14
    assert np.abs(back_v - v).max() < 1e-12
    assert np.abs(back_a - a).max() < 1e-11


def test_rates_are_the_derivatives_of_the_coordinates():
    """Following v for a moment, with v' = a, changes q by dq and by ddq."""
    model, rng = all_kinds_forest(7), np.random.default_rng(7)
    q, v, a = random_state(rng, model)
    a = 0.3 * a
    dq, ddq = (each[0] for each in rates_of(model, q[None], v[None], a[None]))
    h = 1e-4
    ahead, behind = (pp.integrate(model, q, v + 0.5 * s * h * a, s * h) for s in (1.0, -1.0))
    assert np.abs((ahead - behind) / (2 * h) - dq).max() < 1e-6
    assert np.abs((ahead - 2 * q + behind) / h**2 - ddq).max() < 1e-5


# ---- resampling


def test_resampling_a_plan_gives_the_plan_back(model, line):
    again = line.resample(model, DT)
    assert np.abs(again.q - line.q).max() < 1e-12
    assert np.abs(again.v - line.v).max() < 1e-9
    assert np.abs(again.a - line.a).max() < 1e-6


def test_resampling_joints_of_every_kind_gives_the_motion_back(forest):
    model, motion = forest
    again = motion.resample(model, DT)
    assert off(model, again.q, motion.q) < 1e-12
    assert np.abs(again.v - motion.v).max() < 1e-9
    assert np.abs(again.a - motion.a).max() < 1e-6


def test_a_coarse_motion_is_the_same_motion_between_its_rows(model):
    """Minimum jerk is one quintic: two rows of it are all of it."""
    plan = joint_move(model, model.posture("line_start"), model.posture("line_end"), DT, seconds=1.0)
    ends = Plan(*(table[[0, -1]] for table in plan))
    fine = Trajectory.of_plan(ends, 1.0, model.joint_names).resample(model, DT)
    for one, other in zip(fine, plan, strict=True):
        assert np.abs(one - other).max() < 1e-10


def test_a_duration_between_ticks_is_stretched_to_whole_ones(model):
    plan = joint_move(model, model.posture("line_start"), model.posture("line_end"), 0.1, seconds=1.0)
    stretched = Trajectory.of_plan(plan, 0.1, model.joint_names).resample(model, 0.03)  # 33.3 ticks
    assert len(stretched.q) == 34
    assert np.abs(stretched.q[[0, -1]] - plan.q[[0, -1]]).max() < 1e-12
    assert np.abs(np.diff(stretched.q, axis=0) / 0.03 - 0.5 * (stretched.v[1:] + stretched.v[:-1])).max() < 0.01


def test_one_row_is_rest(model):
    still = Trajectory.of_plan(rest(model, model.posture("zero")), DT, model.joint_names)
    assert still.duration_s == 0.0
    assert len(still.resample(model, DT).q) == 1


# ---- smoothing


@settings(max_examples=30, deadline=None)
@given(st.floats(-3.0, 3.0), st.integers(1, 9))
def test_the_kernel_adds_up_to_one_and_keeps_straight_lines(at, m):
    """Partition of unity and linear precision, wherever it stands between the rows."""
    x = at + np.arange(-4 * m - 30, 4 * m + 31)
    w = spline(x / m, 0) / m
    assert w.sum() == pytest.approx(1.0, abs=1e-12)
    assert (w * x).sum() == pytest.approx(0.0, abs=1e-11)
    assert (spline(x / m, 1) * x).sum() / m**2 == pytest.approx(-1.0, abs=1e-11)
    assert (spline(x / m, 2) * x**2).sum() / m**3 == pytest.approx(2.0, abs=1e-9)


def test_smoothing_reduces_jerk_and_keeps_the_ends(model, line):
    rough = shaken(model, line)
    smooth = rough.smooth(model, 0.2)
    assert (smooth.q[[0, -1]] == rough.q[[0, -1]]).all()
    assert smooth.duration_s == rough.duration_s
    jerk = [np.sqrt((np.diff(each, n=3, axis=0) ** 2).mean()) for each in (rough.q, smooth.q)]
    assert jerk[1] < 1e-3 * jerk[0]
    inside = slice(50, -50)
    assert np.abs(smooth.q - line.q)[inside].std() < 0.4 * np.abs(rough.q - line.q)[inside].std()


def test_a_smoothed_motion_has_its_own_derivatives(forest):
    model, motion = forest
    smooth = shaken(model, motion).smooth(model, 0.1)
    v = np.array([pp.difference(model, a, b) for a, b in zip(smooth.q[:-2], smooth.q[2:], strict=True)]) / (2 * DT)
    a = (smooth.v[2:] - smooth.v[:-2]) / (2 * DT)
    inside = slice(1, -1)
    assert np.abs(v - smooth.v[1:-1])[inside].max() <= np.abs(np.diff(smooth.v, axis=0)).max()
    assert np.abs(a - smooth.a[1:-1])[inside].max() <= np.abs(np.diff(smooth.a, axis=0)).max()


def test_smoothing_has_no_lag(model, line):
    """The motion backwards, smoothed, is the smoothed motion backwards."""
    rough = shaken(model, line)
    back = Trajectory(rough.names, rough.time_s, rough.q[::-1], -rough.v[::-1], rough.a[::-1])
    one, other = rough.smooth(model, 0.1), back.smooth(model, 0.1)
    assert np.abs(one.q - other.q[::-1]).max() < 1e-12
    assert np.abs(one.v + other.v[::-1]).max() < 1e-10
    assert np.abs(one.a - other.a[::-1]).max() < 1e-8


def test_turning_more_than_once_is_smoothed_all_the_way_round():
    """A free body that spins for three turns: quaternions change sign, orientation does not jump."""
    model = pp.compile(pp.models.ball(0.1, at=(0, 0, 1)))
    time = np.arange(1001) * DT
    spin = np.array([0.0, 0.0, 3 * 2 * np.pi / time[-1]])
    v = np.tile([*spin, 0.0, 0.0, 0.0], (1001, 1))
    q = np.array([pp.integrate(model, model.neutral(), v[0], t) for t in time])
    smooth = Trajectory.from_motion(time, q, v, model.joint_names).smooth(model, 0.06)
    assert off(model, smooth.q[50:-50], q[50:-50]) < 1e-9  # a circle stays one
    assert np.abs(smooth.v - v)[50:-50].max() < 1e-9
    variance_s2 = 0.5 * (0.06 / 6) ** 2  # of the kernel: at the ends it moves nothing farther than a (variance) / 2
    assert off(model, smooth.q, q) < 0.5 * variance_s2 * (spin @ spin)


def test_uneven_times_come_out_even(model, line):
    keep = np.sort(np.random.default_rng(2).choice(len(line.q), size=600, replace=False))
    keep[[0, -1]] = 0, len(line.q) - 1
    uneven = Trajectory(line.names, line.time_s[keep], line.q[keep], line.v[keep], line.a[keep])
    smooth = uneven.smooth(model, 0.05)
    assert np.ptp(np.diff(smooth.time_s)) < 1e-12
    q = np.stack([np.interp(smooth.time_s, line.time_s, column) for column in line.q.T], axis=1)
    assert np.abs(smooth.q - q).max() < 2e-3


# ---- cutting and checking


def test_a_cut_has_the_rows_between_two_times(line):
    part = line.cut(0.5, 1.0)
    assert part.time_s[[0, -1]] == pytest.approx([0.5, 1.0])
    assert part.duration_s == pytest.approx(0.5)
    assert (part.q == line.q[250:501]).all()
    with pytest.raises(TrajectoryError, match="nothing is left between 3 and 4 s"):
        line.cut(3, 4)


def test_a_check_names_the_joint_its_limit_and_the_time():
    bodies = (pp.Body("link", 1.0, inertia=(0.1, 0.1, 0.1)),)
    joint = pp.Joint("hinge", "revolute", "world", "link", axis=(0, 0, 1), lower=-0.5, upper=1.0, velocity_limit=2.0,
                     effort_limit=3.0)  # fmt: skip
    model = pp.compile(pp.MultiBody("door", bodies, (joint,)))
    time = np.arange(101) * 0.01
    q, v = (1.5 * np.sin(2 * np.pi * time))[:, None], (3 * np.pi * np.cos(2 * np.pi * time))[:, None]
    found = Trajectory.from_motion(time, q, v, ("hinge",), effort=5 * np.ones_like(q)).check(model)
    assert found == [
        "joint 'hinge' goes to 1.5 at 0.25 s, its upper limit is 1; it is beyond that first at 0.12 s",
        "joint 'hinge' goes to -1.5 at 0.75 s, its lower limit is -0.5; it is beyond that first at 0.56 s",
        "joint 'hinge' moves at 9.425 at 0 s, its velocity limit is 2; it is beyond that first at 0 s",
        "joint 'hinge' needs 5 at 0 s, its effort limit is 3; it is beyond that first at 0 s",
    ]
    calm = Trajectory.from_motion(time, 0.1 * q, 0.1 * v, ("hinge",))
    assert calm.check(model) == []


def test_accelerations_of_a_motion_are_differences(line):
    seen = Trajectory.from_motion(line.time_s, line.q, line.v, line.names)
    assert np.abs(seen.a - line.a)[1:-1].max() < 1e-3


# ---- what makes no sense


def test_a_trajectory_is_read_only(line):
    with pytest.raises(ValueError, match="read-only"):
        line.q[0, 0] = 1.0


def test_nonsense_is_one_line(model, line):
    t, q, v = np.array([0.0, 1.0]), np.zeros((2, 1)), np.zeros((2, 1))
    for arguments, text in (
        (((), t, q, v, v), "needs joints with names"),
        ((("a", "a"), t, q, v, v), "each once"),
        ((("a",), [], q[:0], v[:0], v[:0]), "at least one row"),
        ((("a",), t[::-1], q, v, v), "times must increase: row 1 is at 0.0 s"),
        ((("a",), [0.0, np.nan], q, v, v), "time_s is not a finite number in row 1"),
        ((("a",), t, q[:1], v, v), "q has 1 rows, there are 2 times"),
        ((("a",), t, q, v, np.zeros((2, 2))), "a has 2 columns, v has 1"),
        ((("a",), t, [[0.0], [0.0, 1.0]], v, v), "q must be numbers in rows of equal length"),
        ((("a",), t, np.zeros(2), v, v), "q must have 2 dimensions"),
        ((("a", "b"), t, q, v, v), "2 joints with 1 coordinates"),
    ):
        with pytest.raises(TrajectoryError, match=text) as error:
            Trajectory(*arguments)
        assert "\n" not in str(error.value)
    other = Trajectory(("knee",), t, q, v, v)
    with pytest.raises(TrajectoryError, match="moves joint 'knee', which 'puma560' does not have"):
        other.resample(model, DT)
    part = Trajectory(line.names[:5], line.time_s, line.q[:, :5], line.v[:, :5], line.a[:, :5])
    with pytest.raises(TrajectoryError, match="'puma560' has joint 'joint6', which the trajectory does not move"):
        part.check(model)
    with pytest.raises(TrajectoryError, match="come in another order"):
        Trajectory(line.names[::-1], line.time_s, line.q, line.v, line.a).check(model)
    with pytest.raises(TrajectoryError, match=r"a window of 9 s is too wide"):
        line.smooth(model, 9.0)
    with pytest.raises(TrajectoryError, match="the window must be positive"):
        line.smooth(model, 0.0)
