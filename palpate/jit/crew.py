"""Crew: compiled calls that run side by side, one a thread, without the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock

from palpate.jit.decorators import DISABLED


def usable_cores() -> int:
    """Cores that this process may use; without the compiler one, as threads would only wait for each other."""
    if DISABLED:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Crew:
    """`size` threads, the caller's among them; the others are started by the first call that needs them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None
        self._busy = Lock()
        self.closed = False

    def run(self, call: Callable[[int], object], addresses: Sequence[int]) -> None:
        """call(address) for each of at most `size` addresses, side by side; returns when all have."""
        others = [self._threads().submit(call, address) for address in addresses[1:]]
        try:
            call(addresses[0])
        finally:
            wait(others)  # whatever happens here: they write into arrays of ours
        for each in others:
            each.result()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While inside, nobody else gets in: what the threads work on has one master."""
        if not self._busy.acquire(blocking=False):
            raise ValueError("another thread has it at work: wait for that, or give each thread its own")
        try:
            yield
        finally:
            self._busy.release()

    def close(self) -> None:
        """End the threads; twice is once."""
        self.closed = True
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, "crew")
        return self._pool
