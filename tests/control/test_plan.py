"""Plans: the line is a line, its derivatives are its derivatives, and what cannot be followed is said."""

import numpy as np
import pytest

import palpate as pp
from palpate.control.plan import PlanError, line, minimum_jerk, rest, there_and_back
from palpate.scenes.arm import ELBOW_UP, LINE_END_M, LINE_START_M, TOOL_ALONG_X, tool_line


@pytest.fixture(scope="module")
def model():
    return pp.compile(pp.models.puma560())


@pytest.fixture(scope="module")
def plan(model):
    return tool_line(model, 1e-3)


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


def test_velocities_and_accelerations_are_the_derivatives(plan):
    dt = 1e-3
    v = (plan.q[2:] - plan.q[:-2]) / (2 * dt)
    a = (plan.v[2:] - plan.v[:-2]) / (2 * dt)
    assert np.abs(v - plan.v[1:-1]).max() < 1e-5
    assert np.abs(a - plan.a[1:-1]).max() < 1e-3
    assert np.abs(plan.v[[0, -1]]).max() < 1e-12  # at rest at both ends


def test_there_and_back_is_a_closed_loop(plan):
    loop = there_and_back(plan, 100)
    assert np.abs(np.diff(np.vstack([loop.q, loop.q[:1]]), axis=0)).max() < 3e-3  # no jump, not even at the seam
    assert len(loop.q) == 2 * len(plan.q) + 200


def test_minimum_jerk_starts_and_ends_at_rest():
    s, ds, dds = minimum_jerk(np.array([0.0, 0.5, 1.0]))
    assert s == pytest.approx([0, 0.5, 1])
    assert ds == pytest.approx([0, 15 / 8, 0])
    assert dds == pytest.approx([0, 0, 0])


def test_a_line_that_leaves_the_workspace_says_where(model):
    with pytest.raises(PlanError, match=r"cannot be followed beyond \[") as error:
        line(model, "tool", LINE_START_M, (2.0, 0.15, -0.05), TOOL_ALONG_X, 1.0, 0.05, ELBOW_UP)
    assert "\n" not in str(error.value)


def test_rest_stays(model):
    plan = rest(model, model.posture("line_start"))
    assert len(plan.q) == 1
    assert not plan.v.any()
