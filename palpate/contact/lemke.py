"""Contact as a linear complementarity problem with polygons for friction cones, solved by Lemke.  For comparison only.

k directions d_j for each contact, friction = sum_j beta_j d_j:
    [ Gnn    Gnt D     0 ]   [ l_n   ]   [ c_n    ]
w = [ D'Gtn  D'Gtt D   1 ] . [ beta  ] + [ D' c_t ] >= 0,   z >= 0,   w.z = 0.
    [ mu     -1'       0 ]   [ sigma ]   [ 0      ]
Friction comes out along a corner of the polygon: up to 180/k degrees off, up to 1 - cos(pi/k) of the drag lost.
Plain numpy: a dense tableau of m (k + 2) rows, one rank-one update a pivot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palpate.model.model import Floats

ZERO = 1e-11  # entries of a tableau below this are rounding; problems are scaled to entries of about 1


class LemkeSolution(NamedTuple):
    """lam (3m,) [N s] or zero if not ok: the path ended in a ray, or took too many pivots."""

    lam: Floats
    pivots: int
    ok: bool


def lemke(M: Floats, q: Floats, most: int) -> tuple[Floats, int, bool]:
    """z >= 0 with w = M z + q >= 0 and w.z = 0: (z, pivots, found).  Lexicographic, so that ties do not cycle."""
    n = len(q)
    if (q >= 0.0).all():
        return np.zeros(n), 0, True
    # rows: basic variables; columns: w (0 .. n-1), z (n .. 2n-1), the covering variable z0, right side
    T = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]])
    basis = np.arange(n)
    cover = 2 * n
    entering, row = cover, _lexicographic_least(T, np.flatnonzero(q == q.min()), n, np.ones(n))
    for pivot in range(1, most + 1):
        T[row] /= T[row, entering]
        column = T[:, entering].copy()
        column[row] = 0.0
        T -= np.outer(column, T[row])
        leaving, basis[row] = basis[row], entering
        if leaving == cover:
            z = np.zeros(2 * n + 1)
            z[basis] = T[:, -1]
            return np.maximum(z[n : 2 * n], 0.0), pivot, True
        entering = (leaving + n) % (2 * n)  # the complement of what left
        column = T[:, entering]
        rows = np.flatnonzero(column > ZERO)
        if not len(rows):
            return np.zeros(n), pivot, False  # a ray
        ratio = T[rows, -1] / column[rows]
        rows = rows[ratio <= ratio.min() + ZERO * max(1.0, abs(ratio.min()))]
        covered = rows[basis[rows] == cover]
        row = int(covered[0]) if len(covered) else _lexicographic_least(T, rows, n, column)
    return np.zeros(n), most, False


def _lexicographic_least(T: Floats, rows: np.ndarray, n: int, column: Floats) -> int:
    """Of these rows the one with the lexicographically least (inverse basis) / column: breaks every tie."""
    if len(rows) == 1:
        return int(rows[0])
    scaled = T[rows, :n] / column[rows, None]
    for k in range(n):
        least = scaled[:, k] <= scaled[:, k].min() + ZERO
        rows, scaled = rows[least], scaled[least]
        if len(rows) == 1:
            break
    return int(rows[0])


def lemke_contacts(G: Floats, c: Floats, mu: Floats | float, edges: int, most: int = 20_000) -> LemkeSolution:
    """Impulses (3m,) for G (3m, 3m), c (3m,), mu a number or (m,), with `edges` directions of friction a contact."""
    m = len(c) // 3
    if edges < 3:
        raise ValueError(f"a friction cone needs at least 3 edges, not {edges}")
    angle = 2.0 * np.pi * np.arange(edges) / edges
    directions = np.stack([np.cos(angle), np.sin(angle)])  # (2, k)
    normal, tangent = np.zeros((3 * m, m)), np.zeros((3 * m, m * edges))
    corners = np.zeros((m, m * edges))  # sums the betas of a contact
    for i in range(m):
        normal[3 * i, i] = 1.0
        tangent[3 * i + 1 : 3 * i + 3, i * edges : (i + 1) * edges] = directions
        corners[i, i * edges : (i + 1) * edges] = 1.0
    # every contact in its own units (see dense_problem.py): entries of about 1
    unit = np.repeat(1.0 / np.sqrt(np.diag(G).reshape(m, 3).mean(axis=1)), 3)
    G, c = G * unit * unit[:, None], c * unit
    speed = float(np.abs(c).max()) or 1.0
    W = np.hstack([normal, tangent])  # lam = W (l_n, beta)
    M = np.block([
        [W.T @ G @ W, np.vstack([np.zeros((m, m)), corners.T])],
        [np.diag(np.broadcast_to(mu, m)), -corners, np.zeros((m, m))],
    ])  # fmt: skip
    q = np.concatenate([W.T @ c / speed, np.zeros(m)])
    z, pivots, ok = lemke(M, q, most)
    return LemkeSolution(W @ z[: m * (edges + 1)] * unit * speed, pivots, ok)
