"""The psychometric function: how often a stimulus is felt, as its level grows; its fit, and how sure that is.

    psi(x) = gamma + (1 - gamma - lapse) F((u - mu) / s),    F(z) = 1 / (1 + exp(-z)),    u = x or ln x

gamma   hits by chance: 1/2 of two that are told apart, else as many as lapses
lapse   answers that have nothing to do with the stimulus
mu, s   where it is half way up, and how wide; theta = (mu, ln s)

The fit is that of the largest posterior by Fisher scoring: the prior is wide, and there for those who are always right,
whom no likelihood bounds.  All takes many data sets at once, one a row: a bootstrap is one call (estimate.py).

[1] Wichmann, Hill: The psychometric function I and II.  Perception & Psychophysics 63, 2001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from palpate.model.model import Floats

Scale = Literal["linear", "log"]
ROUNDS, HALVINGS, ENOUGH = 30, 6, 1e-7
MU_SPAN, WIDTH_LN = 1.0, 1.2  # deviations of the prior: of mu, over the span of the levels; of ln s
WIDTH = 1.0 / 8.0  # its middle for s, over the span
NARROWEST, WIDEST = 1e-3, 10.0  # s, over the span
GRID = (15, 9)  # of first guesses


class Fitted(NamedTuple):
    """theta of many data sets; all (n,)."""

    mu: Floats  # on the scale u
    s: Floats


@dataclass(frozen=True)
class Psychometric:
    """What is known before anybody answers: the levels (k,), increasing, and what chance does."""

    levels: Floats
    guess: float = 0.02  # gamma
    lapse: float = 0.02
    scale: Scale = "linear"

    def __post_init__(self) -> None:
        levels = np.asarray(self.levels, dtype=float)
        object.__setattr__(self, "levels", levels)
        if levels.ndim != 1 or len(levels) < 2 or not np.isfinite(levels).all() or not (np.diff(levels) > 0.0).all():
            raise ValueError("levels are two numbers or more, each larger than the one before")
        if self.scale == "log" and levels[0] <= 0.0:
            raise ValueError("a logarithmic scale needs levels above 0")
        if not (0.0 <= self.guess < 1.0 and 0.0 <= self.lapse < 0.5 and self.guess + self.lapse < 1.0):
            raise ValueError(f"guess {self.guess:g} and lapse {self.lapse:g} leave no room for a psychometric function")

    @property
    def u(self) -> Floats:
        """(k,) the levels on the scale."""
        return np.log(self.levels) if self.scale == "log" else self.levels

    @property
    def span(self) -> float:
        u = self.u
        return float(u[-1] - u[0])

    def probability(self, mu: Floats | float, s: Floats | float) -> Floats:
        """psi at all levels: (n, k) for n thetas."""
        z = (self.u - np.atleast_1d(mu)[:, None]) / np.atleast_1d(s)[:, None]
        return self.guess + (1.0 - self.guess - self.lapse) * logistic(z)

    def level_at(self, fitted: Fitted, p: float) -> Floats:
        """(n,) the stimulus that is hit so often; nan: none is."""
        share = (p - self.guess) / (1.0 - self.guess - self.lapse)
        if not 0.0 < share < 1.0:
            return np.full(np.shape(fitted.mu), math.nan)
        u = fitted.mu + fitted.s * math.log(share / (1.0 - share))
        return np.exp(u) if self.scale == "log" else u

    def difference(self, fitted: Fitted) -> Floats:
        """(n,) from the middle of F to its three quarters: the just-noticeable difference of a comparison."""
        return self._stimulus(fitted.mu + fitted.s * math.log(3.0)) - self._stimulus(fitted.mu)

    def slope(self, fitted: Fitted) -> Floats:
        """(n,) of psi in its middle, per unit of u."""
        return (1.0 - self.guess - self.lapse) / (4.0 * fitted.s)

    def _stimulus(self, u: Floats) -> Floats:
        return np.exp(u) if self.scale == "log" else u

    # ---- the fit

    def fit(self, hits: Floats, trials: Floats) -> Fitted:
        """The likeliest theta of n data sets, with the prior: hits and trials at each level, both (n, k)."""
        hits, trials = np.atleast_2d(np.asarray(hits, dtype=float)), np.atleast_2d(np.asarray(trials, dtype=float))
        theta = self._first_guess(hits, trials)
        best = self._posterior(theta, hits, trials)
        moving = np.arange(len(theta))  # rows that are not there yet: most are after a few rounds, a few take many
        for _ in range(ROUNDS):
            step = self._step(theta[moving], hits[moving], trials[moving])
            far = np.abs(step).max(axis=1) >= ENOUGH
            moving, step = moving[far], step[far]
            left = np.arange(len(moving))  # of these, rows that no step has made better
            for _ in range(HALVINGS):
                rows = moving[left]
                tried = self._bounded(theta[rows] + step[left])
                now = self._posterior(tried, hits[rows], trials[rows])
                better = now >= best[rows]
                theta[rows[better]], best[rows[better]] = tried[better], now[better]
                left = left[~better]
                if not len(left):
                    break
                step[left] *= 0.5
            moving = np.delete(moving, left)  # they are as good as they get
            if not len(moving):
                break
        return Fitted(theta[:, 0], np.exp(theta[:, 1]))

    def _first_guess(self, hits: Floats, trials: Floats) -> Floats:
        u = self.u
        mu = np.linspace(u[0] - 0.25 * self.span, u[-1] + 0.25 * self.span, GRID[0])
        eta = math.log(WIDTH * self.span) + np.linspace(-2.0, 2.0, GRID[1]) * WIDTH_LN
        grid = np.array([(m, e) for m in mu for e in eta])
        psi = self.probability(grid[:, 0], np.exp(grid[:, 1]))
        likelihood = hits @ np.log(psi).T + (trials - hits) @ np.log1p(-psi).T  # (n, grid)
        return grid[np.argmax(likelihood + self._prior(grid), axis=1)].copy()

    def _prior(self, theta: Floats) -> Floats:
        mu, eta = self._off_prior(theta)
        return -0.5 * (mu * mu + eta * eta)

    def _off_prior(self, theta: Floats) -> tuple[Floats, Floats]:
        """How many deviations theta is from what was expected."""
        u = self.u
        return (
            (theta[:, 0] - 0.5 * (u[0] + u[-1])) / (MU_SPAN * self.span),
            (theta[:, 1] - math.log(WIDTH * self.span)) / WIDTH_LN,
        )

    def _posterior(self, theta: Floats, hits: Floats, trials: Floats) -> Floats:
        psi = self.probability(theta[:, 0], np.exp(theta[:, 1]))
        return (hits * np.log(psi) + (trials - hits) * np.log1p(-psi)).sum(axis=1) + self._prior(theta)

    def _step(self, theta: Floats, hits: Floats, trials: Floats) -> Floats:
        """Fisher scoring: what the expected information makes of the slope of the posterior."""
        psi, d_mu, d_eta = self._slopes(theta)
        score = (hits - trials * psi) / (psi * (1.0 - psi))
        off_mu, off_eta = self._off_prior(theta)
        g_mu = (score * d_mu).sum(axis=1) - off_mu / (MU_SPAN * self.span)
        g_eta = (score * d_eta).sum(axis=1) - off_eta / WIDTH_LN
        C = self._covariance(theta, trials)
        step = np.stack([C[:, 0, 0] * g_mu + C[:, 0, 1] * g_eta, C[:, 0, 1] * g_mu + C[:, 1, 1] * g_eta], axis=1)
        most = np.array([0.5 * self.span, 1.0])
        return np.clip(step, -most, most)

    def covariance(self, fitted: Fitted, trials: Floats) -> Floats:
        """(n, 2, 2) of theta: the inverse of the expected information, the prior's with it."""
        return self._covariance(np.stack([fitted.mu, np.log(fitted.s)], axis=1), np.atleast_2d(trials))

    def _covariance(self, theta: Floats, trials: Floats) -> Floats:
        psi, d_mu, d_eta = self._slopes(theta)
        w = trials / (psi * (1.0 - psi))
        A = (w * d_mu * d_mu).sum(axis=1) + (MU_SPAN * self.span) ** -2
        B = (w * d_mu * d_eta).sum(axis=1)
        C = (w * d_eta * d_eta).sum(axis=1) + WIDTH_LN**-2
        return np.stack([C, -B, -B, A], axis=1).reshape(-1, 2, 2) / (A * C - B * B)[:, None, None]

    def _slopes(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """psi and its derivatives by mu and ln s, all (n, k)."""
        s = np.exp(theta[:, 1:])
        z = (self.u - theta[:, :1]) / s
        F, a = logistic(z), 1.0 - self.guess - self.lapse
        slope = a * F * (1.0 - F)
        return self.guess + a * F, -slope / s, -slope * z

    def _bounded(self, theta: Floats) -> Floats:
        theta[:, 1] = np.clip(theta[:, 1], math.log(NARROWEST * self.span), math.log(WIDEST * self.span))
        return theta


def logistic(z: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * z))  # which never overflows
