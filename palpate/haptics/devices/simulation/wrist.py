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

from palpate.haptics.hand import turn_at
from palpate.haptics.safety import limit_norm
from palpate.jit import Quaternion, Struct, Vector, kernel
from palpate.spatial.quaternions import (
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_unit,
    rotation_between,
)
from palpate.spatial.vectors import add, add_scaled, scale, sub

ZERO, UNTURNED = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


class Wrist(Struct):
    """What it is, and how it is turned; device frame."""

    inertia: float  # [kg m^2], 0 without a wrist
    quantum: float  # [rad]
    coulomb: float  # [N m]
    creep: float  # [rad/s]
    viscous: float  # [N m s]
    limit: float  # [N m]
    turn: Quaternion  # true
    spin: Vector  # [rad/s]
    motor: Vector  # held torque [N m]
    hand: Quaternion
    hand_spin: Vector
    grip: Vector  # T_s, of the device on the hand [N m]
    seen: Quaternion  # what the encoders last said
    seen_spin: Vector  # its filtered difference


@kernel
def has_wrist(wrist):
    return wrist.inertia > 0.0


@kernel
def begin_wrist(wrist, hand):
    """At rest, as the hand's turns begin."""
    start, _ = turn_at(hand, hand.turn_time[0])
    wrist.turn, wrist.hand, wrist.seen = start, start, start
    wrist.spin, wrist.motor, wrist.hand_spin, wrist.grip, wrist.seen_spin = ZERO, ZERO, ZERO, ZERO, ZERO


@kernel
def turned(q, u, h):
    """exp(h u) q."""
    return quaternion_unit(quaternion_product(quaternion_exp(h * u[0], h * u[1], h * u[2]), q))


@kernel
def turn_step(wrist, hand, holds, t, h):
    """Device and hand from t to t + h, as in the header; holds 0 or 1."""
    c, H = wrist, 0.5 * h
    R, w, R_h, w_h = wrist.turn, wrist.spin, wrist.hand, wrist.hand_spin
    k_g = holds * hand.wrist_grip_stiffness
    g = holds * hand.wrist_grip_damping + H * k_g
    R_d, w_d = turn_at(hand, t + H)
    f = add_scaled(scale(hand.wrist_inertia / H, w_h), hand.wrist_stiffness, rotation_between(R_h, R_d))
    f = add_scaled(f, hand.wrist_damping, w_d)
    a = hand.wrist_inertia / H + hand.wrist_damping + H * hand.wrist_stiffness
    pull = scale(k_g, rotation_between(R_h, R))
    s = a * g / (a + g)
    r = add(wrist.motor, scale(1.0 / (a + g), add_scaled(scale(-a, pull), g, f)))
    r = add_scaled(r, c.inertia / H, w)
    A = c.inertia / H + c.viscous + s
    u = (spun(c, r[0], A, w[0]), spun(c, r[1], A, w[1]), spun(c, r[2], A, w[2]))
    v = scale(1.0 / (a + g), add(add(f, pull), scale(g, u)))
    wrist.turn = turned(R, u, h)
    wrist.spin = sub(scale(2.0, u), w)
    wrist.hand = turned(R_h, v, h)
    wrist.hand_spin = sub(scale(2.0, v), w_h)


@kernel
def spun(c, r, A, rate):
    """The mean spin about one axis, with Coulomb's friction linearised at its start, as phantom.resistance is."""
    t = math.tanh(rate / c.creep)
    slope = c.coulomb / c.creep * (1.0 - t * t)
    return (r + slope * rate - c.coulomb * t) / (A + slope)


@kernel
def look_at_grip(wrist, hand, holds):
    """T_s from how both are turned."""
    stretch = rotation_between(wrist.hand, wrist.turn)
    torque = add_scaled(
        scale(hand.wrist_grip_stiffness, stretch), hand.wrist_grip_damping,
        sub(wrist.spin, wrist.hand_spin),
    )  # fmt: skip
    wrist.grip = scale(holds, torque)


@kernel
def drive_wrist(port, wrist):
    """The motors' torque for the command; whether it had to be reduced.  Without a wrist there is none."""
    torque, limited = limit_norm(port.torque, wrist.limit)
    wrist.motor = torque
    return limited


@kernel
def sense_wrist(port, wrist, elapsed, share):
    """How the encoders say it is turned, and their filtered difference over the time since; share of the new one."""
    x, quantum = quaternion_log(wrist.turn), wrist.quantum
    now = UNTURNED
    if has_wrist(wrist):
        now = quaternion_exp(
            quantum * math.floor(x[0] / quantum + 0.5), quantum * math.floor(x[1] / quantum + 0.5),
            quantum * math.floor(x[2] / quantum + 0.5),
        )  # fmt: skip
        if elapsed > 0.0:  # neither the first time (NaN) nor twice at once
            difference = scale(1.0 / elapsed, rotation_between(wrist.seen, now))
            spin = wrist.seen_spin
            wrist.seen_spin = add_scaled(spin, share, sub(difference, spin))
    wrist.seen = now
    port.quaternion = now
    port.spin = wrist.seen_spin
