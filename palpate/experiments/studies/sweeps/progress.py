"""What is shown while a sweep runs: how far it is, the time left, and of every metric the mean and the worst."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from palpate.experiments.studies.sweeps.kept import Tally
from palpate.experiments.studies.sweeps.samples import Value
from palpate.experiments.studies.sweeps.task import DONE, Outcome
from palpate.printable import printable

TOLD = 20  # tasks that failed, hung or died are named as it happens; more of them are in the file
SHOWN = 12  # metrics
REDRAW_S = 0.2

Say = Callable[[str], None]


class Progress:
    """Hears of a sweep; on a terminal a table that lives, elsewhere a line for every tenth."""

    def __init__(self, console: Console, say: Say, varied: tuple[str, ...]) -> None:
        self.console, self.say, self.varied = console, say, varied
        self.told = self.tenths = 0
        self.drawn = time.monotonic()
        self.before = 0
        self.first_s = 0.0  # when the first outcome of this run came: what it took to start says nothing of the rest
        self.live: Live | None = None

    def __enter__(self) -> Progress:
        if self.console.is_terminal:
            self.live = Live(console=self.console, auto_refresh=False, transient=True)
            self.live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.__exit__(kind, error, trace)
            self.live = None

    def start(self, tally: Tally) -> None:
        """What was done in earlier runs is known now."""
        self.before = tally.count
        self.tenths = 10 * tally.count // max(tally.total, 1)
        if self.before:
            self.say(f"{self.before} of {tally.total} tasks are done already")

    def heard(self, outcome: Outcome) -> None:
        self.first_s = self.first_s or time.monotonic()
        if outcome.status == DONE:
            return
        self.told += 1
        if self.told <= TOLD:
            self.say(f"{outcome.status}: {shown(outcome.task.parameters, self.varied)}, seed {outcome.task.seed}: "
                     f"{outcome.error}")  # fmt: skip
        if self.told == TOLD:
            self.say("more that fail are not named here; results.jsonl has them all")

    def beat(self, tally: Tally) -> None:
        now = time.monotonic()
        if self.live is not None:
            if now - self.drawn > REDRAW_S:
                self.drawn = now
                self.live.update(Group(Text(self.line(tally)), summary(tally, self.varied)), refresh=True)
        elif 10 * tally.count // max(tally.total, 1) > self.tenths:
            self.tenths = 10 * tally.count // tally.total
            self.say(self.line(tally))

    def line(self, tally: Tally) -> str:
        """How far it is."""
        if (done := tally.count - self.before - 1) > 0:
            rate = done / max(time.monotonic() - self.first_s, 1e-3)
            pace = f"{rate:.3g}/s, {duration((tally.total - tally.count) / rate)} left"
        else:
            pace = "the first task is under way; it may have to compile"
        failed = f", {tally.failures} failed" if tally.failures else ""
        share = 100 * tally.count // max(tally.total, 1)
        return f"{share:3d} %  {tally.count} of {tally.total}{failed}, {pace}"


def summary(tally: Tally, varied: tuple[str, ...]) -> Table:
    """Mean and worst of each metric."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("")
    table.add_column("mean", justify="right")
    table.add_column("worst", justify="right")
    table.add_column("of", overflow="fold")
    for name, metric in list(tally.metrics.items())[:SHOWN]:
        of = shown(metric.worst[-1][3], varied) if metric.worst else ""
        table.add_row(Text(printable(name)), f"{metric.mean:.4g}", f"{metric.worst_value:.4g}", Text(of))
    if len(tally.metrics) > SHOWN:
        table.add_row(f"and {len(tally.metrics) - SHOWN} more", "", "", "")
    return table


def shown(parameters: Mapping[str, Value], varied: tuple[str, ...]) -> str:
    """Those that vary, in one line."""
    words = (f"{n}={_short(v)}" for n, v in parameters.items() if n in varied or not varied)
    return printable(", ".join(words)) or "no parameters"


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """In words that are short."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"
