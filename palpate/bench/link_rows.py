"""Rows of `palpate bench link`: a network, the hand that moves around its cycle, and what became of it.

A network is given as a round trip: half of a delay or jitter each way, and of a probability p 1 - sqrt(1 - p), so that
p is what happens to a packet on one of its two ways.

work  -= f . dx               by the link, while the force f on hand or body was held and that moved by dx
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import palpate as pp
from palpate.frame import COUNTERS
from palpate.haptics.reach import Reach, Reaching
from palpate.link.impair import Impairments
from palpate.scenes.scene import Scene

FRONT_M = 0.06  # of the tool's origin, where the hand waits: a centimetre from the surface
CYCLE_M = 0.04
BEGIN_S, CYCLE_S, END_S = 0.6, 1.5, 0.3  # greeting and a guard that rises; one cycle; letting go
COUNT_FROM_S = 0.3  # when both ends know each other whatever the network: stale and late are counted from here on
OUTAGE_BEGIN_S, OUTAGE_LENGTH_S, AFTER_OUTAGE_S = 1.2, 2.0, 1.3
LOSS = 0.05

LINK_STALE, LATE = COUNTERS.index("link_stale"), COUNTERS.index("late")


@dataclass(frozen=True)
class Network:
    """Of both ways together: probabilities and seconds."""

    name: str
    loss: float = 0.0
    delay_s: float = 0.0
    jitter_s: float = 0.0
    reorder: float = 0.0
    duplicate: float = 0.0
    outage_s: tuple[float, float] | None = None  # begin, length

    def way(self, seed: int) -> Impairments:
        """One of its two ways."""
        loss, reorder, duplicate = (1.0 - math.sqrt(1.0 - p) for p in (self.loss, self.reorder, self.duplicate))
        return Impairments(
            loss=loss, delay_s=0.5 * self.delay_s, jitter_s=0.5 * self.jitter_s, reorder=reorder, duplicate=duplicate,
            outage=self.outage_s, seed=seed,
        )  # fmt: skip

    @property
    def there(self) -> Impairments:
        return self.way(seed=1)

    @property
    def back(self) -> Impairments:
        return self.way(seed=2)


PERFECT, FIVE_PERCENT, TWENTY_MS = Network("perfect"), Network("loss 5 %", loss=LOSS), Network("delay 20 ms", 0.0, 0.02)
NETWORKS = (
    PERFECT,
    Network("loss 1 %", loss=0.01),
    FIVE_PERCENT,
    Network("loss 20 %", loss=0.2),
    Network("delay 1 ms", delay_s=0.001),
    Network("delay 5 ms", delay_s=0.005),
    TWENTY_MS,
    Network("jitter 5 ms", jitter_s=0.005),
    Network("reorder 10 %", reorder=0.1),
    Network("doubles 10 %", duplicate=0.1),
    Network("outage 2 s", outage_s=(OUTAGE_BEGIN_S, OUTAGE_LENGTH_S)),
)


# ---- the hand


def cycles(network: Network, seconds: float) -> int:
    """Whole cycles that fill so many seconds; an outage takes as long as it takes."""
    if network.outage_s is not None:
        seconds = max(seconds, sum(network.outage_s) + AFTER_OUTAGE_S)
    return max(1, math.ceil((seconds - BEGIN_S - END_S) / CYCLE_S - 1e-9))


def row_seconds(rounds: int) -> float:
    return BEGIN_S + rounds * CYCLE_S + END_S


def cycling_hand(rounds: int) -> pp.Hand:
    """Takes hold, goes to the left, to the right and up, back to where it began, and lets go."""
    intent = [(0.0, (0.0, 0.0, 0.0))]
    for k in range(rounds):
        t = BEGIN_S + k * CYCLE_S
        intent += [(t, (0.0, 0.0, 0.0)), (t + 0.4, (0.0, CYCLE_M, 0.0)), (t + 0.9, (0.0, -CYCLE_M, 0.5 * CYCLE_M)),
                   (t + 1.3, (0.0, 0.0, 0.0))]  # fmt: skip
    return pp.Hand(intent=intent, holds=[(BEGIN_S, BEGIN_S + rounds * CYCLE_S)])


def reach_of(scene: Scene) -> Reach:
    """The device's middle before the tool; what its hand does is limited by what the tanks have."""
    tool = pp.forward_kinematics(scene.model, scene.world.q)[scene.model.body("tool")][:3, 3]
    place = pp.Transform(p=(float(tool[0]) + FRONT_M, float(tool[1]), float(tool[2])))
    return Reach(mode="pull", place=place, grab_m=0.1, passivity="tank")


# ---- what a row says


@dataclass(frozen=True)
class Trace:
    """The hand's end, tick by tick."""

    wall_ns: np.ndarray  # (n,) when each force was there
    stale: np.ndarray  # (n,) so far
    late: np.ndarray  # (n,) so far
    force: np.ndarray  # (n, 3) on the hand [N]
    position: np.ndarray  # (n, 3) of the hand, world [m]

    @staticmethod
    def of(read: Callable[[str], np.ndarray]) -> Trace:
        """From a function that gives one field of all frames."""
        counters = read("counters")
        return Trace(read("wall_ns"), counters[:, LINK_STALE], counters[:, LATE], read("device_force")[:, 0],
                     read("device_position")[:, 0])  # fmt: skip

    def summary(self, weight: float) -> dict[str, Any]:
        """Everything that the hand's end knows; weight: of a force on the arm over that on the hand."""
        periods_us, force_before = np.diff(self.wall_ns) * 1e-3, self.force[:-1]
        n = int(np.searchsorted(self.wall_ns, self.wall_ns[0] + round(1e9 * COUNT_FROM_S)))
        n = min(n, len(self.wall_ns) - 2)
        counted = len(self.wall_ns) - 1 - n
        return {
            "ticks": len(self.wall_ns),
            "rate_hz": float(1e6 / periods_us[n:].mean()),
            "period_p99_us": float(np.percentile(periods_us[n:], 99)),
            "stale_fraction": float(self.stale[-1] - self.stale[n]) / counted,
            "late_fraction": float(self.late[-1] - self.late[n]) / counted,
            "force_step_N": float(np.linalg.norm(np.diff(self.force, axis=0), axis=1).max()),
            "largest_force_N": float(np.linalg.norm(self.force, axis=1).max()),
            "hand_absorbed_J": -weight * float((force_before * np.diff(self.position, axis=0)).sum()),
        }

    def outage(self, begin_ns: int, length_s: float) -> dict[str, float | None]:
        """How long after its begin the force was zero, and after its end was back [ms]; None: never."""
        acts = np.linalg.norm(self.force, axis=1) > 0.0
        end_ns = begin_ns + round(1e9 * length_s)
        during = (self.wall_ns >= begin_ns) & (self.wall_ns < end_ns)
        zero, back = self.wall_ns[during & ~acts], self.wall_ns[(self.wall_ns >= end_ns) & acts]
        return {
            "zero_after_ms": 1e-6 * float(zero[0] - begin_ns) if len(zero) else None,
            "back_after_ms": 1e-6 * float(back[0] - end_ns) if len(back) else None,
        }


def link_row(network: Network, trace: Trace, start_ns: int, trips_ns: np.ndarray, reaching: Reaching, backlog: int,
             body_absorbed_J: float, body_lowest_J: float) -> dict[str, Any]:  # fmt: skip
    """What the table and the JSON have of one network; start_ns: of its time, trips_ns (n,) of every exchange."""
    p50, p99, p999 = np.percentile(trips_ns * 1e-3, (50, 99, 99.9)) if len(trips_ns) else (math.nan,) * 3
    row = {"network": network.name, "given": asdict(network)} | trace.summary(reaching.weight)
    row |= {
        "round_trip_p50_us": float(p50),
        "round_trip_p99_us": float(p99),
        "round_trip_p99.9_us": float(p999),
        "exchanges": len(trips_ns),
        "body_absorbed_J": body_absorbed_J,
        "work_J": row["hand_absorbed_J"] + body_absorbed_J,
        "tank_lowest_J": {"hand": float(reaching.tank.lowest), "body": body_lowest_J},
        "backlog": backlog,
        "fault": reaching.fault,
        "outage": None,
    }
    if network.outage_s is not None:
        begin_s, length_s = network.outage_s
        row["outage"] = trace.outage(start_ns + round(1e9 * begin_s), length_s)
    return row
