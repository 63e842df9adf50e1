"""Tasks of `palpate bench sweep`, apart from it: workers import this, and nothing that takes long."""

from __future__ import annotations

import time
from pathlib import Path

TASK_S = 0.01


def spin(x: float) -> float:
    """A task that lasts as long as it shall, and longer only if another process has the core; how long [s]."""
    began = time.perf_counter()
    while time.perf_counter() - began < TASK_S:
        pass
    return time.perf_counter() - began


def stamp(x: float, file: str) -> float:
    """A task that says when it began."""
    Path(file).write_text(str(time.time()), encoding="utf-8")
    return x
