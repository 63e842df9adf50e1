"""Passivity in the time domain: how much energy a virtual thing took through a port, and two ways to keep it honest.

A port is where force and motion meet: hand, coupling, each wall.  A force f_k on the device, held for a period T while
the device moves by dx = x_{k+1} - x_k, takes f_k . dx out of the virtual side: exactly, whatever happens in between
(Hannaford & Ryu 2002; the sampled-exact form: Stramigioli, Ryu et al.).

observer     E_{k+1} = E_k - f_k . dx                  E >= 0: the virtual side never gave more than it took
             E_{k+1} = E_k - n_k . r                   turning: torque n on the device, r = log(R_{k+1} R_k^T) = w T
controller   E < 0:  f = f_wanted - alpha dx/T         alpha = min(-E / (T v^2), m/T),  v = |dx|/T
bounding     |f_{k+1}| <= |f_k - c dx|,  c = 2 b/T     (Kim & Ryu 2004, 2010)

Bounding lets the device's own damping b pay for the hold.  While the device moves by dx its damping takes at least
(b/T) dx^2; with the storage S = f^2 / 2c, -f dx + (b/T) dx^2 >= S_{k+1} - S_k is the bound above, with vectors too:
f_k^2 - 2c f_k.dx + c^2 dx^2 = |f_k - c dx|^2.  On one axis it is the interval of beta in f_{k+1} = f_k - beta dx,
without the division by dx.  Then -sum f dx + (b/T) sum dx^2 >= S >= 0 at every step, for any wanted force.

E energy absorbed [J];  f, n on the device [N, N m];  dx [m], r [rad] since the sample before;  T = dt [s];  m mass that
the device shows, or inertia [kg, kg m^2];  b its damping [N s/m].  Give the observer what was really sent, after the
safety stage: then the controller's own damping is in the account.  Reference on planar haptics 8.1, 8.3.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from palpate.jit import kernel
from palpate.model.model import Floats1, Ints1
from palpate.spatial.vectors import add_scaled, dot, scale

# Without contact for so long, E is forgotten: what an earlier contact earned must not pay for a later one.  inf: never.
FORGET_AFTER_S = 0.2

Vector = tuple[float, float, float]


class PortEnergy(NamedTuple):
    """Accounts, one row each: of a port, or of one axis of it; turning has a row of its own."""

    absorbed: Floats1  # (n,) E [J], written by give and forget
    lowest: Floats1  # (n,) the smallest E since the account was opened [J], written by give
    away_s: Floats1  # (n,) time without contact [s], written by forget
    acted: Ints1  # (n,) ticks in which the controller damped, written by control


def open_accounts(n: int) -> PortEnergy:
    """Accounts of n ports, nothing absorbed yet."""
    return PortEnergy(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64))


# ---- the observer


@kernel
def give(e: PortEnergy, port: int, work: float) -> float:
    """E [J] after the virtual side gave the device this work [J]."""
    e.absorbed[port] -= work
    e.lowest[port] = min(e.lowest[port], e.absorbed[port])
    return e.absorbed[port]


@kernel
def observe_axis(e: PortEnergy, port: int, force_before: float, displacement: float) -> float:
    """E [J] after one axis moved by `displacement` under the force that was held meanwhile."""
    return give(e, port, force_before * displacement)


@kernel
def observe(e: PortEnergy, port: int, force_before: Vector, displacement: Vector) -> float:
    """E [J] after the device moved by `displacement` under the force that was held meanwhile."""
    return give(e, port, dot(force_before, displacement))


@kernel
def observe_turn(e: PortEnergy, port: int, torque_before: Vector, rotation: Vector) -> float:
    """E [J] after the device turned by the rotation vector `rotation`; exact for a turn about one axis.

    Torque works on angular velocity: where the device went meanwhile is no part of it.
    """
    return give(e, port, dot(torque_before, rotation))


@kernel
def forget(e: PortEnergy, port: int, touching: bool, after_s: float, dt: float) -> None:
    """Set E to 0 once there was no contact for `after_s` [s]."""
    if touching:
        e.away_s[port] = 0.0
        return
    e.away_s[port] += dt
    if e.away_s[port] >= after_s:
        e.absorbed[port] = 0.0


# ---- the controller


@kernel
def missing_damping(energy: float, square: float, mass: float, dt: float) -> float:
    """alpha [N s/m] that wins -E back if the device goes on as it did, square = |dx|^2; at most m/T: that stops it."""
    if not (energy < 0.0 and square > 0.0):
        return 0.0
    return min(-energy * dt / square, mass / dt)


@kernel
def control_axis(e: PortEnergy, port: int, wanted: float, displacement: float, mass: float, dt: float) -> float:
    """The force on the device along one axis: as wanted, and damping where E < 0."""
    alpha = missing_damping(e.absorbed[port], displacement * displacement, mass, dt)
    if alpha > 0.0:
        e.acted[port] += 1
    return wanted - alpha * displacement / dt


@kernel
def control(e: PortEnergy, port: int, wanted: Vector, displacement: Vector, mass: float, dt: float) -> Vector:
    """The force on the device: as wanted, and damping along the motion where E < 0; of a torque with inertia too."""
    alpha = missing_damping(e.absorbed[port], dot(displacement, displacement), mass, dt)
    if alpha > 0.0:
        e.acted[port] += 1
    return add_scaled(wanted, -alpha / dt, displacement)


@kernel
def control_along(
    e: PortEnergy, port: int, wanted: Vector, displacement: Vector, normal: Vector, mass: float, dt: float
) -> Vector:
    """The force on the device: as wanted, and damping along the unit normal alone, so that sliding stays free."""
    along = dot(displacement, normal)
    return add_scaled(wanted, control_axis(e, port, 0.0, along, mass, dt), normal)


# ---- energy bounding


@kernel
def bound_axis(before: float, wanted: float, displacement: float, damping: float, dt: float) -> float:
    """The force on the device along one axis nearest to the wanted one that its damping b [N s/m] can pay for."""
    most = abs(before - 2.0 * damping / dt * displacement)
    return min(max(wanted, -most), most)


@kernel
def bound(before: Vector, wanted: Vector, displacement: Vector, damping: float, dt: float) -> Vector:
    """The wanted force on the device, its direction kept, no longer than damping b in all directions can pay for."""
    rest = add_scaled(before, -2.0 * damping / dt, displacement)
    most, length = dot(rest, rest), dot(wanted, wanted)
    return wanted if length <= most else scale(math.sqrt(most / length), wanted)
