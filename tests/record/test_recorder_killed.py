"""kill -9 of recorders at random moments, beside a real servo that none of them disturbs.

`test_recorder.py` has the same with a played servo and every bit compared; here are the frames of a session, and the
promise is asserted of every single kill: at most 100 ms of the recording lost, in the recording's own time.
"""

import os

import numpy as np
import pytest

from palpate import jit
from palpate.bench.recording import LOST_GOAL_S, kill_recorder
from palpate.bench.servo import fifo_permitted
from palpate.frame import RUNNING
from palpate.record.reader import Recording
from palpate.runtime.session import Session
from palpate.scenes.arm import arm

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(
        not hasattr(os, "sched_setscheduler") or not fifo_permitted(),
        reason="a busy machine may keep a recorder waiting: needs SCHED_FIFO",
    ),
]
KILLS = 20


@pytest.fixture(scope="module")
def session():
    with Session(arm(), shared=True) as running:
        yield running


@pytest.mark.parametrize("seed", range(KILLS))
def test_kill_9_loses_at_most_100_ms_and_leaves_a_file_that_opens(session, seed, tmp_path):
    life_s = np.random.default_rng(seed).uniform(0.0, 0.4)
    at = session.engine.frame_layout.offset
    killed = kill_recorder(session, tmp_path / "run.mcap", life_s)
    assert killed.lost_s <= LOST_GOAL_S
    with Recording(tmp_path / "run.mcap") as crashed:  # opens as it is, without its end,
        assert not crashed.finished
        assert np.array_equal(np.array([*crashed], dtype=np.int64).reshape(killed.words.shape), killed.words)
    # and from the first frame that it was told to write on, nothing is missing and nothing is there twice
    ticks = killed.words[:, at["tick"]]
    assert np.array_equal(ticks, ticks[0] + np.arange(len(ticks)))
    # the servo has not noticed
    before, after = killed.words[-1, at["tick"]], session.frame()
    assert after["tick"] > before
    assert after["state"] == RUNNING
    assert session.report.notes == []
