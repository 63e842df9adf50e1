"""Simultaneous impacts with friction that never create kinetic energy.

The authors of the planar interface left friction out of their impulses, as Poisson's hypothesis with Coulomb friction
can create energy; their later rule (Constantinescu, Salcudean & Croft, IEEE T-RO 21(3), 2005) has none.  Here:

    u = (g, s) of each contact: velocities W v along normal and tangent;  G = W M^-1 W';  rows (normal, tangent)
    compression   u_C = u + G L_C          0 <= L_Cn _|_ u_Cn >= 0         Coulomb: |L_Ct| <= mu L_Cn against u_Ct
    restitution   u_E = u_C + G L_E        L_En = e L_Cn + l,  0 <= l _|_ u_En >= 0    Coulomb: |L_Et| <= mu L_En
    impulse       L = L_C + s L_E          s <= 1 the largest share of the restitution for which T+ <= T-
over the contacts of one island (those that feel each other's impulses): others keep all of theirs.

Why it is passive.  Compression: L_C.u_C <= 0, as L_Cn.u_Cn = 0 and friction opposes the sliding that is left, hence
    T_C - T- = L_C.(u_C - 1/2 G L_C) <= -1/2 L_C'G L_C <= 0.
So T <= T- at s = 0, and T is quadratic in s: the share is the root of that (energy_share).  Non-approach and cones
survive the sharing, both being convex: u+ = (1 - s) u_C + s u_E with u_Cn, u_En >= 0, and L_C + s L_E is a sum of
members of the cones.  With mu = 0, s = 1 (poisson.py proves it), and this is the frictionless law.  No energy comes
from a solver's rounding either: what is approaching still is projected away by normal impulses, which shortens the
velocity, and a Coulomb problem left unsolved becomes one without friction.
"""

from __future__ import annotations

import numpy as np

from palpate.jit import kernel, stage
from palpate.model.model import Floats
from palpate.planar.bodies.impacts.coulomb_sweeps import sweep_coulomb
from palpate.planar.bodies.impacts.pivoting import MOST, pivot_coulomb, tableau_size
from palpate.planar.bodies.impacts.poisson import energy_share
from palpate.planar.bodies.impacts.projection import project

SOLVED = 1e-9  # residual of a Coulomb problem, over its velocities, that counts as solved
SOFTNESS = 1e-10  # of contacts at the second attempt: redundant ones can end the first too early
NOBODY = -1.0


def impact_work(contacts: int) -> Floats:
    """What `poisson` and `frictional` work in, for at most this many contacts."""
    m = contacts
    solver = max(tableau_size(m), m * (m + 5))
    return np.zeros(2 * m + 5 * m * m + 12 * m + solver)


@kernel
def frictional(n, G, u, e, mu, impulse, work):
    """impulse (2n,) [N s] in rows (normal, tangent) per contact, for G (2n, 2n), u (2n,), e (n,), mu (n,).

    `work`: from `impact_work`.
    """
    island, members = work[:n], work[n : 2 * n]
    for i in range(n):
        island[i] = NOBODY
    for i in range(n):
        if island[i] == NOBODY:
            m = _island(n, G, i, island, members)
            _collide(m, G, u, e, mu, impulse, members, work[2 * n :])


@kernel
def _island(n, G, i, island, members):
    """All that contact i is coupled with, itself first, into `members`; how many."""
    members[0], island[i] = i, i
    m, seen = 1, 0
    while seen < m:
        a = int(members[seen])
        seen += 1
        for b in range(n):
            if island[b] == NOBODY and (
                G[2 * a, 2 * b] != 0.0
                or G[2 * a, 2 * b + 1] != 0.0
                or G[2 * a + 1, 2 * b] != 0.0
                or G[2 * a + 1, 2 * b + 1] != 0.0
            ):
                members[m], island[b] = b, i
                m += 1
    return m


@stage
def _collide(m, G, u, e, mu, impulse, members, work):
    """The impulses of one island."""
    n = 2 * m
    A, N = work[: n * n].reshape(n, n), work[n * n : n * n + m * m].reshape(m, m)
    rest = work[n * n + m * m :]
    before, now, C, E = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n : 4 * n]
    rest = rest[4 * n :]
    q, l, slip, given, scratch = rest[:m], rest[m : 2 * m], rest[2 * m : 3 * m], rest[3 * m : 4 * m], rest[4 * m :]
    for a in range(m):
        i = int(members[a])
        for b in range(m):
            j = int(members[b])
            N[a, b] = G[2 * i, 2 * j]
            for r in range(2):
                for c in range(2):
                    A[2 * a + r, 2 * b + c] = G[2 * i + r, 2 * j + c]
        before[2 * a], before[2 * a + 1] = u[2 * i], u[2 * i + 1]
        slip[a], given[a] = mu[i], 0.0
    _coulomb(m, A, N, before, slip, given, C, q, l, scratch)  # compression
    for k in range(n):
        E[k] = 0.0
    share = energy_share(n, A, before, E, C)  # 1 but for rounding
    for k in range(n):
        C[k] *= share
    bounces = False
    for a in range(m):
        given[a] = e[int(members[a])] * C[2 * a]
        bounces = bounces or given[a] > 0.0
    for k in range(n):
        x = before[k]
        for b in range(m):
            x += A[k, 2 * b] * (C[2 * b] + given[b]) + A[k, 2 * b + 1] * C[2 * b + 1]
        now[k] = x
    if bounces:
        _coulomb(m, A, N, now, slip, given, E, q, l, scratch)  # restitution
    for a in range(m):
        E[2 * a] += given[a]
    share = energy_share(n, A, before, C, E)
    for k in range(n):
        C[k] += share * E[k]
    for a in range(m):  # nothing approaches
        q[a] = before[2 * a]
        for k in range(n):
            q[a] += A[2 * a, k] * C[k]
    project(m, N, q, l, scratch)
    for a in range(m):
        i = int(members[a])
        impulse[2 * i], impulse[2 * i + 1] = C[2 * a] + l[a], C[2 * a + 1]


@kernel
def _coulomb(m, A, N, u, mu, f, L, q, l, scratch):
    """L (2m,) of Coulomb's problem for velocities u, on top of the normal impulses f whose effect u has."""
    rough = False
    for a in range(m):
        rough = rough or mu[a] > 0.0
    if rough:
        if m <= MOST:
            for attempt in range(2):
                soft = attempt * SOFTNESS
                if pivot_coulomb(m, A, u, mu, f, soft, L, scratch) and _residual(m, A, u, mu, f, L) < SOLVED:
                    return
        sweep_coulomb(m, A, u, mu, f, L)
        if _residual(m, A, u, mu, f, L) < SOLVED:
            return
    for a in range(m):
        q[a] = u[2 * a]
    project(m, N, q, l, scratch)
    for a in range(m):
        L[2 * a], L[2 * a + 1] = l[a], 0.0


@kernel
def _residual(m, A, u, mu, f, L):
    """How far from Coulomb's law, over the largest velocity.  Friction is put back on its cone first."""
    worst, top = 0.0, 0.0
    for a in range(m):
        most = mu[a] * (f[a] + L[2 * a])
        L[2 * a + 1] = min(max(L[2 * a + 1], -most), most)
    for a in range(m):
        x, y = u[2 * a], u[2 * a + 1]
        for k in range(2 * m):
            x += A[2 * a, k] * L[k]
            y += A[2 * a + 1, k] * L[k]
        gn, gt = A[2 * a, 2 * a], A[2 * a + 1, 2 * a + 1]
        most = mu[a] * (f[a] + L[2 * a])
        slid = min(max(L[2 * a + 1] - y / gt, -most), most)
        worst = max(worst, abs(min(x, gn * L[2 * a])), gt * abs(slid - L[2 * a + 1]) if mu[a] > 0.0 else 0.0)
        top = max(top, abs(u[2 * a]), abs(u[2 * a + 1]))
    return worst / top if top > 0.0 else 0.0
