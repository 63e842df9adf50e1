"""More processes that compile ahead: a first start on two cores takes little more than half as long.

What they compile they put into the cache and never run, so they may begin anywhere: one with the entries and routines
themselves, then the shared functions from the last to the first, others (where there are more than two cores) in
between, while the first process goes from the first to the last.  Whoever comes second finds the work done.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import llvmlite.binding

from palpate.jit.cache import prebuilt, turns
from palpate.jit.cache.functions import cache_dir
from palpate.jit.decorators import DISABLED, Entry
from palpate.jit.routines import Routine
from palpate.jit.shared import CFunction, all_shared, reached_by
from palpate.jit.starts.garbage import collected_rarely
from palpate.jit.starts.remaining import missing, not_kept, python_of

MOST_WORKERS = 3  # beside the first process: each takes half a gigabyte for a while
NICE, LEAST_NICE = 5, 19  # of those that somebody waits for: the page, and the browser that opens it, go first


@contextmanager
def compiled_ahead(module: str, name: str) -> Iterator[None]:
    """While inside, other processes compile what is called `name` in a module, unless that has been done.

    It is an entry, a routine, or a tuple of them.
    """
    folder = None if DISABLED else cache_dir()
    if folder is None or not missing(_doors(module, name)):
        yield
        return
    n = processes() - 1
    if turns.lock(folder, f"ahead of {name}") is False:  # another start has its processes at work already
        n = 0
    command = [sys.executable, "-m", __name__, module, name]
    workers = [  # Ctrl-C is for this process, which ends them
        subprocess.Popen([*command, f"{k}", f"{n}"], stdin=subprocess.PIPE, process_group=0) for k in range(n)
    ]
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
        turns.unlock(folder, f"ahead of {name}")


@contextmanager
def compiled_beside(module: str, name: str) -> Iterator[None]:
    """While inside, another process compiles for this very machine what came with the wheel: the next start has it.

    It takes what time the processor has left, and ends when this ends; the next one goes on from there.
    """
    folder = None if DISABLED else cache_dir()
    useful = folder is not None and os.access(folder, os.W_OK) and prebuilt.usable(prebuilt.FOLDER)
    if not useful or not not_kept(_doors(module, name)):
        yield
        return
    command = [sys.executable, "-m", __name__, module, name, "0", "1", f"{LEAST_NICE}"]
    environment = os.environ | {prebuilt.VARIABLE: "0", "PALPATE_QUIET": "1"}
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0, env=environment)
    try:
        yield
    finally:
        worker.kill()
        worker.communicate()


def processes() -> int:
    """How many compile at once in a first start, with the first."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 1 + MOST_WORKERS)


def _doors(module: str, name: str) -> tuple[Entry | Routine, ...]:
    found = getattr(importlib.import_module(module), name)
    return found if isinstance(found, tuple) else (found,)


def _end_with_parent() -> None:
    while os.read(0, 4096):  # ends when the first process does; a buffered read would disturb an orderly end of ours
        pass
    os._exit(0)


def compile_all(module: str, name: str, worker: int = 0, workers: int = 1) -> None:
    """One of the processes: everything that entries and routines reach, from the end, or from in between."""
    doors = _doors(module, name)
    somewhere = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value  # nothing here is ever called
    files = {python_of(door).__code__.co_filename: python_of(door) for door in doors}
    wanted = {id(each) for python in files.values() for each in reached_by(python) if each.callback is None}
    reached = [each for each in all_shared if id(each) in wanted]
    for each in reached:
        llvmlite.binding.add_symbol(each.symbol, somewhere)
    for door in doors[::-1] if worker == 0 else ():
        door.compile(door.declared) if isinstance(door, Entry) else CFunction.compiled(door)
    begin = worker * len(reached) // workers
    backwards = reached[::-1]
    for each in backwards[begin:] + backwards[:begin]:
        each.compiled()


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[5]) if sys.argv[5:] else NICE)
    with collected_rarely():
        compile_all(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
