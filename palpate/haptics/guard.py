"""The guard: the last stage between whatever renders a force and a device.  What is wanted goes in, what is sent
comes out: force and torque on the hand, device frame.  In this order, every tick:

| fault                                   | what is sent                                                | counted as   |
|-----------------------------------------|-------------------------------------------------------------|--------------|
| wanted force or torque is not a number  | zero in 20 ms, linearly from the last; so until `engage`    | not_finite   |
| the device's reading is not a number    | the same                                                    | bad_reading  |
| device lost                             | the same                                                    | device_lost  |
| link lost                               | the same                                                    | link_lost    |
| a law failed                            | the same                                                    | law_failed   |
| start, or engaged again                 | nothing until less than 0.2 N has been wanted once,         | gated        |
|                                         | then g F with g from 0 to 1 in 0.5 s                        | rising       |
| device moves or turns too fast          | g falls to 0 in 20 ms while it is, and rises again in 0.5 s | too_fast     |
| ticks late, by more than 50 ms          | zero; g begins again at 0                                   | late_zeroed  |
| by more than 5 ms                       | a damper, -g b v, within the limits below                   | late_damped  |
| by more than a tick                     | what was sent before                                        | late_held    |
| motors warm                             | scaled to a limit that comes down to the continuous one     | heat_limited |
| force above the device's limit          | scaled by norm, direction kept                              | clamped      |
| force growing faster than the limit     | held back; falling is free                                  | rate_limited |

g is the gain.  Lateness of ticks in a row adds up: a loop that never is on time ends at zero, not in a frozen force.
Faults are counted once each, all else once for every tick and force or torque altered.  A reading that is not new, or a
motor that says it is saturated, is counted (stale, saturated) and changes nothing.  A torque has limits of its own; a
device whose limit is 0 makes none, and what is wanted of it is ignored.

The ledger: work [J] on the hand of what the guard altered, sum of ((F_sent - F_wanted).v + (T_sent - T_wanted).w) dt.
A want that is not a number counts as none, and what is no honest work (1 kJ in a tick) is left out.
"""

from __future__ import annotations

import math

import numpy as np

from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.devices.port import NOTHING_NEW, SATURATED
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.safety import WARM, limit_by_heat, limit_growth, limit_norm, warmed
from palpate.jit import Block, Struct, block_loader, entry, kernel
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.spatial.vectors import dot, finite3, get3, put3, scale, sub

FADE_S = 0.02  # in which a fault, or a device that is too fast, takes the force away
RISE_S = 0.5  # in which it comes (back)
ENGAGE_BELOW_N = 0.2  # what may be wanted at the moment of engaging
LATE_TICKS = 1.0  # later than this is late
DAMP_AFTER_S, ZERO_AFTER_S = 0.005, 0.05
SANE_J = 1e3  # in one tick; a want of 1e300 N would drown what the ledger has
ROUNDING = 1e-9  # of a gain or a time: less than this is nothing left
ZERO = (0.0, 0.0, 0.0)

# status, beside a device's own (haptics/devices/port.py); every negative one is a fault
LINK_LOST, LAW_FAILED = -2, -3

COUNTS = DEVICE_COUNTERS  # faults first, as CAUSE counts them
(_, _, _, _, _, GATED, RISING_COUNT, TOO_FAST, LATE_ZEROED, LATE_DAMPED, LATE_HELD, HEAT_LIMITED, CLAMPED,
 RATE_LIMITED, STALE, SATURATED_COUNT) = range(len(COUNTS))  # fmt: skip
STATES = ("engaging", "rising", "on", "slowed", "late", "fault")
ENGAGING, RISING, ON, SLOWED, LATE, FAULT = range(len(STATES))
NO_FAULT, NOT_FINITE, BAD_READING, DEVICE_LOST_CAUSE, LINK_LOST_CAUSE, LAW_FAILED_CAUSE = range(6)
WHY = (
    "", "the wanted force is not a number", "the device's reading is not a number", "the device was lost",
    "the link was lost", "a law failed",
)  # fmt: skip
# rows of Guard.limit and Guard.sent, and columns of Guard.limit
FORCE, TORQUE = 0, 1
MOST, GROWTH, CONTINUOUS, DAMPING, GATE, VELOCITY, MEMORY = range(7)


class Guard(Struct):
    """One device's guard; `limit` is given, the rest is written by `guard` and `engage`."""

    state: int  # one of STATES
    cause: int  # the fault that is latched, counted from 1 along COUNTS
    is_open: int  # whether the gate is
    gain: float
    fade_left_s: float  # of FADE_S
    late_s: float  # since a tick was on time
    work_J: float  # of what the guard altered, on the hand
    limit: Floats2  # (2, 7) of force [N] and torque [N m]: MOST, GROWTH [per s], CONTINUOUS, DAMPING [per m/s or
    # rad/s], GATE, VELOCITY [m/s or rad/s], MEMORY of heat [s]
    sent: Floats2  # (2, 3) the last that was sent
    heat: Floats1  # (2,) mean square of what was sent [N^2, N^2 m^2]
    counts: Ints1  # as COUNTS names them


load_guard = block_loader((Guard, False))


# ---- kernels


@kernel
def engage(g):
    """Begin again: forget the fault, close the gate, no force until little is wanted.  Counts, heat and work stay."""
    g.state, g.cause, g.is_open = ENGAGING, NO_FAULT, 0
    g.gain, g.fade_left_s = 0.0, FADE_S


@kernel
def latch_fault(g, wants_are_numbers, reading_is_numbers, status):
    """The first fault since `engage` stays; count it."""
    cause = NO_FAULT
    if status < 0:
        cause = DEVICE_LOST_CAUSE
        if status == LINK_LOST:
            cause = LINK_LOST_CAUSE
        elif status == LAW_FAILED:
            cause = LAW_FAILED_CAUSE
    elif not reading_is_numbers:
        cause = BAD_READING
    elif not wants_are_numbers:
        cause = NOT_FINITE
    if cause != NO_FAULT and g.cause == NO_FAULT:
        g.cause = cause
        g.counts[cause - 1] += 1
    g.counts[STALE] += status == NOTHING_NEW
    g.counts[SATURATED_COUNT] += status == SATURATED


@kernel
def fade(g, dt):
    """The share of the last force that is left: times it tick by tick, a straight line to 0."""
    left = g.fade_left_s
    after = left - dt if left - dt > ROUNDING * FADE_S else 0.0
    g.fade_left_s = after
    return after / left if left > 0.0 else 0.0


@kernel
def little_wanted(g, row, wanted):
    """Whether it is below the gate; what the device cannot make does not count."""
    return g.limit[row, MOST] <= 0.0 or math.sqrt(dot(wanted, wanted)) < g.limit[row, GATE]


@kernel
def next_gain(g, too_fast, late, dt):
    """Of this tick: 0 before the gate opens, down while too fast, else up to 1; a late tick does not raise it."""
    gain = g.gain
    if too_fast:
        gain -= dt / FADE_S
    elif g.is_open and not late:
        gain += dt / RISE_S
    gain = 0.0 if gain < ROUNDING else gain
    return 1.0 if gain > 1.0 - ROUNDING else gain


@kernel
def shape(g, row, wanted, gain, share, dt):
    """What may be sent of what is wanted; `share` below 1: at most that part of the length sent before."""
    most = g.limit[row, MOST]
    if most <= 0.0:
        return ZERO
    warm = limit_by_heat(g.heat[row], g.limit[row, CONTINUOUS], most)
    force, limited = limit_norm(wanted, warm)
    if limited:
        g.counts[HEAT_LIMITED if warm < most else CLAMPED] += 1
    force = scale(gain, force)
    before = get3(g.sent, row)
    if share < 1.0:
        force, _ = limit_norm(force, share * math.sqrt(dot(before, before)))
    force, held_back = limit_growth(force, before, g.limit[row, GROWTH] * dt)
    g.counts[RATE_LIMITED] += held_back
    force, _ = limit_norm(force, most)  # sums of limited forces may round upwards
    return force


@kernel
def send(g, row, wanted, sent, moving, dt):
    """Note what is sent: for the next tick, for heat, for the ledger."""
    put3(g.sent, row, sent)
    if g.limit[row, MOST] > 0.0:
        g.heat[row] = warmed(g.heat[row], sent, g.limit[row, MEMORY], dt)
        work = dot(sub(sent, wanted), moving) * dt
        if abs(work) <= SANE_J:
            g.work_J += work


@kernel
def guard(g, force, torque, velocity, spin, status, late_s, dt):
    """(force, torque) on the hand to send now in place of those wanted; never above a limit, never a NaN.

    velocity [m/s] and spin [rad/s] of the device; status as its sample or send returned, or LINK_LOST, LAW_FAILED;
    late_s: how much more than dt has passed since the tick before.
    """
    wants_are_numbers, reading_is_numbers = finite3(force) and finite3(torque), finite3(velocity) and finite3(spin)
    latch_fault(g, wants_are_numbers, reading_is_numbers, status)
    if not wants_are_numbers:
        force, torque = ZERO, ZERO
    if not reading_is_numbers:
        velocity, spin = ZERO, ZERO
    if g.cause != NO_FAULT:
        share = fade(g, dt)
        state, sent, turning = FAULT, scale(share, get3(g.sent, FORCE)), scale(share, get3(g.sent, TORQUE))
    else:
        state, sent, turning = render(g, force, torque, velocity, spin, late_s, dt)
    g.state = state
    send(g, FORCE, force, sent, velocity, dt)
    send(g, TORQUE, torque, turning, spin, dt)
    return sent, turning


@kernel
def render(g, force, torque, velocity, spin, late_s, dt):
    """(state, force, torque) while there is no fault."""
    late = not late_s <= LATE_TICKS * dt  # written so that a NaN is late
    behind = g.late_s + late_s if late else 0.0
    damped, zeroed = not behind <= DAMP_AFTER_S, not behind <= ZERO_AFTER_S
    g.late_s = ZERO_AFTER_S if zeroed else behind
    if little_wanted(g, FORCE, force) and little_wanted(g, TORQUE, torque):
        g.is_open = 1
    too_fast = (
        dot(velocity, velocity) > g.limit[FORCE, VELOCITY] ** 2 or dot(spin, spin) > g.limit[TORQUE, VELOCITY] ** 2
    )
    before = g.gain
    gain = 0.0 if zeroed else next_gain(g, too_fast, late, dt)
    share = gain / before if gain < before else 1.0
    g.gain = gain

    if zeroed:
        sent, turning = ZERO, ZERO
    elif late and not damped:
        sent, turning = scale(share, get3(g.sent, FORCE)), scale(share, get3(g.sent, TORQUE))
    else:
        if damped:
            force = scale(-g.limit[FORCE, DAMPING], velocity)
            torque = scale(-g.limit[TORQUE, DAMPING], spin)
        sent = shape(g, FORCE, force, gain, share, dt)
        turning = shape(g, TORQUE, torque, gain, share, dt)

    g.counts[LATE_ZEROED] += zeroed
    g.counts[LATE_DAMPED] += damped and not zeroed
    g.counts[LATE_HELD] += late and not damped
    g.counts[TOO_FAST] += too_fast
    if late:
        return LATE, sent, turning
    if not g.is_open:
        g.counts[GATED] += 1
        return ENGAGING, sent, turning
    if too_fast:
        return SLOWED, sent, turning
    if gain < 1.0:
        g.counts[RISING_COUNT] += 1
        return RISING, sent, turning
    return ON, sent, turning


# ---- from Python


def new_guard(spec: DeviceSpec, damping_Ns_m: float = 2.0, damping_Nms: float = 1e-3) -> Guard:
    """The guard of a device, not engaged yet.

    damping: of the damper that a late loop becomes; a tip of 0.1 kg that hears of it every 50 ms is stable below
    2 m / T = 4 N s/m.
    """
    for name, value in {"damping_Ns_m": damping_Ns_m, "damping_Nms": damping_Nms}.items():
        if not (np.isfinite(value) and value >= 0.0):
            raise ValueError(f"the guard of {spec.name!r}: {name} must be finite and not negative, got {value}")
    # a torque may grow, and may be wanted on engaging, in the same proportion to its limit as the force
    lever = (spec.torque_limit_Nm / spec.force_limit_N if spec.force_limit_N > 0.0 else 0.0) or 1.0
    limit = np.array([
        [spec.force_limit_N, spec.force_rise_N_s, spec.continuous_force_N, damping_Ns_m, ENGAGE_BELOW_N,
         spec.velocity_limit_m_s, spec.heat_s],
        [spec.torque_limit_Nm, lever * spec.force_rise_N_s, spec.continuous_torque_Nm, damping_Nms,
         lever * ENGAGE_BELOW_N, spec.spin_limit_rad_s, spec.heat_s],
    ])  # fmt: skip
    counts = np.zeros(len(COUNTS), dtype=np.int64)
    return Guard(fade_left_s=FADE_S, limit=limit, sent=np.zeros((2, 3)), heat=np.zeros(2), counts=counts)


def lasts_s(spec: DeviceSpec, force_N: float) -> float:
    """How long a force is sent in full, from cold motors: until they are so warm that it is the limit (safety.py)."""
    most, least = spec.force_limit_N, spec.continuous_force_N
    if not least < force_N <= most:
        return math.inf if force_N <= least else 0.0
    warmth = 1.0 - (1.0 - WARM) * (force_N - least) / (most - least)
    return -spec.heat_s * math.log1p(-((warmth * least / force_N) ** 2))


def settles_s(spec: DeviceSpec, force_N: float, within: float = 0.01) -> float:
    """How long it then takes at most until it is the continuous force, but for a part of that (safety.py)."""
    most, least = spec.force_limit_N, spec.continuous_force_N
    if not least * (1.0 + within) < force_N:
        return 0.0
    rate = (1.0 + (most / least - 1.0) / (1.0 - WARM)) / spec.heat_s
    return math.log((force_N - least) / (within * least)) / rate


@entry("intp, float64[::1], intp, float64, float64")
def guard_entry(address, x, status, late_s, dt):
    """x (12,): wanted force and torque, which become those to send; velocity, spin."""
    (g,) = load_guard(address)
    sent, turning = guard(
        g, (x[0], x[1], x[2]), (x[3], x[4], x[5]), (x[6], x[7], x[8]), (x[9], x[10], x[11]), status, late_s, dt
    )
    x[0], x[1], x[2] = sent
    x[3], x[4], x[5] = turning


@entry("intp")
def engage_entry(address):
    (g,) = load_guard(address)
    engage(g)


class ForceGuard:
    """A guard for loops written in Python; settings as those of `new_guard`."""

    def __init__(self, spec: DeviceSpec, **settings: float) -> None:
        self.arrays = new_guard(spec, **settings)
        self._block = Block(self.arrays)

    def __call__(
        self,
        force_N: np.ndarray,
        velocity_m_s: np.ndarray,
        dt_s: float,
        torque_Nm: np.ndarray | tuple[float, ...] = ZERO,
        spin_rad_s: np.ndarray | tuple[float, ...] = ZERO,
        status: int = 0,
        late_s: float = 0.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(force (3,), torque (3,)) on the hand to send in place of those wanted; arguments as those of `guard`."""
        x = np.concatenate([force_N, torque_Nm, velocity_m_s, spin_rad_s]).astype(float)
        if x.shape != (12,):
            raise ValueError("force, torque, velocity and spin must be three numbers each")
        guard_entry(self._block.address, x, status, late_s, dt_s)
        return x[0:3], x[3:6]

    def engage(self) -> None:
        """Begin again after a fault."""
        engage_entry(self._block.address)

    @property
    def state(self) -> str:
        """One of STATES."""
        return STATES[self.arrays.state]

    @property
    def why(self) -> str:
        """What the fault is; empty without one."""
        return WHY[self.arrays.cause]

    @property
    def counts(self) -> dict[str, int]:
        """Interventions so far, by kind."""
        return dict(zip(COUNTS, self.arrays.counts.tolist(), strict=True))

    @property
    def work_J(self) -> float:
        """Work on the hand of what the guard altered."""
        return self.arrays.work_J
