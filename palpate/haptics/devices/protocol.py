"""What every device is: a spec with its limits, and four calls.  Measured and commanded are different things.

The device's frame: x away from the person, y to their left, z up [m]; wrenches on the hand: torque [N m], then force
[N], as spatial vectors are everywhere; time from the monotonic clock [s].  Vendors' axes and units end in the drivers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

# Faster than this is no hand: voluntary motion within the workspaces of desktop devices stays below 1 m/s, and at their
# full force light tips reach it within 30 ms and 3 cm when let go.  Also the reference's protection against leaps
# (mobile haptic display, 1.4).  A wrist turns at up to 20 rad/s when it is flung.  Both chosen.
HAND_SPEED_M_S, WRIST_SPEED_RAD_S = 2.0, 30.0
TORQUE, FORCE = slice(0, 3), slice(3, 6)  # parts of a wrench
HEAT_S = 10.0  # the memory of motors of such devices (mobile haptic display, 5.2); chosen where no maker tells


class DeviceError(RuntimeError):
    """A device that cannot be opened, was lost, or was used when closed; the message says which and what to do."""


@dataclass(frozen=True)
class DeviceSpec:
    """What a device can do; generic code scales to it."""

    name: str
    force_limit_N: float  # largest force it may be asked for
    force_rise_N_s: float = 500.0  # how fast the force may grow
    stiffness_limit_N_m: float = np.inf  # largest it can render stably at 1 kHz
    workspace_radius_m: float = np.inf
    senses: int = 3  # freedoms sensed
    senses_turn: bool = False  # how it is turned is among them, though they are fewer than six
    actuates: int = 3  # freedoms with force; 0: a device without force feedback
    torque_limit_Nm: float = 0.0  # largest torque it may be asked for; 0: it makes none
    velocity_limit_m_s: float = np.inf  # moving faster than this, its force and torque are taken away
    spin_limit_rad_s: float = np.inf  # or turning faster than this
    continuous_force_N: float = np.inf  # what its motors make for ever without getting too hot; infinite: no matter
    continuous_torque_Nm: float = np.inf
    heat_s: float = HEAT_S  # the rms over a memory of this length stays below them; guard.lasts_s: how long a force may
    rate_hz: float = 1000.0  # how often a device with a thread of its own is asked

    def __post_init__(self) -> None:
        if not (np.isfinite(self.force_limit_N) and self.force_limit_N >= 0.0):
            raise ValueError(f"device {self.name!r}: force_limit_N must be finite and not negative")
        if not (np.isfinite(self.torque_limit_Nm) and self.torque_limit_Nm >= 0.0):
            raise ValueError(f"device {self.name!r}: torque_limit_Nm must be finite and not negative")
        for name in ("force_rise_N_s", "velocity_limit_m_s", "spin_limit_rad_s", "continuous_force_N",
                     "continuous_torque_Nm", "heat_s"):  # fmt: skip
            if not getattr(self, name) > 0.0:  # a NaN too
                raise ValueError(f"device {self.name!r}: {name} must be positive, got {getattr(self, name)}")


@dataclass
class DeviceReading:
    """What a device sensed; filled by `read`, kept by the caller so that reading allocates nothing."""

    position_m: np.ndarray = field(default_factory=lambda: np.zeros(3))
    velocity_m_s: np.ndarray = field(default_factory=lambda: np.zeros(3))
    quaternion: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))  # (w, x, y, z)
    spin_rad_s: np.ndarray = field(default_factory=lambda: np.zeros(3))
    buttons: int = 0  # one bit each; bit 0 holds
    sampled_at_s: float = np.nan  # NaN: nothing sensed yet


def wrench(force_N: ArrayLike, torque_Nm: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
    """(6,) for `write`."""
    return np.concatenate([torque_Nm, force_N], dtype=float)


class Device(Protocol):
    """The contract.  `open` before anything else; `close` at any time, twice too; a closed device refuses to work."""

    spec: DeviceSpec

    def open(self) -> None: ...

    def read(self, out: DeviceReading) -> None: ...

    def write(self, wrench: np.ndarray) -> None:
        """Torque and force on the hand (6,), already limited by the guard: zero torque if the device makes none.

        Refuses what is not finite or above a limit.
        """

    def close(self) -> None: ...


class OpenClose:
    """The part of the contract about being open that devices share."""

    spec: DeviceSpec
    is_open = False

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.is_open = False

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def require_open(self) -> None:
        if not self.is_open:
            raise DeviceError(f"the device {self.spec.name!r} is not open")

    def require_allowed(self, wrench: np.ndarray) -> None:
        """Refuse what the guard should have stopped."""
        given = np.asarray(wrench, dtype=float)
        if given.shape != (6,) or not np.isfinite(given).all():
            raise DeviceError(f"the device {self.spec.name!r} was sent a wrench that is not six finite numbers: "
                              "torque, then force")  # fmt: skip
        limits = ((FORCE, self.spec.force_limit_N, "N"), (TORQUE, self.spec.torque_limit_Nm, "N m"))
        for part, limit, unit in limits:
            size = float(np.linalg.norm(given[part]))
            if size > limit * (1.0 + 1e-9):
                raise DeviceError(
                    f"the device {self.spec.name!r} was sent {size:.2g} {unit}, its limit is {limit:g} {unit}"
                )
