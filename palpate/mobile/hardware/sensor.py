"""The force sensor between the tip and the hand, an ATI Nano17, and its log.  Mobile display, 1.2, table 6.1.

reading = clip(quantise(R^T f + n))     in the sensor's axes, n white; R turns them into the device's
log     means of the readings over 100 ms: a bare sample at 10 Hz would fold what is faster into what is slower

Its z is the stiff axis, with the larger range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.link.impair import random_state
from palpate.mobile.rates import clip, due, normal
from palpate.model.model import Floats2
from palpate.spatial.placement import Rotation
from palpate.spatial.vectors import add, get9, rotate, rotate_back, scale


@dataclass(frozen=True)
class ForceSensor:
    """A Nano17 as calibrated for the thesis.

    R      the sensor's axes in the device's;  the noise is chosen, of torques so that both are 6 steps of their scale
    """

    range_N: tuple[float, float, float] = (12.0, 12.0, 17.0)
    range_Nm: tuple[float, float, float] = (0.12, 0.12, 0.12)
    resolution_N: float = 1.0 / 1280.0
    resolution_Nm: float = 1e-3 / 256.0
    noise_N: float = 5e-3
    noise_Nm: float = 25e-6
    log_hz: int = 10
    R: Rotation = field(default_factory=Rotation)

    def __post_init__(self) -> None:
        for name in ("range_N", "range_Nm"):
            if len(getattr(self, name)) != 3 or not all(0.0 < x < math.inf for x in getattr(self, name)):
                raise ValueError(f"a force sensor's {name} is three numbers above zero, got {getattr(self, name)!r}")
        for name in ("resolution_N", "resolution_Nm", "log_hz"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"a force sensor's {name} must be above zero, got {getattr(self, name)!r}")
        for name in ("noise_N", "noise_Nm"):
            if not 0.0 <= getattr(self, name) < math.inf:
                raise ValueError(f"a force sensor's {name} must be zero or more, got {getattr(self, name)!r}")


class Sensor(Struct):
    """Settings and state; forces and torques in the device's axes."""

    range_N: Vector
    range_Nm: Vector
    step_N: float
    step_Nm: float
    noise_N: float
    noise_Nm: float
    log_hz: int
    tick_hz: int
    random: int
    R: Floats2  # (1, 9)
    force: Vector  # the newest reading
    torque: Vector
    ticks: int
    clipped: int  # readings at the end of a range
    sum_force: Vector  # since the last line of the log
    sum_torque: Vector
    summed: int
    mean_force: Vector  # the newest line of the log
    mean_torque: Vector
    logged: int


def new_sensor(sensor: ForceSensor | None = None, seed: int = 0, tick_hz: int = 1000) -> Sensor:
    s = sensor or ForceSensor()
    if tick_hz < s.log_hz:
        raise ValueError(f"a force sensor's log_hz {s.log_hz} is above tick_hz {tick_hz}")
    return Sensor(
        range_N=s.range_N, range_Nm=s.range_Nm, step_N=s.resolution_N, step_Nm=s.resolution_Nm, noise_N=s.noise_N,
        noise_Nm=s.noise_Nm, log_hz=s.log_hz, tick_hz=tick_hz, random=random_state(seed),
        R=np.array(s.R.matrix(), dtype=float).reshape(1, 9),
    )  # fmt: skip


@kernel
def scaled(s, x, noise, step, most):
    """One axis as it is read."""
    counts = math.floor(clip(x + noise * normal(s), 2.0 * most) / step + 0.5)  # whole numbers have an end
    read = clip(step * counts, most)
    if abs(read) >= most:
        s.clipped += 1
    return read


@kernel
def sense(s, force, torque):
    """One tick: what acts, device axes [N, N m] -> s.force, s.torque; whether a line of the log is new."""
    R = get9(s.R, 0)
    f, t = rotate_back(R, force), rotate_back(R, torque)
    f = (scaled(s, f[0], s.noise_N, s.step_N, s.range_N[0]), scaled(s, f[1], s.noise_N, s.step_N, s.range_N[1]),
         scaled(s, f[2], s.noise_N, s.step_N, s.range_N[2]))  # fmt: skip
    t = (scaled(s, t[0], s.noise_Nm, s.step_Nm, s.range_Nm[0]), scaled(s, t[1], s.noise_Nm, s.step_Nm, s.range_Nm[1]),
         scaled(s, t[2], s.noise_Nm, s.step_Nm, s.range_Nm[2]))  # fmt: skip
    s.force, s.torque = rotate(R, f), rotate(R, t)
    s.sum_force, s.sum_torque = add(s.sum_force, s.force), add(s.sum_torque, s.torque)
    s.ticks += 1
    s.summed += 1
    if not due(s.ticks, s.log_hz, s.tick_hz):
        return False
    share = 1.0 / s.summed
    s.mean_force, s.mean_torque = scale(share, s.sum_force), scale(share, s.sum_torque)
    s.sum_force, s.sum_torque, s.summed = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0
    s.logged += 1
    return True
