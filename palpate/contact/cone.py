"""The Coulomb cone and the natural map, the measure of how well impulses obey the friction law.  Kernels on tuples.

l  impulse, u  relative velocity, rows (n, t1, t2) [N s, m/s];  K = {|l_t| <= mu l_n};  u~ = u + mu |u_t| e_n
(De Saxce): Coulomb's law and 0 <= u_n _|_ l_n >= 0 hold together exactly when l = P_K(l - u~ / g) for any g > 0.
g  trace(G_ii) / 3 [1/kg], so that F is in the units of l.  3x3 matrices are 9 numbers, row-major.
"""

import math

from palpate.jit import kernel
from palpate.spatial.vectors import sub


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
def natural_map_derivative(l, u, mu, g):
    """F, D and E with dF = dl - D (dl - E du): D = P_K' (symmetric), E = (du~/du) / g.

    Where a map has a kink this is the derivative on one of its sides; at u_t = 0 the slope of |u_t| is taken as zero.
    """
    x = shifted(l, u, mu, g)
    n, t = x[0], math.sqrt(x[1] * x[1] + x[2] * x[2])
    if n <= -mu * t:  # open
        p = (0.0, 0.0, 0.0)
        D = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    elif t < mu * n:  # stick
        p = x
        D = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    else:  # slip: along the generator, and turning round the axis by k
        a = 1.0 / (1.0 + mu * mu)
        p_n = a * (n + mu * t)
        k, e1, e2 = 0.0, 0.0, 0.0
        if t > 0.0:
            k, e1, e2 = mu * p_n / t, x[1] / t, x[2] / t
        p = (p_n, k * x[1], k * x[2])
        b, c = a * mu, a * mu * mu - k
        D = (a, b * e1, b * e2,
             b * e1, k + c * e1 * e1, c * e1 * e2,
             b * e2, c * e1 * e2, k + c * e2 * e2)  # fmt: skip
    w, u_t = 1.0 / g, math.sqrt(u[1] * u[1] + u[2] * u[2])
    s = mu * w / u_t if u_t > 0.0 else 0.0
    E = (w, s * u[1], s * u[2], 0.0, w, 0.0, 0.0, 0.0, w)
    return sub(l, p), D, E
