"""The hand's force from the device's pose and what its motors gave, without a sensor.  Planar haptics, 1.7.

POSITION   a copy of the device that does not know the hand; how far the device is from it shows the hand's force:
           e = X - x1,  x1' = x2 + 2 zeta omega e,  M x2' = A^T tau - C v - A^T b_q A v + M omega^2 e
           f = M omega^2 e,  v = x2 + 2 zeta omega e
           so f follows the hand as omega^2 / (s^2 + 2 zeta omega s + omega^2).  x2 itself is no velocity: under a force
           it is off by 2 zeta f / (M omega).
MOMENTUM   f = K_I (M v - integral of (A^T tau + C^T v - A^T b_q A v + f)), first order, with the v above
           (De Luca and Mattone 2003)

After Nicosia and Tomei, and Hacksel and Salcudean 1994.  Semi-implicit, for omega dt <= 0.4.
"""

from __future__ import annotations

from palpate.jit import Struct, Vector, kernel
from palpate.planar.pantograph.dynamics import coriolis_back_of, coriolis_of, drag, mass_of, solve, times
from palpate.planar.pantograph.kinematics import elbows, jacobian_of
from palpate.spatial.vectors import add, add_scaled, scale, sub

POSITION, MOMENTUM = range(2)
OBSERVERS = ("position", "momentum")
ZERO = (0.0, 0.0, 0.0)


class Observer(Struct):
    """State, settings and what it says."""

    way: int  # POSITION or MOMENTUM
    omega: float  # [rad/s]
    zeta: float
    gain: float  # K_I [1/s]
    x1: Vector  # the copy
    x2: Vector
    integral: Vector  # of MOMENTUM [N s, N m s]
    M_x: Vector  # xx, xy, xt of the last update's mass matrix
    M_t: Vector  # yy, yt, tt
    started: int
    # what it says
    force: Vector  # of the hand on the handle [N, N m]
    velocity: Vector  # without bias


def new_observer(way: str = "position", omega_rad_s: float = 150.0, zeta: float = 1.0, gain_1_s: float = 60.0,
                 dt_s: float = 2e-3) -> Observer:  # fmt: skip
    """An observer that begins at the first pose it sees; omega_rad_s dt_s must be at most 0.4."""
    if way not in OBSERVERS:
        raise ValueError(f"an observer is one of {', '.join(OBSERVERS)}, not {way!r}")
    if not (omega_rad_s > 0.0 and zeta > 0.0 and gain_1_s > 0.0):
        raise ValueError("an observer: omega_rad_s, zeta and gain_1_s must be positive")
    if not (omega_rad_s * dt_s <= 0.4 and gain_1_s * dt_s <= 0.4):
        raise ValueError(f"an observer of {omega_rad_s:g} rad/s and {gain_1_s:g} 1/s is too fast for samples of "
                         f"{1e3 * dt_s:g} ms: each times the period must be at most 0.4")  # fmt: skip
    return Observer(way=OBSERVERS.index(way), omega=omega_rad_s, zeta=zeta, gain=gain_1_s)


@kernel
def mass_kept(o):
    x, t = o.M_x, o.M_t
    return (x[0], x[1], x[2], t[0], t[1], t[2])


@kernel
def begin(o, X):
    """At rest at X, no force."""
    o.x1, o.started = X, 1
    o.x2, o.integral, o.force, o.velocity = ZERO, ZERO, ZERO, ZERO


@kernel
def estimate(o, X):
    """Force and velocity at the pose just measured; the mass matrix is that of the last update, a sample ago."""
    if not o.started:
        begin(o, X)
    e = sub(X, o.x1)
    o.velocity = add_scaled(o.x2, 2.0 * o.zeta * o.omega, e)
    if o.way == POSITION:
        o.force = times(mass_kept(o), scale(o.omega * o.omega, e))
    else:
        o.force = scale(o.gain, sub(times(mass_kept(o), o.velocity), o.integral))


@kernel
def update(o, m, X, applied, dt):
    """The copy dt later, under the wrench applied in this sample: after `estimate` of the same pose."""
    elbow, ok = elbows(m, X)
    if not ok:  # the drive is in fault
        begin(o, X)
        return
    v, e = o.velocity, sub(X, o.x1)
    A, M = jacobian_of(m, X, elbow), mass_of(m, X, elbow)
    o.M_x, o.M_t = (M[0], M[1], M[2]), (M[3], M[4], M[5])
    D = drag(m, A, v)
    a = add_scaled(solve(M, sub(sub(applied, coriolis_of(m, X, elbow, v)), D)), o.omega * o.omega, e)
    o.x2 = add_scaled(o.x2, dt, a)
    o.x1 = add_scaled(o.x1, dt, add_scaled(o.x2, 2.0 * o.zeta * o.omega, e))
    if o.way == MOMENTUM:
        pushed = add(sub(add(applied, coriolis_back_of(m, X, elbow, v)), D), o.force)
        o.integral = add_scaled(o.integral, dt, pushed)
