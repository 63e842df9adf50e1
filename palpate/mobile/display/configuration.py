"""One object with all that a mobile display is made of; its defaults are those of the reference, section 7, with the
improved follower and the predicted pose.  Whatever differs says so beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from palpate.haptics.devices.simulation.phantom import MODELS
from palpate.haptics.hand import Hand
from palpate.mobile.display.person import ROW
from palpate.mobile.estimate.survey import Survey
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.planning.planner import IMPROVED
from palpate.mobile.walking.follow import USABLE_M, Rig
from palpate.mobile.walking.users import Event
from palpate.model.model import Floats


@dataclass(frozen=True)
class Protection:
    """What a device does by itself when its HIP seems to leap (1.4)."""

    speed_m_s: float = 2.0
    force_N: float = 2.0  # in a tick
    return_s: float = 0.1

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0.0:
                raise ValueError(f"{name} is {value}; it must be positive")


@dataclass(frozen=True)
class Who:
    """A person: where they begin, and what they do.

    start     x, z [m] and where they face [rad], 0: along z
    events    what they do by themselves (users.py)
    recorded  (n, 10) a walk as person.ROW has it; then they walk along it
    """

    start: tuple[float, float, float] = (0.0, 0.0, 0.0)
    events: Sequence[Event] = ()
    recorded: Floats | None = None
    by_keys: bool = False

    def __post_init__(self) -> None:
        if len(self.start) != 3 or not all(map(math.isfinite, self.start)):
            raise ValueError(f"start is {self.start}; it is x, z [m] and a direction [rad]")
        if self.recorded is not None:
            rows = np.array(self.recorded, dtype=np.float64)
            if rows.ndim != 2 or rows.shape[1] != len(ROW) or len(rows) < 2 or not np.isfinite(rows).all():
                raise ValueError(f"a recorded walk has rows of {', '.join(ROW)}, at least two; got shape {rows.shape}")
            if (np.diff(rows[:, 0]) <= 0.0).any():
                raise ValueError("a recorded walk's times must rise from row to row")
            object.__setattr__(self, "recorded", rows)


@dataclass(frozen=True)
class MobileConfiguration:
    """What carries the device, what it is, and how it is used."""

    rig: Rig = field(default_factory=lambda: Rig(IMPROVED))
    chain: Chain = field(default_factory=Chain)  # as it is believed, and
    truth: Chain | None = None  # as it is; None: calibration was perfect
    device: str = "phantom-premium-1.5"  # of haptics/devices/simulation
    hand: Hand = field(default_factory=Hand)  # its mass, springs and grip
    arms: int = 1  # two for a grasp
    apart_m: float = 0.30  # between them, and between their hands
    device_height_m: float = 1.0  # of its middle above the floor
    lift: bool = False
    visual_hz: int = 60
    protection: Protection = field(default_factory=Protection)
    freeze_m: float = 0.002  # a pose that contact holds follows the predicted one at this distance
    texture_sigma_m: float = 0.0003
    farthest_m: float = 0.125  # so far a hand follows the device; farther away it cannot hold it any more [chosen]
    usable_m: float = USABLE_M
    walk_m_s: float = 0.5  # of keys
    turn_rad_s: float = 1.2
    survey: Survey | float | None = (
        None  # of the tracker's bias over the floor; a number: simulated, marks so far apart
    )
    seed: int = 0

    def __post_init__(self) -> None:
        if self.device not in MODELS:
            raise ValueError(f"no simulated device is called {self.device!r}; there are: {', '.join(MODELS)}")
        if self.arms not in (1, 2):
            raise ValueError(f"arms is {self.arms}; a base carries one device, or two for a grasp")
        for name in ("apart_m", "device_height_m", "visual_hz", "freeze_m", "texture_sigma_m", "farthest_m", "usable_m",
                     "walk_m_s", "turn_rad_s"):  # fmt: skip
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} is {value}; it must be positive")
