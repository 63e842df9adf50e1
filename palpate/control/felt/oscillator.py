"""An oscillator that falls into step with a hand: from the velocity of a shaken hand to phase and frequency.

avatars.md 6.  v velocity of the hand along the shake, up;  phi its phase, v ~ cos phi;  w frequency [rad/s];
A2 mean square of v;  h tick

    A2 += (v^2 - A2) h / 0.25 s;    u = v / sqrt(2 A2 + 1e-4)                     amplitude removed
    e  = (u - cos phi) sin phi;     phi' = w - k e;    w' = -k_w e                 w within 2 pi [0.7, 4]
    c += (2 u cos phi - c) h / 0.2 s                                               1: in step, -1: opposite
    y_ref = a sin phi;  v_ref = a w cos phi;    a = g min(1, c / 0.5) min(0.8 sqrt(2 A2) / w, 0.05 m)
    f = K (y_ref - y) + B (v_ref - v) - m a w^2 sin phi                            the last: the hand's own inertia

Near lock e is (phi - phi_hand)/2 and a ripple, so the error obeys s^2 + (k/2) s + k_w/2.  The sign matters: with
phi' = w + k e it locks opposite the hand.  An amplitude factor of 1 feeds itself from 2.5 Hz on, hence 0.8 and the cap;
without the inertia term a hand in contact is worse than a passive one at 2 to 3 Hz.

The reference's law, which is all but c, does not lock from every start: at 3 Hz some phases of hand and oscillator end
at the lowest frequency and stay there.  So while they are out of step (c < 0.5), the next time that v passes through
zero sets the phase, and the time since the last such passage the frequency.  Nobody is shaken by an oscillator that is
out of step: the amplitude grows with c.

In contact the oscillator follows a hand that it moves itself, and above 2.5 Hz may feed on that: twice the person's
amplitude, and no way back.  Then the person's hand brakes: the power of its force, P, is negative in the mean.  So

    P += (f v - P) h / 0.25 s;      g' = (1 - g) / 0.5 s while P > 0, else -g / 0.1 s      f: on the hand, by the person

o Shake
"""

from __future__ import annotations

import math

import numpy as np

from palpate.jit import Block, Struct, block_loader, entry, kernel
from palpate.model.model import Floats2
from palpate.spatial.vectors import is_finite

START_HZ = 2.0
SLOWEST_HZ, FASTEST_HZ = 0.7, 4.0
AMPLITUDE_S = 0.25  # over which A2 is taken
LEAST_V2 = 1e-4  # [m^2/s^2] 1 cm/s: below, there is no shake to follow
SHARE, LARGEST_M = 0.8, 0.05  # of the hand's amplitude, and at most
GAINS = (16.0, 50.0)  # k, k_w [1/s, 1/s^2]: 5 rad/s, damping 0.8
POWER_S, RISE_S, FALL_S = 0.25, 0.5, 0.1
STEP_S, IN_STEP = 0.2, 0.5  # over which c is taken; below, it is out of step
PASSED = 0.3  # u beyond this, on the other side than before, has passed through zero, whatever the noise; at the phase
PASSED_RAD = math.acos(PASSED)
STIFFNESS_N_M, DAMPING_NS_M = 30.0, 8.0


class Shake(Struct):
    """One hand."""

    k: float  # [1/s]
    k_w: float  # [1/s^2]
    phase: float  # phi [rad], within -pi..pi
    w: float  # [rad/s]
    A2: float  # [m^2/s^2]
    in_step: float  # c
    power_W: float  # P, that the person puts in
    gain: float  # g
    side: int  # on which v was last, 0: it was not yet
    since_s: float  # it came there
    y: float  # reference motion [m], and
    v: float  # its velocity [m/s], and
    a: float  # acceleration [m/s^2]


load_shake = block_loader((Shake, False))


def new_shake(gains: tuple[float, float] = GAINS) -> Shake:
    """At 2 Hz, knowing nothing of the hand."""
    return Shake(k=gains[0], k_w=gains[1], w=2.0 * np.pi * START_HZ, gain=1.0)


@kernel
def begin_shake(o, phase):
    """As at the start, at a phase."""
    o.phase, o.w, o.A2, o.y, o.v, o.a = phase, 2.0 * math.pi * START_HZ, 0.0, 0.0, 0.0, 0.0
    o.in_step, o.side, o.since_s, o.power_W, o.gain = 0.0, 0, 0.0, 0.0, 1.0


@kernel
def follow_shake(o, v, h):
    """One tick: phase, frequency and reference motion from the hand's velocity."""
    v = v if is_finite(v) else 0.0
    o.A2 += (v * v - o.A2) * h / AMPLITUDE_S
    u = v / math.sqrt(2.0 * o.A2 + LEAST_V2)
    c, s = math.cos(o.phase), math.sin(o.phase)
    o.in_step += (2.0 * u * c - o.in_step) * h / STEP_S
    e = (u - c) * s
    phase = o.phase + h * (o.w - o.k * e)
    o.phase = phase - 2.0 * math.pi * math.floor(phase / (2.0 * math.pi) + 0.5)
    o.w = min(max(o.w - h * o.k_w * e, 2.0 * math.pi * SLOWEST_HZ), 2.0 * math.pi * FASTEST_HZ)
    pass_zero(o, u, h)
    reference_motion(o)


@kernel
def pass_zero(o, u, h):
    """Out of step, the hand's passage through zero says where it is, and the one before how fast it goes."""
    o.since_s += h
    side = 1 if u > PASSED else -1 if u < -PASSED else o.side
    if side == o.side:
        return
    if o.side != 0 and o.in_step < IN_STEP:
        o.phase = -PASSED_RAD if side > 0 else math.pi - PASSED_RAD
        w = math.pi / o.since_s
        if 2.0 * math.pi * SLOWEST_HZ < w < 2.0 * math.pi * FASTEST_HZ:
            o.w = w
        o.in_step = 1.0  # until it is seen not to be
    o.side, o.since_s = side, 0.0


@kernel
def yield_to(o, f, v, h):
    """One tick of a hand in contact: less of the reference motion while the person's force f [N] brakes it."""
    power = f * v
    o.power_W += ((power if is_finite(power) else 0.0) - o.power_W) * h / POWER_S
    o.gain += h * ((1.0 - o.gain) / RISE_S if o.power_W > 0.0 else -o.gain / FALL_S)


@kernel
def reference_motion(o):
    """y, v and a of the hand that shakes along."""
    size = o.gain * min(max(o.in_step / IN_STEP, 0.0), 1.0)
    size *= min(SHARE * math.sqrt(2.0 * o.A2) / o.w, LARGEST_M)
    c, s = math.cos(o.phase), math.sin(o.phase)
    o.y, o.v, o.a = size * s, size * o.w * c, -size * o.w * o.w * s


@kernel
def shake_force(o, y, v, mass):
    """Force [N] on a hand of a mass [kg] at y [m] from the middle of the shake, that makes it shake along."""
    return STIFFNESS_N_M * (o.y - y) + DAMPING_NS_M * (o.v - v) + mass * o.a


@entry("intp, float64[::1], float64, float64[:, ::1]")
def follow_all(address, v, h, out):
    """out (n, 5) phase, w, and y, v, a of the reference, after each velocity."""
    (o,) = load_shake(address)
    for i in range(v.shape[0]):
        follow_shake(o, v[i], h)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = o.phase, o.w, o.y, o.v, o.a


@entry("intp, float64[::1], float64, float64, float64, float64, float64, float64[:, ::1]")
def shake_hands(address, path, h, mass, stiffness, damping, follows, out):
    """A person's hand on a path [m] holds the avatar's through a spring and a damper; out (n, 4): the avatar's y and v,
    the force between them [N], phase.  follows 0: the avatar's hand is passive, only its own spring and damper act."""
    (o,) = load_shake(address)
    y, v, before = 0.0, 0.0, path[0]
    for i in range(path.shape[0]):
        rate = (path[i] - before) / h
        before = path[i]
        between = stiffness * (path[i] - y) + damping * (rate - v)
        if follows > 0.0:
            yield_to(o, between, v, h)
            follow_shake(o, v, h)
            own = shake_force(o, y, v, mass)
        else:
            own = -STIFFNESS_N_M * y - DAMPING_NS_M * v
        v += h / mass * (between + own)
        y += h * v
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = y, v, between, o.phase


class Followed:
    """From Python: an oscillator that is given velocities."""

    def __init__(self, gains: tuple[float, float] = GAINS, phase_rad: float = 0.0) -> None:
        self.shake = new_shake(gains)
        self.shake.phase = phase_rad
        self._block = Block(self.shake)

    def follow(self, v_m_s: np.ndarray, dt_s: float) -> Floats2:
        """(n, 5): phase [rad], frequency [rad/s], and the reference's place, velocity and acceleration."""
        out = np.zeros((len(v_m_s), 5))
        follow_all(self._block.address, np.ascontiguousarray(v_m_s, dtype=float), dt_s, out)
        return out

    def hold_hands(
        self, path_m: np.ndarray, dt_s: float, mass_kg: float, stiffness_N_m: float, damping_Ns_m: float,
        follows: bool = True,
    ) -> Floats2:  # fmt: skip
        """(n, 4): the avatar's hand and its velocity, the force between the hands, and the phase."""
        out = np.zeros((len(path_m), 4))
        shake_hands(self._block.address, np.ascontiguousarray(path_m, dtype=float), dt_s, mass_kg, stiffness_N_m,
                    damping_Ns_m, float(follows), out)  # fmt: skip
        return out
