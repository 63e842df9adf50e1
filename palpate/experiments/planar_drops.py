"""A block that is pushed onto a wall: what its flights and impacts were (reference on planar haptics 6.3, 10.1).

gap     of the vertex nearest to the wall [m], < 0: it touches
impact  first sample in contact after a flight;  apex  highest gap of a flight, the first is the start
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from palpate.planar.bodies.world import PlanarWorld


@dataclass(frozen=True)
class Flights:
    """What a history (n,) of gaps tells; samples are dt_s apart."""

    gap_m: np.ndarray
    dt_s: float
    audit: dict[str, float] = field(default_factory=dict)

    @property
    def time_s(self) -> np.ndarray:
        return self.dt_s * np.arange(len(self.gap_m))

    @cached_property
    def impacts(self) -> np.ndarray:
        """Samples at which contact begins."""
        touching = self.gap_m < 0.0
        return np.flatnonzero(touching[1:] & ~touching[:-1]) + 1

    @cached_property
    def losses(self) -> np.ndarray:
        """Samples at which it ends."""
        touching = self.gap_m < 0.0
        return np.flatnonzero(~touching[1:] & touching[:-1]) + 1

    @cached_property
    def apexes_m(self) -> np.ndarray:
        """Of every flight that ended in an impact."""
        begins = np.r_[0, self.losses][: len(self.impacts)]
        return np.array([self.gap_m[a:b].max() for a, b in zip(begins, self.impacts, strict=True)])

    @property
    def ratios(self) -> np.ndarray:
        """Of each apex to the one before."""
        return self.apexes_m[1:] / self.apexes_m[:-1]

    @property
    def last_loss_s(self) -> float:
        """Of contact, after the first impact [s]; 0: never."""
        return float(self.losses[-1] - self.impacts[0]) * self.dt_s if len(self.losses) else 0.0

    def motion_m(self, begin_s: float, end_s: float) -> float:
        """Peak to peak between two times after the first impact."""
        a, b = (self.impacts[0] + round(t / self.dt_s) for t in (begin_s, end_s))
        return float(np.ptp(self.gap_m[a:b]))

    def depth_m(self, seconds: float = 1.0) -> float:
        """Mean penetration at the end."""
        return -float(self.gap_m[-round(seconds / self.dt_s) :].mean())


def lowest(outline: np.ndarray, poses: np.ndarray) -> np.ndarray:
    """y (n,) of the lowest corner of a body of this outline (k, 2) about its centre, at poses (n, 3)."""
    angle = poses[:, 2:]
    return poses[:, 1] + (np.sin(angle) * outline[:, 0] + np.cos(angle) * outline[:, 1]).min(axis=1)


def audit_of(world: PlanarWorld) -> dict[str, float]:
    """Where the energy of a run went [J], and how well the account closes (reference 5)."""
    audit = world.audit
    return {
        "kinetic_J": audit.kinetic, "push_J": float(audit.work.sum()), "impulses_J": audit.impulses,
        "contacts_J": audit.contacts, "worst": audit.worst,
    }  # fmt: skip
