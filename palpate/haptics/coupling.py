"""The virtual coupling: springs and dampers, in all six freedoms, between the hand and the point it holds.

F = K e + B e',  e = x_hand - x_point, |K e| capped       B = 2 sqrt(K m): critical for the mass m that the point shows,
T = K_r r + B_r (w_hand - w),  r = log(R_hand R^T)        and likewise B_r for the inertia that it shows to a turn

K and B are diagonal in world axes, one number for each; a B that is given takes the place of the critical one.

Reference on articulated bodies 3.2, 3.4.  With semi-implicit Euler it is stable while sqrt(K/m) dt < 2 sqrt(2) - 2.
"""

import math

from palpate.jit import kernel
from palpate.spatial.quaternions import matrix_quaternion, rotation_between
from palpate.spatial.vectors import add, dot, scale, sub

# B dt / m at most, of a damping that is given: with all of the mobility that m averages in one direction, B dt = 1.5 m
# there, and 2 m would be the end
STEEPEST = 0.5


@kernel
def effective_mass(W):
    """What a point with mobility W weighs: the harmonic mean over directions; 0 before any is known."""
    trace = W[0] + W[1] + W[2]
    return 3.0 / trace if trace > 0.0 else 0.0


@kernel
def damping_of(stiffness, mass, ratio, given, dt):
    """B [N s/m] of one axis: what is given, as far as the step allows; else `ratio` times critical."""
    if given > 0.0:
        return min(given, STEEPEST * mass / dt) if mass > 0.0 else given
    return 2.0 * ratio * math.sqrt(stiffness * mass)


@kernel
def pull(stiffness, damping, ratio, mass, most, target, target_velocity, point, velocity, dt):
    """(force on the body [N], whether the spring was capped); stiffness, damping of each world axis, 0: as `ratio`.

    most  of the spring [N]: its stretch is capped, direction of its force kept
    """
    e, rate = sub(target, point), sub(target_velocity, velocity)
    spring = (stiffness[0] * e[0], stiffness[1] * e[1], stiffness[2] * e[2])
    size = math.sqrt(dot(spring, spring))
    capped = size > most
    if capped:
        spring = scale(most / size, spring)
    bx = damping_of(stiffness[0], mass, ratio, damping[0], dt)
    by = damping_of(stiffness[1], mass, ratio, damping[1], dt)
    bz = damping_of(stiffness[2], mass, ratio, damping[2], dt)
    return add(spring, (bx * rate[0], by * rate[1], bz * rate[2])), capped


@kernel
def turn(stiffness, given, inertia, target, R, omega, dt):
    """Torque on the body [N m] towards the orientation `target` (a quaternion).

    omega  the body's spin as the hand sees it [rad/s];  given  damping [N m s/rad], 0: critical
    """
    gap = rotation_between(matrix_quaternion(R), target)
    damping = damping_of(stiffness, inertia, 1.0, given, dt)
    return sub(scale(stiffness, gap), scale(damping, omega))
