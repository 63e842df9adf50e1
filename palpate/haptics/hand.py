"""The person's hand: a mass that follows an intent, and grips the tip of a device through a spring and a damper.

m x_h'' = F_s + k (x_d - x_h) + b (x_d' - x_h') + push       F_s = k_g (x - x_h) + b_g (x' - x_h')

x_h the hand, x the device's tip, x_d the intent; F_s the force of the tip on the hand, which a sensor between them
would show.  The same on every axis.  Reference on the mobile display, 5.4.  All in the device's frame (port.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from palpate.jit import kernel
from palpate.model.model import Floats1, Floats2
from palpate.spatial.placement import Vector3, vector3
from palpate.spatial.vectors import add_scaled, get3, scale, sub

# rows of HandArrays.number
MASS, DAMPING, STIFFNESS, GRIP_STIFFNESS, GRIP_DAMPING, RELEASE_S, STRAIGHT, PUSH = 0, 1, 2, 3, 4, 5, 6, slice(7, 10)


class HandArrays(NamedTuple):
    """A hand for kernels, read-only."""

    time: Floats1  # (n,) of the way points [s]
    position: Floats2  # (n, 3) [m]
    hold: Floats2  # (k, 2) when button 0 is pressed: from, until [s]
    number: Floats1  # MASS .. PUSH


@dataclass(frozen=True)
class Hand:
    """A hand that moves through way points, and may press, push and let go.

    intent     (time [s], (x, y, z) [m]) one after the other; at rest before the first and after the last
    motion     how it goes from one to the next: "minimum-jerk", resting at each, or "straight", for dense paths
    holds      (begin, end) [s], when button 0 is pressed
    push_N     a constant force on the hand besides, (x, y, z)
    release_s  when it lets go of the device, for good
    """

    intent: Sequence[tuple[float, Vector3]] = ((0.0, (0.0, 0.0, 0.0)),)
    holds: Sequence[tuple[float, float]] = ()
    push_N: Vector3 = (0.0, 0.0, 0.0)
    release_s: float = math.inf
    mass_kg: float = 0.15
    damping_Ns_m: float = 6.0
    stiffness_N_m: float = 400.0
    grip_N_m: float = 4000.0
    grip_Ns_m: float = 4.0
    motion: Literal["minimum-jerk", "straight"] = "minimum-jerk"

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name.endswith(("_kg", "_Ns_m", "_N_m")):
                value = _number(getattr(self, field.name), field.name)
                if value < 0.0 or (value == 0.0 and field.name == "mass_kg"):
                    least = "positive" if field.name == "mass_kg" else "zero or more"
                    raise ValueError(f"a hand: {field.name} must be {least}, got {value:g}")
                object.__setattr__(self, field.name, value)
        if self.motion not in ("minimum-jerk", "straight"):
            raise ValueError(f'a hand: motion is "minimum-jerk" or "straight", not {self.motion!r}')
        if math.isnan(self.release_s):
            raise ValueError("a hand: release_s must be a time, or infinite for never")
        object.__setattr__(self, "push_N", vector3(self.push_N, "a hand: push_N"))
        object.__setattr__(self, "intent", tuple(_pair(x, "a way point is (time_s, (x, y, z))") for x in self.intent))
        object.__setattr__(self, "holds", tuple(_pair(x, "a hold is (begin_s, end_s)") for x in self.holds))
        if not self.intent:
            raise ValueError("a hand: its intent needs at least one way point (time_s, (x, y, z))")
        path = tuple((_number(t, "the time of a way point"), vector3(p, "a hand: a way point")) for t, p in self.intent)
        for (before, _), (after, _) in pairwise(path):
            if not after > before:
                raise ValueError(f"a hand: a way point at {after:g} s follows one at {before:g} s; times must increase")
        holds = tuple((_number(a, "a hold's begin"), _number(b, "a hold's end")) for a, b in self.holds)
        for begin, end in holds:
            if not end > begin:
                raise ValueError(f"a hand: a hold ends at {end:g} s and begins at {begin:g} s")
        object.__setattr__(self, "intent", path)
        object.__setattr__(self, "holds", holds)

    def arrays(self) -> HandArrays:
        """For kernels."""
        numbers = (self.mass_kg, self.damping_Ns_m, self.stiffness_N_m, self.grip_N_m, self.grip_Ns_m, self.release_s,
                   float(self.motion == "straight"), *self.push_N)  # fmt: skip
        arrays = HandArrays(
            np.array([t for t, _ in self.intent]),
            np.array([p for _, p in self.intent]),
            np.array(self.holds, dtype=np.float64).reshape(-1, 2),
            np.array(numbers, dtype=np.float64),
        )
        for array in arrays:
            array.setflags(write=False)
        return arrays


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not abs(number) < math.inf:
        raise ValueError(f"a hand: {what} must be a finite number, got {value!r}")
    return number


def _pair(value: Any, what: str) -> tuple[Any, Any]:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ValueError(f"a hand: {what}, got {value!r}") from None
    return first, second


# ---- kernels: hand is a HandArrays, t the time [s]


@kernel
def intent_at(hand, t):
    """x_d [m] and x_d' [m/s]; between way points s = 10 u^3 - 15 u^4 + 6 u^5 of the way, or u, at u of the time."""
    last = hand.time.shape[0] - 1
    if not t > hand.time[0]:
        return get3(hand.position, 0), (0.0, 0.0, 0.0)
    if t >= hand.time[last]:
        return get3(hand.position, last), (0.0, 0.0, 0.0)
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if t < hand.time[middle]:
            high = middle
        else:
            low = middle
    seconds = hand.time[high] - hand.time[low]
    s = (t - hand.time[low]) / seconds
    ds = 1.0
    if hand.number[STRAIGHT] == 0.0:
        ds = 30.0 * (s * (1.0 - s)) ** 2
        s = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    start = get3(hand.position, low)
    way = sub(get3(hand.position, high), start)
    return add_scaled(start, s, way), scale(ds / seconds, way)


@kernel
def grips_at(hand, t):
    """Whether the hand still has the device."""
    return t < hand.number[RELEASE_S]


@kernel
def presses_at(hand, t):
    """Whether button 0 is pressed: by a hand that has the device only."""
    for k in range(hand.hold.shape[0]):
        if hand.hold[k, 0] <= t < hand.hold[k, 1]:
            return grips_at(hand, t)
    return False
