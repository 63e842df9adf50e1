"""Words for people, from threads that have more important things to do.

A line may not be printable: a pipe that nobody reads any more, a full disk, a terminal that was closed.  Or it may take
for ever: a terminal that was stopped with Ctrl-S.  Neither may reach whoever has something to say.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable

LAST_S = 2.0  # for the last words

Say = Callable[[str], None]


def unfailing(say: Say) -> Say:
    """The same, whatever becomes of the words."""

    def said(text: str) -> None:
        with contextlib.suppress(Exception, SystemExit):  # rich raises the second when a pipe is broken
            say(text)

    return said


class Saying:
    """Says lines in their order, in a thread that lives as long as there are some: a call returns at once."""

    def __init__(self, say: Say) -> None:
        self._say, self._lines = unfailing(say), deque[str]()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None  # whoever says the lines now

    def __call__(self, text: str) -> None:
        with self._lock:
            self._lines.append(text)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="say", daemon=True)
                with contextlib.suppress(RuntimeError):  # no more threads: these words wait for the next
                    thread.start()
                    self._thread = thread

    def finish(self) -> None:
        """Wait until all has been said, but not for ever."""
        thread = self._thread
        if thread is not None:
            thread.join(LAST_S)

    def _run(self) -> None:
        while (text := self._next()) is not None:
            self._say(text)

    def _next(self) -> str | None:
        with self._lock:
            if self._lines:
                return self._lines.popleft()
            self._thread = None
            return None
