"""Coulomb's law of the plane contact by contact, until all agree (Gauss-Seidel): where Lemke's tableau is too big.

One contact alone is solved exactly: without more than the given normal impulse, sticking, or sliding either way.
"""

from __future__ import annotations

from palpate.jit import kernel, stage

SWEEPS = 400
STILL = 1e-13  # change of an impulse in a sweep, over the largest, that is none


@stage
def sweep_coulomb(m, A, u, mu, f, L):
    """L (2m,) impulses on top of the normal ones f (m,), whose effect u (2m,) already has; A (2m, 2m)."""
    for k in range(2 * m):
        L[k] = 0.0
    for _ in range(SWEEPS):
        change = size = 0.0
        for a in range(m):
            gnn, gnt, gtt = A[2 * a, 2 * a], A[2 * a, 2 * a + 1], A[2 * a + 1, 2 * a + 1]
            x, y = u[2 * a], u[2 * a + 1]
            for k in range(2 * m):
                if k // 2 != a:
                    x += A[2 * a, k] * L[k]
                    y += A[2 * a + 1, k] * L[k]
            l, t = one_coulomb(gnn, gnt, gtt, x, y, mu[a], f[a])
            change = max(change, abs(l - L[2 * a]), abs(t - L[2 * a + 1]))
            size = max(size, l, abs(t))
            L[2 * a], L[2 * a + 1] = l, t
        if change <= STILL * size:
            break


@kernel
def one_coulomb(gnn, gnt, gtt, x, y, mu, f):
    """(l, t) of one contact with velocities x, y without them: l >= 0 on top of f, |t| <= mu (f + l)."""
    most = mu * f
    t = min(max(-y / gtt, -most), most)
    if x + gnt * t >= 0.0:  # no more than f is needed
        return 0.0, t
    det = gnn * gtt - gnt * gnt
    if mu > 0.0 and det > 1e-14 * gnn * gtt:  # stick
        l, t = (gnt * y - gtt * x) / det, (gnt * x - gnn * y) / det
        if l >= 0.0 and abs(t) <= mu * (f + l):
            return l, t
    for way in (-1.0, 1.0):  # slide: t = way mu (f + l), against the velocity
        g = gnn + way * mu * gnt
        if g > 0.0:
            l = max(-(x + way * most * gnt) / g, 0.0)
            t = way * mu * (f + l)
            if way * (y + gnt * l + gtt * t) <= 0.0:
                return l, t
    return max(-x / gnn, 0.0), 0.0
