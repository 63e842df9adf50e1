"""A soak: an arm in a crowd, a device that stirs it, in real time.  A few seconds, or PALPATE_SOAK_S=3600 for an hour.

Memory must not grow in any run.  Lateness is printed (pytest -s); only a long soak, asked for, asserts about it.
"""

import os
import time
from pathlib import Path

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.frame import COUNTERS, RUNNING
from palpate.haptics.devices.simulated import Simulated
from palpate.haptics.reach_tables import COUPLING, SURFACES
from palpate.scenes.crowd import crowd

pytestmark = [
    pytest.mark.slow,
    pytest.mark.real_time,
    pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler"),
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc"),
]
SOAK_S = float(os.environ.get("PALPATE_SOAK_S", "4"))
LONG_S = 60.0  # from here on lateness is asserted
GROWTH_MB = 4.0  # a frame of this scene has 17 kB: one that was kept in every tenth tick would be 7 MB in 4 s


def resident_MB() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def stirring() -> pp.Hand:
    """Round and round, taking hold for a second in every three."""
    times = np.arange(0.0, SOAK_S + 10.0, 0.25)
    path = [(float(t), (0.05 * np.cos(2.0 * t), 0.05 * np.sin(2.0 * t), -0.02)) for t in times]
    return pp.Hand(intent=path, holds=[(float(t), float(t) + 1.0) for t in np.arange(1.0, SOAK_S + 10.0, 3.0)])


def test_memory_does_not_grow_and_ticks_do_not_get_later():
    scene = crowd(60)
    with Simulated(hand=stirring()) as device:
        place = pp.Transform(p=(0.42, 0.0, -0.60))  # among the solids
        late, ticks, took_us = [], [], []
        with pp.touch(scene, device, place=place, radius_m=0.01) as session:
            ring = session.engine.frames
            while ring.head <= ring.slots:  # until every slot has been written once: that much memory is ours
                session.wait(0.1)
            start, ended = resident_MB(), time.monotonic() + SOAK_S
            while time.monotonic() < ended:
                session.wait(min(1.0, SOAK_S / 4))
                now = session.frame()
                assert now["state"] == RUNNING, session.report.notes
                late.append(int(now["counters"][COUNTERS.index("late")]))
                ticks.append(int(now["tick"]))
                took_us.append(float(now["tick_us"]))
            growth = resident_MB() - start
            assert np.isfinite(now["device_force"]).all()
            assert session.reaching[0].fault == ""
            assert session.reaching[0].energy.absorbed[[COUPLING, SURFACES]].any()  # it did hold or push something
        print(f"\n{session.report}\nmemory {growth:+.1f} MB; late ticks {late[-1]} of {ticks[-1]}")
        assert growth < GROWTH_MB
        assert ticks[-1] > ticks[0]
        if SOAK_S >= LONG_S:
            half = len(late) // 2
            first = (late[half] - late[0]) / (ticks[half] - ticks[0])
            second = (late[-1] - late[half]) / (ticks[-1] - ticks[half])
            # other programs make ticks late as well, so a trend must stand out of a hundredth
            assert second < 2.0 * first + 0.01, f"late in the first half {first:.2%}, in the second {second:.2%}"
            assert np.median(took_us[half:]) < 1.5 * np.median(took_us[:half])
