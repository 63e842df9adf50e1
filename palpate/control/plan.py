"""Plans: a motion as a table with one row per tick, so that following it costs the servo nothing.

A straight line of a tool point in space, timed by minimum jerk: s(t) = 10 u^3 - 15 u^4 + 6 u^5, u = t/T.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from palpate.dynamics.facade import forward_kinematics, inverse_kinematics
from palpate.model.model import Floats2, Model
from palpate.spatial.placement import Rotation, Transform, Vector3


class Plan(NamedTuple):
    """q (n, nq), v, a (n, nv), one row per tick; followed around and around."""

    q: Floats2
    v: Floats2
    a: Floats2


class PlanError(ValueError):
    """A line that cannot be followed; the message says where it leaves the workspace."""


def rest(model: Model, q: np.ndarray) -> Plan:
    """Stay at q."""
    zero = np.zeros((1, model.nv))
    return Plan(np.array([q]), zero, zero.copy())


def minimum_jerk(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """s, ds/du, d2s/du2 at u in 0 .. 1."""
    return (u**3 * (10 + u * (6 * u - 15)), 30 * u**2 * (1 - u) ** 2, 60 * u * (1 - u) * (1 - 2 * u))


def line(
    model: Model, body: str, start: Vector3, end: Vector3, R: Rotation, seconds: float, dt: float, seed: Sequence[float]
) -> Plan:
    """A straight line of a body's origin from start to end [m] with orientation R, in `seconds`, one row per dt."""
    n = round(seconds / dt)
    grid = np.linspace(0.0, 1.0, n + 1)
    # solve along equal steps of the path, a margin beyond both ends so that derivatives are central everywhere
    margin = 2
    positions = np.arange(-margin, n + 1 + margin) / n
    q, table = np.array(seed, dtype=float), []
    for s in [*positions[margin::-1], *positions[1:]]:  # to before the start first, then forward
        p = np.array(start) + s * (np.array(end) - np.array(start))
        fit = inverse_kinematics(model, body, Transform(R, tuple(p)), q, tolerance=1e-12)
        if not fit.converged and fit.error > 1e-9:
            raise PlanError(f"the line cannot be followed beyond {p.round(4).tolist()}: {fit.error:.2g} away")
        q = fit.q
        table.append(q)
    path = np.array(table[margin:])  # the forward pass begins where the backward one ended
    step = 1.0 / n
    first = (path[2:] - path[:-2]) / (2 * step)
    second = (path[2:] - 2 * path[1:-1] + path[:-2]) / step**2
    knots = positions[1:-1]
    s, ds, dds = minimum_jerk(grid)
    ds, dds = ds / seconds, dds / seconds**2

    def at(values: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(s, knots, column) for column in values.T], axis=1)

    qs = _cubic(path, positions, s)
    return Plan(qs, at(first) * ds[:, None], at(second) * (ds**2)[:, None] + at(first) * dds[:, None])


def _cubic(values: np.ndarray, knots: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Values at s between equally spaced knots, by the cubic through the four nearest (Lagrange)."""
    h = knots[1] - knots[0]
    i = np.clip(((s - knots[0]) / h).astype(int), 1, len(knots) - 3)
    u = ((s - knots[i]) / h)[:, None]
    a, b, c, d = values[i - 1], values[i], values[i + 1], values[i + 2]
    return (-u * (u - 1) * (u - 2) / 6 * a + (u + 1) * (u - 1) * (u - 2) / 2 * b
            - (u + 1) * u * (u - 2) / 2 * c + (u + 1) * u * (u - 1) / 6 * d)  # fmt: skip


def there_and_back(plan: Plan, pause_rows: int) -> Plan:
    """The plan, a pause, the plan backwards, a pause: a closed loop."""

    def hold(row: np.ndarray) -> np.ndarray:
        return np.repeat(row[None], pause_rows, axis=0)

    zero = np.zeros((pause_rows, plan.v.shape[1]))
    return Plan(
        np.concatenate([plan.q, hold(plan.q[-1]), plan.q[::-1], hold(plan.q[0])]),
        np.concatenate([plan.v, zero, -plan.v[::-1], zero]),
        np.concatenate([plan.a, zero, plan.a[::-1], zero]),
    )


def tool_path(model: Model, plan: Plan, body: str, every: int = 20) -> np.ndarray:
    """Positions (n, 3) of a body's origin along a plan, for drawing."""
    row = model.body(body)
    return np.array([forward_kinematics(model, q)[row][:3, 3] for q in plan.q[::every]])
