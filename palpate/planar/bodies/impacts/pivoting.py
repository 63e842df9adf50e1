"""Coulomb's law of the plane for several contacts at once, as a linear complementarity problem solved by Lemke.

Rows (normal, tangent) of each contact; friction = b+ - b-:
    u_n = q_n + G_nn l + G_nt (b+ - b-)      >= 0  _|_  l  >= 0
    s + u_t                                  >= 0  _|_  b+ >= 0          s: the sliding speed
    s - u_t                                  >= 0  _|_  b- >= 0
    mu (f + l) - b+ - b-                     >= 0  _|_  s  >= 0          f: a normal impulse that is given anyhow
The matrix is copositive and q the image of a velocity, hence Lemke's path ends in a solution and not in a ray
(Anitescu & Potra 1997; f >= 0 does not change the argument).  Lexicographic, so that parallel faces do not cycle.
Each contact in its own unit of impulse, which leaves cones as they are; all velocities over the largest.

A twin of contact/lemke.py for ticks: no allocation, two directions, contacts without friction have no tangent rows.
"""

from __future__ import annotations

import math

from palpate.jit import kernel, stage

ZERO = 1e-11  # entries of a tableau below this are rounding; those of the problem are about 1
MOST = 16  # contacts: beyond, the tableau grows out of what a tick can do
ROWS = 4  # of a contact with friction
NORMAL, FORWARD, BACKWARD, SPEED = range(ROWS)


def tableau_size(contacts: int) -> int:
    """How many numbers `pivot_coulomb` works in."""
    rows = ROWS * min(contacts, MOST)
    return rows * (2 * rows + 2) + 3 * rows + contacts


@stage
def pivot_coulomb(m, G, u, mu, f, soft, L, work):
    """L (2m,) impulses on top of the normal ones f (m,), whose effect u (2m,) already has; 1, or 0: no solution.

    soft: compliance of every contact, over its own in G: 0, or a little where redundant ones end the path too early.
    """
    rows = 0
    for i in range(m):
        rows += ROWS if mu[i] > 0.0 else 1
    columns = 2 * rows + 2
    T = work[: rows * columns].reshape(rows, columns)
    rest = work[rows * columns :]
    kind, whose, basis, unit = rest[:rows], rest[rows : 2 * rows], rest[2 * rows : 3 * rows], rest[3 * rows :]
    top = _set_up(m, G, u, mu, f, soft, rows, T, kind, whose, unit)
    for i in range(2 * m):
        L[i] = 0.0
    if top == 0.0:
        return 1
    for r in range(rows):
        basis[r] = r
    if not _pivots(rows, T, basis):
        return 0
    for r in range(rows):
        k = int(basis[r]) - rows
        if 0 <= k < rows:
            i, z = int(whose[k]), max(T[r, columns - 1], 0.0) * top * unit[int(whose[k])]
            if kind[k] == NORMAL:
                L[2 * i] += z
            elif kind[k] == FORWARD:
                L[2 * i + 1] += z
            elif kind[k] == BACKWARD:
                L[2 * i + 1] -= z
    return 1


@kernel
def _set_up(m, G, u, mu, f, soft, rows, T, kind, whose, unit):
    """The first tableau: columns w, z, covering variable, right side; the speed in whose units that is."""
    r = 0
    top = 0.0
    for i in range(m):
        unit[i] = 1.0 / math.sqrt(0.5 * (G[2 * i, 2 * i] + G[2 * i + 1, 2 * i + 1]))
        top = max(top, abs(u[2 * i]) * unit[i], abs(u[2 * i + 1]) * unit[i])
        for row in range(ROWS if mu[i] > 0.0 else 1):
            kind[r], whose[r] = row, i
            r += 1
    if top == 0.0:
        return top
    last = 2 * rows + 1
    for r in range(rows):
        i, row = int(whose[r]), int(kind[r])
        for k in range(rows):
            T[r, k] = 1.0 if k == r else 0.0
            T[r, rows + k] = -_entry(G, mu, unit, soft, i, row, int(whose[k]), int(kind[k]))
        T[r, last - 1] = -1.0
        if row == NORMAL:
            T[r, last] = u[2 * i] * unit[i] / top
        elif row == SPEED:
            T[r, last] = mu[i] * f[i] / (unit[i] * top)
        else:
            T[r, last] = (u[2 * i + 1] if row == FORWARD else -u[2 * i + 1]) * unit[i] / top
    return top


@kernel
def _entry(G, mu, unit, soft, i, row, j, column):
    """Of the problem's matrix."""
    if row == SPEED:
        return 0.0 if i != j or column == SPEED else (mu[i] if column == NORMAL else -1.0)
    if column == SPEED:
        return 1.0 if i == j and row != NORMAL else 0.0
    x = G[2 * i + (row != NORMAL), 2 * j + (column != NORMAL)] * unit[i] * unit[j]
    if i == j and (row != NORMAL) == (column != NORMAL):
        x += soft
    return -x if (row == BACKWARD) != (column == BACKWARD) else x


@kernel
def _pivots(rows, T, basis):
    """Lemke's path; whether it came to an end."""
    cover, last = 2 * rows, 2 * rows + 1
    row = 0
    for r in range(1, rows):  # the most negative; of equals the last is lexicographically least, as w starts as unit
        if T[r, last] <= T[row, last]:
            row = r
    if T[row, last] >= 0.0:
        return True
    entering = cover
    for _ in range(50 * rows):
        divisor = T[row, entering]
        for c in range(last + 1):
            T[row, c] /= divisor
        for r in range(rows):
            factor = T[r, entering]
            if r != row and factor != 0.0:
                for c in range(last + 1):
                    T[r, c] -= factor * T[row, c]
        leaving = int(basis[row])
        basis[row] = entering
        if leaving == cover:
            return True
        entering = leaving + rows if leaving < rows else leaving - rows  # the complement of what left
        row = _leaves(rows, T, basis, entering)
        if row < 0:
            return False  # a ray
    return False


@kernel
def _leaves(rows, T, basis, entering):
    """The row with the least ratio; of equals the covering variable's, else the lexicographically least.  -1: none."""
    cover, last = 2 * rows, 2 * rows + 1
    best = -1
    for r in range(rows):
        if T[r, entering] <= ZERO:
            continue
        if best < 0:
            best = r
            continue
        mine, other = T[r, last] / T[r, entering], T[best, last] / T[best, entering]
        margin = ZERO * max(1.0, abs(other))
        if mine < other - margin:
            best = r
        elif mine <= other + margin and basis[best] != cover:
            if basis[r] == cover:
                best = r
                continue
            for c in range(rows):
                a, b = T[r, c] / T[r, entering], T[best, c] / T[best, entering]
                if abs(a - b) > ZERO:
                    if a < b:
                        best = r
                    break
    return best
