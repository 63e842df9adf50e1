"""Coordinates as curves: q(t) in R^nq with its derivatives, and the v and a that they mean.

chain       v = q',  a = q''
quaternion  n(t) of any length:  w = 2 Im(n* n')/|n|^2,  w' = 2 Im(n* n'')/|n|^2 - 2 (n.n')/|n|^2 w
free        position p in the world, twist (w, u) in body axes:  u = R^T p',  u' = R^T p'' - w x u

So a curve may be fitted, blended and smoothed coordinate by coordinate, and still be a motion of the mechanism.
All arrays have one row per instant.
"""

from __future__ import annotations

import numpy as np

from palpate.model.model import CHAIN, FREE, Floats2, Model

# A blend of two quaternions shorter than this lies between orientations half a turn apart: its direction is chance.
SHORTEST_QUATERNION = 0.1


def turning(model: Model) -> list[tuple[int, int, bool]]:
    """Of each spherical or free joint: where its quaternion is in q, its first velocity in v, whether it is free."""
    m = model.arrays
    return [
        (int(m.q_begin[i]) + 3 * int(m.kind[i] == FREE), int(m.axis_v[m.axis_begin[i]]), bool(m.kind[i] == FREE))
        for i in range(1, model.n_links)
        if m.kind[i] != CHAIN
    ]


def _sliding(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Columns of q and of v that belong together: those of chains."""
    m = model.arrays
    rows = [k for i in range(1, model.n_links) if m.kind[i] == CHAIN
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i])]  # fmt: skip
    return m.axis_q[rows], m.axis_v[rows]


def aligned(model: Model, q: Floats2) -> Floats2:
    """q with the sign of every quaternion chosen so that it is near the one a row before."""
    q = q.copy()
    for n, _, _ in turning(model):
        part = q[:, n : n + 4]
        flips = np.where((part[1:] * part[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
        part[1:] *= np.cumprod(flips)[:, None]
    return q


def motion_of(model: Model, q: Floats2, dq: Floats2, ddq: Floats2) -> tuple[Floats2, Floats2, Floats2]:
    """q (n, nq) with unit quaternions, v, a (n, nv) of a curve and its time derivatives (n, nq)."""
    q, v, a = q.copy(), np.zeros((len(q), model.nv)), np.zeros((len(q), model.nv))
    from_q, to_v = _sliding(model)
    v[:, to_v], a[:, to_v] = dq[:, from_q], ddq[:, from_q]
    for n, j, free in turning(model):
        x, dx, ddx = (array[:, n : n + 4] for array in (q, dq, ddq))
        square = (x * x).sum(axis=1, keepdims=True)
        if square.min(initial=1.0) < SHORTEST_QUATERNION**2:
            raise ValueError(f"q[{n}:{n + 4}] of {model.name!r} goes between orientations about half a turn apart")
        w = 2.0 * _relative(x, dx) / square
        v[:, j : j + 3] = w
        a[:, j : j + 3] = 2.0 * (_relative(x, ddx) - (x * dx).sum(axis=1, keepdims=True) * w) / square
        q[:, n : n + 4] = x / np.sqrt(square)
        if free:
            back = q[:, n : n + 4] * (1.0, -1.0, -1.0, -1.0)
            u = _rotate(back, dq[:, n - 3 : n])
            v[:, j + 3 : j + 6] = u
            a[:, j + 3 : j + 6] = _rotate(back, ddq[:, n - 3 : n]) - np.cross(w, u)
    return q, v, a


def rates_of(model: Model, q: Floats2, v: Floats2, a: Floats2) -> tuple[Floats2, Floats2]:
    """dq/dt, d2q/dt2 (n, nq) at q (n, nq) with unit quaternions and v, a (n, nv); the inverse of motion_of."""
    dq, ddq = np.zeros_like(q), np.zeros_like(q)
    to_q, from_v = _sliding(model)
    dq[:, to_q], ddq[:, to_q] = v[:, from_v], a[:, from_v]
    for n, j, free in turning(model):
        x, w, dw = q[:, n : n + 4], v[:, j : j + 3], a[:, j : j + 3]
        dq[:, n : n + 4] = 0.5 * _times(x, w)
        ddq[:, n : n + 4] = 0.5 * _times(x, dw) - 0.25 * (w * w).sum(axis=1, keepdims=True) * x
        if free:
            u, du = v[:, j + 3 : j + 6], a[:, j + 3 : j + 6]
            dq[:, n - 3 : n] = _rotate(x, u)
            ddq[:, n - 3 : n] = _rotate(x, du + np.cross(w, u))
    return dq, ddq


def _relative(x: Floats2, y: Floats2) -> Floats2:
    """Vector part (n, 3) of x* y, quaternions (n, 4)."""
    return x[:, :1] * y[:, 1:] - y[:, :1] * x[:, 1:] - np.cross(x[:, 1:], y[:, 1:])


def _times(x: Floats2, w: Floats2) -> Floats2:
    """x (0, w), quaternions (n, 4)."""
    scalar = -(x[:, 1:] * w).sum(axis=1, keepdims=True)
    return np.hstack([scalar, x[:, :1] * w + np.cross(x[:, 1:], w)])


def _rotate(x: Floats2, y: Floats2) -> Floats2:
    """Vectors y (n, 3) turned by unit quaternions x (n, 4)."""
    t = 2.0 * np.cross(x[:, 1:], y)
    return y + x[:, :1] * t + np.cross(x[:, 1:], t)
