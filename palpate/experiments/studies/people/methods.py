"""Which stimulus comes next: methods of psychophysics, each for many runs at once.

A run is one participant in one condition; a bootstrap is a thousand of them, answered by the function that was fitted.
Levels are places in a grid (k,), increasing.

    constant    every level so many times, in random order
    staircase   `down` hits in a row: one step down; a miss: `up` steps up.  down = 2, up = 1 is the transformed rule, 1
                up 2 down, which settles where 71 % are hits [1]; down = 1 with `up` is the weighted rule, which settles
                at up / (up + 1) [2].  Steps are `first` times as long until the second reversal
    quest       the level whose answer is expected to tell the most, by a posterior over thresholds and widths [3]

[1] Levitt: Transformed up-down methods in psychoacoustics.  J. Acoust. Soc. Am. 49, 1971.
[2] Kaernbach: Simple adaptive testing with the weighted up-down method.  Perception & Psychophysics 49, 1991.
[3] Watson, Pelli: QUEST.  Perception & Psychophysics 33, 1983; Kontsevich, Tyler, Vision Research 39, 1999.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from palpate.experiments.studies.people.psychometric import Psychometric
from palpate.model.model import Floats, Ints1


class Run(Protocol):
    """n runs under way: `next` says which levels (n,), `take` what was answered."""

    def next(self) -> Ints1: ...

    def take(self, at: Ints1, hit: np.ndarray) -> None: ...


class Method(Protocol):
    """How many trials there are, and n runs from their beginning."""

    @property
    def trials(self) -> int: ...

    def begin(self, n: int, random: np.random.Generator) -> Run: ...


# ---- constant stimuli


@dataclass(frozen=True)
class Constant:
    levels: int
    repeats: int

    @property
    def trials(self) -> int:
        return self.levels * self.repeats

    def begin(self, n: int, random: np.random.Generator) -> Run:
        """Each block of `levels` trials has every level once, so that tiring meets them all alike."""
        blocks = [random.permuted(np.tile(np.arange(self.levels), (n, 1)), axis=1) for _ in range(self.repeats)]
        return ConstantRun(np.concatenate(blocks, axis=1))


@dataclass
class ConstantRun:
    order: np.ndarray  # (n, trials)
    done: int = 0

    def next(self) -> Ints1:
        return self.order[:, self.done]

    def take(self, at: Ints1, hit: np.ndarray) -> None:
        self.done += 1


# ---- staircases


@dataclass(frozen=True)
class Staircase:
    """starts: places of the levels at which staircases begin; several are interleaved at random."""

    levels: int
    trials: int
    starts: Sequence[int]
    down: int = 2
    up: int = 1
    first: int = 4

    @property
    def settles_at(self) -> float:
        """The share of hits to which it leads: p^down up = 1 - p^down."""
        return float((self.up / (self.up + 1.0)) ** (1.0 / self.down))

    def begin(self, n: int, random: np.random.Generator) -> Run:
        m = len(self.starts)
        rounds = -(-self.trials // m)
        turns = np.concatenate([random.permuted(np.tile(np.arange(m), (n, 1)), axis=1) for _ in range(rounds)], axis=1)
        return StaircaseRun(self, turns, np.tile(np.asarray(self.starts), (n, 1)))


@dataclass
class StaircaseRun:
    """All (n, m): of each run, m staircases."""

    how: Staircase
    turns: np.ndarray  # (n, trials) whose turn it is
    at: np.ndarray
    done: int = 0
    row: np.ndarray = field(init=False)  # hits in a row
    way: np.ndarray = field(init=False)  # of the last step: -1, +1; 0: none yet
    reversals: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.row, self.way, self.reversals = (np.zeros(self.at.shape, dtype=np.int64) for _ in range(3))

    def next(self) -> Ints1:
        return self.at[np.arange(len(self.at)), self.turns[:, self.done]]

    def take(self, at: Ints1, hit: np.ndarray) -> None:
        who = (np.arange(len(self.at)), self.turns[:, self.done])
        row = np.where(hit, self.row[who] + 1, 0)
        falls, rises = row >= self.how.down, ~hit
        way = np.where(falls, -1, np.where(rises, 1, 0))
        before = self.way[who]
        turned = (way != 0) & (before != 0) & (way != before)
        self.reversals[who] += turned
        size = np.where(self.reversals[who] < 2, self.how.first, 1) * np.where(rises, self.how.up, 1)
        self.at[who] = np.clip(self.at[who] + way * size, 0, self.how.levels - 1)
        self.way[who] = np.where(way != 0, way, before)
        self.row[who] = np.where(falls, 0, row)
        self.done += 1


# ---- the Bayesian one


THRESHOLDS, WIDTHS = 31, 5  # of the grid of hypotheses
NARROW, WIDE = 1.0 / 40.0, 1.0 / 3.0  # widths that are thought possible, over the span of the levels


@dataclass(frozen=True)
class Quest:
    function: Psychometric
    trials: int

    def begin(self, n: int, random: np.random.Generator) -> Run:
        return QuestRun(self.function, n)


class QuestRun:
    """log_p (n, h): of each hypothesis, a threshold with a width."""

    def __init__(self, function: Psychometric, n: int) -> None:
        u, span = function.u, function.span
        mu = np.repeat(np.linspace(u[0], u[-1], THRESHOLDS), WIDTHS)
        s = np.tile(span * np.geomspace(NARROW, WIDE, WIDTHS), THRESHOLDS)
        psi = function.probability(mu, s)  # (h, k)
        self._psi, self._entropy = psi, entropy(psi)
        self._log = np.stack([np.log1p(-psi.T), np.log(psi.T)])  # (2, k, h)
        self._log_p = np.zeros((n, len(mu)))

    def next(self) -> Ints1:
        """The level at which an answer tells the most: entropy of the answer, less that of each hypothesis' own."""
        p = np.exp(self._log_p - self._log_p.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return np.argmax(entropy(p @ self._psi) - p @ self._entropy, axis=1)

    def take(self, at: Ints1, hit: np.ndarray) -> None:
        self._log_p += self._log[hit.astype(np.int64), at]


def entropy(p: Floats) -> Floats:
    """Of an answer that is a hit so often [nat]."""
    return -(p * np.log(p) + (1.0 - p) * np.log1p(-p))


# ---- whole runs


def simulate(method: Method, probability: Floats, n: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Hits and trials (n, k) of n runs, answered as often as `probability` (k,) or (n, k) says."""
    probability = np.broadcast_to(np.atleast_2d(probability), (n, np.shape(probability)[-1]))
    hits, trials, rows = np.zeros(probability.shape), np.zeros(probability.shape), np.arange(n)
    run = method.begin(n, random)
    for _ in range(method.trials):
        at = run.next()
        hit = random.random(n) < probability[rows, at]
        run.take(at, hit)
        trials[rows, at] += 1.0
        hits[rows, at] += hit
    return hits, trials
