"""The servo loop on a thread of its own for a number of periods, as a session runs it, and how late its ticks began."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import numpy as np

from palpate.frame import COUNTERS, PLAY
from palpate.runtime.session import FIFO_PRIORITY, SPIN_US
from palpate.servo.loop import SPIN_NS
from palpate.servo.simulation import Simulation

WATCH_S = 0.05  # between two looks of whoever reads along


def run_servo(engine: Simulation, periods: int, fifo: bool, watch: Callable[[], None] = lambda: None) -> None:
    """Run from the start of the scene; `watch` is called now and then meanwhile, and once more at the end."""
    engine.restart()
    engine.beat.control[SPIN_NS] = SPIN_US * 1000
    engine.events.write(engine.event_layout.pack(kind=PLAY))

    def run() -> None:
        if fifo:  # of this thread only
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
        engine.loop(periods)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        thread.join(WATCH_S)
        watch()


def lateness_row(engine: Simulation, periods: int) -> dict[str, float]:
    """Of an engine with a log of that many periods: lateness [us], the part of ticks that ended after the next was due,
    and how many were given up."""
    late_us = engine.beat.lateness_log * 1e-3
    p50, p99, p999 = np.percentile(late_us, (50, 99, 99.9))
    counters = dict(zip(COUNTERS, engine.head.counters.tolist(), strict=True))
    return {
        "p50_us": float(p50),
        "p99_us": float(p99),
        "p99.9_us": float(p999),
        "max_us": float(late_us.max()),
        "late_fraction": counters["late"] / periods,
        "skipped": counters["skipped"],
    }
