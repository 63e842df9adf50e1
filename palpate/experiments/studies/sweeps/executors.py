"""Where tasks run: names for `--on`, each a function of what stands behind its colon that makes an Executor.

Any concurrent.futures.Executor will do whose workers can import palpate; another package adds one by an entry point of
the group "palpate.executors".  One that has an attribute `workers` says how many tasks it runs at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from palpate import registry
from palpate.registry import Registry

EXECUTORS: Registry = {
    "processes": (
        "palpate.experiments.studies.sweeps.executors:processes",
        "processes of this machine: one for each core, or processes:N",
    ),
    "here": ("palpate.experiments.studies.sweeps.executors:here", "in this process, one task after the other"),
    "dask": (
        "palpate.experiments.studies.sweeps.dask_executor:dask",
        "a cluster that exists, dask:ADDRESS; or one of this machine for a try, dask:local",
    ),
}
MOST_PROCESSES = 1024


def opener(on: str) -> Callable[[], Executor]:
    """What makes the executor of this name, as often as needed; an unknown name is a ValueError."""
    name, _, argument = on.partition(":")
    make = registry.find(EXECUTORS, "executors", name)
    return lambda: make(argument)


def workers_of(executor: Executor) -> int:
    """How many tasks it runs at once; asked again and again, for clusters grow."""
    return max(1, int(getattr(executor, "workers", None) or getattr(executor, "_max_workers", None) or cores()))


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processes(argument: str) -> Executor:
    """So many processes; empty: as many as there are cores."""
    from palpate.experiments.studies.sweeps.processes import Processes

    if argument and not (argument.isdecimal() and 1 <= int(argument) <= MOST_PROCESSES):
        raise ValueError(f"processes:N takes a number from 1 to {MOST_PROCESSES}, got {argument!r}")
    return Processes(int(argument) if argument else cores())


def here(argument: str) -> Executor:
    """This process."""
    if argument:
        raise ValueError(f"'here' takes nothing behind a colon, got {argument!r}")
    return Here()


class Here(Executor):
    """Does everything at once, in the caller's thread."""

    workers = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
