"""What a sweep does: a TOML file, or the same as a dictionary, checked; and its tasks, one by one.

    function = "walls.py:bounce"      # or a module's, "package.module:function"; or experiment = "z-width"
    repeats = 3                       # of every point, each with a seed of its own, derived from
    seed = 1                          # or instead of both: seeds = [1, 2, 3], the same ones everywhere
    timeout_s = 60.0                  # a task that takes longer hangs
    version = "2"                     # change it when the function has changed: all tasks are new then
    worst = { rms_N = "largest" }     # which end of a metric is bad, for the table and for what is kept

    [fixed]                           # parameters that do not vary
    [grid]                            # every combination of lists of values, or { from, to, count, log }
    [[list]]                          # rows as they are
    [random]                          # samples = n, and for each parameter [low, high] or { low, high, log, whole }
    [latin]                           # likewise, a Latin hypercube;  { choices = [...] } in both
    [keep]                            # recordings: worst = n (of each metric above), failures = true, every = n
    [report]                          # figures: metrics, x, y, by, kind

Where there are several of grid, list, random and latin, every combination of them is taken.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from palpate import __version__
from palpate.experiments.studies.sweeps import samples
from palpate.experiments.studies.sweeps.keys import canonical, task_key, task_seed
from palpate.experiments.studies.sweeps.samples import Factor, Value
from palpate.experiments.studies.toml_tables import SWEPT, Table

OVER = ("grid", "list", "random", "latin")
WORDS = ("experiment", "function", "repeats", "seed", "seeds", "timeout_s", "version", "worst", "fixed", "keep",
         "report", *OVER)  # fmt: skip
KEEP = ("worst", "failures", "every")
KINDS = ("lines", "heat", "scatter", "distribution")
REPORT = ("metrics", "x", "y", "by", "kind")
ENDS = ("largest", "smallest")
# columns of the table, and where to write
RESERVED = ("task", "key", "repeat", "seed", "status", "took_s", "error", "folder")
TIMEOUT_S = 3600.0


class Task(NamedTuple):
    """One call of the function."""

    number: int  # among all of the plan's
    key: str
    parameters: dict[str, Value]
    repeat: int
    seed: int


@dataclass(frozen=True)
class Keep:
    """Whose recordings stay."""

    worst: int = 0
    failures: bool = False
    every: int = 0

    @property
    def anything(self) -> bool:
        return bool(self.worst or self.failures or self.every)


@dataclass(frozen=True)
class Drawn:
    """What figures show; empty: what suits the plan."""

    metrics: tuple[str, ...] = ()
    x: str = ""
    y: str = ""
    by: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Plan:
    """A sweep that was checked; `tasks` makes its tasks as they are needed."""

    name: str
    function: str  # "experiment NAME", "module:function" or "file.py:function"
    factors: tuple[Factor, ...]
    fixed: dict[str, Value] = field(default_factory=dict)
    repeats: int = 1
    seed: int = 0
    seeds: tuple[int, ...] = ()
    timeout_s: float = TIMEOUT_S
    version: str = ""
    worst: dict[str, str] = field(default_factory=dict)
    keep: Keep = Keep()
    drawn: Drawn = Drawn()
    folder: Path = Path()  # what a file is found from

    @cached_property
    def points(self) -> int:
        return math.prod(factor.size for factor in self.factors)

    @property
    def count(self) -> int:
        return self.points * self.repeats

    @property
    def varied(self) -> dict[str, list[Value]]:
        """Each parameter that varies, with its values in order of appearance."""
        columns = ((n, c) for factor in self.factors for n, c in zip(factor.names, factor.columns, strict=True))
        return {name: list(dict.fromkeys(column)) for name, column in columns}

    @property
    def parameters(self) -> tuple[str, ...]:
        return (*self.varied, *self.fixed)

    def point(self, i: int) -> dict[str, Value]:
        """Parameters of a point; the last factor varies fastest."""
        found = dict(self.fixed)
        below = self.points
        for factor in self.factors:
            below //= factor.size
            k, i = divmod(i, below)
            for name, column in zip(factor.names, factor.columns):
                found[name] = column[k]
        return found

    def task(self, number: int) -> Task:
        """One of `count`: the repeats of a point follow each other."""
        i, repeat = divmod(number, self.repeats)
        parameters = self.point(i)
        text = canonical(parameters)
        seed = self.seeds[repeat] if self.seeds else task_seed(self.seed, repeat, text)
        name = self.function.rpartition("/")[2]  # a folder may move
        key = task_key(name, text, seed, f"{__version__} {self.version}")
        return Task(number, key, parameters, repeat, seed)

    def tasks(self) -> Iterator[Task]:
        """Every task, made when it is asked for; samples of a few choices may bring the same one twice."""
        return map(self.task, range(self.count))


def read_plan(path: Path) -> Plan:
    """The plan of a TOML file; what is wrong is one line with the file's name."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; a sweep is a TOML file")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is no TOML: {error}") from None
    try:
        return make_plan(document, path.stem, path.parent)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def make_plan(document: Mapping[str, Any], name: str, folder: Path) -> Plan:
    """The plan that a document describes."""
    top = Table(document, "", SWEPT)
    top.only(WORDS, "a sweep")
    fixed = top.names("fixed")
    for parameter, value in fixed.items():
        samples.axis(parameter, [value])
    seeds = _seeds(document)
    repeats = len(seeds) or top.count("repeats", 1, 1)
    seed = top.count("seed", 0, 0)
    plan = Plan(
        name=name, function=_function(top), factors=_factors(top, seed), fixed=fixed, repeats=repeats,
        seed=seed, seeds=seeds, timeout_s=_timeout(top), version=top.written("version", ""),
        worst=_worst(top), keep=_keep(top), drawn=_drawn(top), folder=folder.absolute(),
    )  # fmt: skip
    _check_names(plan)
    samples.check_count(plan.count)
    return plan


def _check_names(plan: Plan) -> None:
    names = [*plan.fixed, *(name for factor in plan.factors for name in factor.names)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the parameter {name!r} is there twice")
        if name in RESERVED:
            hint = "; seeds are given by seed and repeats, or seeds" if name == "seed" else ""
            raise ValueError(f"no parameter may be called {name!r}{hint}")
    if not plan.factors and plan.repeats == 1:
        raise ValueError(f"nothing varies: give it one of {', '.join(OVER)}, or repeats")
    drawn = plan.drawn
    for what in ("x", "y", "by"):
        name = getattr(drawn, what)
        if name and name not in plan.varied:
            raise ValueError(f"report: {what} is {name!r}; what varies is {', '.join(plan.varied) or 'nothing'}")
    if plan.keep.worst and not plan.worst:
        raise ValueError('keep.worst needs to know of what: worst = { METRIC = "largest" }')


def _inside(top: Table, name: str) -> Table:
    """A table of it; its keys are called name.key."""
    return Table(top.names(name), f"{name}.", SWEPT)


def _function(top: Table) -> str:
    experiment, function = top.written("experiment", ""), top.written("function", "")
    if bool(experiment) == bool(function):
        raise ValueError('it needs either experiment = "NAME" or function = "module:function"')
    if experiment:
        return f"experiment {experiment}"
    module, colon, name = function.rpartition(":")
    if not (module and colon and name.isidentifier()):
        raise ValueError(f'function must be "module:function" or "file.py:function", got {function!r}')
    return function


def _factors(top: Table, seed: int) -> tuple[Factor, ...]:
    factors = [samples.axis(name, values) for name, values in top.names("grid").items()]
    if "list" in top.said:
        factors.append(samples.rows(top.said["list"]))
    for kind, draw in (("random", samples.random), ("latin", samples.latin)):
        if kind in top.said:
            ranges = _inside(top, kind)
            count = ranges.count("samples", None, 1)
            factors.append(draw(count, {name: spec for name, spec in ranges.said.items() if name != "samples"}, seed))
    return tuple(factors)


def _seeds(document: Mapping[str, Any]) -> tuple[int, ...]:
    seeds = document.get("seeds", [])
    whole = isinstance(seeds, list | tuple) and all(
        isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in seeds
    )
    if not whole or ("seeds" in document and not seeds) or len(set(seeds)) < len(seeds):
        raise ValueError("seeds must be a list of different whole numbers, 0 or more")
    if seeds and ("repeats" in document or "seed" in document):
        raise ValueError("give it either seeds, or seed and repeats")
    return tuple(seeds)


def _timeout(top: Table) -> float:
    timeout = top.said.get("timeout_s", TIMEOUT_S)
    if isinstance(timeout, bool) or not isinstance(timeout, float | int) or not 0.0 < timeout <= 1e7:
        raise top.wrong("timeout_s", "a time up to 1e7 s", timeout)
    return float(timeout)


def _worst(top: Table) -> dict[str, str]:
    worst = _inside(top, "worst")
    for metric, end in worst.said.items():
        if end not in ENDS:
            raise worst.wrong(metric, "'largest' or 'smallest'", end)
    return dict(worst.said)


def _keep(top: Table) -> Keep:
    keep = _inside(top, "keep")
    keep.only(KEEP, "keep")
    failures = keep.yes("failures", False)
    return Keep(keep.count("worst", 0, 0), failures, keep.count("every", 0, 0))


def _drawn(top: Table) -> Drawn:
    report = _inside(top, "report")
    report.only(REPORT, "report")
    metrics = report.said.get("metrics", [])
    if not isinstance(metrics, list) or not all(isinstance(m, str) for m in metrics):
        raise ValueError("report.metrics must be a list of names")
    kind = report.written("kind", "")
    if kind and kind not in KINDS:
        raise report.wrong("kind", f"one of {', '.join(KINDS)}", kind)
    x, y, by = (report.written(word, "") for word in ("x", "y", "by"))
    return Drawn(tuple(metrics), x, y, by, kind)
