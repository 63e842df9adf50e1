"""A survey of the floor: what it finds is taken off, and no more.  Mobile display, 1.3."""

import math

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block, entry
from palpate.mobile.estimate.survey import Survey, load_marks, put_right, simulated_survey, survey
from palpate.mobile.hardware.tracker import Tracker
from palpate.mobile.walking.users import turn, walk
from tests.mobile.walks import rig, walking

compiled = pytest.mark.skipif(jit.DISABLED, reason="a World's tick needs the compiler")


@entry("intp, float64[:, ::1], float64[:, ::1]")
def put_right_door(address, poses, out):
    (m,) = load_marks(address)
    for i in range(poses.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = put_right(m, (poses[i, 0], poses[i, 1], poses[i, 2]))


def right(found: Survey, poses: np.ndarray) -> np.ndarray:
    out, block = np.zeros_like(poses), Block(found.marks)
    put_right_door(block.address, np.ascontiguousarray(poses), out)
    return out


@pytest.mark.nojit
@pytest.mark.parametrize("seed", range(5))
def test_a_bias_that_is_bilinear_is_taken_off_exactly(seed):
    """b = a + c x + d z + e x z of each number; read where it was, put right where it is read."""
    rng = np.random.default_rng(seed)
    a, c, d, e = rng.uniform(-1e-3, 1e-3, (4, 3))

    def bias(p):
        return a + np.outer(p[:, 0], c) + np.outer(p[:, 1], d) + np.outer(p[:, 0] * p[:, 1], e)

    found = survey(bias, float(rng.choice([0.3, 0.5, 1.0])))
    read = np.column_stack([rng.uniform(-3.5, 3.5, (50, 2)), rng.uniform(-3.0, 3.0, 50)])
    assert right(found, read) == pytest.approx(read - bias(read[:, :2]), abs=1e-12)


@pytest.mark.nojit
def test_outside_of_the_marks_the_bias_is_that_of_the_edge():
    rng = np.random.default_rng(3)
    found = Survey((-1.0, -2.0), 0.5, rng.normal(size=(4, 3, 3)))
    far = np.array([[-9.0, -9.0, 0.1], [1e6, -9.0, 0.2], [-9.0, 1e6, 0.3], [9.0, 9.0, 0.4]])
    corners = found.offsets[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert right(found, far) == pytest.approx(far - corners, rel=1e-12)


@compiled
@pytest.mark.parametrize("seed", range(4))
def test_with_a_survey_a_biased_tracker_is_as_good_as_one_without_bias(seed):
    """HIP error at most 1.2 mm rms, quiet, while the person walks and turns; without the survey it is millimetres."""
    events, errors = [walk(0.5, 3.0, 0.5, 70.0 * seed), turn(1.0, 1.5, 40.0)], []
    for step in (None, 0.5):
        with walking(*events, wall_m=9.0, rig=rig(Tracker()), survey=step, seed=seed) as w:
            w.seconds(4.0)
            errors.append(math.sqrt((w["mobile_error_mm"] ** 2).mean()))
            assert w["mobile_step_mm"].max() <= 0.15
    assert errors[1] <= 1.2
    assert errors[1] < errors[0]


@compiled
def test_a_coarse_survey_is_worse_than_a_fine_one():
    fine, coarse = (simulated_survey(Tracker(), 2, step) for step in (0.25, 2.0))
    rng = np.random.default_rng(1)
    poses = np.column_stack([rng.uniform(-3.5, 3.5, (300, 2)), np.zeros(300)])
    finest = right(simulated_survey(Tracker(), 2, 0.1), poses)
    off = [np.abs(right(each, poses) - finest).max() for each in (fine, coarse)]
    assert off[0] < 0.5e-3 < off[1]


@pytest.mark.parametrize(
    ("low", "step", "offsets"),
    [((0, 0), 0.5, np.zeros((3, 3))), ((0, 0), 0.5, np.zeros((1, 3, 3))), ((0, 0), 0.0, np.zeros((3, 3, 3))),
     ((0, math.nan), 0.5, np.zeros((3, 3, 3))), ((0, 0), 0.5, np.full((3, 3, 3), math.inf))],
)  # fmt: skip
def test_a_survey_that_is_none_is_refused_in_one_line(low, step, offsets):
    with pytest.raises(ValueError, match="survey") as error:
        Survey(low, step, offsets)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("step", [0.0, -1.0, math.nan, 9.0])
def test_marks_that_cannot_be_are_refused(step):
    with pytest.raises(ValueError, match="marks are"):
        survey(lambda p: np.zeros((len(p), 3)), step)
