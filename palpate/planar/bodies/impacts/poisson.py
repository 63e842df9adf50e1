"""Simultaneous impacts without friction, by Poisson's hypothesis: reference 3.2; Glocker & Pfeiffer 1995.

g separation velocities W v before, below 0: closing;  G = W M^-1 W';  e restitution of each contact, 0 .. 1

    compression   g_C = g + G L_C                              0 <= L_C  _|_  g_C >= 0
    restitution   g+  = g_C + G L_E,  L_E = e o L_C + L_2      0 <= L_2  _|_  g+  >= 0        impulse = L_C + L_E

Kinetic energy never rises, whatever the e of each contact.  Write |.| for the metric of M, w_i for the velocity that a
unit impulse of contact i gives, K = {v: W v >= 0}.  Either problem is a projection on the convex cone K, so
    v_C = v + N,  N = sum L_Ci w_i orthogonal to v_C;       v+ = projection of  v_C + sum e_i L_Ci w_i.
A projection on a cone has the length  max k.x  over k in K, |k| = 1;  there k.w_i >= 0 and 0 <= e_i L_Ci <= L_Ci, hence
    |v+| = max k.(v_C + sum e_i L_Ci w_i) <= max k.(v_C + N) <= |v_C + N| = |v_C - N| = |v|.

Rounding is held by `energy_share` all the same: restitution is given in part if all of it would be too much (instead of
the reference's smallest e for all, which is no bound).
"""

from __future__ import annotations

import math

from palpate.jit import kernel
from palpate.planar.bodies.impacts.projection import project

ROUNDED_ENERGY = 1e-13  # of the works that an energy is the sum of


@kernel
def poisson(n, G, g, e, impulse, work):
    """impulse (n,) [N s] along the normals, for G (n, n), g (n,) and e (n,), or the first n of more.

    `work`: n (n + 7) numbers, or what `impact_work` gives.
    """
    L, right, scratch = work[:n], work[n : 2 * n], work[2 * n :]
    project(n, G, g, L, scratch)  # compression
    for i in range(n):
        x = g[i]
        for k in range(n):
            x += G[i, k] * (1.0 + e[k]) * L[k]
        right[i] = x
    project(n, G, right, impulse, scratch)  # restitution: L_2
    for i in range(n):
        impulse[i] += e[i] * L[i]
    share = energy_share(n, G, g, L, impulse)
    for i in range(n):
        impulse[i] = L[i] + share * impulse[i]


@kernel
def energy_share(n, G, u, L, E):
    """The largest share s <= 1 with which L + s E creates no kinetic energy, if L alone creates none.

    T+ - T- = c + b s + a s^2,  c = L.u + 1/2 L'G L <= 0,  b = E.(u + G L),  a = 1/2 E'G E >= 0.
    """
    a = b = c = size = 0.0
    for i in range(n):
        GL = GE = 0.0
        for k in range(n):
            GL += G[i, k] * L[k]
            GE += G[i, k] * E[k]
        a += 0.5 * E[i] * GE
        b += E[i] * (u[i] + GL)
        c += L[i] * (u[i] + 0.5 * GL)
        size += abs(L[i] * u[i]) + abs(E[i] * u[i]) + abs(E[i] * GL)
    if a + b + c <= ROUNDED_ENERGY * size:
        return 1.0
    c = min(c, 0.0)
    root = math.sqrt(max(b * b - 4.0 * a * c, 0.0))
    s = -2.0 * c / (b + root) if b > 0.0 else (root - b) / (2.0 * a)
    return min(max(s, 0.0), 1.0)
