"""Quintic pieces: a curve from position, velocity and acceleration at both ends, and the smoothest through points.

One piece over a time h, u = t/h, from (p0, v0, a0) to (p1, v1, a1), D = p1 - p0:

    c0 = p0             c3 =  10 D - h (6 v0 + 4 v1) - h^2 (3 a0 -   a1)/2
    c1 = h v0           c4 = -15 D + h (8 v0 + 7 v1) + h^2 (3 a0 - 2 a1)/2
    c2 = h^2 a0 / 2     c5 =   6 D - h (3 v0 + 3 v1) - h^2 (  a0 -   a1)/2

Among all curves through points at given times, at rest at both ends, the one with the least integral of squared jerk
is made of such pieces with jerk and snap continuous at the points between.  With two points it is minimum jerk.
"""

from __future__ import annotations

import numpy as np

from palpate.model.model import Floats1, Floats2

# columns: p0, h v0, h^2 a0, p1, h v1, h^2 a1; rows: c0 .. c5
PIECE = np.array([
    [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0.5, 0, 0, 0],
    [-10, -6, -1.5, 10, -4, 0.5], [15, 8, 1.5, -15, 7, -1], [-6, -3, -0.5, 6, -3, 0.5],
])  # fmt: skip
JERK_BEGIN, SNAP_BEGIN = 6.0 * PIECE[3], 24.0 * PIECE[4]  # times h^-3, h^-4
JERK_END = 6.0 * PIECE[3] + 24.0 * PIECE[4] + 60.0 * PIECE[5]
SNAP_END = 24.0 * PIECE[4] + 120.0 * PIECE[5]


def pieces(knots: Floats1, p: Floats2, v: Floats2, a: Floats2, t: Floats1) -> tuple[Floats2, Floats2, Floats2]:
    """Values and two derivatives (m, k) at times t (m,) of the pieces between rows of p, v, a (n, k) at knots (n,)."""
    i = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, len(knots) - 2)
    h = (knots[i + 1] - knots[i])[:, None]
    u = (t - knots[i])[:, None] / h
    ends = np.stack([p[i], h * v[i], h**2 * a[i], p[i + 1], h * v[i + 1], h**2 * a[i + 1]])
    c = np.tensordot(PIECE, ends, axes=1)
    return (
        c[0] + u * (c[1] + u * (c[2] + u * (c[3] + u * (c[4] + u * c[5])))),
        (c[1] + u * (2 * c[2] + u * (3 * c[3] + u * (4 * c[4] + u * 5 * c[5])))) / h,
        (2 * c[2] + u * (6 * c[3] + u * (12 * c[4] + u * 20 * c[5]))) / h**2,
    )


def smoothest(knots: Floats1, p: Floats2) -> tuple[Floats2, Floats2]:
    """v, a (n, k) at knots (n,) of the smoothest curve through p (n, k), at rest at both ends."""
    n, h = len(knots), np.diff(knots)
    v, a = np.zeros_like(p), np.zeros_like(p)
    if n == 2:
        return v, a
    # unknown: v and a of the points between; one row for jerk and one for snap at each of them
    matrix, right = np.zeros((2 * (n - 2), 2 * n)), np.zeros((2 * (n - 2), p.shape[1]))
    for k in range(1, n - 1):
        for piece, sign, rows in ((k - 1, 1.0, (JERK_END, SNAP_END)), (k, -1.0, (JERK_BEGIN, SNAP_BEGIN))):
            T = h[piece] / h[k]  # relative to the next piece, so that the system is of the order of one
            for r, row in enumerate(rows):
                w = sign * row / T ** (3 + r)
                right[2 * (k - 1) + r] -= w[0] * p[piece] + w[3] * p[piece + 1]
                for end in (0, 1):
                    column = 2 * (piece + end)
                    matrix[2 * (k - 1) + r, column : column + 2] += w[1 + 3 * end : 3 + 3 * end] * (
                        h[piece], h[piece] ** 2
                    )  # fmt: skip
    found = np.linalg.solve(matrix[:, 2:-2], right)
    v[1:-1], a[1:-1] = found[::2], found[1::2]
    return v, a
