"""Four torques for a wrench of three.  Reference on planar haptics, 1.5.

w = A^T tau (virtual work).  The least torques are tau0 = A (A^T A)^-1 w; n spans the null space of A^T: it stretches or
squeezes the crank and is not felt, so tau0 + lambda n makes the same wrench.  A motor i may give limit_i.

MINIMUM_NORM   the lambda nearest to 0 at which every motor is within its limit
MIN_MAX        the lambda at which the motor nearest to its limit is farthest from it: where two of |tau_i| / limit_i
               meet, one of twelve
If no lambda brings all within their limits the whole wrench is scaled, so that its direction stays.
"""

import math

from palpate.jit import kernel
from palpate.planar.pantograph.mechanism import MINIMUM_NORM
from palpate.spatial.vectors import cross, dot, inverse_symmetric, rotate

TINY = 1e-12


@kernel
def gram(A):
    """A^T A as (xx, yy, tt, xy, xt, yt)."""
    a, b, c, d = A
    return (
        a[0] * a[0] + b[0] * b[0] + c[0] * c[0] + d[0] * d[0], a[1] * a[1] + b[1] * b[1] + c[1] * c[1] + d[1] * d[1],
        a[2] * a[2] + b[2] * b[2] + c[2] * c[2] + d[2] * d[2], a[0] * a[1] + b[0] * b[1] + c[0] * c[1] + d[0] * d[1],
        a[0] * a[2] + b[0] * b[2] + c[0] * c[2] + d[0] * d[2], a[1] * a[2] + b[1] * b[2] + c[1] * c[2] + d[1] * d[2],
    )  # fmt: skip


@kernel
def wrench_of(A, tau):
    """A^T tau."""
    a, b, c, d = A
    return (
        a[0] * tau[0] + b[0] * tau[1] + c[0] * tau[2] + d[0] * tau[3],
        a[1] * tau[0] + b[1] * tau[1] + c[1] * tau[2] + d[1] * tau[3],
        a[2] * tau[0] + b[2] * tau[1] + c[2] * tau[2] + d[2] * tau[3],
    )


@kernel
def joint_rates(A, V):
    """A V."""
    return (dot(A[0], V), dot(A[1], V), dot(A[2], V), dot(A[3], V))


@kernel
def handle_rates(A, rates):
    """X' from four rates of joints, by least squares: (A^T A)^-1 A^T q'."""
    return rotate(inverse_symmetric(gram(A)), wrench_of(A, rates))


@kernel
def least_torques(A, w):
    """tau0."""
    return joint_rates(A, rotate(inverse_symmetric(gram(A)), w))


@kernel
def squeeze(A):
    """n, of length 1: the minors of A, which no combination of its columns has a part along."""
    a, b, c, d = A
    n = (dot(b, cross(c, d)), -dot(a, cross(c, d)), dot(a, cross(b, d)), -dot(a, cross(b, c)))
    k = 1.0 / math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3])
    return (k * n[0], k * n[1], k * n[2], k * n[3])


@kernel
def added(tau, k, n):
    return (tau[0] + k * n[0], tau[1] + k * n[1], tau[2] + k * n[2], tau[3] + k * n[3])


@kernel
def largest(tau):
    return max(max(abs(tau[0]), abs(tau[1])), max(abs(tau[2]), abs(tau[3])))


@kernel
def least_largest(tau, n):
    """The lambda of the least largest |tau_i + lambda n_i|."""
    best, least = 0.0, largest(tau)
    for i in range(3):
        for j in range(i + 1, 4):
            for sign in (1.0, -1.0):
                down = n[i] - sign * n[j]
                if abs(down) > TINY:
                    k = -(tau[i] - sign * tau[j]) / down
                    size = largest(added(tau, k, n))
                    if size < least:
                        best, least = k, size
    return best, least


@kernel
def nearest_within(tau, n):
    """(the lambda nearest to 0 for which all |tau_i + lambda n_i| <= 1, whether there is one)."""
    low, high = -math.inf, math.inf
    for i in range(4):
        if abs(n[i]) > TINY:
            a, b = (-1.0 - tau[i]) / n[i], (1.0 - tau[i]) / n[i]
            low, high = max(low, min(a, b)), min(high, max(a, b))
        elif abs(tau[i]) > 1.0:
            return 0.0, False
    return min(max(0.0, low), high), low <= high


@kernel
def share_within(A, w, way, limit):
    """(tau, share of the wrench that it makes) with four limits [N m]."""
    tau = least_torques(A, w)
    n = squeeze(A)
    load = (tau[0] / limit[0], tau[1] / limit[1], tau[2] / limit[2], tau[3] / limit[3])
    slack = (n[0] / limit[0], n[1] / limit[1], n[2] / limit[2], n[3] / limit[3])
    if way == MINIMUM_NORM:
        k, within = nearest_within(load, slack)
        if within:
            return added(tau, k, n), 1.0
    k, most = least_largest(load, slack)
    tau = added(tau, k, n)
    share = 1.0 if most <= 1.0 else 1.0 / most
    return (share * tau[0], share * tau[1], share * tau[2], share * tau[3]), share


@kernel
def share_torques(m, A, w, way):
    """(tau, share of the wrench that it makes) within the motors' peak."""
    return share_within(A, w, way, (m.peak, m.peak, m.peak, m.peak))
