"""Timing: how long a motion has to take so that joints stay within their speed and acceleration limits.

Minimum jerk from rest to rest over a distance d in T:  s(u) = 10 u^3 - 15 u^4 + 6 u^5,  u = t/T

    largest speed          15/8 |d| / T              at u = 1/2
    largest acceleration   10/sqrt(3) |d| / T^2      at u = 1/2 -+ sqrt(3)/6

Slowing any motion down k times divides its velocities by k and its accelerations by k^2, so that one number says how
much too fast it is:  k = max(|v|/V, sqrt(|a|/A)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from palpate.model.model import Floats, Floats1, Model

PEAK_SPEED, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / math.sqrt(3.0)
# Where a model states no velocity limit, and for accelerations, which no model states: a calm arm.
DEFAULT_VELOCITY, DEFAULT_ACCELERATION = 1.0, 5.0  # [rad/s or m/s], [rad/s^2 or m/s^2]
FIRST_TICKS = 1000  # rows on which a motion is looked at before its duration is known: its peaks to a millionth


class Limits(NamedTuple):
    """velocity (nv,) [rad/s or m/s], acceleration (nv,) [rad/s^2 or m/s^2], both positive."""

    velocity: Floats1
    acceleration: Floats1


class Rated(Protocol):
    """What has velocities v and accelerations a, one row per tick."""

    @property
    def v(self) -> Floats: ...
    @property
    def a(self) -> Floats: ...


Table = TypeVar("Table", bound=Rated)


def minimum_jerk(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """s, ds/du, d2s/du2 at u in 0 .. 1."""
    return (u**3 * (10 + u * (6 * u - 15)), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u))


def minimum_jerk_rows(ticks: int, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """s, ds/dt, d2s/dt2 (ticks + 1, 1) of a whole motion, one row per dt [s]."""
    s, ds, dds = (each[:, None] for each in minimum_jerk(np.linspace(0.0, 1.0, ticks + 1)))
    T = ticks * dt
    return s, ds / T, dds / T**2


def limits(model: Model, velocity: ArrayLike | None = None, acceleration: ArrayLike | None = None) -> Limits:
    """Limits of a model's joints: numbers for all, or (nv,).

    velocity      default: the model's own, DEFAULT_VELOCITY where it has none
    acceleration  default: DEFAULT_ACCELERATION
    """
    own = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, DEFAULT_VELOCITY)
    return Limits(
        own if velocity is None else _positive(model, velocity, "velocity"),
        _positive(model, DEFAULT_ACCELERATION if acceleration is None else acceleration, "acceleration"),
    )


def _positive(model: Model, value: ArrayLike, what: str) -> Floats:
    array = np.array(value, dtype=np.float64)
    if array.shape not in ((), (model.nv,)):
        raise ValueError(f"the {what} limits have shape {array.shape}, the model needs a number or ({model.nv},)")
    if not (array > 0.0).all():
        raise ValueError(f"{what} limits must be positive, got {array.tolist()}")
    return np.broadcast_to(array, (model.nv,)).copy()


def excess(table: Rated, allowed: Limits) -> float:
    """How many times slower a motion has to be to stay within limits; below 1: it could be faster."""
    speed = (np.abs(table.v) / allowed.velocity).max(initial=0.0)
    push = (np.abs(table.a) / allowed.acceleration).max(initial=0.0)
    return float(max(speed, math.sqrt(push)))


def minimum_jerk_seconds(distance: Floats, allowed: Limits) -> float:
    """The shortest duration [s] of a minimum-jerk motion of all joints over `distance` (nv,) within limits."""
    size = np.abs(distance)
    return float(max(
        (PEAK_SPEED * size / allowed.velocity).max(initial=0.0),
        math.sqrt((PEAK_ACCELERATION * size / allowed.acceleration).max(initial=0.0)),
    ))  # fmt: skip


def ticks_of(seconds: float, dt: float) -> int:
    """The nearest number of ticks to a duration, at least one."""
    _check(seconds, dt)
    return max(1, round(seconds / dt))


def ticks_at_least(seconds: float, dt: float) -> int:
    """The fewest ticks that last `seconds` or longer, at least one."""
    _check(seconds, dt)
    return max(1, math.ceil(seconds / dt))


def _check(seconds: float, dt: float) -> None:
    if not (math.isfinite(dt) and dt > 0.0):
        raise ValueError(f"dt must be positive, got {dt} s")
    if not (math.isfinite(seconds) and seconds >= 0.0):
        raise ValueError(f"a duration must be finite and not negative, got {seconds} s")


def shortest(make: Callable[[int], Table], allowed: Limits) -> Table:
    """The motion make(ticks) in the fewest ticks for which all its rows are within limits."""
    ticks = max(1, math.ceil(FIRST_TICKS * excess(make(FIRST_TICKS), allowed)))
    while True:
        table = make(ticks)
        too_fast = excess(table, allowed)
        if too_fast <= 1.0:
            return table
        ticks = max(ticks + 1, math.ceil(ticks * too_fast))
