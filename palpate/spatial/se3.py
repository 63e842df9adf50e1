"""Exponential and logarithm of rigid motions: the twist (w, u) held for unit time <-> the displacement (quaternion, p).

theta = |w|;  V(w) = 1 + (1 - cos)/theta^2 [w]x + (theta - sin)/theta^3 [w]x^2;  p = V(w) u
"""

import math

from palpate.jit import kernel
from palpate.spatial.quaternions import quaternion_exp, quaternion_log
from palpate.spatial.vectors import add, add_scaled, cross, dot, scale

# Below this angle [rad] the coefficients are series; the exact forms would lose half the digits to cancellation.
SERIES_ANGLE = 1e-2


@kernel
def motion_exp(w, u):
    """Twist (w, u) -> (quaternion, p)."""
    square = dot(w, w)
    theta = math.sqrt(square)
    if theta < SERIES_ANGLE:
        b = 0.5 - square / 24.0 + square * square / 720.0
        c = 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
    else:
        b = (1.0 - math.cos(theta)) / square
        c = (theta - math.sin(theta)) / (square * theta)
    wu = cross(w, u)
    p = add_scaled(add_scaled(u, b, wu), c, cross(w, wu))
    return quaternion_exp(w[0], w[1], w[2]), p


@kernel
def motion_log(quaternion, p):
    """(quaternion, p) -> twist (w, u), the shorter way round."""
    w = quaternion_log(quaternion)
    square = dot(w, w)
    theta = math.sqrt(square)
    if theta < SERIES_ANGLE:
        d = 1.0 / 12.0 + square / 720.0 + square * square / 30240.0
    else:
        d = (1.0 - 0.5 * theta / math.tan(0.5 * theta)) / square
    wp = cross(w, p)
    return w, add(add_scaled(p, -0.5, wp), scale(d, cross(w, wp)))
