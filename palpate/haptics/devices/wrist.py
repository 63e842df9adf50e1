"""The wrist of a simulated device and the hand that turns it: the sub-step of simulated.py once more, for turns.

I (u - w)/H = tau - friction(u) - T_s                                    u, v mean spins of device and hand over h = 2 H
I_h (v - w_h)/H = T_s + k (r_d - H v) + b (w_d - v)
T_s = k_g e + g (u - v),  e = log(R R_h^T),  r_d = log(R_d R_h^T),  g = b_g + k_g H

The hand's line gives v = (f + k_g e + g u)/(a + g),  a = I_h/H + b + k H,  f = I_h w_h/H + k r_d + b w_d;  then
R <- exp(h u) R, w = 2 u - w, and the same for the hand.  All inertias are the same about every axis, so no axis knows
of another and nothing gyrates; the wrist turns about the tip, so forces do not turn it and torques do not move it.
d/dt |log R|^2 / 2 = log R . w exactly: the springs are springs for large turns as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from palpate.haptics.devices.port import QUATERNION, SPIN
from palpate.haptics.devices.protocol import TORQUE
from palpate.haptics.hand import DAMPING, GRIP_DAMPING, GRIP_STIFFNESS, MASS, STIFFNESS, turn_at
from palpate.haptics.safety import limit_norm
from palpate.jit import kernel
from palpate.model.model import Floats1
from palpate.spatial.quaternions import (
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_unit,
    rotation_between,
)
from palpate.spatial.vectors import add, add_scaled, part3, part4, put_part, scale, sub

# rows of Wrist.number: [kg m^2], 0 without a wrist; [rad]; [N m]; [rad/s]; [N m s]; [N m]
INERTIA, QUANTUM, COULOMB, CREEP, VISCOUS, LIMIT = range(6)
ZERO, UNTURNED = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


class Wrist(NamedTuple):
    """What it is, and how it is turned; device frame, quaternions (w, x, y, z)."""

    number: Floats1  # INERTIA .. LIMIT
    turn: Floats1  # (4,) true
    spin: Floats1  # (3,) [rad/s]
    motor: Floats1  # (3,) held torque [N m]
    hand: Floats1  # (4,)
    hand_spin: Floats1  # (3,)
    grip: Floats1  # (3,) T_s, of the device on the hand [N m]
    seen: Floats1  # (4,) what the encoders last said
    seen_spin: Floats1  # (3,) its filtered difference


@kernel
def has_wrist(wrist):
    return wrist.number[INERTIA] > 0.0


@kernel
def begin_wrist(wrist, hand):
    """At rest, as the hand's turns begin."""
    start, _ = turn_at(hand, hand.turn_time[0])
    put_part(wrist.turn, 0, start)
    put_part(wrist.hand, 0, start)
    put_part(wrist.seen, 0, start)
    for still in (wrist.spin, wrist.motor, wrist.hand_spin, wrist.grip, wrist.seen_spin):
        put_part(still, 0, ZERO)


@kernel
def turned(q, u, h):
    """exp(h u) q."""
    return quaternion_unit(quaternion_product(quaternion_exp(h * u[0], h * u[1], h * u[2]), q))


@kernel
def turn_step(wrist, hand, holds, t, h):
    """Device and hand from t to t + h, as in the header; holds 0 or 1."""
    c, p, H = wrist.number, hand.wrist, 0.5 * h
    R, w, R_h, w_h = part4(wrist.turn, 0), part3(wrist.spin, 0), part4(wrist.hand, 0), part3(wrist.hand_spin, 0)
    k_g = holds * p[GRIP_STIFFNESS]
    g = holds * p[GRIP_DAMPING] + H * k_g
    R_d, w_d = turn_at(hand, t + H)
    f = add_scaled(scale(p[MASS] / H, w_h), p[STIFFNESS], rotation_between(R_h, R_d))
    f = add_scaled(f, p[DAMPING], w_d)
    a = p[MASS] / H + p[DAMPING] + H * p[STIFFNESS]
    pull = scale(k_g, rotation_between(R_h, R))
    s = a * g / (a + g)
    r = add(part3(wrist.motor, 0), scale(1.0 / (a + g), add_scaled(scale(-a, pull), g, f)))
    r = add_scaled(r, c[INERTIA] / H, w)
    A = c[INERTIA] / H + c[VISCOUS] + s
    u = (spun(c, r[0], A, w[0]), spun(c, r[1], A, w[1]), spun(c, r[2], A, w[2]))
    v = scale(1.0 / (a + g), add(add(f, pull), scale(g, u)))
    put_part(wrist.turn, 0, turned(R, u, h))
    put_part(wrist.spin, 0, sub(scale(2.0, u), w))
    put_part(wrist.hand, 0, turned(R_h, v, h))
    put_part(wrist.hand_spin, 0, sub(scale(2.0, v), w_h))


@kernel
def spun(c, r, A, rate):
    """The mean spin about one axis, with Coulomb's friction linearised at its start, as phantom.resistance is."""
    t = math.tanh(rate / c[CREEP])
    slope = c[COULOMB] / c[CREEP] * (1.0 - t * t)
    return (r + slope * rate - c[COULOMB] * t) / (A + slope)


@kernel
def look_at_grip(wrist, hand, holds):
    """T_s from how both are turned."""
    stretch = rotation_between(part4(wrist.hand, 0), part4(wrist.turn, 0))
    torque = add_scaled(
        scale(hand.wrist[GRIP_STIFFNESS], stretch), hand.wrist[GRIP_DAMPING],
        sub(part3(wrist.spin, 0), part3(wrist.hand_spin, 0)),
    )  # fmt: skip
    put_part(wrist.grip, 0, scale(holds, torque))


@kernel
def drive_wrist(port, wrist):
    """The motors' torque for the command; whether it had to be reduced.  Without a wrist there is none."""
    torque, limited = limit_norm(part3(port.command, TORQUE.start), wrist.number[LIMIT])
    put_part(wrist.motor, 0, torque)
    return limited


@kernel
def sense_wrist(port, wrist, elapsed, share):
    """How the encoders say it is turned, and their filtered difference over the time since; share of the new one."""
    x, quantum = quaternion_log(part4(wrist.turn, 0)), wrist.number[QUANTUM]
    now = UNTURNED
    if has_wrist(wrist):
        now = quaternion_exp(
            quantum * math.floor(x[0] / quantum + 0.5), quantum * math.floor(x[1] / quantum + 0.5),
            quantum * math.floor(x[2] / quantum + 0.5),
        )  # fmt: skip
        if elapsed > 0.0:  # neither the first time (NaN) nor twice at once
            difference = scale(1.0 / elapsed, rotation_between(part4(wrist.seen, 0), now))
            spin = part3(wrist.seen_spin, 0)
            put_part(wrist.seen_spin, 0, add_scaled(spin, share, sub(difference, spin)))
    put_part(wrist.seen, 0, now)
    put_part(port.reading, QUATERNION.start, now)
    put_part(port.reading, SPIN.start, part3(wrist.seen_spin, 0))
