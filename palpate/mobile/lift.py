"""The lift: it raises and lowers the device, so that the hand stays at the device's middle height.

Beyond the thesis, which had none.  Mobile display, 2.6: a seventh coordinate Ry, with the column (0, 1, 0) in J_R.

Ry*   = Y_hand - RPz, the hand at the device's height zero, within the travel;   e = Ry* - Ry
on    |e| > activation, until |e| < stop: as the base (4.5), but the stop is narrow, for a spindle does not slip
v*    = v_max clip(e / slow), 0 while it is off; new at 50 Hz, as the base's commands are
v'    = a_max at most, every tick.  As v_max^2 <= a_max slow, it follows v*, and so stops before either end
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from palpate.jit import Struct, kernel
from palpate.mobile.chain import Chain
from palpate.mobile.rates import clip, due
from palpate.spatial.vectors import is_finite


@dataclass(frozen=True)
class Lift:
    """A spindle of 0.6 m; its middle has a hand 1 m above the floor at the device's height zero."""

    speed_m_s: float = 0.15
    acceleration_m_s2: float = 0.5
    travel_m: float = 0.6
    lowest_m: float = 0.66  # of the robot's frame
    activation_m: float = 0.057
    stop_m: float = 0.010
    slow_m: float = 0.10
    rate_hz: int = 50

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and (value > 0.0 or name == "lowest_m")):
                raise ValueError(
                    f"a lift: {name} is {value}; it must be {'finite' if name == 'lowest_m' else 'positive'}"
                )
        if self.stop_m > self.activation_m:
            raise ValueError(f"a lift: it would stop at {self.stop_m} m and begin again at {self.activation_m} m; "
                             "stop_m is to be the smaller")  # fmt: skip
        if self.speed_m_s**2 > self.acceleration_m_s2 * self.slow_m:  # e' = -(v/slow) e asks for v^2/slow at its begin
            raise ValueError(f"a lift: from {self.speed_m_s} m/s it cannot slow down within {self.slow_m} m at "
                             f"{self.acceleration_m_s2} m/s^2; give it a longer slow_m")  # fmt: skip


class Lifting(Struct):
    """Settings and state."""

    speed: float
    a_max: float
    low: float  # ends of Ry [m]
    high: float
    above: float  # RPz: of the device over the robot's frame [m]
    activation: float
    stop: float
    slow: float
    rate_hz: int
    tick_hz: int
    dt: float
    # written by lift_step
    active: int
    command: float  # v* [m/s]
    height: float  # Ry [m]
    velocity: float
    acceleration: float  # of the tick that has passed [m/s^2]: the ride's, upwards
    ended: int  # ticks with a target beyond an end


def new_lift(lift: Lift | None = None, chain: Chain | None = None, height_m: float | None = None,
             tick_hz: int = 1000) -> Lifting:  # fmt: skip
    """At rest with the robot's frame at a height [m]; None: in the middle of its travel."""
    l, c = lift or Lift(), chain or Chain()
    low, high = l.lowest_m, l.lowest_m + l.travel_m
    at = 0.5 * (low + high) if height_m is None else height_m
    if not low <= at <= high:
        raise ValueError(f"a lift: it goes from {low:g} to {high:g} m and cannot begin at {at:g} m")
    return Lifting(
        speed=l.speed_m_s, a_max=l.acceleration_m_s2, low=low, high=high, above=c.robot_to_device_m[2],
        activation=l.activation_m, stop=l.stop_m, slow=l.slow_m, rate_hz=l.rate_hz, tick_hz=tick_hz, dt=1.0 / tick_hz,
        height=at,
    )  # fmt: skip


@kernel
def command_lift(s, hand_y, halt):
    """v* of a hand at a height [m]."""
    if halt or not is_finite(hand_y):
        s.active, s.command = 0, 0.0
        return
    target = hand_y - s.above
    e = min(max(target, s.low), s.high) - s.height
    s.active = 1 if abs(e) > s.activation or (s.active and abs(e) >= s.stop) else 0
    s.command = s.speed * clip(e / s.slow, 1.0) if s.active else 0.0
    if target < s.low or target > s.high:
        s.ended += 1


@kernel
def lift_step(s, k, hand_y, halt):
    """Tick k: a hand at a height above the floor [m] -> s.height, s.velocity, s.acceleration; halt: come to rest."""
    if halt or due(k, s.rate_hz, s.tick_hz):
        command_lift(s, hand_y, halt)
    v = s.velocity + clip(s.command - s.velocity, s.a_max * s.dt)
    s.acceleration = (v - s.velocity) / s.dt
    s.velocity = v
    s.height += v * s.dt
