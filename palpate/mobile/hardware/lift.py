"""The lift: it raises and lowers the device, so that the hand stays at the device's middle height.

Beyond the thesis, which had none.  Mobile display, 2.6: a seventh coordinate Ry, with the column (0, 1, 0) in J_R.

Ry    = height + y, of the robot's frame; y is the lift's part of it, 0 in the middle of the travel
Ry*   = Y_hand - RPz, the hand at the device's height zero, within the travel;   e = Ry* - Ry
on    |e| > activation, until |e| < stop: as the base (4.5), but the stop is narrow, for a spindle does not slip
v*    = v_max clip(e / slow), 0 while it is off; new at 50 Hz, as the base's commands are
v'    = a_max at most, every tick.  As v_max^2 <= a_max slow, it follows v*, and so stops before either end
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from palpate.jit import Block, Struct, block_loader, entry, kernel
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.rates import clip, due
from palpate.model.model import Floats
from palpate.spatial.vectors import is_finite


@dataclass(frozen=True)
class Spindle:
    """What the lift can do, and when it does."""

    speed_m_s: float = 0.15
    acceleration_m_s2: float = 0.5
    travel_m: float = 0.6
    activation_m: float = 0.057
    stop_m: float = 0.010
    slow_m: float = 0.10
    rate_hz: int = 50

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"a lift: {name} is {value}; it must be positive")
        if self.stop_m > self.activation_m:
            raise ValueError(f"a lift: it would stop at {self.stop_m} m and begin again at {self.activation_m} m; "
                             "stop_m is to be the smaller")  # fmt: skip
        if self.speed_m_s**2 > self.acceleration_m_s2 * self.slow_m:  # e' = -(v/slow) e asks for v^2/slow at its begin
            raise ValueError(f"a lift: from {self.speed_m_s} m/s it cannot slow down within {self.slow_m} m at "
                             f"{self.acceleration_m_s2} m/s^2; give it a longer slow_m")  # fmt: skip


class Lift(Struct):
    """Settings and state."""

    on: int  # 0: it stands
    speed: float
    a_max: float
    half: float  # of the travel [m]
    middle: float  # of the device above the floor while y is 0: height + RPz [m]
    activation: float
    stop: float
    slow: float
    rate_hz: int
    tick_hz: int
    dt: float
    # written by lift_step
    active: int
    command: float  # v* [m/s]
    y: float  # [m]
    velocity: float
    acceleration: float  # of the tick that has passed [m/s^2]: the ride's, upwards
    ended: int  # commands for a hand beyond an end


def new_lift(height_m: float, on: bool = True, spindle: Spindle | None = None, *, chain: Chain | None = None,
             tick_hz: int = 1000) -> Lift:  # fmt: skip
    """At rest in the middle of its travel, where the robot's frame is at a height [m]."""
    if not math.isfinite(height_m):
        raise ValueError(f"a lift: height_m is {height_m}; it must be finite")
    s, c = spindle or Spindle(), chain or Chain()
    return Lift(
        on=on, speed=s.speed_m_s, a_max=s.acceleration_m_s2, half=0.5 * s.travel_m,
        middle=height_m + c.robot_to_device_m[2], activation=s.activation_m, stop=s.stop_m, slow=s.slow_m,
        rate_hz=s.rate_hz, tick_hz=tick_hz, dt=1.0 / tick_hz,
    )  # fmt: skip


@kernel
def command_lift(l, hand_y, allowed):
    """v* of a hand at a height [m]."""
    if not (l.on and allowed and is_finite(hand_y)):
        l.active, l.command = 0, 0.0
        return
    target = hand_y - l.middle
    e = clip(target, l.half) - l.y
    l.active = 1 if abs(e) > l.activation or (l.active and abs(e) >= l.stop) else 0
    l.command = l.speed * clip(e / l.slow, 1.0) if l.active else 0.0
    if abs(target) > l.half:
        l.ended += 1


@kernel
def lift_step(l, k, hand_y, allowed):
    """Tick k: a hand at a height above the floor [m] -> l.y, l.velocity, l.acceleration; not allowed: come to rest."""
    if not allowed or due(k, l.rate_hz, l.tick_hz):
        command_lift(l, hand_y, allowed)
    v = l.velocity + clip(l.command - l.velocity, l.a_max * l.dt)
    l.acceleration = (v - l.velocity) / l.dt
    l.velocity = v
    l.y += v * l.dt


# ---- for Python

load_lift = block_loader((Lift, False))


@entry("intp, float64[::1], float64[:, ::1]")
def lift_entry(address, hand_y, out):
    """A tick for each height of a hand; out (n, 4): y, velocity, acceleration, active."""
    (l,) = load_lift(address)
    for k in range(hand_y.shape[0]):
        lift_step(l, k, hand_y[k], True)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = l.y, l.velocity, l.acceleration, float(l.active)


def lift_along(lift: Lift, hand_y_m: ArrayLike) -> Floats:
    """(n, 4) y [m], velocity, acceleration, active, at each tick of a hand at heights (n,) above the floor [m]."""
    hand = np.array(hand_y_m, dtype=float)
    if hand.ndim != 1:
        raise ValueError(f"heights are one row of numbers, got an array {hand.shape}")
    out = np.zeros((len(hand), 4))
    block = Block(lift)
    lift_entry(block.address, hand, out)
    return out
