"""What is known of a sweep while it runs: how many came to what, means, the worst; and whose recordings stay."""

from __future__ import annotations

import math
import shutil
from bisect import insort
from collections import Counter
from pathlib import Path

from palpate.experiments.studies.sweeps.plan import Plan
from palpate.experiments.studies.sweeps.samples import Value
from palpate.experiments.studies.sweeps.task import DONE, Outcome


class Metric:
    """Mean and worst of one number, of all tasks so far; keeps no more than the few worst."""

    def __init__(self, largest: bool, most: int) -> None:
        self.largest, self.most = largest, most
        self.count, self.mean = 0, math.nan
        self.worst: list[tuple[float, int, str, dict[str, Value]]] = []  # (badness, index, key, parameters), worst last

    def add(self, value: float, outcome: Outcome) -> None:
        if math.isnan(value):
            return
        self.count += 1
        self.mean = value if self.count == 1 else self.mean + (value - self.mean) / self.count
        task = outcome.task
        badness = value if self.largest else -value
        if len(self.worst) == self.most and badness <= self.worst[0][0]:
            return
        insort(self.worst, (badness, -task.number, task.key, task.parameters), key=lambda entry: entry[:2])
        del self.worst[: -self.most]

    @property
    def worst_value(self) -> float:
        return (self.worst[-1][0] if self.largest else -self.worst[-1][0]) if self.worst else math.nan


class Tally:
    """All outcomes so far, in a few numbers."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.total = 0  # different tasks of the plan; set when they are counted
        self.status: Counter[str] = Counter()
        self.metrics: dict[str, Metric] = {}

    @property
    def count(self) -> int:
        return self.status.total()

    @property
    def failures(self) -> int:
        return self.count - self.status[DONE]

    def add(self, outcome: Outcome) -> None:
        self.status[outcome.status] += 1
        for name, value in outcome.metrics.items():
            if name not in self.metrics:
                largest = self.plan.worst.get(name, "largest") == "largest"
                self.metrics[name] = Metric(largest, max(1, self.plan.keep.worst))
            self.metrics[name].add(value, outcome)


class Recordings:
    """The folders of tasks, of which only the chosen stay."""

    def __init__(self, plan: Plan, folder: Path, tally: Tally) -> None:
        self.plan, self.folder, self.tally = plan, folder, tally
        self._worst: set[str] = set()
        self._always: set[str] = set()

    def add(self, outcome: Outcome) -> None:
        """After the tally has heard of it."""
        keep, task = self.plan.keep, outcome.task
        if not keep.anything:
            return
        if (keep.failures and outcome.status != DONE) or (keep.every and task.number % keep.every == 0):
            self._always.add(task.key)
        worst = {entry[2] for name in self.plan.worst if name in self.tally.metrics
                 for entry in self.tally.metrics[name].worst} if keep.worst else set()  # fmt: skip
        for key in (self._worst | {task.key}) - worst - self._always:
            self._remove(key)
        self._worst = worst

    def tidy(self) -> None:
        """At a start: folders of tasks that were not finished, or not chosen."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in self._worst | self._always:
                self._remove(path.name)

    def _remove(self, key: str) -> None:
        shutil.rmtree(self.folder / key, ignore_errors=True)
