"""Plans: a motion as a table with one row per tick, so that following it costs the servo nothing.

    rest            stay
    joint_move      from posture to posture, by minimum jerk
    through         past several postures without stopping, the smoothest way (quintic.py)
    line            a body's origin on a straight line (lines.py)
    via_lines       a body along straight lines through several places, with stops or with rounded corners
    there_and_back  a plan and its reverse, as a loop

A duration that is not given is the shortest within the limits of the joints (timing.py).  All begin and end at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.plans.lines import Followed, PlanError, PosePath
from palpate.control.plans.quintic import pieces, smoothest
from palpate.control.plans.rates import aligned, motion_of
from palpate.control.plans.timing import (
    limits,
    minimum_jerk,
    minimum_jerk_rows,
    minimum_jerk_seconds,
    shortest,
    ticks_at_least,
    ticks_of,
)
from palpate.dynamics.facade import difference, forward_kinematics, integrate
from palpate.model.model import Floats, Floats2, Model
from palpate.spatial.placement import Rotation, Transform, Vector3

__all__ = [
    "Plan", "PlanError", "joined", "joint_move", "line", "minimum_jerk", "rest", "there_and_back", "through",
    "tool_path", "via_lines",
]  # fmt: skip

BEYOND_LIMIT = 1e-9  # [rad or m] that a coordinate may be beyond its limit: rounding


class Plan(NamedTuple):
    """q (n, nq), v, a (n, nv), one row per tick; followed around and around."""

    q: Floats2
    v: Floats2
    a: Floats2


def rest(model: Model, q: np.ndarray) -> Plan:
    """Stay at q."""
    zero = np.zeros((1, model.nv))
    return Plan(np.array([q]), zero, zero.copy())


def joint_move(
    model: Model,
    q_from: ArrayLike,
    q_to: ArrayLike,
    dt: float,
    seconds: float | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> Plan:
    """From posture to posture (nq,), all joints together, by minimum jerk; one row per dt [s].

    Quaternions turn the shorter way round, free joints follow a screw.
    seconds                 default: the shortest within limits
    velocity, acceleration  these limits, see timing.limits
    """
    q0 = np.array(q_from, dtype=np.float64)
    d = difference(model, q0, q_to)
    _check_limits(model, np.array([q_to], dtype=np.float64), "the posture to go to")
    if seconds is None:
        ticks = ticks_at_least(minimum_jerk_seconds(d, limits(model, velocity, acceleration)), dt)
    else:
        ticks = ticks_of(seconds, dt)
    s, ds, dds = minimum_jerk_rows(ticks, dt)
    # along a geodesic the body velocity is constant but for its size, so v = ds/dt d whatever the joints are
    q = np.array([integrate(model, q0, d, x) for x in s.ravel().tolist()])
    return Plan(q, ds * d, dds * d)


def through(
    model: Model,
    points: ArrayLike,
    dt: float,
    seconds: float | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> Plan:
    """Past postures (n, nq) without stopping, at rest at the first and last: the smoothest way, jerk continuous too.

    Every posture is met exactly, on a row.  Times between them go as the square root of what each would need alone,
    which keeps the swing beyond them small; between them joints may still go a little farther than at them.
    seconds                 of all; default: the shortest within limits
    velocity, acceleration  these limits, see timing.limits
    """
    q = np.array(points, dtype=np.float64)
    if q.ndim != 2 or len(q) < 2 or q.shape[1] != model.nq:
        raise ValueError(f"points has shape {q.shape}, at least two postures are needed: (n, {model.nq})")
    q = aligned(model, q)
    allowed = limits(model, velocity, acceleration)
    share = np.array([minimum_jerk_seconds(difference(model, a, b), allowed) for a, b in pairwise(q)])
    if (share == 0.0).any():
        k = int(np.argmin(share))
        raise ValueError(f"points {k} and {k + 1} are the same posture; leave one out")
    share = np.sqrt(share) / np.sqrt(share).sum()

    def make(ticks: int) -> Plan:
        knots = np.concatenate([[0], np.cumsum(np.maximum(1, np.round(ticks * share)))]) * dt
        v, a = smoothest(knots, q)
        t = np.arange(round(knots[-1] / dt) + 1) * dt
        return Plan(*motion_of(model, *pieces(knots, q, v, a, t)))

    plan = shortest(make, allowed) if seconds is None else make(max(ticks_of(seconds, dt), len(q) - 1))
    _check_limits(model, plan.q, "the way through these points")
    return plan


def line(
    model: Model, body: str, start: Vector3, end: Vector3, R: Rotation, seconds: float, dt: float, seed: Sequence[float]
) -> Plan:
    """A straight line of a body's origin from start to end [m] with orientation R, in `seconds`, one row per dt.

    Minimum jerk along it; `seed` (nq,) is where the search for the first posture begins.
    """
    places = (Transform(R, start), Transform(R, end))
    return _rows(_followed_line(model, body, places, seed), ticks_of(seconds, dt), dt)


def via_lines(
    model: Model,
    body: str,
    places: Sequence[Transform],
    dt: float,
    seed: Sequence[float] | Floats,
    seconds: float | None = None,
    *,
    blend: float = 0.0,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> Plan:
    """A body through places in the world, straight from each to the next, turning the shorter way round.

    blend    0: it stops at every place.  Up to 0.5: the next line begins when this share of the shorter of the two
             is still to go, which rounds the corner; it then passes the places between at a distance
    seconds  of all; default: the shortest within limits (timing.limits)
    seed     (nq,) where the search for the first posture begins
    """
    if len(places) < 2:
        raise ValueError(f"lines need at least two places, got {len(places)}")
    if not 0.0 <= blend <= 0.5:
        raise ValueError(f"blend must be from 0 (stop at every place) to 0.5, got {blend}")
    for k, (a, b) in enumerate(pairwise(places)):
        if np.abs(np.subtract(a.p, b.p)).max() + np.abs((a.R.inv() @ b.R).log()).max() < 1e-12:
            raise ValueError(f"places {k} and {k + 1} are the same; leave one out")
    allowed, posture, lines, alone = limits(model, velocity, acceleration), seed, [], []
    for pair in pairwise(places):
        followed = _followed_line(model, body, pair, posture)
        plan = shortest(lambda ticks, way=followed: _rows(way, ticks, dt, exact=False), allowed)  # type: ignore[misc]
        posture = plan.q[-1]
        lines.append(followed)
        alone.append(len(plan.q) - 1)
    duration = np.array(alone) * dt
    if blend == 0.0:
        scale = 1.0 if seconds is None else seconds / duration.sum()
        return joined([_rows(way, ticks_of(scale * T, dt), dt) for way, T in zip(lines, duration, strict=True)])
    overlap = blend * np.minimum(duration[1:], duration[:-1])
    begin = np.concatenate([[0.0], np.cumsum(duration[:-1] - overlap)])
    way = Followed(model, body, PosePath(tuple(places), begin, duration), seed)
    if seconds is None:
        ticks = len(shortest(lambda ticks: _rows(way, ticks, dt, exact=False), allowed).q) - 1
    else:
        ticks = ticks_of(seconds, dt)
    return _rows(way, ticks, dt)


def _followed_line(
    model: Model, body: str, places: tuple[Transform, Transform], seed: Sequence[float] | Floats
) -> Followed:
    return Followed(model, body, PosePath(places, np.zeros(1), np.ones(1)), seed)


def _rows(way: Followed, ticks: int, dt: float, exact: bool = True) -> Plan:
    """A way as a plan of this many ticks."""
    scale = way.path.total / (ticks * dt)
    q, dq, ddq = way.at(np.linspace(0.0, way.path.total, ticks + 1), exact)
    return Plan(*motion_of(way.model, q, dq * scale, ddq * scale**2))


def _check_limits(model: Model, q: Floats2, what: str) -> None:
    """Complain of the first coordinate that leaves its range."""
    beyond = np.maximum(q - model.upper, model.lower - q)
    if beyond.max(initial=0.0) > BEYOND_LIMIT:
        row, n = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
        joint = next(name for name, rows in model.q_index.items() if rows.start <= n < rows.stop)
        limit = model.upper[n] if q[row, n] > model.upper[n] else model.lower[n]
        raise PlanError(f"{what} takes joint {joint!r} to {q[row, n]:.4g}, its limit is {limit:.4g}")


def joined(plans: Sequence[Plan]) -> Plan:
    """Plans one after the other, each beginning where the one before ends: that row is there once."""
    for k, (one, two) in enumerate(pairwise(plans)):
        if np.abs(one.q[-1] - two.q[0]).max() > 1e-6:
            raise ValueError(f"plan {k + 1} does not begin where plan {k} ends")
    rest = plans[1:]
    return Plan(
        np.concatenate([plans[0].q, *(p.q[1:] for p in rest)]),
        np.concatenate([plans[0].v, *(p.v[1:] for p in rest)]),
        np.concatenate([plans[0].a, *(p.a[1:] for p in rest)]),
    )


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
