"""A dense contact problem as the staged solver holds it: scaled, factored, with its impulses and the best so far.

Contact i is scaled by sqrt(g_i), g_i = trace(G_ii) / 3: l' = sqrt(g) l, u' = u / sqrt(g).  Cones do not change, every
block gets the mean diagonal 1, and natural maps need no g.  G' = J J^T with r columns: redundant contacts are cheap.
Twin of rows.py and residual.py.
"""

from __future__ import annotations

import math

import numpy as np

from palpate.contact.cone import natural_map
from palpate.contact.smoothing import linearised
from palpate.jit import Struct, block_loader, kernel, stage
from palpate.model.model import Floats, Floats1, Floats2
from palpate.spatial.vectors import dot, get3, put3

ROUNDING = 1e-15  # of what a contact's velocity is made of: a natural map below that is zero, as where it grazes


class Problem(Struct):
    """m contacts, n = 3 m rows (n, t1, t2), r = rank of G.  Scaled units."""

    rank: int
    budget: int  # iterations that are left
    # how many there were
    sweeps: int
    newton: int
    admm: int
    multi_roots: int
    relative: float  # residual of `best`
    rho: float  # of ADMM, 0 before it begins
    G: Floats2  # (n, n)
    J: Floats2  # (n, n), the first r columns are used
    K: Floats2  # (n, n), J^T J in its leading r x r part; written by the first ADMM
    A: Floats2  # (n, n), matrices to be factored
    c: Floats1  # (n,) velocity without impulses
    mu: Floats1  # (m,)
    unit: Floats1  # (m,) 1 / sqrt(g): natural map and impulse in N s per scaled one
    speed: Floats1  # (m,) velocity by which a contact's natural map is measured
    grazing: Floats1  # (m,) velocity without impulses, with its friction
    own: Floats2  # (m, 7) of each diagonal block, see single.prepare
    l: Floats2  # (m, 3) impulses; every stage begins and ends with them
    u: Floats2  # (m, 3) G l + c
    best: Floats2  # (m, 3) impulses with the smallest relative residual so far
    start: Floats2  # (m, 3) where a Newton step began; the right side of an ADMM iteration
    step: Floats2  # (m, 3) Newton step
    z: Floats2  # (m, 3) ADMM's impulses and
    y: Floats2  # (m, 3) its multipliers, kept from round to round
    X: Floats2  # (m, 9) 3x3 blocks M D E of the Newton system
    B: Floats2  # (n, n) X J
    w: Floats1  # (n,) vectors of length r
    x: Floats1  # (n,)


load = block_loader((Problem, False))


def scaled(G: Floats, c: Floats, mu: Floats, g: Floats) -> Problem:
    """The problem with its scaled matrices filled in; nothing solved or factored yet."""
    m, n = len(mu), len(c)
    rows = np.repeat(1.0 / np.sqrt(g), 3)
    zeros = np.zeros
    return Problem(
        G=G * rows * rows[:, None], J=zeros((n, n)), K=zeros((n, n)), A=zeros((n, n)), c=c * rows, mu=mu,
        unit=rows[::3].copy(), speed=speeds(G, c) * rows[::3], grazing=grazing(c, mu) * rows[::3],
        own=zeros((m, 7)), l=zeros((m, 3)), u=zeros((m, 3)), best=zeros((m, 3)),
        start=zeros((m, 3)), step=zeros((m, 3)), z=zeros((m, 3)), y=zeros((m, 3)), X=zeros((m, 9)), B=zeros((n, n)),
        w=zeros(n), x=zeros(n), relative=np.inf,
    )  # fmt: skip


def speeds(G: Floats, c: Floats) -> Floats:
    """For each contact (m,) the fastest approach without impulses of any that it is coupled with, directly or not."""
    m = len(c) // 3
    joined = np.abs(G).reshape(m, 3, m, 3).max(axis=(1, 3)) > 0.0
    speed = np.maximum(-c[::3], 0.0)
    while True:  # as many rounds as the longest way through contacts
        spread = np.where(joined, speed, 0.0).max(axis=1, initial=0.0)
        spread = np.maximum(spread, speed)
        if (spread == speed).all():
            return np.asarray(speed)
        speed = spread


def grazing(c: Floats, mu: Floats) -> Floats:
    """Velocity (m,) of each contact without impulses, with its friction."""
    return np.asarray(np.linalg.norm(c.reshape(-1, 3), axis=1) * (1.0 + mu))


@kernel
def copy_rows(source, target):
    for i in range(source.shape[0]):
        put3(target, i, get3(source, i))


@kernel
def to_columns(p, x, w):
    """w = J^T x; x (m, 3)."""
    r = p.rank
    for k in range(r):
        w[k] = 0.0
    for i in range(p.mu.shape[0]):
        for a in range(3):
            f, row = x[i, a], 3 * i + a
            if f != 0.0:
                for k in range(r):
                    w[k] += f * p.J[row, k]


@kernel
def to_rows(p, w, i):
    """J_i w: three rows of contact i."""
    r, a, b, c = p.rank, 0.0, 0.0, 0.0
    for k in range(r):
        a += p.J[3 * i, k] * w[k]
        b += p.J[3 * i + 1, k] * w[k]
        c += p.J[3 * i + 2, k] * w[k]
    return (a, b, c)


@stage
def evaluate(address, rho, tau):
    """Velocities of l, which is kept if it is the best so far and lies in the cones (tau = 0).

    Returns the relative residual, and the sum of squares of the map that Newton follows, rounded by tau, which line
    searches lower.
    """
    (p,) = load(address)
    to_columns(p, p.l, p.w)
    relative, merit, largest = 0.0, 0.0, 0.0
    for i in range(p.mu.shape[0]):
        largest = max(largest, p.l[i, 0])
    for i in range(p.mu.shape[0]):
        l, u = get3(p.l, i), to_rows(p, p.w, i)
        u = (u[0] + p.c[3 * i], u[1] + p.c[3 * i + 1], u[2] + p.c[3 * i + 2])
        put3(p.u, i, u)
        F, _, _ = linearised(l, u, p.mu[i], rho, tau)
        merit += dot(F, F)
        F = natural_map(l, u, p.mu[i], 1.0)
        residual = math.sqrt(dot(F, F))
        if residual > ROUNDING * (p.grazing[i] + (1.0 + p.mu[i]) * largest):
            relative = max(relative, residual / p.speed[i] if p.speed[i] > 0.0 else math.inf)
    if not merit >= 0.0:
        return math.inf, math.inf  # a NaN
    if tau == 0.0 and relative < p.relative:
        p.relative = relative
        copy_rows(p.l, p.best)
    return relative, merit
