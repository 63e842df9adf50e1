"""Processes of this machine as an Executor: one that dies takes its own work with it, and nothing else.

concurrent.futures.ProcessPoolExecutor gives up as a whole when a process dies, and its processes outlive a parent that
is killed.  Here every process has a thread that feeds it through its stdin and waits at its stdout; when that ends, the
work in it ends in WorkerDied, and the next work starts another process.  A process ends when its stdin does.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, NoReturn

from palpate.runtime.ending import leave_to_parent

PROCESS = "sweep-worker"  # in palpate/processes.py
WORKER = "PALPATE_SWEEP_WORKER"  # set in their environment
# There is a process for each core already: libraries need no threads beside it, unless somebody says so.
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class WorkerDied(RuntimeError):
    """The process that did the work is gone."""

    def __init__(self, pid: int, code: int) -> None:
        super().__init__(f"its process {ended(code)}")
        self.pid, self.code = pid, code


def ended(code: int) -> str:
    """How a process came to its end, in words."""
    if code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


class Processes(Executor):
    """So many processes, started at once: they are there when the first work has shown how long work takes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._work: queue.SimpleQueue[tuple[Future[Any], bytes] | None] = queue.SimpleQueue()
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._closed = self._cancelled = False
        self._lock = threading.Lock()  # nothing starts while everything ends
        self._threads = [threading.Thread(target=self._feed, args=(n,), daemon=True) for n in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._closed:
            raise RuntimeError("these processes were shut down")
        future: Future[Any] = Future()
        self._work.put((future, parcel((fn, args, kwargs))))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """With cancel_futures processes end at once, whatever they are at."""
        with self._lock:
            self._closed = True
            if cancel_futures:
                self._cancelled = True
                for process in self._running.values():
                    process.kill()
        for _ in self._threads:
            self._work.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _feed(self, n: int) -> None:
        with self._lock:
            if not self._closed:
                self._running[n] = _start()
        while (work := self._work.get()) is not None:
            future, order = work
            with self._lock:
                wanted = not self._cancelled and future.set_running_or_notify_cancel()
                if wanted and n not in self._running:
                    self._running[n] = _start()
            if wanted:
                self._do(n, future, order)
            else:
                future.cancel()
        if process := self._running.get(n):
            _end(process)

    def _do(self, n: int, future: Future[Any], order: bytes) -> None:
        process = self._running[n]
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(order)
            process.stdin.flush()
            answer = pickle.load(process.stdout)  # noqa: S301  (from our own child)
        except (OSError, EOFError, pickle.UnpicklingError):
            with self._lock:
                del self._running[n]
            code = _end(process)
            future.set_exception(WorkerDied(process.pid, code))
            return
        try:
            good, found = pickle.loads(answer)  # noqa: S301
        except Exception as error:  # of a class that only the worker knows
            good, found = False, error
        if good:
            future.set_result(found)
        else:
            future.set_exception(found)


def parcel(what: Any) -> bytes:
    """Read whole, then opened: whatever is wrong inside, the next one begins where this one ends."""
    return pickle.dumps(pickle.dumps(what))


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "palpate.processes", PROCESS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=ENVIRONMENT | os.environ | {WORKER: "1", "PALPATE_QUIET": "1"},
        process_group=0,  # a terminal's Ctrl-C is for this process
    )


def _end(process: subprocess.Popen[bytes]) -> int:
    with suppress(OSError):
        assert process.stdin is not None
        process.stdin.close()
    assert process.stdout is not None
    process.stdout.close()
    return process.wait()


def main() -> NoReturn:
    """The process: orders from stdin, answers to what was stdout; whatever prints does so on stderr."""
    leave_to_parent()
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while True:
            try:
                function, args, kwargs = pickle.loads(orders.get())  # noqa: S301  (from our own parent)
                answer = parcel((True, function(*args, **kwargs)))
            except Exception as error:
                answer = _excuse(error)
            try:
                answers.write(answer)
                answers.flush()
            except OSError:
                os._exit(1)


def _listen(orders: queue.SimpleQueue[bytes]) -> NoReturn:
    """Orders as they come; when stdin ends nobody waits any more, whatever this process is at."""
    with os.fdopen(os.dup(0), "rb") as stdin:
        while True:
            try:
                orders.put(pickle.load(stdin))  # noqa: S301
            except (EOFError, pickle.UnpicklingError):
                os._exit(0)


def _excuse(error: Exception) -> bytes:
    try:
        return parcel((False, error))
    except Exception:
        return parcel((False, RuntimeError(f"{type(error).__name__}: {error}")))


if __name__ == "__main__":
    main()
