"""What a worker does: find the function, call it with each task of a chunk, and say what came of it.

Before each task the worker writes its key into a note of its own.  Whoever finds the note of a worker that has died
knows which task it was; and if the task hung, where: then Python's fault handler, which needs no help from the
interpreter, has written the stack below the key and ended the process.
"""

from __future__ import annotations

import faulthandler
import functools
import importlib
import importlib.util
import inspect
import io
import math
import numbers
import os
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from palpate.experiments.studies.sweeps.plan import Task

DONE, FAILED, HUNG, DIED = "done", "failed", "hung", "died"
LONGEST_ERROR = 500  # characters
TIMED_OUT = "Timeout ("  # the fault handler's first words
RESULT = "result"  # name of a number that comes alone


class Job(NamedTuple):
    """What all tasks of a sweep have in common; goes to the workers with every chunk."""

    function: str  # as in a plan; a file with its whole path
    path: tuple[str, ...]  # where modules are found, too
    timeout_s: float
    notes: str  # folder
    home: str  # host and process of the runner, which is never ended for a task that hangs
    recordings: str  # folder for what tasks record; empty: nothing of it is kept


class Outcome(NamedTuple):
    """What became of a task."""

    task: Task
    status: str
    metrics: dict[str, float]
    error: str
    seconds: float


class Function(NamedTuple):
    """What is called, and what of the runner's it takes."""

    call: Callable[..., Any]
    seed: bool
    folder: bool
    takes: frozenset[str] | None  # parameters; None: any
    needs: frozenset[str]


def run_chunk(job: Job, tasks: Sequence[Task]) -> list[Outcome]:
    """Run tasks one after the other; exceptions are outcomes."""
    for place in job.path:
        if place not in sys.path:
            sys.path.append(place)
    try:
        function = find_function(job.function)
    except ValueError as error:
        return [Outcome(task, FAILED, {}, " ".join(str(error).split()), 0.0) for task in tasks]
    with _watch(job) as watch:
        return [_run(job, function, task, watch) for task in tasks]


def _run(job: Job, function: Function, task: Task, watch: Watch | None) -> Outcome:
    began = time.perf_counter()
    metrics: dict[str, float] = {}
    status, error = DONE, ""
    if watch is not None:
        watch.begin(task, began)
    try:
        with _folder(job, function, task) as own, redirect_stdout(io.StringIO()):
            returned = function.call(**task.parameters, **own)
        metrics = measured(returned, task)
    except (Exception, SystemExit) as raised:
        status, error = FAILED, explained(raised)
    return Outcome(task, status, metrics, error, time.perf_counter() - began)


GIVEN: dict[str, Callable[..., Any]] = {}  # functions that this process has been given: not to be imported again


def find_function(spec: str) -> Function:
    """The function of a plan; a ValueError in one line if there is none."""
    return described(GIVEN[spec]) if spec in GIVEN else _imported(spec)


@functools.cache
def _imported(spec: str) -> Function:
    kind, _, name = spec.partition(" ")
    if kind == "experiment" and name:
        return _experiment(name)
    module, _, name = spec.rpartition(":")
    try:
        found = getattr(_module(module), name, None)
    except ImportError as error:
        raise ValueError(f"{spec} cannot be imported: {error}") from None
    except (Exception, SystemExit) as error:
        raise ValueError(f"{spec} cannot be imported: {explained(error)}") from error
    if not callable(found):
        raise ValueError(f"{module} has no function {name!r}")
    return described(found)


def described(call: Callable[..., Any]) -> Function:
    """By its signature: who takes no seed gets none."""
    given = inspect.signature(call).parameters.values()
    named = {p.name for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    anything = any(p.kind == p.VAR_KEYWORD for p in given)
    needs = {p.name for p in given if p.name in named and p.default is p.empty} - {"seed", "folder"}
    return Function(call, anything or "seed" in named, "folder" in named,
                    None if anything else frozenset(named - {"seed", "folder"}), frozenset(needs))  # fmt: skip


def _experiment(name: str) -> Function:
    from palpate import registry
    from palpate.experiments import EXPERIMENTS
    from palpate.experiments.report import run

    takes = frozenset(getattr(registry.find(EXPERIMENTS, "experiments", name), "options", ()))

    def call(folder: str, seed: int | None = None, **options: float | str) -> dict[str, float]:
        """Claims by their names, and those of its values that are numbers."""
        report = run(name, Path(folder), lambda line: None, **(options if seed is None else options | {"seed": seed}))
        values = {n: float(v) for n, v in report.values.items()
                  if isinstance(v, numbers.Real) and n not in options and n != "seed"}  # fmt: skip
        return values | {claim.name: claim.value for claim in report.claims} | {"passed": float(report.passed)}

    return Function(call, "seed" in takes, True, takes - {"seed"}, frozenset())


def _module(name: str) -> Any:
    """A module by its name, or from a file, as a module of its own."""
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name)
    if not path.is_file():
        raise ImportError(f"there is no file {path}")
    spec = importlib.util.spec_from_file_location(f"palpate_sweep_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and the kernel cache look for it there
    spec.loader.exec_module(module)
    return module


def measured(returned: Any, task: Task) -> dict[str, float]:
    """Numbers with names; one that comes alone is called "result"."""
    if not isinstance(returned, Mapping):
        returned = {RESULT: returned}
    metrics = {}
    for name, value in returned.items():
        if getattr(value, "ndim", 0) == 0 and hasattr(value, "item"):  # of numpy
            value = value.item()
        if not isinstance(name, str) or not isinstance(value, numbers.Real):
            raise TypeError(
                f"it must return a number, or a dictionary of numbers with names; {name!r} is {value!r:.80}"
            )
        if name in task.parameters:
            raise ValueError(f"it returns {name!r}, which is the name of a parameter")
        metrics[name] = float(value)
    return metrics


def explained(error: BaseException) -> str:
    """An error in one line, with the last place of the user's code that it came from."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__ and "importlib" not in f.filename
    ]
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return text[: LONGEST_ERROR - len(where)] + where


@contextmanager
def _folder(job: Job, function: Function, task: Task) -> Iterator[dict[str, Any]]:
    """What a call gets beside its parameters; a folder that nobody wants to keep is gone afterwards."""
    own: dict[str, Any] = {"seed": task.seed} if function.seed else {}
    if not function.folder:
        yield own
        return
    if job.recordings:
        folder = os.path.join(job.recordings, task.key)
        shutil.rmtree(folder, ignore_errors=True)  # of a worker that died
        os.makedirs(folder)
        yield own | {"folder": folder}
        return
    with tempfile.TemporaryDirectory(prefix="palpate-task-") as folder:
        yield own | {"folder": folder}


# ---- notes

_one_at_a_time = threading.Lock()  # workers of a cluster may have several threads, the fault handler has one timer


def process_name(pid: int | None = None) -> str:
    """Of this process, or another one of this machine."""
    return f"{socket.gethostname()}-{os.getpid() if pid is None else pid}"


class Watch:
    """A note, and the fault handler's timer over it."""

    def __init__(self, note: io.FileIO, timeout_s: float) -> None:
        self.note, self.timeout_s = note, timeout_s
        self.slack_s = max(0.5, 0.05 * timeout_s)
        self.armed = -math.inf

    def begin(self, task: Task, now: float) -> None:
        """Every setting of the timer is a thread that begins and one that ends: short tasks share one, with slack."""
        self.note.seek(0)
        self.note.truncate()
        self.note.write(f"{task.key}\n".encode())
        if now - self.armed > self.slack_s:
            faulthandler.dump_traceback_later(self.timeout_s + self.slack_s, exit=True, file=self.note)
            self.armed = now


@contextmanager
def _watch(job: Job) -> Iterator[Watch | None]:
    """The watch over this process, while a chunk runs; None at home, and for a second thread."""
    own = process_name()
    if own == job.home or not _one_at_a_time.acquire(blocking=False):
        yield None
        return
    elsewhere = Path(tempfile.gettempdir()) / f"palpate-note-{own}"  # another machine: hung is died for those at home
    path = Path(job.notes) / own if os.path.isdir(job.notes) else elsewhere
    try:
        with open(path, "wb", buffering=0) as note:
            yield Watch(note, job.timeout_s)
            faulthandler.cancel_dump_traceback_later()
        path.unlink(missing_ok=True)
    finally:
        _one_at_a_time.release()


class Note(NamedTuple):
    """What a worker left: the task it was at, and where that hung, if it did."""

    key: str
    hung: bool
    where: str


def read_note(path: Path) -> Note | None:
    """The note of a worker; where is the innermost line of the thread that called the function."""
    try:
        key, _, stacks = path.read_text(encoding="utf-8", errors="replace").partition("\n")
    except OSError:
        return None
    threads = re.split(r"^(?=Thread |Current thread )", stacks, flags=re.MULTILINE)
    calling = next((thread for thread in threads if " in run_chunk\n" in thread), "")
    place = re.search(r'^\s+File "(.*)", line (\d+)', calling, re.MULTILINE)
    return Note(key, TIMED_OUT in stacks, f"{Path(place[1]).name}, line {place[2]}" if place else "")
