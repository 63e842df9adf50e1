"""The virtual coupling: springs and dampers, in all six freedoms, between the hand and the point it holds.

F = K e + B e',  e = x_hand - x_point capped at `cap`     B = 2 sqrt(K m): critical for the mass m that the point shows,
T = K_r r + B_r (w_hand - w),  r = log(R_hand R^T)        and likewise B_r for the inertia that it shows to a turn

Reference on articulated bodies 3.2, 3.4.  With semi-implicit Euler it is stable while sqrt(K/m) dt < 2 sqrt(2) - 2.
"""

import math

from palpate.jit import kernel
from palpate.spatial.quaternions import matrix_quaternion, rotation_between
from palpate.spatial.vectors import add, dot, scale, sub


@kernel
def effective_mass(W):
    """What a point with mobility W weighs: the harmonic mean over directions; 0 before any is known."""
    trace = W[0] + W[1] + W[2]
    return 3.0 / trace if trace > 0.0 else 0.0


@kernel
def pull(stiffness, mass, cap, target, target_velocity, point, velocity):
    """(force on the body [N], whether the stretch was capped)."""
    e = sub(target, point)
    length = math.sqrt(dot(e, e))
    capped = length > cap
    if capped:
        e = scale(cap / length, e)
    damping = 2.0 * math.sqrt(stiffness * mass)
    return add(scale(stiffness, e), scale(damping, sub(target_velocity, velocity))), capped


@kernel
def turn(stiffness, inertia, target, R, omega):
    """Torque on the body [N m] towards the orientation `target` (a quaternion); omega: its spin as the hand sees it."""
    gap = rotation_between(matrix_quaternion(R), target)
    damping = 2.0 * math.sqrt(stiffness * inertia)
    return sub(scale(stiffness, gap), scale(damping, omega))
