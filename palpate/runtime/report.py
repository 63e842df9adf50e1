"""How a session's servo did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from palpate.frame import COUNTERS, LATENESS_EDGES_US
from palpate.haptics.devices.mailbox import Mailbox
from palpate.haptics.devices.protocol import Device

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.reach import DeviceReport


@dataclass
class SessionReport:
    """How the servo did: counts since the start, and lateness as a histogram."""

    periods: int = 0
    seconds: float = 0.0
    fifo: bool = False
    counters: dict[str, int] = field(default_factory=dict)
    lateness: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    devices: list[DeviceReport] = field(default_factory=list)

    def note(self, counters: list[int], lateness: list[int], devices: list[DeviceReport]) -> None:
        """As they are now."""
        self.counters, self.lateness = dict(zip(COUNTERS, counters, strict=True)), lateness
        self.devices = devices

    @property
    def rate_hz(self) -> float:
        return self.periods / self.seconds if self.seconds else 0.0

    @property
    def late_fraction(self) -> float:
        return self.counters.get("late", 0) / self.periods if self.periods else 0.0

    def percentile_us(self, percent: float) -> float:
        """Upper edge of the bucket that holds this percentile of lateness; infinite for the open one."""
        edges, total = (*LATENESS_EDGES_US, float("inf")), np.cumsum(self.lateness)
        return edges[int(np.searchsorted(total, total[-1] * percent / 100.0))] if self.lateness else float("nan")

    def __str__(self) -> str:
        worst, last = self.percentile_us(99.9), LATENESS_EDGES_US[-1]
        began = f"99.9 % of ticks began within {worst:g} us of their time"
        if worst == np.inf:
            began = f"more than 0.1 % of ticks began over {last} us late"
        return (f"{self.rate_hz:.1f} Hz over {self.seconds:.1f} s, {100 * self.late_fraction:.3f} % late, "
                f"{began}"
                f"{'' if self.fifo else ' (without SCHED_FIFO)'}"
                f"{''.join(f'; {device}' for device in self.devices)}")  # fmt: skip


def why_no_force(device: Device, fault: str, mailbox: Mailbox | None) -> str:
    """What to say of a device whose guard has a fault; a mailbox knows more than its LOST."""
    told = ": " + mailbox.reason() if mailbox is not None and mailbox.reason() else ""
    ended = mailbox is not None and mailbox.error  # its thread does not come back
    return (
        f"no more force on {device.spec.name}: {fault}{told}; a {'new session' if ended else 'reset'} engages it again"
    )
