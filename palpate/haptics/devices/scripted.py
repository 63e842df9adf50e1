"""The scripted hand: holds a point of a body and moves along a written path, the same every time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from palpate.haptics.devices.protocol import DeviceReading, DeviceSpec, OpenClose


@dataclass(frozen=True)
class Grasp:
    """Hold `body` at a point from one time to another [s], while the hand moves by smoothstep to `to` (world) [m]."""

    body: str
    begin_s: float
    end_s: float
    to: tuple[float, float, float]
    at_body: tuple[float, float, float] = (0.0, 0.0, 0.0)
    move_s: float | None = None  # how long the hand moves; default: the whole time


class Scripted(OpenClose):
    """A sequence of grasps, as a device that reads the simulated clock through `advance`."""

    def __init__(self, grasps: tuple[Grasp, ...] = (), origin_m: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        for a, b in pairwise(grasps):
            if b.begin_s < a.end_s:
                raise ValueError(f"grasps overlap: one ends at {a.end_s} s, the next begins at {b.begin_s} s")
        self.spec = DeviceSpec("scripted", force_limit_N=200.0)
        self.grasps, self._from, self._now = grasps, np.array(origin_m, dtype=float), 0.0
        self.shown_N = np.zeros(3)

    def holding(self, time_s: float) -> Grasp | None:
        """The grasp in force at a time."""
        return next((g for g in self.grasps if g.begin_s <= time_s < g.end_s), None)

    def target(self, grasp: Grasp, start: np.ndarray, time_s: float) -> np.ndarray:
        """Where the hand is, having begun at `start` (world)."""
        s = (time_s - grasp.begin_s) / (grasp.move_s or grasp.end_s - grasp.begin_s)
        s = min(max(s, 0.0), 1.0)
        return start + s * s * (3.0 - 2.0 * s) * (np.array(grasp.to) - start)

    def advance(self, time_s: float) -> None:
        """Move to this time of the script [s]."""
        self._now = time_s

    def read(self, out: DeviceReading) -> None:
        self.require_open()
        grasp = self.holding(self._now)
        out.buttons = int(grasp is not None)
        out.position_m[:] = self.target(grasp, self._from, self._now) if grasp else self._from
        out.sampled_at_s = self._now

    def write(self, force_N: np.ndarray) -> None:
        self.require_open()
        self.require_allowed(force_N)
        self.shown_N[:] = force_N
