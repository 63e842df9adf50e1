"""Plans: the line is a line, its derivatives are its derivatives, and what cannot be followed is said."""

import numpy as np
import pytest
from mechanisms import all_kinds_forest, random_state

import palpate as pp
from palpate.control.plans.plan import (
    PlanError,
    joined,
    joint_move,
    line,
    minimum_jerk,
    rest,
    there_and_back,
    through,
    via_lines,
)
from palpate.scenes.arm import ELBOW_UP, LINE_END_M, LINE_START_M, TOOL_ALONG_X, tool_line

DT = 1e-3
PLACES = (
    pp.Transform(TOOL_ALONG_X, LINE_START_M),
    pp.Transform(TOOL_ALONG_X, (0.70, 0.1501, -0.05)),
    pp.Transform(TOOL_ALONG_X @ pp.Rotation.about((1, 0, 0), 0.4), (0.70, 0.30, 0.05)),
)


@pytest.fixture(scope="module")
def model():
    return pp.compile(pp.models.puma560())


@pytest.fixture(scope="module")
def plan(model):
    return tool_line(model, DT)


@pytest.fixture(scope="module")
def with_stops(model):
    return via_lines(model, "tool", PLACES, 2e-3, ELBOW_UP)


@pytest.fixture(scope="module")
def rounded(model):
    return via_lines(model, "tool", PLACES, 2e-3, ELBOW_UP, blend=0.3)


def tool_poses(model, plan):
    return np.array([pp.forward_kinematics(model, q)[model.body("tool")] for q in plan.q])


def assert_derivatives(model, plan, dt):
    """A central difference is the mean over two ticks, so it differs from the value by no more than that changes."""
    differences = np.array([pp.difference(model, a, b) for a, b in zip(plan.q[:-2], plan.q[2:], strict=True)])
    slack = 1e-6  # of quaternions: the frame turns within the two ticks
    change_v, change_a = (np.abs(np.diff(x, axis=0)).max() for x in (plan.v, plan.a))
    assert np.abs(differences / (2 * dt) - plan.v[1:-1]).max() <= change_v + slack
    assert np.abs((plan.v[2:] - plan.v[:-2]) / (2 * dt) - plan.a[1:-1]).max() <= change_a + slack


# ---- one line


def test_the_tool_stays_on_the_line_with_its_orientation(model, plan):
    tool, direction = model.body("tool"), np.subtract(LINE_END_M, LINE_START_M)
    direction = direction / np.linalg.norm(direction)
    for q in plan.q[::50]:
        X = pp.forward_kinematics(model, q)[tool]
        off = X[:3, 3] - LINE_START_M
        assert np.linalg.norm(off - (off @ direction) * direction) < 1e-9
        assert np.abs(X[:3, :3] - TOOL_ALONG_X.matrix()).max() < 1e-9
    assert np.abs(pp.forward_kinematics(model, plan.q[0])[tool][:3, 3] - LINE_START_M).max() < 1e-9
    assert np.abs(pp.forward_kinematics(model, plan.q[-1])[tool][:3, 3] - LINE_END_M).max() < 1e-9


def test_the_pose_is_right_at_all_41_steps(model):
    """articulated-haptics.md acceptance 8: pose error < 1e-9, at where minimum jerk has the tool at each step."""
    plan = tool_line(model, 0.05)
    assert len(plan.q) == 41
    s = minimum_jerk(np.arange(41) / 40)[0]
    X = tool_poses(model, plan)
    wanted = LINE_START_M + s[:, None] * np.subtract(LINE_END_M, LINE_START_M)
    assert np.linalg.norm(X[:, :3, 3] - wanted, axis=1).max() < 1e-9
    assert np.abs(X[:, :3, :3] - TOOL_ALONG_X.matrix()).max() < 1e-9


def test_velocities_and_accelerations_are_the_derivatives(plan):
    dt = DT
    v = (plan.q[2:] - plan.q[:-2]) / (2 * dt)
    a = (plan.v[2:] - plan.v[:-2]) / (2 * dt)
    assert np.abs(v - plan.v[1:-1]).max() < 1e-5
    assert np.abs(a - plan.a[1:-1]).max() < 1e-3
    assert np.abs(plan.v[[0, -1]]).max() < 1e-12  # at rest at both ends


def test_the_step_of_the_plan_does_not_change_the_motion(model, plan):
    coarse = tool_line(model, 0.05)
    for one, other in zip(plan, coarse, strict=True):
        assert np.abs(one[::50] - other).max() < 1e-7


def test_a_line_that_leaves_the_workspace_says_where(model):
    with pytest.raises(PlanError, match=r"cannot be followed beyond \[") as error:
        line(model, "tool", LINE_START_M, (2.0, 0.15, -0.05), TOOL_ALONG_X, 1.0, 0.05, ELBOW_UP)
    text = str(error.value)
    assert "\n" not in text
    x = float(text.split("[")[1].split(",")[0])
    reach = np.hypot(0.4318, np.hypot(0.0203, 0.4331)) + 0.4318  # more than both links of the arm together
    assert LINE_START_M[0] < x < reach
    assert f"] m, {100 * (x - 0.5) / 1.5:.0f} % along the way" in text
    assert "limit" not in text  # it is stretched out, no joint is in the way


def test_a_line_that_a_joint_limit_ends_names_the_joint(model):
    """Turning the hand over on the spot by more than the wrist can."""
    turned = pp.Transform(TOOL_ALONG_X @ pp.Rotation.about((0, 1, 0), -0.9), LINE_START_M)
    with pytest.raises(PlanError, match=r"joint 'joint5' at its (lower|upper) limit of -?1\.745"):
        via_lines(model, "tool", (PLACES[0], turned), 0.05, ELBOW_UP)


def test_a_line_in_a_world_leaves_other_bodies_where_they_are():
    model = pp.compile([pp.models.puma560(), pp.models.ball(0.1, at=(2, 0, 0))])
    seed = model.neutral()
    seed[:6], seed[6:9] = ELBOW_UP, (1.0, 2.0, 3.0)
    plan = line(model, "tool", LINE_START_M, LINE_END_M, TOOL_ALONG_X, 2.0, 0.05, seed)
    assert plan.v.shape == plan.a.shape == (41, 12)
    assert np.abs(plan.q[:, 6:] - seed[6:]).max() < 1e-12
    assert not plan.v[:, 6:].any()
    alone = tool_line(pp.compile(pp.models.puma560()), 0.05)
    assert np.abs(plan.q[:, :6] - alone.q).max() < 1e-9


def test_an_arm_with_a_joint_to_spare_follows_the_line_with_its_derivatives():
    axes, heights = [(0, 0, 1), (0, 1, 0)] * 3 + [(0, 0, 1)], (0.3, 0.0, 0.3, 0.0, 0.3, 0.0, 0.1)
    bodies = [pp.Body(f"link{i}", 1.0, inertia=(0.01, 0.01, 0.01)) for i in range(7)]
    joints = [
        pp.Joint(f"joint{i}", "revolute", f"link{i - 1}" if i else "world", f"link{i}",
                 pp.Transform(p=(0, 0, height)), axis=axis, velocity_limit=2.0)
        for i, (axis, height) in enumerate(zip(axes, heights, strict=True))
    ]  # fmt: skip
    model = pp.compile(pp.MultiBody("seven", tuple(bodies), tuple(joints)))
    q = np.array([0.0, 0.4, 0.0, 1.4, 0.0, 0.6, 0.8])
    X = pp.Transform.from_matrix(pp.forward_kinematics(model, q)[model.body("link6")])
    Y = pp.Transform(X.R @ pp.Rotation.about((0, 0, 1), 0.5), tuple(np.add(X.p, (0.1, 0.2, -0.1))))
    plan = via_lines(model, "link6", (X, Y), 2e-3, q)
    end = pp.forward_kinematics(model, plan.q[-1])[model.body("link6")]
    assert np.abs(end - Y.matrix()).max() < 1e-9
    assert_derivatives(model, plan, 2e-3)
    assert np.abs(plan.v).max() <= 2.0


# ---- several lines


def test_lines_with_stops_meet_every_place_at_rest(model, with_stops):
    X = tool_poses(model, with_stops)
    still = np.flatnonzero(np.abs(with_stops.v).max(axis=1) == 0.0)
    assert len(still) == 3
    for row, place in zip(still, PLACES, strict=True):
        assert np.abs(X[row] - place.matrix()).max() < 1e-9


def test_lines_are_straight_and_turn_about_one_axis(model, with_stops):
    """Between the places: on the line, and on the shorter geodesic of SO(3)."""
    X = tool_poses(model, with_stops)
    for a, b in ((PLACES[0], PLACES[1]), (PLACES[1], PLACES[2])):
        first, last = (int(np.argmin(np.linalg.norm(X[:, :3, 3] - place.p, axis=1))) for place in (a, b))
        along = np.subtract(b.p, a.p)
        turn = (a.R.inv() @ b.R).log()
        for row in X[first : last + 1 : 25]:
            s = (row[:3, 3] - a.p) @ along / (along @ along)
            assert np.abs(row[:3, 3] - a.p - s * along).max() < 1e-9
            assert np.abs(row[:3, :3] - (a.R @ pp.Rotation.exp(s * turn)).matrix()).max() < 1e-9


def test_rounded_corners_do_not_stop_and_stay_inside_the_corner(model, rounded, with_stops):
    assert len(rounded.q) < len(with_stops.q)
    assert np.abs(rounded.v[1:-1]).max(axis=1).min() > 0.0
    X = tool_poses(model, rounded)
    assert np.abs(X[0] - PLACES[0].matrix()).max() < 1e-9
    assert np.abs(X[-1] - PLACES[-1].matrix()).max() < 1e-9
    # p = P0 + s1 (P1 - P0) + s2 (P2 - P1): in the triangle of the places, s2 <= s1, and on its sides outside the corner
    sides = np.stack([np.subtract(PLACES[1].p, PLACES[0].p), np.subtract(PLACES[2].p, PLACES[1].p)], axis=1)
    s, residual, _, _ = np.linalg.lstsq(sides, (X[:, :3, 3] - PLACES[0].p).T, rcond=None)
    assert residual.max() < 1e-18
    assert s.min() > -1e-9
    assert s.max() < 1 + 1e-9
    assert (s[1] <= s[0] + 1e-9).all()
    both = (s[0] < 1 - 1e-9) & (s[1] > 1e-9)
    assert 0.0 < both.mean() < 0.3


@pytest.mark.parametrize("which", ["with_stops", "rounded"])
def test_lines_keep_the_limits_and_their_derivatives(model, which, request):
    plan = request.getfixturevalue(which)
    assert np.abs(plan.v).max() <= 1.0  # the default: this arm states none
    assert np.abs(plan.a).max() <= 5.0
    assert np.abs(plan.v).max() > 0.99  # and as fast as that allows
    assert_derivatives(model, plan, 2e-3)
    assert not plan.v[[0, -1]].any()
    assert not plan.a[[0, -1]].any()


def test_lines_take_the_time_they_are_given(model):
    for blend in (0.0, 0.2):
        plan = via_lines(model, "tool", PLACES, 0.01, ELBOW_UP, seconds=4.0, blend=blend)
        assert len(plan.q) == 401


# ---- postures


def test_joint_move_is_minimum_jerk_in_every_joint(model):
    a, b = model.posture("line_start"), model.posture("line_end")
    plan = joint_move(model, a, b, DT, seconds=2.0)
    s, ds, dds = minimum_jerk(np.linspace(0, 1, 2001))
    assert np.abs(plan.q - (a + s[:, None] * (b - a))).max() < 1e-14
    assert np.abs(plan.v - ds[:, None] / 2.0 * (b - a)).max() < 1e-12
    assert np.abs(plan.a - dds[:, None] / 4.0 * (b - a)).max() < 1e-12


def test_joints_of_every_kind_can_be_moved():
    """Free and spherical joints too: the ends are met, and v and a are derivatives on the manifold."""
    model, rng = all_kinds_forest(3), np.random.default_rng(3)
    a, b = random_state(rng, model)[0], random_state(rng, model)[0]
    for plan in (joint_move(model, a, b, 0.01, seconds=2.0), through(model, [a, b], 0.01, seconds=2.0)):
        assert np.abs(pp.difference(model, plan.q[0], a)).max() < 1e-12
        assert np.abs(pp.difference(model, plan.q[-1], b)).max() < 1e-12
        assert_derivatives(model, plan, 0.01)
        assert np.abs(plan.v[[0, -1]]).max() < 1e-12
        assert np.abs(plan.a[[0, -1]]).max() < 1e-12


def test_postures_on_the_way_are_met_on_a_row_and_passed_without_a_jump():
    """Acceleration is continuous: halving the tick halves the largest change of it."""
    model, rng = all_kinds_forest(4), np.random.default_rng(4)
    points = [model.neutral()]
    for _ in range(4):
        points.append(pp.integrate(model, points[-1], rng.normal(scale=0.5, size=model.nv), 1.0))
    jumps = []
    for dt in (0.01, 0.005):
        plan = through(model, points, dt, seconds=4.0)
        rows = [min(range(len(plan.q)), key=lambda k: np.abs(pp.difference(model, plan.q[k], p)).max()) for p in points]
        assert rows == sorted(set(rows))
        for row, point in zip(rows, points, strict=True):
            assert np.abs(pp.difference(model, plan.q[row], point)).max() < 1e-9
        assert np.abs(plan.v[rows[1:-1]]).max(axis=1).min() > 0.01  # it does not stop there
        assert_derivatives(model, plan, dt)
        jumps.append(np.abs(np.diff(plan.a, axis=0)).max())
    assert jumps[1] < 0.6 * jumps[0]


def test_a_way_that_swings_beyond_a_joint_limit_is_refused(model):
    near = model.posture("zero")
    near[0] = model.upper[0] - 0.01
    far = near.copy()
    far[0] -= 0.3
    with pytest.raises(PlanError, match=r"takes joint 'joint1' to [\d.]+, its limit is 2\.793"):
        through(model, [model.posture("zero"), near, far], 0.01)
    with pytest.raises(PlanError, match=r"the posture to go to takes joint 'joint1' to 3, its limit is 2\.793"):
        joint_move(model, near, [3.0, 0, 0, 0, 0, 0], 0.01)


# ---- whole plans


def test_there_and_back_is_a_closed_loop(plan):
    loop = there_and_back(plan, 100)
    assert np.abs(np.diff(np.vstack([loop.q, loop.q[:1]]), axis=0)).max() < 3e-3  # no jump, not even at the seam
    assert len(loop.q) == 2 * len(plan.q) + 200


def test_joined_plans_have_the_common_row_once(model, plan):
    back = joint_move(model, plan.q[-1], plan.q[0], DT, seconds=1.0)
    both = joined([plan, back])
    assert len(both.q) == len(plan.q) + len(back.q) - 1
    with pytest.raises(ValueError, match="plan 1 does not begin where plan 0 ends"):
        joined([plan, plan])


def test_minimum_jerk_starts_and_ends_at_rest():
    s, ds, dds = minimum_jerk(np.array([0.0, 0.5, 1.0]))
    assert s == pytest.approx([0, 0.5, 1])
    assert ds == pytest.approx([0, 15 / 8, 0])
    assert dds == pytest.approx([0, 0, 0])


def test_rest_stays(model):
    plan = rest(model, model.posture("line_start"))
    assert len(plan.q) == 1
    assert not plan.v.any()


def test_wrong_calls_are_one_line(model):
    zero, X = model.posture("zero"), PLACES[0]
    for call, text in (
        (lambda: joint_move(model, zero[:5], zero, DT), r"q0 has shape \(5,\)"),
        (lambda: joint_move(model, zero, zero, 0.0), "dt must be positive"),
        (lambda: joint_move(model, zero, zero, DT, seconds=-1.0), "a duration must be"),
        (lambda: joint_move(model, zero, zero, DT, velocity=-1.0), "velocity limits must be positive"),
        (lambda: joint_move(model, zero, zero, DT, acceleration=[1.0, 2.0]), r"have shape \(2,\)"),
        (lambda: through(model, [zero], DT), "at least two postures"),
        (lambda: through(model, [zero, zero], DT), "points 0 and 1 are the same"),
        (lambda: via_lines(model, "tool", [X], DT, ELBOW_UP), "at least two places"),
        (lambda: via_lines(model, "tool", [X, X], DT, ELBOW_UP), "places 0 and 1 are the same"),
        (lambda: via_lines(model, "tool", PLACES, DT, ELBOW_UP, blend=0.7), "blend must be from 0"),
        (lambda: via_lines(model, "hook", PLACES, DT, ELBOW_UP), "no body 'hook'"),
    ):
        with pytest.raises(ValueError, match=text) as error:
            call()
        assert "\n" not in str(error.value)
