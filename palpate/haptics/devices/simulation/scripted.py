"""The scripted hand: holds a point of a body and moves along a written path, or pushes it; the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from palpate.haptics.devices.protocol import FORCE, DeviceReading, DeviceSpec, OpenClose
from palpate.haptics.spring import PerAxis
from palpate.spatial.placement import Vector3

FORCE_LIMIT_N = 200.0
RISE_N_S = 500.0  # of a hand that holds
AT_ONCE_N_S = 1e9  # of one that pushes: a written force is there from its first tick on


@dataclass(frozen=True)
class Grasp:
    """Hold `body` at a point from one time to another [s], while the hand moves by smoothstep to `to` (world) [m].

    A grasp that begins when another of the same point ends moves on from where the hand is: it does not let go.
    """

    body: str
    begin_s: float
    end_s: float
    to: Vector3
    at_body: Vector3 = (0.0, 0.0, 0.0)
    move_s: float | None = None  # how long the hand moves; default: the whole time
    stiffness_N_m: PerAxis | None = None  # of the spring between hand and point; default: the pointer's
    orientation: tuple[float, float, float, float] | None = None  # that the body is held in, (w, x, y, z) in the world
    stiffness_Nm_rad: float = 0.0  # of the spring that turns it there
    damping_Ns_m: PerAxis | None = None  # of the first spring; default: critical, as the tick sees the point
    damping_Nms_rad: float = 0.0  # of the second; 0: critical


@dataclass(frozen=True)
class Push:
    """Push `body` with a force (world) [N] from one time to another [s]; only in simulated time.

    The force acts at a point of the body.  With a radius it acts on the surface of a capsule about `axis` (unit vector,
    in the body) through `at_body`: on the side it comes from when the push begins, and there from then on.
    """

    body: str
    begin_s: float
    end_s: float
    force_N: Vector3
    at_body: Vector3 = (0.0, 0.0, 0.0)
    radius_m: float = 0.0
    axis: Vector3 = (1.0, 0.0, 0.0)

    def point(self, rotation: np.ndarray) -> np.ndarray:
        """Where it acts (3,), in the body [m]; rotation (3, 3) of the body in the world when the push begins."""
        at, axis = np.array(self.at_body), np.array(self.axis)
        if self.radius_m == 0.0:
            return at
        against = -rotation.T @ np.array(self.force_N)
        normal = against - axis * (axis @ against)
        length = float(np.linalg.norm(normal))
        if length < 1e-9:
            raise ValueError(f"a push of {self.force_N} N on {self.body!r} along its axis meets no side of it")
        return at + self.radius_m / length * normal


class Scripted(OpenClose):
    """A sequence of grasps and pushes, as a device that reads the simulated clock through `advance`.

    force_rise_N_s  how fast its force may grow; default: at once if it pushes
    """

    def __init__(
        self,
        actions: Sequence[Grasp | Push] = (),
        origin_m: Vector3 = (0.0, 0.0, 0.0),
        force_rise_N_s: float | None = None,
    ) -> None:
        for a, b in pairwise(actions):
            if b.begin_s < a.end_s:
                raise ValueError(f"pushes or grasps overlap: one ends at {a.end_s} s, the next begins at {b.begin_s} s")
        if force_rise_N_s is None:
            force_rise_N_s = AT_ONCE_N_S if any(isinstance(x, Push) for x in actions) else RISE_N_S
        self.spec = DeviceSpec("scripted", FORCE_LIMIT_N, force_rise_N_s, actuates=0)
        self.actions, self._from, self._now = tuple(actions), np.array(origin_m, dtype=float), 0.0
        self.shown_N = np.zeros(3)

    def acting(self, time_s: float) -> Grasp | Push | None:
        """What the hand does at a time."""
        return next((x for x in self.actions if x.begin_s <= time_s < x.end_s), None)

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
        now = self.acting(self._now)
        out.buttons = int(isinstance(now, Grasp))
        out.position_m[:] = self.target(now, self._from, self._now) if isinstance(now, Grasp) else self._from
        out.sampled_at_s = self._now

    def write(self, wrench: np.ndarray) -> None:
        self.require_open()
        self.require_allowed(wrench)
        self.shown_N[:] = wrench[FORCE]
