"""kill -9 of recorders at random moments, beside a real servo that none of them disturbs.

`test_recorder.py` has the same with a played servo and every bit compared, and the promise that at most 100 ms are lost
without a clock; `palpate bench record` measures it.  Here are the frames of a session.
"""

import os

import numpy as np
import pytest

from palpate import jit
from palpate.bench.recording import kill_recorder
from palpate.bench.servo import fifo_permitted
from palpate.frame import RUNNING
from palpate.record.reader import Recording
from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm

pytestmark = [
    pytest.mark.real_time,
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(
        not hasattr(os, "sched_setscheduler") or not fifo_permitted(),
        reason="a busy machine may keep a recorder waiting for longer than the ring reaches back: needs SCHED_FIFO",
    ),
]
KILLS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))]


@pytest.fixture(scope="module")
def session():
    with WorldSession(arm(), shared=True) as running:
        yield running


@pytest.mark.parametrize("seed", KILLS)
def test_kill_9_leaves_a_file_that_opens_and_every_frame_up_to_its_last(session, seed, tmp_path):
    life_s = np.random.default_rng(seed).uniform(0.0, 0.4)
    at = session.simulation.layout.offset
    killed = kill_recorder(session, tmp_path / "run.mcap", life_s)
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
