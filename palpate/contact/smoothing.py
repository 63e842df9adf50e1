"""What Newton follows: from far away the natural map with its kinks rounded off by tau, which goes to zero.

With mu l_n and u~_n / mu for normals the cone becomes its own dual, L = {|x_t| <= x_n}, and P_L acts on the two
spectral values x_n -+ |x_t| as max(0, .).  That is rounded: phi(x) = (x + sqrt(x^2 + 4 tau^2)) / 2, and |u_t| likewise.
Then l and u~ lie inside their cones with l o u~ = tau^2: the central path of interior-point methods.
"""

import math

from palpate.contact.cone import ZERO9, alart_curnier
from palpate.jit import kernel
from palpate.spatial.vectors import compose, inverse3, rotate, scale

# tau, in parts of the largest velocity; it shrinks once the natural map is within CLOSE of it, per contact
TAU_START, TAU_DOWN, TAU_END, CLOSE = 0.1, 0.2, 1e-8, 0.2


@kernel
def rounded(x, tau):
    """phi and its slope, without cancellation."""
    root = math.sqrt(x * x + 4.0 * tau * tau)
    value = 0.5 * (x + root) if x > 0.0 else 2.0 * tau * tau / (root - x)
    return value, 0.5 + 0.5 * x / root


@kernel
def smooth_map(l, u, mu, rho, tau):
    """F, C, N with dF = C dl + N du: the rounded natural map of l and u / rho.  tau > 0."""
    w = 1.0 / rho
    if mu == 0.0:
        value, slope = rounded(l[0] - w * u[0], tau)
        F = (l[0] - value, l[1], l[2])
        C = (1.0 - slope, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        N = (slope * w, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    else:
        u_t = math.sqrt(u[1] * u[1] + u[2] * u[2] + tau * tau)
        x = (mu * l[0] - w * (u[0] / mu + u_t), l[1] - w * u[1], l[2] - w * u[2])
        t = math.sqrt(x[1] * x[1] + x[2] * x[2])
        low, low_slope = rounded(x[0] - t, tau)
        high, high_slope = rounded(x[0] + t, tau)
        mean, half = 0.5 * (high_slope + low_slope), 0.5 * (high_slope - low_slope)
        e1, e2, turn = 1.0, 0.0, mean
        if t > 1e-9 * tau:
            e1, e2, turn = x[1] / t, x[2] / t, 0.5 * (high - low) / t
        F = (mu * l[0] - 0.5 * (high + low), l[1] - 0.5 * (high - low) * e1, l[2] - 0.5 * (high - low) * e2)
        b = mean - turn
        # the slope of the rounded projection, symmetric
        d00, d01, d02 = mean, half * e1, half * e2
        d11, d12, d22 = turn + b * e1 * e1, b * e1 * e2, turn + b * e2 * e2
        C = (mu * (1.0 - d00), -d01, -d02,
             -mu * d01, 1.0 - d11, -d12,
             -mu * d02, -d12, 1.0 - d22)  # fmt: skip
        n, s1, s2 = w / mu, w * u[1] / u_t, w * u[2] / u_t  # the first row of du~/du
        N = (d00 * n, d00 * s1 + w * d01, d00 * s2 + w * d02,
             d01 * n, d01 * s1 + w * d11, d01 * s2 + w * d12,
             d02 * n, d02 * s1 + w * d12, d02 * s2 + w * d22)  # fmt: skip
    return F, C, N


@kernel
def damped_inverse(C, eps):
    """(C + eps)^-1."""
    return inverse3((C[0] + eps, C[1], C[2], C[3], C[4] + eps, C[5], C[6], C[7], C[8] + eps))


@kernel
def damped(F, C, N, eps):
    """M F and M N, M = (C + eps)^-1; without an inverse for what is open (C = 1, N = 0) or sticks (C = 0)."""
    if N[0] == 0.0:
        return scale(1.0 / (1.0 + eps), F), ZERO9
    if C[0] == 0.0 and C[4] == 0.0 and C[8] == 0.0:
        k = 1.0 / eps
        return scale(k, F), (k * N[0], k * N[1], k * N[2], k * N[3], k * N[4], k * N[5], k * N[6], k * N[7], k * N[8])
    M = damped_inverse(C, eps)
    return rotate(M, F), compose(M, N)


@kernel
def linearised(l, u, mu, rho, tau):
    """F, C, N of one contact, dF = C dl + N du, of l and u / rho: the rounded map, Alart and Curnier's at tau = 0."""
    if tau > 0.0:
        return smooth_map(l, u, mu, rho, tau)
    return alart_curnier(l, u, mu, rho)
