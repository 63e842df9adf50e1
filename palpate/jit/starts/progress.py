"""What the first start says: which entry is being compiled, how many kernels it took and how long."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba.core import event

from palpate.jit.cache.turns import while_waiting
from palpate.jit.decorators import DISABLED, Dispatcher, around_entries
from palpate.printable import complain


class Progress(event.Listener):
    """Says on stderr that an entry is being compiled, how many kernels it took and how long."""

    def __init__(self) -> None:
        self.depth = self.count = 0
        self.began = 0.0
        self.waited = False
        self.listener: Callable[[str, int, float, bool], None] | None = None

    @contextmanager
    def entry(self, function: Callable[..., Any]) -> Iterator[None]:
        """While an entry and all that it shares with others is compiled or loaded."""
        if self.depth == 0:
            self.count, self.began, self.name = 0, time.perf_counter(), function.__name__
            self.waited = False
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            if self.depth == 0 and self.count:
                self._say(done=True)

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], Dispatcher) and self.depth:
            self._say(done=False)

    def on_end(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], Dispatcher) and self.depth:
            self.count += 1
            self._say(done=False)

    def waiting(self) -> None:
        """While another process compiles what this one needs."""
        if not self.depth:
            return
        if self.listener is not None:
            self._say(done=False)
        elif not self.waited and not os.environ.get("PALPATE_QUIET"):
            text = f"waiting for another process that compiles {self.name}"
            complain(f"{text:<71}" if is_live() else text)  # over a longer line
        self.waited = True

    def _say(self, done: bool) -> None:
        seconds = time.perf_counter() - self.began
        if self.listener is not None:
            self.listener(self.name, self.count, seconds, done)
        elif not os.environ.get("PALPATE_QUIET"):
            text = f"compiling {self.name} for this machine, once: {self.count} kernels, {seconds:.1f} s"
            if done or is_live():
                complain(text, end="\n" if done else "\r")


def is_live() -> bool:
    """Whether stderr is a terminal, on which a line can be written over; it may be closed."""
    with suppress(ValueError, AttributeError):
        return sys.stderr.isatty()
    return False


_progress = Progress()
if not DISABLED:
    event.register("numba:compile", _progress)
    around_entries.insert(0, _progress.entry)  # around all others: what is shared counts too
    while_waiting.append(_progress.waiting)


@contextmanager
def compile_listener(listener: Callable[[str, int, float, bool], None]) -> Iterator[None]:
    """While inside, `listener(entry, kernels_so_far, seconds, done)` hears of compilation instead of stderr."""
    before, _progress.listener = _progress.listener, listener
    try:
        yield
    finally:
        _progress.listener = before
