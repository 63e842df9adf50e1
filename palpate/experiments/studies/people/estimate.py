"""A threshold with its interval: a bootstrap that runs the whole method again.

What an adaptive method presents follows from what was answered, so its answers cannot be drawn again by themselves.
Instead: draw theta* near the fit, as far away as the information allows; let an observer with theta* do the method; fit
that.  How far such fits are from their theta* is how far ours may be from the truth: the interval is the estimate less
the quantiles of these errors.  That theta* is drawn, and not the fit itself, matters where little is known of the
width: with the fit's own, intervals of staircases are too narrow by a third.

Means have the bootstrap of the studentised mean: resampled, and each measured by its own deviation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from palpate.experiments.studies.people.methods import Method, simulate
from palpate.experiments.studies.people.psychometric import NARROWEST, WIDEST, Fitted, Psychometric
from palpate.model.model import Floats

CONFIDENCE, SAMPLES = 0.95, 400
LEAST = 6  # numbers whose mean has an interval: of fewer, samples that are all alike make it endless


class Estimate(NamedTuple):
    """A number, and the interval in which it is with the confidence that was asked for; nan: not known."""

    value: float
    low: float
    high: float


class Threshold(NamedTuple):
    """Of one run: theta, and what it means."""

    fitted: Fitted
    threshold: Estimate  # [unit of the levels] the level that is hit with probability `at`
    difference: Estimate  # just-noticeable one of a comparison [unit of the levels]
    slope: Estimate  # of psi in its middle [1 / unit of the scale]
    at: float


def threshold(
    function: Psychometric, method: Method, hits: Floats, trials: Floats, at: float, random: np.random.Generator,
    samples: int = SAMPLES, confidence: float = CONFIDENCE,
) -> Threshold:  # fmt: skip
    """The level that is hit with probability `at`, of hits and trials (k,) that `method` led to."""
    hits, trials = np.asarray(hits, dtype=float), np.asarray(trials, dtype=float)
    fitted = function.fit(hits, trials)
    drawn = _near(function, fitted, trials, samples, random)
    again = function.fit(*simulate(method, function.probability(*drawn), samples, random))

    def on_scale(of: Fitted) -> Floats:
        level = function.level_at(of, at)
        return np.log(level) if function.scale == "log" else level

    low, high = on_scale(fitted) - _quantile(on_scale(again) - on_scale(drawn), _ends(confidence)[::-1])
    if function.scale == "log":
        low, high = math.exp(low), math.exp(high)
    level = Estimate(float(function.level_at(fitted, at)[0]), float(low), float(high))
    jnd, slope = (
        Estimate(float(of(fitted)[0]), *map(float, _quantile(of(drawn), _ends(confidence))))
        for of in (function.difference, function.slope)
    )
    return Threshold(fitted, level, jnd, slope, at)


def _near(function: Psychometric, fitted: Fitted, trials: Floats, n: int, random: np.random.Generator) -> Fitted:
    """n thetas about the fit, as its information has it."""
    C = function.covariance(fitted, trials)[0]
    theta = np.array([fitted.mu[0], math.log(fitted.s[0])]) + random.normal(size=(n, 2)) @ np.linalg.cholesky(C).T
    eta = np.clip(theta[:, 1], math.log(NARROWEST * function.span), math.log(WIDEST * function.span))
    return Fitted(theta[:, 0], np.exp(eta))


def _quantile(values: Floats, shares: list[float]) -> Floats:
    """Below which another of these values is so often: of few of them, farther out than the share of the few."""
    return np.quantile(values, shares, method="weibull")


def _ends(confidence: float) -> list[float]:
    return [0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence]


# ---- means, and powers


def mean(values: Floats, random: np.random.Generator, samples: int = 2000, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of values (n,), by the studentised bootstrap; of fewer than LEAST no interval is known."""
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x)]
    n = len(x)
    if n < LEAST:
        return Estimate(float(x.mean()) if n else math.nan, math.nan, math.nan)
    drawn = x[random.integers(n, size=(samples, n))]
    error, middle = drawn.std(axis=1, ddof=1), float(x.mean())
    told = error > 0.0
    if not told.any():
        return Estimate(middle, middle, middle)
    t = _quantile((drawn.mean(axis=1)[told] - middle) / error[told], _ends(confidence)[::-1])
    low, high = middle - t * x.std(ddof=1)
    return Estimate(middle, float(low), float(high))


def exponent(
    levels: Floats, numbers: Floats, random: np.random.Generator, samples: int = 2000, confidence: float = CONFIDENCE
) -> tuple[Estimate, float]:
    """Stevens' exponent of magnitude estimates, and its factor: ln number = ln factor + exponent ln level + noise.

    The bootstrap draws residuals, each as large as if it had not pulled the line towards itself.
    """
    x, y = np.log(np.asarray(levels, dtype=float)), np.log(np.asarray(numbers, dtype=float))
    n, off = len(x), x - x.mean()
    across = float(off @ off)
    if n < 4 or across == 0.0:
        return Estimate(math.nan, math.nan, math.nan), math.nan
    b = float(off @ y) / across
    residual = y - y.mean() - b * off
    spread = math.sqrt(float(residual @ residual) / (n - 2))
    leverage = 1.0 / n + off * off / across
    fair = residual / np.sqrt(1.0 - leverage)
    noise = (fair - fair.mean())[random.integers(n, size=(samples, n))]
    slopes = noise @ off / across
    left = noise - noise.mean(axis=1, keepdims=True) - slopes[:, None] * off
    spreads = np.sqrt((left * left).sum(axis=1) / (n - 2))
    t = _quantile(slopes[spreads > 0] / spreads[spreads > 0], _ends(confidence)[::-1]) if spread > 0 else np.zeros(2)
    low, high = b - t * spread
    return Estimate(b, float(low), float(high)), math.exp(float(y.mean()) - b * float(x.mean()))
