"""Sole forces: what the corners of the soles should push so that together they make a wanted wrench.

    minimise |A l - b|^2 + eps |l|^2,  l >= 0        l (4 n,) along the edges of the friction pyramids of n corners
    b = (wm N, F)    wanted moment about the centre of mass, times the weight of moments, and force
    a_j = s_j (wm (x_j - c) x e_j, e_j)               e = (+-mu, 0, 1), (0, +-mu, 1);  s_j  how much the corner bears

Non-negative least squares, but solved for its six multipliers instead of its 4 n unknowns: the optimum has
l_j = max(0, a_j . y) with the y that minimises

    phi(y) = eps/2 |y|^2 + 1/2 sum_j max(0, a_j . y)^2 - b . y            (b - A l = eps y)

which is convex and piecewise quadratic.  Newton's method with an exact search along the line ends after finitely many
pieces, at the optimum to the last bits; from the y of the tick before, after one or two (a cold start: five to nine).
Each corner's set of edges with a_j . y > 0 is the active set.
"""

from __future__ import annotations

import numpy as np

from palpate.dynamics.cholesky import cholesky_solve
from palpate.jit import Struct, kernel
from palpate.model.model import Floats1, Floats2
from palpate.spatial.vectors import cross, get3, sub

EDGES = 4
ROUNDS = 40  # at most; a start from zero takes under ten
WELL_N = 1e-3  # gradient of phi at which it is solved: the residual is then the least to 1e-6 N
BEARS = 1e-3  # a corner with less weight does not take part


class SoleForces(Struct):
    """n corners, 4 n edges."""

    mu: float  # of the pyramids
    moment_weight: float  # wm [1/m]
    eps: float
    rounds: int  # of Newton in this tick
    bears: Floats1  # (n,) 0 .. 1 of each corner: written by those who plan steps
    corner: Floats2  # (n, 3) world [m]
    force: Floats2  # (n, 3) result [N]
    A: Floats2  # (4 n, 6) rows a_j
    l: Floats1  # (4 n,)
    at: Floats1  # (4 n,) a_j . y
    rate: Floats1  # (4 n,) a_j . d
    b: Floats1  # (6,)
    y: Floats1  # (6,) kept from tick to tick
    d: Floats1  # (6,) Newton's direction, and
    downhill: Floats1  # (6,) the steepest
    K: Floats2  # (6, 6)


def sole_forces(n: int = 8, mu: float = 0.6, moment_weight: float = 0.017, eps: float = 1e-6) -> SoleForces:
    """For n corners that all bear."""
    zeros = np.zeros
    return SoleForces(
        mu=mu, moment_weight=moment_weight, eps=eps, bears=np.ones(n), corner=zeros((n, 3)), force=zeros((n, 3)),
        A=zeros((EDGES * n, 6)), l=zeros(EDGES * n), at=zeros(EDGES * n), rate=zeros(EDGES * n), b=zeros(6), y=zeros(6),
        d=zeros(6), downhill=zeros(6), K=zeros((6, 6)),
    )  # fmt: skip


@kernel
def pyramid_edge(mu, k):
    """Edge k of the pyramid about z: forward, back, left, right."""
    side = mu if k % 2 == 0 else -mu
    return (side, 0.0, 1.0) if k < 2 else (0.0, side, 1.0)


@kernel
def fill_rows(f, centre):
    """a_j of all edges, about the centre of mass."""
    wm = f.moment_weight
    for i in range(f.bears.shape[0]):
        r = sub(get3(f.corner, i), centre)
        s = f.bears[i] if f.bears[i] > BEARS else 0.0
        for k in range(EDGES):
            e = pyramid_edge(f.mu, k)
            n = cross(r, e)
            for c in range(3):
                f.A[EDGES * i + k, c] = s * wm * n[c]
                f.A[EDGES * i + k, 3 + c] = s * e[c]


@kernel
def newton_matrix(f):
    """K = eps 1 + sum a_j a_j^T over the active edges; d = -gradient.  |gradient|^2."""
    K, d = f.K, f.d
    for r in range(6):
        for c in range(r + 1):
            K[r, c] = f.eps if r == c else 0.0
        d[r] = f.b[r] - f.eps * f.y[r]
    for j in range(f.at.shape[0]):
        if f.at[j] > 0.0:
            for r in range(6):
                a = f.A[j, r]
                d[r] -= f.at[j] * a
                for c in range(r + 1):
                    K[r, c] += a * f.A[j, c]
    square = 0.0
    for r in range(6):
        square += d[r] * d[r]
    return square


@kernel
def line_minimum(f, slope, square):
    """t >= 0 with the least phi(y + t d).  phi' is piecewise linear and grows: walk from bend to bend.

    slope  phi'(0) < 0;  square  |d|^2
    """
    curve = f.eps * square
    for j in range(f.at.shape[0]):
        if f.at[j] > 0.0 or (f.at[j] == 0.0 and f.rate[j] > 0.0):
            curve += f.rate[j] * f.rate[j]
    t = 0.0
    for _ in range(f.at.shape[0] + 1):
        bend, which = 1e300, -1
        for j in range(f.at.shape[0]):
            if f.at[j] * f.rate[j] < 0.0:  # changes its sign ahead, where at + t rate = 0
                where = -f.at[j] / f.rate[j]
                if t < where < bend:
                    bend, which = where, j
        if which < 0 or slope + curve * (bend - t) >= 0.0:
            break
        slope += curve * (bend - t)
        curve += (1.0 if f.rate[which] > 0.0 else -1.0) * f.rate[which] * f.rate[which]
        t = bend
    return t - slope / curve


@kernel
def along_rows(A, x, out):
    """out_j = a_j . x."""
    for j in range(out.shape[0]):
        out[j] = 0.0
        for r in range(6):
            out[j] += A[j, r] * x[r]


@kernel
def newton(f):
    """y that minimises phi."""
    along_rows(f.A, f.y, f.at)
    f.rounds = 0
    while f.rounds < ROUNDS and newton_matrix(f) >= WELL_N * WELL_N:
        f.rounds += 1
        for r in range(6):
            f.downhill[r] = f.d[r]
        cholesky_solve(f.K, f.d)
        slope, square = 0.0, 0.0
        for r in range(6):
            slope -= f.downhill[r] * f.d[r]
            square += f.d[r] * f.d[r]
        along_rows(f.A, f.d, f.rate)
        t = line_minimum(f, slope, square)
        for r in range(6):
            f.y[r] += t * f.d[r]
        along_rows(f.A, f.y, f.at)


@kernel
def distribute(f, centre, moment, force):
    """Forces of the corners for a moment [N m] about the centre of mass and a force [N]."""
    for r in range(3):
        f.b[r], f.b[3 + r] = f.moment_weight * moment[r], force[r]
    fill_rows(f, centre)
    newton(f)
    for i in range(f.bears.shape[0]):
        x, y, z = 0.0, 0.0, 0.0
        for k in range(EDGES):
            j = EDGES * i + k
            f.l[j] = max(f.at[j], 0.0)
            e = pyramid_edge(f.mu, k)
            pushed = f.bears[i] * f.l[j]
            x, y, z = x + pushed * e[0], y + pushed * e[1], z + pushed * e[2]
        f.force[i, 0], f.force[i, 1], f.force[i, 2] = x, y, z


@kernel
def start_if_unknown(f):
    """From zero, if the y of the tick before is not a number."""
    total = 0.0
    for r in range(6):
        total += f.y[r]
    if not abs(total) < 1e300:
        for r in range(6):
            f.y[r] = 0.0
