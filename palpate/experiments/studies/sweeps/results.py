"""Outcomes in a file: a line of JSON for each, appended as they come; and the table of all of them.

A line is whole or, after a power cut, the last one: it is cut off, and its task done again.  A line in between that
cannot be read is left out likewise.  A key is there once: tasks that are tried again lose their line first.  Numbers
that JSON has no word for are "nan", "inf" and "-inf".
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from palpate.experiments.studies.sweeps.plan import Plan, Task
from palpate.experiments.studies.sweeps.task import Outcome
from palpate.whole_files import written_whole

try:
    import fcntl
except ImportError:  # Windows: nobody is kept from starting the same sweep twice
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

FILE, PARQUET = "results.jsonl", "results.parquet"
SYNC_S = 1.0  # how much a power cut may cost
COLUMNS = ("task", "repeat", "seed", "status", "took_s", "error", "key")  # of the table, beside parameters and metrics


def line_of(outcome: Outcome) -> str:
    """Of the file."""
    task = outcome.task
    return json.dumps({
        "key": task.key, "task": task.number, "parameters": {n: _written(v) for n, v in task.parameters.items()},
        "repeat": task.repeat, "seed": task.seed, "status": outcome.status,
        "metrics": {n: _written(v) for n, v in outcome.metrics.items()}, "error": outcome.error,
        "took_s": round(outcome.seconds, 6),
    }) + "\n"  # fmt: skip


def outcome_of(line: str | bytes) -> Outcome:
    """What a line says; a ValueError if it says nothing."""
    try:
        r = json.loads(line)
        task = Task(r["task"], r["key"], r["parameters"], r["repeat"], r["seed"])
        metrics = {name: float(value) for name, value in r["metrics"].items()}
        return Outcome(task, r["status"], metrics, r["error"], r["took_s"])
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise ValueError(f"no outcome: {error}") from None


def _written(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def read(path: Path) -> Iterator[Outcome]:
    """Every outcome of a file, as they were written; nothing if there is no such file."""
    if not path.exists():
        return
    with open(path, "rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                try:
                    outcome = outcome_of(line)
                except ValueError:
                    continue
                yield outcome


class Results:
    """The file of a sweep, open to append to; one process at a time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE
        self._open()

    def _open(self) -> None:
        self._file = open(self.path, "ab")  # noqa: SIM115
        try:
            if HAS_LOCKS:
                _lock(self._file.fileno(), self.path)
            self._cut()
        except BaseException:
            self._file.close()
            raise
        self._synced = time.monotonic()

    def _cut(self) -> None:
        """Half a line at the end goes."""
        size = self.path.stat().st_size
        with open(self.path, "rb") as file:
            whole = size
            while whole > 0:  # backwards in blocks, to the last end of a line
                begin = max(0, whole - 65536)
                file.seek(begin)
                found = file.read(whole - begin).rfind(b"\n")
                if found >= 0:
                    whole = begin + found + 1
                    break
                whole = begin
        if whole < size:
            os.truncate(self.path, whole)

    def append(self, outcomes: Iterable[Outcome]) -> None:
        """Lines of these outcomes, safe from the end of this process; at most a second later from that of the power."""
        self._file.write("".join(map(line_of, outcomes)).encode())
        self._file.flush()
        if time.monotonic() - self._synced > SYNC_S:
            self.sync()

    def sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def drop(self, unwanted: Callable[[Outcome], bool]) -> None:
        """Without the lines of these outcomes from now on; the file is the old one or the new one, whatever happens."""
        with written_whole(self.path, "wb") as file:
            for outcome in read(self.path):
                if not unwanted(outcome):
                    file.write(line_of(outcome).encode())
        self._file.close()
        self._open()

    def close(self) -> None:
        self.sync()
        self._file.close()

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _lock(fd: int, path: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"{path} is being written by another sweep; wait for it, or choose another --out") from None
    except OSError:  # a file system without locks
        return


# ---- the table


def table(plan: Plan, path: Path) -> dict[str, np.ndarray]:
    """Columns (n,) of every outcome of the plan's tasks, in their order: parameters, metrics, and COLUMNS.

    A metric that a task does not have is NaN.  Tasks that have not been run are left out.
    """
    return columns(plan, read(path))


def columns(plan: Plan, outcomes: Iterable[Outcome]) -> dict[str, np.ndarray]:
    """The table of these outcomes; others than the plan's are left out."""
    index: dict[str, int] = {}
    for task in plan.tasks():
        index.setdefault(task.key, task.number)
    lists: dict[str, list[Any]] = {name: [] for name in (*plan.parameters, *COLUMNS)}
    metrics: dict[str, list[float]] = {}
    count = 0
    for outcome in outcomes:
        task = outcome.task
        if (at := index.pop(task.key, None)) is None:
            continue
        rest = (at, task.repeat, task.seed, outcome.status, outcome.seconds, outcome.error, task.key)
        for name, value in (task.parameters | dict(zip(COLUMNS, rest, strict=True))).items():
            lists[name].append(value)
        for name in outcome.metrics:
            if name not in metrics:
                metrics[name] = [math.nan] * count
        for name, values in metrics.items():
            values.append(outcome.metrics.get(name, math.nan))
        count += 1
    order = np.argsort(np.array(lists["task"], int), kind="stable")
    found = {name: _array(lists[name]) for name in (*plan.parameters, *COLUMNS[:5])}
    found |= {name: np.array(values, float) for name, values in metrics.items()}
    found |= {name: _array(lists[name]) for name in COLUMNS[5:]}
    return {name: column[order] for name, column in found.items()}


def _array(values: list[Any]) -> np.ndarray:
    """Numbers, words or switches; what is mixed stays as it is."""
    numbers = all(isinstance(v, float | int) and not isinstance(v, bool) for v in values)
    if numbers or len(set(map(type, values))) <= 1:
        return np.array(values)
    return np.array(values, object)


def write_parquet(columns: Mapping[str, np.ndarray], path: Path) -> bool:
    """The table as Parquet; False, and nothing, without pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return False
    plain = {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}
    with written_whole(path, "wb") as file:
        pyarrow.parquet.write_table(pyarrow.table(plain), file)
    return True
