"""Lines of a tool: straight between places, minimum jerk along each, and the postures that follow them.

Place i is (R_i, P_i), line i leads to it from the one before, begins at b_i and takes T_i; s minimum jerk (timing.py):

    p(t) = P_0 + sum_i (P_i - P_i-1) s_i(t)              s_i(t) = s((t - b_i)/T_i), 0 before and 1 after
    R(t) = R_0 prod_i exp(s_i(t) log(R_i-1^T R_i))       the shorter way round

While one line alone is on its way the tool is on a straight line.  Where the next begins before the one before has
ended, both add up: a rounded corner, with continuous acceleration.  (Flash & Henis 1991 found that hands do so.)

Between the times at which lines begin and end, the pose is smooth.  Such a stretch is solved by inverse kinematics at
equal steps, a few of them beyond its ends, where the polynomials simply go on; in between postures are those of the
polynomial of degree 5 through the six nearest, and so are their derivatives.

An arm with more joints than a pose needs takes the shortest step from each posture to the next.  That depends a little
on the length of the steps, so that where two stretches meet its accelerations agree to a percent or so only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from palpate.control.plans.rates import aligned
from palpate.control.plans.timing import minimum_jerk
from palpate.dynamics.facade import InverseKinematics, inverse_kinematics
from palpate.model.model import Floats, Floats1, Floats2, Model
from palpate.spatial.placement import Rotation, Transform

STEPS, MARGIN = 400, 3  # steps of a stretch; steps beyond each of its ends
TOLERANCE, ACCEPTED = 1e-12, 1e-9  # of the pose [rad and m]: sought, and good enough where rounding stops earlier
AT_LIMIT = 1e-9  # [rad or m]
NODES = np.arange(-2, 4)  # the six nearest steps
FIT = np.linalg.inv(np.vander(NODES, increasing=True).astype(float))  # values there -> coefficients


class PlanError(ValueError):
    """A motion that cannot be followed; the message says where it leaves the workspace, and why."""


@dataclass(frozen=True, eq=False)
class PosePath:
    """Places, and when each line between them begins and how long it takes, in any unit of time."""

    places: tuple[Transform, ...]  # n + 1
    begin: Floats1  # (n,)
    duration: Floats1  # (n,)

    @property
    def total(self) -> float:
        return float((self.begin + self.duration).max())

    def stretches(self) -> list[tuple[float, float]]:
        """From one beginning or end of a line to the next."""
        times = np.unique(np.concatenate([self.begin, self.begin + self.duration]))
        times = times[np.concatenate([[True], np.diff(times) > 1e-9 * self.total])]
        return list(zip(times[:-1].tolist(), [*times[1:-1].tolist(), self.total], strict=True))

    def progress(self, t: Floats1, stretch: tuple[float, float]) -> Floats2:
        """s_i(t) (m, n) at times t (m,), as polynomials beyond the ends of the stretch too."""
        middle = 0.5 * (stretch[0] + stretch[1])
        s = minimum_jerk((t[:, None] - self.begin) / self.duration)[0]
        return np.where(middle < self.begin, 0.0, np.where(middle > self.begin + self.duration, 1.0, s))

    @cached_property
    def moves(self) -> tuple[Floats2, Floats2]:
        """P_i - P_i-1 [m] and log(R_i-1^T R_i) [rad] of the lines, (n, 3) each."""
        pairs = list(pairwise(self.places))
        return np.array([np.subtract(b.p, a.p) for a, b in pairs]), np.array(
            [(a.R.inv() @ b.R).log() for a, b in pairs]
        )

    def pose(self, progress: Floats1) -> Transform:
        """Where the tool is when the lines have come this far (n,)."""
        shift, turn = self.moves
        R = self.places[0].R
        for s, angle in zip(progress, turn, strict=True):
            if s != 0.0 and angle.any():
                R = R @ Rotation.exp(s * angle)
        return Transform(R, tuple(self.places[0].p + progress @ shift))


@dataclass(frozen=True, eq=False)
class Stretch:
    """Postures (STEPS + 1 + 2 MARGIN, nq) at equal steps of [begin, end], MARGIN of them beyond each end."""

    begin: float
    end: float
    postures: Floats2

    def at(self, t: Floats1) -> tuple[Floats2, Floats2, Floats2]:
        """q and its first two derivatives (m, nq) at times t (m,)."""
        step = (self.end - self.begin) / STEPS
        x = (t - self.begin) / step + MARGIN
        i = np.clip(np.floor(x).astype(int), 2, len(self.postures) - 4)
        u, zero, one = x - i, np.zeros(len(x)), np.ones(len(x))
        powers = np.stack([one, u, u**2, u**3, u**4, u**5], axis=1)
        first = np.stack([zero, one, 2 * u, 3 * u**2, 4 * u**3, 5 * u**4], axis=1)
        second = np.stack([zero, zero, 2 * one, 6 * u, 12 * u**2, 20 * u**3], axis=1)
        here = self.postures[i]
        around = self.postures[i[:, None] + NODES] - here[:, None]  # from here: what does not move has no rate at all
        q, dq, ddq = (np.einsum("mk,mkj->mj", w @ FIT, around) for w in (powers, first, second))
        return here + q, dq / step, ddq / step**2


class Followed:
    """A PosePath that a body follows: found once, in the path's own unit of time."""

    def __init__(self, model: Model, body: str | int, path: PosePath, seed: Sequence[float] | Floats) -> None:
        self.model, self.body, self.path = model, body, path
        self.stretches: list[Stretch] = []
        q = np.array(seed, dtype=float)
        for begin, end in path.stretches():
            steps = begin + (end - begin) / STEPS * np.arange(-MARGIN, STEPS + 1 + MARGIN, dtype=np.float64)
            before = self._solve(steps[MARGIN::-1], (begin, end), q)[::-1]  # to before its beginning first
            after = self._solve(steps[MARGIN:], (begin, end), before[-1])
            self.stretches.append(Stretch(begin, end, aligned(model, np.concatenate([before, after[1:]]))))
            q = after[STEPS]

    def _solve(self, times: Floats1, stretch: tuple[float, float], q: Floats) -> Floats2:
        found = []
        for progress in self.path.progress(times, stretch):
            q = self._posture(progress, q)
            found.append(q)
        return np.array(found)

    def _posture(self, progress: Floats1, q: Floats) -> Floats:
        place = self.path.pose(progress)
        fit = inverse_kinematics(self.model, self.body, place, q, tolerance=TOLERANCE)
        if not fit.converged and fit.error > ACCEPTED:
            raise PlanError(_why(self.model, fit, place, progress))
        return fit.q

    def at(self, t: Floats1, exact: bool = True) -> tuple[Floats2, Floats2, Floats2]:
        """q, dq/dt, d2q/dt2 (m, nq) at increasing times t (m,) from 0 to the end; `exact`: q not only interpolated."""
        which = np.searchsorted([s.end for s in self.stretches[:-1]], t, side="right")
        parts = [s.at(t[which == k]) for k, s in enumerate(self.stretches)]
        q, dq, ddq = (np.concatenate(each) for each in zip(*parts, strict=True))
        if exact:
            progress = [self.path.progress(t[which == k], (s.begin, s.end)) for k, s in enumerate(self.stretches)]
            for row, each in enumerate(np.concatenate(progress)):
                q[row] = self._posture(each, q[row])
        dq[[0, -1]] = ddq[[0, -1]] = 0.0  # minimum jerk begins and ends at rest; differences know it to rounding only
        return q, dq, ddq


def _why(model: Model, fit: InverseKinematics, place: Transform, progress: Floats1) -> str:
    """Where a tool cannot go, and the joint limit that is in the way if there is one."""
    line = int(np.flatnonzero(progress != 0.0)[-1]) if progress.any() else 0
    way = f"{100 * min(max(progress[line], 0.0), 1.0):.0f} % along"
    way += f" line {line + 1} of {len(progress)}" if len(progress) > 1 else " the way"
    where = [round(x, 4) for x in place.p]
    text = f"the line cannot be followed beyond {where} m, {way}: the nearest posture misses it by {fit.error:.2g}"
    for joint, rows in model.q_index.items():
        for n in range(rows.start, rows.stop):
            for limit, what in ((model.lower[n], "lower"), (model.upper[n], "upper")):
                if abs(fit.q[n] - limit) < AT_LIMIT:
                    text += f", joint {joint!r} at its {what} limit of {limit:.4g}"
    return text
