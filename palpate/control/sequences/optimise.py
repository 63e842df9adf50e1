"""The shortest and smoothest way through given postures, within limits: durations and points between are free.

A curve goes through knots p_i, h_i [s] apart, by the quintic pieces of least squared jerk (quintic.py), at rest at its
stops.  Free are h and what the knots between fixed ones depend on, x.  Found is

    min  T/T0 + weight J/J0    with  g(q, v, a) <= 0 at samples of every piece,  J <= rougher J0,  T <= T0
    T = sum h,   J = sum over joints of integral jerk^2 dt,   T0, J0 of the given curve

by sequential quadratic programs: T exactly to second order in log h, J by Gauss and Newton (it is the sum of squares of
jerk's three Legendre coefficients on each piece), limits to first order by differences, all inside a box of trust.  A
step counts when it lowers  T/T0 + weight J/J0 + PENALTY max(0, g).  Every step is then hurried or slowed as a whole
until limits just hold, and the best one is kept: what is returned is within limits, and neither longer nor rougher
than what was given.  No chance is involved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from palpate.control.plans.quintic import PIECE, smoothest
from palpate.model.model import Floats, Floats1, Floats2

# Samples of a piece: while searching, to accept a step, and at the end.  With 100 a peak of acceleration between two
# of them is higher by less than 5e-4 of itself (quintic: a''/a = -36 at its peak, in units of the piece).
SEARCH, ACCEPT, LAST = 8, 16, 100
BACK_OFF = 5e-4  # relative to a limit that is kept free, so that it holds between samples as well
# The same while searching: what goes beyond a limit of place between the few samples is not mended by slowing down.
SEARCH_BACK_OFF = 0.02
SLOWEST = 64.0  # a motion this many times slower is at rest: what still exceeds a limit then exceeds it at any speed
SCALE_STEPS = 14  # bisections of a time scale: to 1e-4 of it
STEPS = 25  # at most, for each weight of jerk
FIRST_WEIGHT, LAST_WEIGHT = 0.1, 1e-3  # of jerk, where a search begins that may end rougher, and before its last
PENALTY = 10.0  # of the largest g; more than the multipliers of all limits together, which is about 1 in these units
NEAR = 0.6  # limits nearer than this, relative, are in the quadratic program: a step does not reach others
DIFFERENCE = 1e-6  # of a variable, for derivatives: seconds as logarithms, radians, metres
TRUST, LEAST_TRUST = 0.3, 2e-4  # of the logarithm of a duration, and of the room of x
QP_STEPS, QP_TOLERANCE = 50, 1e-10
GAIN = 1e-3  # relative; PATIENCE steps that gain less end the search
PATIENCE = 3

# values, rates and accelerations of a piece at u, from its coefficients (6,)
POWERS = np.arange(6)


class Infeasible(ValueError):
    """No duration keeps the limits; one line names the limit."""


class Motion(NamedTuple):
    """Samples of a curve: time [s], coordinates and rates (m, k), and the piece each belongs to (m,)."""

    time_s: Floats1
    q: Floats2
    v: Floats2
    a: Floats2
    piece: np.ndarray


class Measured(NamedTuple):
    """g (m, c): how far beyond its limit each quantity is, as a share of it; <= 0: within."""

    g: Floats2
    say: Callable[[int, int], str]  # of a sample and a column, in plain words

    @property
    def worst(self) -> float:
        return float(self.g.max(initial=-np.inf))

    @property
    def worst_said(self) -> str:
        return self.say(*(int(x) for x in np.unravel_index(int(np.argmax(self.g)), self.g.shape)))


Measure = Callable[[Motion], Measured]


@dataclass(frozen=True, eq=False)
class Curve:
    """Through p (n, k), h (n - 1,) [s] apart, at rest where stops (n,) says, as it does at both ends."""

    h: Floats1
    p: Floats2
    stops: np.ndarray

    @cached_property
    def coefficients(self) -> Floats:
        """(6, n - 1, k) of u^0 .. u^5 on each piece."""
        p, h = self.p, self.h
        v, a = np.zeros_like(p), np.zeros_like(p)
        at = np.flatnonzero(self.stops)
        knots = np.concatenate([[0.0], np.cumsum(h)])
        for i, j in pairwise(at):
            v[i : j + 1], a[i : j + 1] = smoothest(knots[i : j + 1], p[i : j + 1])
        w = h[:, None]
        ends = np.stack([p[:-1], w * v[:-1], w**2 * a[:-1], p[1:], w * v[1:], w**2 * a[1:]])
        return np.tensordot(PIECE, ends, axes=1)

    @property
    def seconds(self) -> float:
        return float(self.h.sum())

    @cached_property
    def jerk_parts(self) -> Floats:
        """(3, n - 1, k): the sum of their squares is the integral of squared jerk."""
        c3, c4, c5 = 6 * self.coefficients[3], 24 * self.coefficients[4], 60 * self.coefficients[5]
        parts = np.stack([c3 + c4 / 2 + c5 / 3, (c4 + c5) / (2 * np.sqrt(3.0)), c5 / (6 * np.sqrt(5.0))])
        return parts / self.h[:, None] ** 2.5

    @cached_property
    def jerk(self) -> float:
        """Integral of squared jerk, all joints [rad^2/s^5 or m^2/s^5]."""
        return float((self.jerk_parts**2).sum())

    def scaled(self, factor: float) -> Curve:
        """The same, this many times slower."""
        return replace(self, h=self.h * factor)

    def at(self, piece: np.ndarray, u: Floats1) -> tuple[Floats2, Floats2, Floats2]:
        """Coordinates and rates (m, k) at u in 0 .. 1 of pieces (m,)."""
        c, h = self.coefficients[:, piece], self.h[piece][:, None]
        powers = u[:, None] ** POWERS  # (m, 6)
        first = np.hstack([np.zeros((len(u), 1)), powers[:, :5] * POWERS[1:]])
        second = np.hstack([np.zeros((len(u), 2)), powers[:, :4] * (POWERS[2:] * POWERS[1:5])])
        q, v, a = (np.einsum("mj,jmk->mk", table, c) for table in (powers, first, second))
        return q, v / h, a / h**2

    def samples(self, per_piece: int) -> Motion:
        """So many of each piece from its beginning on, and the end."""
        n = len(self.h)
        piece = np.append(np.repeat(np.arange(n), per_piece), n - 1)
        u = np.append(np.tile(np.arange(per_piece) / per_piece, n), 1.0)
        knots = np.concatenate([[0.0], np.cumsum(self.h)])
        return Motion(knots[piece] + u * self.h[piece], *self.at(piece, u), piece)

    def rows(self, dt: float) -> Motion:
        """One sample per dt [s], from the beginning to the end, in the fewest ticks that last as long."""
        ticks = max(1, int(np.ceil(self.seconds / dt - 1e-9)))
        slower = self.scaled(ticks * dt / self.seconds)
        knots = np.concatenate([[0.0], np.cumsum(slower.h)])
        t: Floats1 = np.arange(ticks + 1, dtype=np.float64) * np.float64(dt)
        piece = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, len(self.h) - 1)
        u = np.clip((t - knots[piece]) / slower.h[piece], 0.0, 1.0)
        return Motion(t, *slower.at(piece, u), piece)


@dataclass(frozen=True, eq=False)
class Run:
    """What is free between two stops.

    given    the curve to be improved; it may stop more often
    knots    x (nx,) -> p (n, k); zeros: those of `given`
    room     (nx,) how far each of x may go
    measure  a motion against its limits
    """

    given: Curve
    knots: Callable[[Floats1], Floats2]
    room: Floats1
    measure: Measure

    def curve(self, variables: Floats1) -> Curve:
        """Of (log h, x)."""
        n = len(self.given.h)
        ends = np.zeros(n + 1, dtype=bool)
        ends[[0, -1]] = True
        return Curve(np.exp(variables[:n]), self.knots(variables[n:]), ends)


class Found(NamedTuple):
    """The best curve, the given one (slowed until it is within limits, `slowed` times), and what the search took."""

    best: Curve
    given: Curve
    slowed: float
    steps: int
    evaluations: int


def within(curve: Curve, measure: Measure, per_piece: int, least: float = 1e-3) -> float | None:
    """The smallest factor >= least, to 1e-4 of it, that scales a curve so that it keeps limits; None: none does."""

    def holds(factor: float) -> bool:
        return measure(curve.scaled(factor).samples(per_piece)).worst <= -BACK_OFF

    if holds(least):
        return least
    low, high = least, max(2.0 * least, 1.0)
    while not holds(high):
        if high >= SLOWEST:
            return None
        low, high = high, 2.0 * high
    for _ in range(SCALE_STEPS):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
        if high / low < 1.0 + 1e-4:
            break
    return float(high)


def slowed(given: Curve, measure: Measure) -> tuple[Curve, float]:
    """A curve as it is, or slowed just enough to be within limits; Infeasible if no speed is."""
    factor = within(given, measure, LAST, least=1.0)
    if factor is None:
        raise Infeasible(f"no duration is long enough: {measure(given.scaled(SLOWEST).samples(LAST)).worst_said}")
    return given.scaled(factor), factor


def quadratic_program(H: Floats2, c: Floats1, G: Floats2, b: Floats1) -> Floats1:
    """x with the least 1/2 x'Hx + c'x where G x <= b: a primal-dual interior point (Mehrotra 1992), H positive."""
    m, x = len(b), np.zeros(len(c))
    s = np.maximum(b, 1e-2)
    z = np.ones(m)
    for _ in range(QP_STEPS):
        dual, primal = H @ x + c + G.T @ z, G @ x + s - b
        mu = s @ z / m
        if max(mu, np.abs(dual).max(), np.abs(primal).max()) < QP_TOLERANCE or mu < QP_TOLERANCE**2:
            break
        K = H + G.T @ ((z / s)[:, None] * G)

        def solve(target: Floats1) -> tuple[Floats1, Floats1, Floats1]:
            """The step to s z = target."""
            dx: Floats1 = np.linalg.solve(K, -dual - G.T @ ((target - s * z + z * primal) / s)).astype(np.float64)  # noqa: B023
            ds = -primal - G @ dx  # noqa: B023
            return dx, ds, (target - s * z - z * ds) / s  # noqa: B023

        _, ds, dz = solve(np.zeros(m))
        length = min(_longest(s, ds), _longest(z, dz))
        ahead = (s + length * ds) @ (z + length * dz) / m
        dx, ds, dz = solve((ahead / mu) ** 3 * mu - ds * dz)
        # one length for all: with H, the slope depends on x and z together
        length = 0.99 * min(_longest(s, ds), _longest(z, dz))
        x, s, z = x + length * dx, s + length * ds, z + length * dz
    return x


def _longest(x: Floats1, dx: Floats1) -> float:
    """The largest step up to 1 that keeps x + step dx positive."""
    down = dx < 0.0
    return float(min(1.0, (-x[down] / dx[down]).min(initial=1.0)))


def elastic_step(H: Floats2, c: Floats1, G: Floats2, b: Floats1, trust: float) -> tuple[Floats1, float]:
    """d with |d| <= trust and the least 1/2 d'Hd + c'd + PENALTY t, where G d <= b + t, t >= 0; and t."""
    n = len(c)
    reachable = trust * np.abs(G).sum(axis=1) > b  # no step in the box reaches the others
    G, b = G[reachable], b[reachable]
    H1 = np.pad(H, (0, 1))
    H1[n, n] = 1e-6
    wall = np.hstack([np.eye(n), np.zeros((n, 1))])
    rows = np.vstack([np.hstack([G, -np.ones((len(b), 1))]), wall, -wall, -np.eye(n + 1)[n:]])
    found = quadratic_program(H1, np.append(c, PENALTY), rows, np.concatenate([b, np.full(2 * n, trust), [0.0]]))
    d = np.clip(found[:n], -trust, trust)
    return d, float(max(0.0, (G @ d - b).max(initial=0.0)))


def optimise(
    run: Run,
    *,
    rougher: float = 1.0,
    weight: float = 0.1,
    progress: Callable[[int, float, float], None] | None = None,
) -> Found:
    """The best way through a run.

    rougher   how many times more integrated squared jerk than the given curve is allowed; infinite: any
    weight    of jerk beside duration, both relative to the given curve
    progress  called with (step, duration [s] of the best so far, its jerk over the given one's)
    """
    if not rougher >= 1.0:
        raise ValueError(f"rougher must be at least 1, got {rougher}")
    if not (np.isfinite(weight) and weight >= 0.0):
        raise ValueError(f"weight must be finite and not negative, got {weight}")
    given, factor = slowed(run.given, run.measure)
    if given.jerk == 0.0:
        return Found(given, given, factor, 0, 0)
    search = _Search(run, given, rougher, weight, progress)
    # where jerk may rise, from the smooth side: a rough start gets stuck between limits
    stage = FIRST_WEIGHT
    while rougher > 1.0 and stage > 3.0 * weight and stage >= LAST_WEIGHT:
        search.descend(stage)
        stage *= 0.1
    search.descend(weight)
    best = search.best
    k = within(best, run.measure, LAST, least=1.0)  # what lies between the samples it was accepted by
    if k is None or best.scaled(k).seconds > given.seconds:
        best, k = given, 1.0
    return Found(best.scaled(k), given, factor, search.steps, search.evaluations)


class _Search:
    """Where a search is: variables (log h, x), and the best curve that is within limits."""

    def __init__(self, run: Run, given: Curve, rougher: float, weight: float,
                 progress: Callable[[int, float, float], None] | None) -> None:  # fmt: skip
        self.run, self.rougher, self.weight, self.progress = run, rougher, weight, progress
        self.T0, self.J0, self.n = given.seconds, given.jerk, len(given.h)
        self.best, self.best_cost, self.steps, self.evaluations = given, 1.0 + weight, 0, 0
        self.unit = np.concatenate([np.ones(self.n), run.room])  # the size of a step
        self.x = np.concatenate([np.log(given.h), np.zeros(len(run.room))])
        self.consider()

    def parts(self, x: Floats1) -> tuple[Floats1, Floats1]:
        """Jerk's parts and the root of the duration, as shares of the given curve's; and limits."""
        self.evaluations += 1
        curve, share = self.run.curve(x), x[self.n :] / self.run.room
        aim = np.append(curve.jerk_parts.ravel() / np.sqrt(self.J0), np.sqrt(curve.seconds / self.T0))
        # as logarithms, in which both are straight along a change of speed
        whole = np.log([max(curve.jerk / (self.rougher * self.J0), 1e-9) ** 0.2, curve.seconds / self.T0])
        limits = self.run.measure(curve.samples(SEARCH)).g.ravel() + SEARCH_BACK_OFF
        return aim, np.concatenate([limits, share - 1.0, -share - 1.0, whole])

    def consider(self) -> None:
        """Keep x, hurried or slowed until it is just within limits, if that is better than the best."""
        if (np.abs(self.x[self.n :]) > 1.01 * self.run.room).any():
            return
        curve, J0, T0 = self.run.curve(self.x), self.J0, self.T0
        # scaled by k it costs k T/T0 + weight J/J0 k^-5: least where both slopes are equal
        calm = (5.0 * self.weight * curve.jerk / J0 * T0 / curve.seconds) ** (1.0 / 6.0)
        least = max((curve.jerk / (self.rougher * J0)) ** 0.2, calm, 1e-3)
        k = within(curve, self.run.measure, ACCEPT, least * (1.0 + 1e-9))
        if k is None:
            return
        curve = curve.scaled(k)
        cost = curve.seconds / T0 + self.weight * curve.jerk / J0
        if cost < self.best_cost and curve.seconds <= T0 and curve.jerk <= self.rougher * J0:
            self.best, self.best_cost = curve, cost

    def derivatives(self, aim: Floats1, g: Floats1, near: np.ndarray) -> tuple[Floats2, Floats2]:
        """Of the aim, and of limits that are near, by differences; variables in their units."""
        A, G = np.empty((len(aim), len(self.x))), np.empty((int(near.sum()), len(self.x)))
        for j in range(len(self.x)):
            moved = self.x.copy()
            moved[j] += DIFFERENCE * self.unit[j]
            aim_j, g_j = self.parts(moved)
            A[:, j], G[:, j] = (aim_j - aim) / DIFFERENCE, (g_j[near] - g[near]) / DIFFERENCE
        return A, G

    def descend(self, weight: float) -> None:
        """Quadratic programs from x on, until nothing is gained any more."""

        def cost(aim: Floats1) -> float:
            return float(weight * aim[:-1] @ aim[:-1] + aim[-1] ** 2)

        def merit(aim: Floats1, g: Floats1) -> float:
            return cost(aim) + PENALTY * max(0.0, float(g.max()))

        aim, g = self.parts(self.x)
        trust, idle = TRUST, 0
        for _ in range(STEPS):
            near = g > -NEAR
            A, G = self.derivatives(aim, g, near)
            jerk = A[:-1]
            # the limit on J bends as J does, with a multiplier of about (J0/J)/5: T grows by a fifth of what J falls
            bend = max(weight, (0.2 if np.isfinite(self.rougher) else 0.02) / float(aim[:-1] @ aim[:-1]))
            # (sqrt T)^2 is T, but the square of its slope is not T's curvature: that of exp is
            curved = np.append(np.exp(self.x[: self.n]) / self.T0, np.zeros(len(self.run.room)))
            H = 2.0 * bend * jerk.T @ jerk + np.diag(curved + 1e-8)
            slope = 2.0 * (weight * jerk.T @ aim[:-1] + A[-1] * aim[-1])
            value, before = merit(aim, g), self.best_cost
            while trust > LEAST_TRUST:
                d, excess = elastic_step(H, slope, G, -g[near], trust)
                foreseen = value - (cost(aim) + slope @ d + 0.5 * d @ H @ d + PENALTY * excess)
                try:
                    aim_new, g_new = self.parts(self.x + self.unit * d)
                    got = value - merit(aim_new, g_new)
                except ValueError:  # knots that no posture reaches
                    got = -np.inf
                if got > max(0.1 * foreseen, 0.0):
                    break
                trust *= 0.4
            else:
                return
            trust = min(2.0 * trust, 1.0) if got > 0.7 * foreseen else trust
            self.x, aim, g, self.steps = self.x + self.unit * d, aim_new, g_new, self.steps + 1
            self.consider()
            if self.progress is not None:
                self.progress(self.steps, self.best.seconds, self.best.jerk / self.J0)
            idle = 0 if before - self.best_cost > GAIN * before else idle + 1
            if idle >= PATIENCE and got < GAIN:
                return
