"""Trajectory: a motion that happened, or was planned, as something to keep, smooth, cut, check and follow again.

Smoothing is by the quintic B-spline B, over rows h apart, m rows to its unit:

    x~(t) = sum_i B((t - t_i)/(m h)) x_i / m        four times differentiable; straight lines stay as they are

Its derivatives are those of B, so that v and a belong to q exactly.  Beyond both ends the motion is continued as its
point reflection, x(-t) = 2 x_0 - x(t), which leaves the ends where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, factorial

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.plans.clearance import clearance
from palpate.control.plans.plan import Plan
from palpate.control.plans.quintic import pieces
from palpate.control.plans.rates import aligned, motion_of, rates_of
from palpate.control.plans.timing import ticks_of
from palpate.model.model import Floats, Floats1, Floats2, Model
from palpate.world.world import World

EVEN = 1e-6  # rows whose distances in time differ by less than this share are equally spaced
BEYOND = 1e-9  # [rad, m, ...] beyond a limit that is rounding


class TrajectoryError(ValueError):
    """A trajectory that makes no sense, or does not fit a model; one line that says why."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Joints and, at increasing times [s], their coordinates, velocities, accelerations and, if known, efforts.

    names   of the joints, in the order of q
    time_s  (n,)
    q       (n, nq), quaternions (w, x, y, z) of unit length
    v, a    (n, nv)
    effort  (n, nv) [N m or N], or None
    """

    names: tuple[str, ...]
    time_s: Floats1
    q: Floats2
    v: Floats2
    a: Floats2
    effort: Floats2 | None = None

    def __post_init__(self) -> None:
        names = tuple(self.names)
        if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
            raise TrajectoryError(f"a trajectory needs joints with names, each once, got {list(names)}")
        object.__setattr__(self, "names", names)
        time = _numbers("time_s", self.time_s, 1)
        if len(time) == 0:
            raise TrajectoryError("a trajectory needs at least one row")
        backward = np.flatnonzero(np.diff(time) <= 0.0)
        if len(backward):
            k = int(backward[0]) + 1
            raise TrajectoryError(f"times must increase: row {k} is at {time[k]} s, the one before at {time[k - 1]} s")
        object.__setattr__(self, "time_s", time)
        for part in ("q", "v", "a", "effort"):
            if getattr(self, part) is None and part == "effort":
                continue
            table = _numbers(part, getattr(self, part), 2)
            if len(table) != len(time):
                raise TrajectoryError(f"{part} has {len(table)} rows, there are {len(time)} times")
            if part in ("a", "effort") and table.shape != self.v.shape:
                raise TrajectoryError(f"{part} has {table.shape[1]} columns, v has {self.v.shape[1]}")
            object.__setattr__(self, part, table)
        if not len(names) <= self.v.shape[1] <= self.q.shape[1]:
            raise TrajectoryError(
                f"{len(names)} joints with {self.q.shape[1]} coordinates and {self.v.shape[1]} velocities do not exist"
            )

    @classmethod
    def of_plan(cls, plan: Plan, dt: float, names: Sequence[str]) -> Trajectory:
        """A plan with one row per dt [s], from time zero on."""
        return cls(tuple(names), np.arange(len(plan.q), dtype=np.float64) * dt, plan.q, plan.v, plan.a)

    @classmethod
    def from_motion(
        cls, time_s: ArrayLike, q: ArrayLike, v: ArrayLike, names: Sequence[str], effort: ArrayLike | None = None
    ) -> Trajectory:
        """What was seen: times (n,), q (n, nq), v (n, nv); accelerations are differences of v."""
        time, speed = _numbers("time_s", time_s, 1), _numbers("v", v, 2)
        if len(time) != len(speed):
            raise TrajectoryError(f"v has {len(speed)} rows, there are {len(time)} times")
        a = np.gradient(speed, time, axis=0) if len(time) > 1 and (np.diff(time) > 0.0).all() else np.zeros_like(speed)
        return cls(tuple(names), time, np.array(q), speed, a, None if effort is None else np.array(effort))

    @property
    def duration_s(self) -> float:
        """From the first row to the last [s]."""
        return float(self.time_s[-1] - self.time_s[0])

    def cut(self, begin_s: float, end_s: float) -> Trajectory:
        """The rows from one time to another [s], both of time_s and included; their times stay."""
        keep = (self.time_s >= begin_s) & (self.time_s <= end_s)
        if keep.sum() < 2:
            raise TrajectoryError(
                f"nothing is left between {begin_s} and {end_s} s; there is {self.time_s[0]} to {self.time_s[-1]} s"
            )
        effort = None if self.effort is None else self.effort[keep]
        return replace(self, time_s=self.time_s[keep], q=self.q[keep], v=self.v[keep], a=self.a[keep], effort=effort)

    def fit(self, model: Model) -> None:
        """Raise unless this is a motion of just this model's joints."""
        for name in self.names:
            if name not in model.joint_names:
                raise TrajectoryError(f"the trajectory moves joint {name!r}, which {model.name!r} does not have")
        for name in model.joint_names:
            if name not in self.names:
                raise TrajectoryError(f"{model.name!r} has joint {name!r}, which the trajectory does not move")
        if self.names != model.joint_names:
            raise TrajectoryError(f"the joints of {model.name!r} come in another order: {list(model.joint_names)}")
        if (self.q.shape[1], self.v.shape[1]) != (model.nq, model.nv):
            raise TrajectoryError(
                f"{model.name!r} has {model.nq} coordinates and {model.nv} velocities, "
                f"the trajectory {self.q.shape[1]} and {self.v.shape[1]}"
            )

    def resample(self, model: Model, dt: float) -> Plan:
        """The same motion with one row per dt [s]: quintic pieces between rows, which are met where times agree.

        It takes a whole number of ticks, the nearest: it is slowed down or hurried by half a tick at most.
        """
        self.fit(model)
        if len(self.time_s) == 1:
            return Plan(self.q.copy(), np.zeros_like(self.v), np.zeros_like(self.a))
        ticks = ticks_of(self.duration_s, dt)
        scale = self.duration_s / (ticks * dt)
        q, dq, ddq = self._at(model, np.linspace(self.time_s[0], self.time_s[-1], ticks + 1))
        return Plan(*motion_of(model, q, dq * scale, ddq * scale**2))

    def smooth(self, model: Model, seconds: float) -> Trajectory:
        """Smoothed over a window of `seconds`: what shakes faster than about a third of it is gone; both ends stay.

        Rows come out equally spaced in time.  Efforts do not belong to the new motion and are left out.
        """
        self.fit(model)
        n = len(self.time_s)
        h = self.duration_s / max(n - 1, 1)
        if not (np.isfinite(seconds) and seconds > 0.0):
            raise TrajectoryError(f"the window must be positive, got {seconds} s")
        m = max(1, round(seconds / (6.0 * h))) if h > 0.0 else n  # the spline is 6 units wide
        if 3 * m >= n:
            raise TrajectoryError(f"a window of {seconds:.4g} s is too wide for {n} rows in {self.duration_s:.4g} s")
        time = np.linspace(self.time_s[0], self.time_s[-1], n)
        even = np.abs(self.time_s - time).max() <= EVEN * h
        x = aligned(model, self.q) if even else self._at(model, time)[0]
        reach = np.arange(3 * m, 0, -1)
        padded = np.concatenate([2 * x[0] - x[reach], x, 2 * x[-1] - x[n - 1 - reach[::-1]]])
        offset = np.arange(-3 * m, 3 * m + 1) / m
        q, dq, ddq = (
            np.stack([np.convolve(column, spline(offset, order) / (m * (m * h) ** order), "valid")
                      for column in padded.T], axis=1)
            for order in (0, 1, 2)
        )  # fmt: skip
        q, v, a = motion_of(model, q, dq, ddq)
        q[[0, -1]] = x[[0, -1]]  # they are, but for rounding
        return Trajectory(self.names, time, q, v, a)

    def _at(self, model: Model, t: Floats1) -> tuple[Floats2, Floats2, Floats2]:
        """Coordinates and their derivatives (m, nq) at times t."""
        q = aligned(model, self.q)
        return pieces(self.time_s, q, *rates_of(model, q, self.v, self.a), t)

    def check(
        self,
        where: Model | World,
        clearance_m: float = 0.0,
        bodies: Sequence[str] | None = None,
        obstacles: Sequence[str] | None = None,
    ) -> list[str]:
        """What is wrong with this motion, in plain words, one line each; an empty list: nothing.

        Limits of joints (position, velocity, effort), and everything in the way that it comes nearer than
        `clearance_m` [m]; bodies and obstacles as in `clearance`.  What rests on something does not run into it.
        """
        model = where.model if isinstance(where, World) else where
        self.fit(model)
        found = self._beyond(self.q, model.upper, "goes to", "upper limit", model.q_index)
        found += self._beyond(-self.q, -model.lower, "goes to", "lower limit", model.q_index, sign=-1.0)
        found += self._beyond(np.abs(self.v), model.velocity_limit, "moves at", "velocity limit", model.v_index)
        if self.effort is not None:
            found += self._beyond(np.abs(self.effort), model.effort_limit, "needs", "effort limit", model.v_index)
        found += clearance(model, self.q, bodies, obstacles).told(self.time_s, clearance_m)
        return found

    def _beyond(
        self, values: Floats2, limit: Floats, does: str, what: str, columns: dict[str, slice], sign: float = 1.0
    ) -> list[str]:
        """A line for each joint with values (n, k) above a limit (k,)."""
        found = []
        for joint, part in columns.items():
            over = values[:, part] - limit[part]
            if over.size and over.max() > BEYOND:
                row, k = np.unravel_index(int(np.argmax(over)), over.shape)
                first = int(np.flatnonzero((over > BEYOND).any(axis=1))[0])
                worst, bound = sign * values[row, part.start + k], sign * limit[part.start + k]
                found.append(f"joint {joint!r} {does} {worst:.4g} at {self.time_s[row]:.4g} s, its {what} is "
                             f"{bound:.4g}; it is beyond that first at {self.time_s[first]:.4g} s")  # fmt: skip
        return found


def spline(x: Floats1, order: int) -> Floats1:
    """The quintic B-spline of unit knots, centred at zero and 6 wide, or one of its first derivatives, at x."""
    power, left = 5 - order, 3.0 - np.abs(x)  # its left half, mirrored: the other half of this sum only cancels
    terms = [(-1) ** k * comb(6, k) * np.maximum(left - k, 0.0) ** power for k in range(3)]
    return np.where(x > 0.0, (-1.0) ** order, 1.0) * np.sum(terms, axis=0) / factorial(power)


def _numbers(name: str, values: ArrayLike, dimensions: int) -> Floats:
    """A read-only float64 copy, or an error that names it."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TrajectoryError(f"{name} must be numbers in rows of equal length") from None
    if array.ndim != dimensions:
        raise TrajectoryError(f"{name} must have {dimensions} dimensions, got shape {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise TrajectoryError(f"{name} is not a finite number in row {row}")
    array.setflags(write=False)
    return array
