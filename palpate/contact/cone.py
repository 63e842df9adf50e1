"""The Coulomb cone and the natural map, the measure of how well impulses obey the friction law.  Kernels on tuples.

l  impulse, u  relative velocity, rows (n, t1, t2) [N s, m/s];  K = {|l_t| <= mu l_n};  u~ = u + mu |u_t| e_n
(De Saxce): Coulomb's law and 0 <= u_n _|_ l_n >= 0 hold together exactly when l = P_K(l - u~ / g) for any g > 0.
g  trace(G_ii) / 3 [1/kg], so that F is in the units of l.  3x3 matrices are 9 numbers, row-major.
"""

import math

from palpate.jit import kernel
from palpate.spatial.vectors import sub

ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ONE9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def project(x, mu):
    """P_K(x): the nearest point of the cone.  mu = 0: the half-line of normal impulses."""
    n, t = x[0], math.sqrt(x[1] * x[1] + x[2] * x[2])
    if n <= -mu * t:  # the polar cone; asked first, so that mu = 0 keeps n >= 0
        return (0.0, 0.0, 0.0)
    if t <= mu * n:
        return x
    n = (n + mu * t) / (1.0 + mu * mu)
    k = mu * n / t
    return (n, k * x[1], k * x[2])


@kernel
def lift(u, mu):
    """mu |u_t|: what u~ has more than u, along the normal."""
    return mu * math.sqrt(u[1] * u[1] + u[2] * u[2])


@kernel
def shifted(l, u, mu, g):
    """l - u~ / g: what the natural map projects."""
    normal = u[0] + lift(u, mu)
    return (l[0] - normal / g, l[1] - u[1] / g, l[2] - u[2] / g)


@kernel
def natural_map(l, u, mu, g):
    """F = l - P_K(l - u~ / g): zero where l and u obey the law; its length is the residual [N s]."""
    return sub(l, project(shifted(l, u, mu, g), mu))


@kernel
def alart_curnier(l, u, mu, g):
    """F, C, N with dF = C dl + N du: Alart and Curnier's map, which has the same zeros.

    x_n = l_n - u_n / g, x_t = l_t - u_t / g;  F_n = l_n - max(x_n, 0), F_t = l_t - P(x_t) on the disc |.| <= mu x_n.
    Normals do not wait for friction, as they do in u~: cheaper, and Newton takes fewer steps.
    """
    w = 1.0 / g
    n, t1, t2 = l[0] - w * u[0], l[1] - w * u[1], l[2] - w * u[2]
    if n <= 0.0:  # open
        return l, ONE9, ZERO9
    tt, limit = t1 * t1 + t2 * t2, mu * n
    if tt <= limit * limit:  # stick
        return (w * u[0], w * u[1], w * u[2]), ZERO9, (w, 0.0, 0.0, 0.0, w, 0.0, 0.0, 0.0, w)
    t = math.sqrt(tt)
    e1, e2, k = t1 / t, t2 / t, limit / t  # slip: k of a turn of x_t about the axis is left on the disc
    c11, c12, c22 = k * e2 * e2, -k * e1 * e2, k * e1 * e1
    C = (0.0, 0.0, 0.0, -mu * e1, 1.0 - c11, -c12, -mu * e2, -c12, 1.0 - c22)
    N = (w, 0.0, 0.0, w * mu * e1, w * c11, w * c12, w * mu * e2, w * c12, w * c22)
    return (w * u[0], l[1] - limit * e1, l[2] - limit * e2), C, N
