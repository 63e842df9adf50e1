"""Where a sweep looks: values of an axis, rows of a list, random samples and Latin hypercubes.

A Latin hypercube of n samples has, of every parameter, exactly one sample in each of n intervals of equal probability
(McKay, Beckman and Conover 1979).  Every parameter draws from a generator of its own, made of the seed and its name: a
further one changes nothing in those that were there.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Value = float | int | str | bool
SCALARS = (float, int, str, bool)
MOST_TASKS = 10_000_000  # of a sweep


class Factor(NamedTuple):
    """Parameters that go together: n values each.  A sweep takes every combination of its factors."""

    names: tuple[str, ...]
    columns: tuple[Sequence[Value], ...]

    @property
    def size(self) -> int:
        return len(self.columns[0])


class Range(NamedTuple):
    """What a sample is drawn from: low .. high, evenly or evenly in its logarithm; or one of several."""

    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False
    choices: tuple[Value, ...] = ()

    def at(self, share: np.ndarray) -> list[Value]:
        """The values below which these shares (0 .. 1) of all lie."""
        if self.choices:
            return [self.choices[min(int(u * len(self.choices)), len(self.choices) - 1)] for u in share]
        if self.whole:
            return [int(x) for x in np.minimum(self.low + np.floor(share * (self.high - self.low + 1.0)), self.high)]
        if self.log:
            return [float(x) for x in np.exp(math.log(self.low) + share * math.log(self.high / self.low))]
        return [float(x) for x in self.low + share * (self.high - self.low)]


def check_count(count: int) -> None:
    """Before so many are made."""
    if count > MOST_TASKS:
        raise ValueError(f"{count} tasks are too many; {MOST_TASKS} can be")


def axis(name: str, values: Any) -> Factor:
    """Values as they are, or {from, to, count, log}: so many, evenly."""
    if isinstance(values, Mapping):
        values = _spread(name, values)
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
        raise ValueError(f"{name} must be a list of values, or {{from, to, count}}")
    return Factor((name,), ([_scalar(name, value) for value in values],))


def rows(table: Any) -> Factor:
    """Rows as they are; each has the same names."""
    if not isinstance(table, Sequence) or not table or not all(isinstance(row, Mapping) and row for row in table):
        raise ValueError("list must be tables with parameters in them: [[list]] for each")
    names = tuple(table[0])
    for k, row in enumerate(table):
        if set(row) != set(names):
            raise ValueError(f"list, row {k + 1} has {', '.join(row)}; the first has {', '.join(names)}")
    return Factor(names, tuple([_scalar(name, row[name]) for row in table] for name in names))


def random(count: int, ranges: Mapping[str, Any], seed: int) -> Factor:
    """Samples that know nothing of each other."""
    check_count(count)
    return _sampled(ranges, lambda name: _generator("random", name, seed).random(count))


def latin(count: int, ranges: Mapping[str, Any], seed: int) -> Factor:
    """A Latin hypercube."""
    check_count(count)

    def shares(name: str) -> np.ndarray:
        draw = _generator("latin", name, seed)
        return (draw.permutation(count) + draw.random(count)) / count

    return _sampled(ranges, shares)


def _sampled(ranges: Mapping[str, Any], shares: Any) -> Factor:
    if not ranges:
        raise ValueError("there is no parameter to sample")
    return Factor(tuple(ranges), tuple(_range(name, spec).at(shares(name)) for name, spec in ranges.items()))


def _generator(kind: str, name: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, zlib.crc32(f"{kind} {name}".encode())])


def _spread(name: str, spec: Mapping[str, Any]) -> list[float]:
    unknown = set(spec) - {"from", "to", "count", "log"}
    if unknown or not {"from", "to", "count"} <= set(spec):
        raise ValueError(f"{name} must be a list of values, or {{from, to, count}}, with log = true or without")
    low, high, count = _number(name, spec["from"]), _number(name, spec["to"]), spec["count"]
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ValueError(f"{name}: count must be a whole number from 1 on, got {count!r}")
    check_count(count)
    if spec.get("log"):
        if not (low > 0.0 and high > 0.0):
            raise ValueError(f"{name}: with log, from and to must be positive")
        return [float(x) for x in np.geomspace(low, high, count)]
    return [float(x) for x in np.linspace(low, high, count)]


def _range(name: str, spec: Any) -> Range:
    if isinstance(spec, Sequence) and not isinstance(spec, str) and len(spec) == 2:
        spec = {"low": spec[0], "high": spec[1]}
    if not isinstance(spec, Mapping) or set(spec) - set(Range._fields):
        raise ValueError(f"{name} must be [low, high], or {{low, high}} with log or whole, or {{choices}}")
    if "choices" in spec:
        if len(spec) > 1 or not isinstance(spec["choices"], Sequence) or not spec["choices"]:
            raise ValueError(f"{name}: choices must be a list of values, and stand alone")
        return Range(choices=tuple(_scalar(name, value) for value in spec["choices"]))
    if not {"low", "high"} <= set(spec):
        raise ValueError(f"{name} must have low and high, or choices")
    low, high = _number(name, spec["low"]), _number(name, spec["high"])
    if not low < high:
        raise ValueError(f"{name}: low must be below high, got {low:g} and {high:g}")
    if spec.get("log") and low <= 0.0:
        raise ValueError(f"{name}: with log, low must be positive")
    if spec.get("whole") and (low % 1.0 or high % 1.0 or spec.get("log")):
        raise ValueError(f"{name}: with whole, low and high must be whole numbers, without log")
    return Range(low, high, bool(spec.get("log")), bool(spec.get("whole")))


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, float | int) or not math.isfinite(value):
        raise ValueError(f"{name} needs finite numbers, got {value!r}")
    return float(value)


def _scalar(name: str, value: Any) -> Value:
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, SCALARS) or (isinstance(value, float) and math.isnan(value)):
        raise ValueError(f"{name} must have numbers, words, true or false as values, got {value!r}")
    return value
