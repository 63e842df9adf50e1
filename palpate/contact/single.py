"""One contact, exactly: the impulse l of u = G l + c with Coulomb's law, no discretised cone and no tolerance.

G  (3, 3) symmetric positive, as (nn, t1t1, t2t2, nt1, nt2, t1t2) [1/kg];  c  velocity without this impulse [m/s].
Open   c_n >= 0: l = 0.
Stick  l = -G^-1 c lies in the cone.
Slip   u_n = 0, u_t = -s l_t, s > 0.  With r = G_tn / G_nn, Gb = G_tt - G_tn r^T, cb = c_t - r c_n:
       l_t(s) = -(Gb + s)^-1 cb, l_n(s) = -c_n / G_nn - r.l_t, and |l_t| = mu l_n.
Gb is diagonalised once: everything happens in its eigenvectors, where stick is slip with s = 0.  With |l_t| > mu l_n
at s = 0 and l_n(inf) > 0 there is always a root; strong coupling between normal and tangent can make several.
"""

import math

from palpate.jit import kernel
from palpate.spatial.vectors import is_finite

# Eigenvalues below this part of trace(G) / 3 are lifted to it: a direction that cannot move keeps finite impulses.
FLOOR = 1e-12
STEPS = 80  # a limit: Newton needs 1 to 6, the bisection that guards it at most 60
NEARLY = 1e-9  # relative step after which one more Newton step is exact to rounding
# Intervals searched for sign changes where several roots are possible.
INTERVALS = 24


@kernel
def own_velocity(G, l):
    """G l."""
    return (G[0] * l[0] + G[3] * l[1] + G[4] * l[2],
            G[3] * l[0] + G[1] * l[1] + G[5] * l[2],
            G[4] * l[0] + G[5] * l[1] + G[2] * l[2])  # fmt: skip


@kernel
def prepare(G):
    """What depends on G only, 7 numbers: (1 / G_nn, r (2), eigenvalues of Gb (2), cosine and sine of their axes)."""
    mean = (G[0] + G[1] + G[2]) / 3.0
    if not mean > 0.0:  # nothing can move: no impulse
        return (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0)
    floor = FLOOR * mean
    inv = 1.0 / max(G[0], floor)
    r1, r2 = G[3] * inv, G[4] * inv
    p, q, b = G[1] - G[3] * r1, G[2] - G[4] * r2, G[5] - G[3] * r2
    d = 0.5 * (p - q)
    h = math.sqrt(d * d + b * b)
    cos, sin = 1.0, 0.0
    if h > 0.0:  # (cos, sin) is the eigenvector of the larger one
        if d >= 0.0:
            cos = math.sqrt(0.5 + 0.5 * d / h)
            sin = 0.5 * b / (h * cos)
        else:
            sin = math.sqrt(0.5 - 0.5 * d / h)
            cos = 0.5 * b / (h * sin)
    m = 0.5 * (p + q)
    return (inv, cos * r1 + sin * r2, cos * r2 - sin * r1, max(m + h, floor), max(m - h, floor), cos, sin)


@kernel
def impulse(prep, a, y1, y2, s):
    """(l_n, l_1, l_2, |l_t|) for a slip factor s; tangents in the eigenvectors.  a = -c_n / G_nn, y = cb."""
    l1, l2 = -y1 / (prep[3] + s), -y2 / (prep[4] + s)
    return a - prep[1] * l1 - prep[2] * l2, l1, l2, math.sqrt(l1 * l1 + l2 * l2)


@kernel
def slip_root(prep, a, y1, y2, mu, s, low, high):
    """A root of |l_t| - mu l_n in [low, high], whose ends differ in sign, from s: Newton on 1/|l_t| - 1/(mu l_n).

    For an isotropic Gb that function is a straight line: one step.
    """
    _, r1, r2, s1, s2, _, _ = prep
    n, _, _, t = impulse(prep, a, y1, y2, low)
    outside_low = t >= mu * n
    if not low <= s <= high:
        s = low
    for _ in range(STEPS):
        n, l1, l2, t = impulse(prep, a, y1, y2, s)
        if (t >= mu * n) == outside_low:
            low = s
        else:
            high = s
        step = math.inf
        if n > 0.0 and t > 0.0:
            b1, b2 = l1 / (s1 + s), l2 / (s2 + s)
            k = mu * n / t  # value = (k - 1) / (mu n), slope as below over mu n t
            slope = k * (l1 * b1 + l2 * b2) / t + (r1 * b1 + r2 * b2) * t / n
            if slope != 0.0:
                step = (1.0 - k) * t / slope
        new = s + step
        if low <= new <= high:
            s = new
            if abs(step) <= NEARLY * (s2 + s):
                break
        else:  # bisect, by ratio: the interval may span many decades
            s = math.sqrt(low + s2) * math.sqrt(high + s2) - s2
            if not low < s < high:
                s = 0.5 * (low + high)
            if high - low <= 1e-15 * (s2 + s):
                break
    return s


@kernel
def solve_prepared(prep, c, mu, warm):
    """(l, several): the impulse, and 1 if slip had several roots; then l is the one nearest to `warm`, else 0."""
    inv, r1, r2, s1, s2, cos, sin = prep
    a = -c[0] * inv
    if not a > 0.0:
        return (0.0, 0.0, 0.0), 0
    y1, y2 = cos * c[1] + sin * c[2] - r1 * c[0], cos * c[2] - sin * c[1] - r2 * c[0]
    n, l1, l2, t = impulse(prep, a, y1, y2, 0.0)
    if t <= mu * n:
        return (n, cos * l1 - sin * l2, sin * l1 + cos * l2), 0
    y, r = math.sqrt(y1 * y1 + y2 * y2), math.sqrt(r1 * r1 + r2 * r2)
    top = y * (1.0 + mu * r) / (mu * a) if mu > 0.0 else math.inf  # beyond it |l_t| < mu l_n for certain
    if not is_finite(top):
        return (a, 0.0, 0.0), 0
    top *= 1.0 + 1e-12
    # |l_t| - mu l_n falls monotonically if the coupling is weak or works against sliding; else look for several roots
    weak = mu * mu * r * r * s1 < s2 or (r1 * y1 <= 0.0 and r2 * y2 <= 0.0)
    pieces = 1 if weak else INTERVALS
    # the slip factor of the warm start, or that of an isotropic Gb without coupling
    w1, w2 = cos * warm[1] + sin * warm[2], cos * warm[2] - sin * warm[1]
    ww = w1 * w1 + w2 * w2
    guess = y / (mu * a) - 0.5 * (s1 + s2)
    if ww > 0.0:
        guess = -(w1 * (y1 + s1 * w1) + w2 * (y2 + s2 * w2)) / ww
    ratio = 1.0 if weak else (1.0 + top / s2) ** (1.0 / pieces)
    low, outside, roots, best = 0.0, True, 0, math.inf
    l = (0.0, 0.0, 0.0)
    for piece in range(pieces):
        high = top if piece == pieces - 1 else (low + s2) * ratio - s2
        n, _, _, t = impulse(prep, a, y1, y2, high)
        beyond = t >= mu * n and piece < pieces - 1
        if beyond != outside:
            roots += 1
            n, l1, l2, t = impulse(prep, a, y1, y2, slip_root(prep, a, y1, y2, mu, guess, low, high))
            n = max(n, 0.0)
            k = mu * n / t if t > 0.0 else 0.0  # the last rounding: on the cone
            root = (n, k * (cos * l1 - sin * l2), k * (sin * l1 + cos * l2))
            far = (n - warm[0]) ** 2 + (root[1] - warm[1]) ** 2 + (root[2] - warm[2]) ** 2
            if far < best:
                best, l = far, root
        low, outside = high, beyond
    return l, 1 if roots > 1 else 0


@kernel
def solve_one(G, c, mu, warm):
    """(l, several) of u = G l + c, from nothing prepared."""
    return solve_prepared(prepare(G), c, mu, warm)
