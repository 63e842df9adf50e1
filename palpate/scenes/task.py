"""A task to learn by touch: bring a body to a target, past obstacles; and what became of each trial.

The tick keeps the score (runtime/world/score.py), in every frame and so in every recording:

    seconds     from the first touch to the target       path_m      length of the body's way
    peak_N      the largest force of a hand              collisions  times that something began to touch an obstacle

A reset ends a trial and begins the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from palpate.spatial.placement import Vector3

WAITING, RUNNING, REACHED = range(3)  # task_state of a frame
SCORES = ("seconds", "path_m", "peak_N", "collisions")


@dataclass(frozen=True)
class Task:
    """Bring the origin of `body` to within `radius_m` of the target (world); obstacles are not to be touched."""

    title: str
    body: str
    target_m: Vector3
    radius_m: float = 0.03
    obstacles: tuple[str, ...] = ()

    def describe(self) -> dict[str, object]:
        """For a page, as JSON can hold it."""
        return asdict(self)


class Trial(NamedTuple):
    """What one trial came to."""

    number: int
    reached: bool
    seconds: float
    path_m: float
    peak_N: float
    collisions: int


def trials_of(frames: Mapping[str, np.ndarray]) -> list[Trial]:
    """Trials in the histories of a run or a recording (n, ...) by field; one that nobody began is left out."""
    number, state = np.asarray(frames["task_trial"]), np.asarray(frames["task_state"])
    found = []
    for each in np.unique(number[(number > 0) & (state > WAITING)]):
        last = np.flatnonzero((number == each) & (state > WAITING))[-1]
        found.append(Trial(
            int(each), bool(state[last] == REACHED), float(frames["task_time_s"][last]),
            float(frames["task_path_m"][last]), float(frames["task_peak_N"][last]),
            int(frames["task_collisions"][last]),
        ))  # fmt: skip
    return found


def trend(trials: Sequence[Trial]) -> dict[str, float]:
    """Change from one trial to the next, by score: the slope of the straight line nearest to all of them."""
    if len(trials) < 2:
        return dict.fromkeys(SCORES, 0.0)
    k = np.arange(len(trials), dtype=float)
    return {name: float(np.polyfit(k, [float(getattr(t, name)) for t in trials], 1)[0]) for name in SCORES}
