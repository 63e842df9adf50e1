"""The person's hand: a mass that follows an intent, and grips the tip of a device through a spring and a damper.

m x_h'' = F_s + k (x_d - x_h) + b (x_d' - x_h') + push       F_s = k_g (x - x_h) + b_g (x' - x_h')

x_h the hand, x the device's tip, x_d the intent; F_s the force of the tip on the hand, which a sensor between them
would show.  The same on every axis.  Reference on the mobile display, 5.4.  All in the device's frame (port.py).

On a device with a wrist the hand turns as it moves, with an inertia, springs and dampers of its own, and
r(A, B) = log(A B^T) for A - B:

I w_h' = T_s + k r(R_d, R_h) + b (w_d - w_h)                 T_s = k_g r(R, R_h) + b_g (w - w_h)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.model.model import Floats1, Floats2
from palpate.spatial.placement import Rotation, Vector3, vector3
from palpate.spatial.quaternions import quaternion_exp, quaternion_product, rotation_between
from palpate.spatial.vectors import add_scaled, get3, get4, scale, sub


class HandArrays(Struct):
    """A hand for kernels, read-only."""

    mass: float
    damping: float
    stiffness: float
    grip_stiffness: float
    grip_damping: float
    push: Vector  # [N]
    release_s: float
    straight: int  # 1: from one way point to the next without resting
    # the same of its turns, per rad
    wrist_inertia: float
    wrist_damping: float
    wrist_stiffness: float
    wrist_grip_stiffness: float
    wrist_grip_damping: float
    time: Floats1  # (n,) of the way points [s]
    position: Floats2  # (n, 3) [m]
    hold: Floats2  # (k, 2) when button 0 is pressed: from, until [s]
    turn_time: Floats1  # (n,) of the turns [s]
    turn: Floats2  # (n, 4) (w, x, y, z)


@dataclass(frozen=True)
class Hand:
    """A hand that moves through way points, and may press, push and let go.

    intent     (time [s], (x, y, z) [m]) one after the other; at rest before the first and after the last
    turns      (time [s], Rotation) likewise: how the wrist is turned, felt by devices that have one
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
    turns: Sequence[tuple[float, Rotation]] = ((0.0, Rotation()),)
    wrist_inertia_kg_m2: float = 1e-3
    wrist_damping_Nms: float = 0.06
    wrist_stiffness_Nm_rad: float = 3.0
    grip_Nm_rad: float = 10.0
    grip_Nms: float = 0.01

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name.endswith(("_kg", "_Ns_m", "_N_m", "_kg_m2", "_Nms", "_Nm_rad")):
                value, inert = _number(getattr(self, field.name), field.name), "_kg" in field.name
                if value < 0.0 or (value == 0.0 and inert):
                    least = "positive" if inert else "zero or more"
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
        object.__setattr__(self, "turns", tuple(_pair(x, "a turn is (time_s, Rotation)") for x in self.turns))
        if not self.turns or not all(isinstance(turn, Rotation) for _, turn in self.turns):
            raise ValueError("a hand: turns are (time_s, Rotation), at least one")
        turns = tuple((_number(t, "the time of a turn"), turn) for t, turn in self.turns)
        for (before, _), (after, _) in (*pairwise(path), *pairwise(turns)):
            if not after > before:
                raise ValueError(f"a hand: a way point at {after:g} s follows one at {before:g} s; times must increase")
        object.__setattr__(self, "turns", turns)
        holds = tuple((_number(a, "a hold's begin"), _number(b, "a hold's end")) for a, b in self.holds)
        for begin, end in holds:
            if not end > begin:
                raise ValueError(f"a hand: a hold ends at {end:g} s and begins at {begin:g} s")
        object.__setattr__(self, "intent", path)
        object.__setattr__(self, "holds", holds)

    def arrays(self) -> HandArrays:
        """For kernels."""
        return HandArrays(
            mass=self.mass_kg, damping=self.damping_Ns_m, stiffness=self.stiffness_N_m, grip_stiffness=self.grip_N_m,
            grip_damping=self.grip_Ns_m, push=self.push_N, release_s=self.release_s, straight=self.motion == "straight",
            wrist_inertia=self.wrist_inertia_kg_m2, wrist_damping=self.wrist_damping_Nms,
            wrist_stiffness=self.wrist_stiffness_Nm_rad, wrist_grip_stiffness=self.grip_Nm_rad,
            wrist_grip_damping=self.grip_Nms,
            time=np.array([t for t, _ in self.intent]), position=np.array([p for _, p in self.intent]),
            hold=np.array(self.holds, dtype=np.float64).reshape(-1, 2),
            turn_time=np.array([t for t, _ in self.turns]), turn=np.array([turn.wxyz for _, turn in self.turns]),
        ).frozen()  # fmt: skip


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
def row_before(time, t):
    """The last row at or before t, which is within the times."""
    low, high = 0, time.shape[0] - 1
    while high - low > 1:
        middle = (low + high) // 2
        if t < time[middle]:
            high = middle
        else:
            low = middle
    return low


@kernel
def along(time, straight, t):
    """(way point before t, the next, share s of the way between them, s' [1/s]); at rest before the first and after the
    last.  s = 10 u^3 - 15 u^4 + 6 u^5 at u of the time, or u."""
    last = time.shape[0] - 1
    if not t > time[0]:
        return 0, 0, 0.0, 0.0
    if t >= time[last]:
        return last, last, 0.0, 0.0
    low = row_before(time, t)
    high = low + 1
    seconds = time[high] - time[low]
    s = (t - time[low]) / seconds
    ds = 1.0
    if not straight:
        ds = 30.0 * (s * (1.0 - s)) ** 2
        s = s * s * s * (10.0 + s * (6.0 * s - 15.0))
    return low, high, s, ds / seconds


@kernel
def intent_at(hand, t):
    """x_d [m] and x_d' [m/s]."""
    low, high, s, rate = along(hand.time, hand.straight, t)
    start = get3(hand.position, low)
    way = sub(get3(hand.position, high), start)
    return add_scaled(start, s, way), scale(rate, way)


@kernel
def turn_at(hand, t):
    """R_d as a quaternion, and w_d [rad/s]; about one axis from one to the next."""
    low, high, s, rate = along(hand.turn_time, hand.straight, t)
    start = get4(hand.turn, low)
    way = rotation_between(start, get4(hand.turn, high))
    return quaternion_product(quaternion_exp(s * way[0], s * way[1], s * way[2]), start), scale(rate, way)


@kernel
def grips_at(hand, t):
    """Whether the hand still has the device."""
    return t < hand.release_s


@kernel
def presses_at(hand, t):
    """Whether button 0 is pressed: by a hand that has the device only."""
    for k in range(hand.hold.shape[0]):
        if hand.hold[k, 0] <= t < hand.hold[k, 1]:
            return grips_at(hand, t)
    return False
