"""0 <= z,  y = q + G z >= 0,  z.y = 0 for a symmetric G that may be singular: by active sets, exact, for any n.

With G = W M^-1 W' and q = W v this is the velocity of the cone {W v >= 0} that is nearest to v in the metric M: least
squares with z >= 0.  Lawson & Hanson 1974, chapter 23, on the products G and q:

    take the most violated row into the set;  solve G_PP s = -q_P there;  go from z towards s, and whatever would
    become negative on the way leaves the set.

Every step lowers 1/2 z'G z + q.z, so no set comes twice: it ends, for n = 4 after two or three solves, where trying
all 2^n sets is 16.  A row that depends on the set (parallel faces, a contact that is there twice) is not violated once
the set is solved, so that it never comes in.  One that is violated, but too near to depending for a solve, takes the
place of one of those that it depends on: w_j = sum c_k w_k, so that its z can grow by t while theirs shrink by t c_k.

unit  1 / sqrt(G_ii): all is compared in units in which every contact has the effective mass 1
rank  places of P in the order in which they came, as numbers of an array of floats
"""

from __future__ import annotations

import math

from palpate.jit import kernel, stage

ROUNDING = 4e-16  # of each product in a sum: below it a violation is not one
LEAST_PIVOT = 1e-14  # of a Cholesky factor in those units, squared: less is rounding, and the row depends on the set
LARGE_SHARE = 1e-6  # of one row in another: less does not make it one that it depends on
OUTSIDE, INSIDE, REFUSED = 0.0, 1.0, 2.0


@stage
def project(n, G, q, z, work):
    """z (n,) of G (n, n) and q (n,); `work` has at least n (n + 5) numbers.  Rows with G_ii = 0 cannot be moved."""
    L = work[: n * n].reshape(n, n)
    rest = work[n * n :]
    unit, place, rank = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
    s, r = rest[3 * n : 4 * n], rest[4 * n : 5 * n]
    for i in range(n):
        unit[i] = 1.0 / math.sqrt(G[i, i]) if G[i, i] > 0.0 else 0.0
        place[i] = OUTSIDE
        z[i] = 0.0
    p = 0  # size of the set
    for _ in range(4 * n + 4):
        j = _most_violated(n, G, q, z, unit, place)
        if j < 0:
            break
        rank[p] = j
        place[j] = INSIDE
        p += 1
        comes, same = True, p - 1  # rows of the factor that are as they were
        while p > 0:
            if not _factor(same, p, G, unit, rank, L):
                gone = _exchange(p, unit, rank, L, z, place, s)
                p -= 1
                if gone < 0:  # nobody can make room
                    place[j] = REFUSED
                    break
                comes, same = False, gone
                continue
            same = p
            _solve(p, G, q, unit, rank, L, s, r)
            if comes and s[p - 1] <= 0.0:  # it cannot, but by rounding
                p -= 1
                place[j], z[j] = REFUSED, 0.0
                break
            comes = False
            share, first = 1.0, -1
            for k in range(p):
                i = int(rank[k])
                if s[k] <= 0.0 and z[i] <= share * (z[i] - s[k]):
                    share, first = z[i] / (z[i] - s[k]) if z[i] > 0.0 else 0.0, k
            for k in range(p):
                i = int(rank[k])
                z[i] += share * (s[k] - z[i])
            if first < 0:
                for i in range(n):
                    if place[i] == REFUSED:
                        place[i] = OUTSIDE
                break
            kept = 0
            for k in range(p):
                i = int(rank[k])
                if k == first or z[i] < 0.0:
                    place[i], z[i] = OUTSIDE, 0.0
                    same = min(same, kept)
                else:
                    rank[kept] = i
                    kept += 1
            p = kept


@kernel
def _most_violated(n, G, q, z, unit, place):
    """The row outside with the most negative y, or -1: none beyond rounding."""
    j, least = -1, 0.0
    for i in range(n):
        if place[i] == OUTSIDE and unit[i] > 0.0:
            y, size = q[i], abs(q[i])
            for k in range(n):
                y += G[i, k] * z[k]
                size += abs(G[i, k] * z[k])
            if y < -ROUNDING * (n + 2) * size and y * unit[i] < least:
                j, least = i, y * unit[i]
    return j


@kernel
def _factor(same, p, G, unit, rank, L):
    """L L' = G_PP in units, from row `same` on; whether it is regular: only the last that came may not be."""
    for a in range(same, p):
        i = int(rank[a])
        for b in range(a + 1):
            k = int(rank[b])
            x = G[i, k] * unit[i] * unit[k]
            for c in range(b):
                x -= L[a, c] * L[b, c]
            if b < a:
                L[a, b] = x / L[b, b]
            elif x > LEAST_PIVOT or a < p - 1:
                L[a, a] = math.sqrt(max(x, LEAST_PIVOT))
            else:
                return False
    return True


@kernel
def _exchange(p, unit, rank, L, z, place, c):
    """The last of the set takes the place of one that it depends on: where that was in the set, or -1: nobody."""
    last = p - 1
    for a in range(last - 1, -1, -1):  # w_last = sum c_k w_k: L' c = its row of the factor
        c[a] = L[last, a]
        for b in range(a + 1, last):
            c[a] -= L[b, a] * c[b]
        c[a] /= L[a, a]
    t, first = 0.0, -1
    for a in range(last):
        i = int(rank[a])
        if c[a] > LARGE_SHARE and (first < 0 or z[i] < t * c[a] * unit[i]):
            t, first = z[i] / (c[a] * unit[i]), a
    if first < 0:
        return first
    for a in range(last):
        i = int(rank[a])
        z[i] = max(z[i] - t * c[a] * unit[i], 0.0)
    j, gone = int(rank[last]), int(rank[first])
    z[j] += t * unit[j]
    z[gone], place[gone] = 0.0, OUTSIDE
    for a in range(first, last):
        rank[a] = rank[a + 1]
    return first


@kernel
def _solve(p, G, q, unit, rank, L, s, r):
    """G_PP s = -q_P, improved once by what is left."""
    for a in range(p):
        s[a] = 0.0
    for _ in range(2):
        for a in range(p):
            i = int(rank[a])
            x = -q[i]
            for b in range(p):
                x -= G[i, int(rank[b])] * s[b]
            r[a] = x * unit[i]
        for a in range(p):
            for c in range(a):
                r[a] -= L[a, c] * r[c]
            r[a] /= L[a, a]
        for a in range(p - 1, -1, -1):
            for c in range(a + 1, p):
                r[a] -= L[c, a] * r[c]
            r[a] /= L[a, a]
            s[a] += r[a] * unit[int(rank[a])]
