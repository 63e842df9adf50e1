"""The true device and the hand on it, moved on under held torques.  Reference on planar haptics, 1.11.

f_h = K_h (X_target - X) + B_h (V_target - X') + push     while the hand holds; nobody reads f_h but who draws it
Runge and Kutta's fourth order, sub_steps of them in a sample.  At its stops, where an elbow is almost straight, the
mechanism loses the velocity that leads on: of all three freedoms, or of as many as it takes.
"""

from __future__ import annotations

from typing import Any

from palpate.jit import Quaternion, Struct, Vector, kernel, stage
from palpate.planar.pantograph.dynamics import acceleration
from palpate.planar.pantograph.kinematics import elbows
from palpate.spatial.vectors import add, add_scaled, scale, sub

ZERO = (0.0, 0.0, 0.0)


class Plant(Struct):
    """The truth, which no controller reads."""

    X: Vector  # x, y [m], unwrapped angle [rad]
    V: Vector
    hand_wrench: Vector  # f_h, true, at this X and V [N, N m]
    torque: Quaternion  # of the motors, held [N m]
    encoder_error: Quaternion  # added to the joints' angles before they are read: a fault to come [rad]
    time_s: float
    stops: int  # sub-steps that ended at the stops


class HandSpring(Struct):
    """A hand as a spring and a damper to where it wants to be."""

    target: Vector
    target_velocity: Vector
    stiffness: Vector  # [N/m, N/m, N m/rad]
    damping: Vector  # [N s/m, N s/m, N m s]
    push: Vector  # a plain wrench besides [N, N m]
    holds: int  # 0: nobody does


def soft_hand(**changed: Any) -> HandSpring:
    """The reference's hand (1.11)."""
    chosen: dict[str, Any] = {"stiffness": (150.0, 150.0, 0.3), "damping": (6.0, 6.0, 0.006), "holds": 1}
    return HandSpring(**chosen | changed)


@kernel
def hand_force(hand, X, V):
    """f_h."""
    if not hand.holds:
        return ZERO
    k, b, x, v = hand.stiffness, hand.damping, sub(hand.target, X), sub(hand.target_velocity, V)
    return add((k[0] * x[0] + b[0] * v[0], k[1] * x[1] + b[1] * v[1], k[2] * x[2] + b[2] * v[2]), hand.push)


@stage
def stopped(m, X, step, V):
    """(X, V) where a step would lead beyond the stops: without its turn, with one way alone, or not at all."""
    x, y, t = step
    for tried, left in (
        ((x, y, 0.0), (V[0], V[1], 0.0)), ((x, 0.0, 0.0), (V[0], 0.0, 0.0)), ((0.0, y, 0.0), (0.0, V[1], 0.0)),
        ((0.0, 0.0, t), (0.0, 0.0, V[2])),
    ):  # fmt: skip
        there = add(X, tried)
        _, ok = elbows(m, there)
        if ok:
            return there, left
    return X, ZERO


@kernel
def pushed(m, hand, X, V, tau):
    return acceleration(m, X, V, tau, hand_force(hand, X, V))


@kernel
def sub_step(m, hand, X, V, tau, h):
    """(X, V, whether it got there without its stops) after h [s]."""
    H = 0.5 * h
    a1, ok1 = pushed(m, hand, X, V, tau)
    V2 = add_scaled(V, H, a1)
    a2, ok2 = pushed(m, hand, add_scaled(X, H, V), V2, tau)
    V3 = add_scaled(V, H, a2)
    a3, ok3 = pushed(m, hand, add_scaled(X, H, V2), V3, tau)
    V4 = add_scaled(V, h, a3)
    a4, ok4 = pushed(m, hand, add_scaled(X, h, V3), V4, tau)
    mean = scale(1.0 / 6.0, add(add(V, V4), scale(2.0, add(V2, V3))))
    push = scale(1.0 / 6.0, add(add(a1, a4), scale(2.0, add(a2, a3))))
    there, after = add_scaled(X, h, mean), add_scaled(V, h, push)
    _, ok = elbows(m, there)
    if ok and ok1 and ok2 and ok3 and ok4:
        return there, after, True
    after = add_scaled(V, h, a1)  # Euler's, of which X is sure
    there, after = stopped(m, X, scale(H, add(V, after)), after)
    return there, after, False


@kernel
def move(m, plant, hand, dt):
    """The plant dt [s] later, under the torques that it has."""
    n = m.sub_steps
    X, V, tau = plant.X, plant.V, plant.torque
    for _ in range(n):
        X, V, ok = sub_step(m, hand, X, V, tau, dt / n)
        plant.stops += not ok
    plant.X, plant.V = X, V
    plant.time_s += dt
    plant.hand_wrench = hand_force(hand, X, V)
