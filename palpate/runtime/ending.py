"""How a command comes to its end: by Ctrl-C, a request to terminate, its terminal being closed, or when its time is up.

Only the standard library is imported here: all of this is in force before anything is imported that takes long.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from typing import Any, Protocol

POLL_S = 0.05  # how often a command looks whether it is over
AGAIN_S = 0.5  # after which a request that nobody took is made again
BROKEN_PIPE = 141  # exit code, as of a program that SIGPIPE ends
REQUESTS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Leaving(Protocol):
    """A threading.Event, as far as it is asked."""

    def is_set(self) -> bool: ...


class Asked(KeyboardInterrupt):
    """Somebody asked for the end, by a signal of this number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def exit_code(asked: KeyboardInterrupt) -> int:
    """As shells count: 130 for Ctrl-C."""
    return 128 + int(getattr(asked, "number", signal.SIGINT))


class Asking:
    """While inside, signals that ask for the end raise Asked in the main thread; `nohup` and `&` are respected.

    Libraries swallow exceptions (trimesh has `except BaseException` around its imports), so it is raised again until
    somebody takes it: but not while some exception is on its way, for what closes then shall close in peace.  Only
    another Ctrl-C interrupts that; a terminal that closes asks more than once by itself.
    """

    def __init__(self) -> None:
        self.number = 0  # of the signal that asked first; 0: none has
        self._taken = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Any:
        if threading.current_thread() is threading.main_thread():  # others cannot be told by signals
            for number in REQUESTS:
                if number == signal.SIGTERM or signal.getsignal(number) not in (None, signal.SIG_IGN):
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._repeat(0.0)
        for number, before in self._before.items():
            signal.signal(number, before)
        if self.number and not self._taken and not isinstance(error, KeyboardInterrupt):
            raise Asked(self.number) from None  # it was swallowed, and the error, if there is one, came of that

    def take(self) -> None:
        """The end has begun: it is not asked for again."""
        self._taken = True
        self._repeat(0.0)

    def _ask(self, number: int, _: object) -> None:
        first, self.number = not self.number, self.number or number
        if first:
            self._repeat(AGAIN_S)
        if first or number == signal.SIGINT:
            raise Asked(number)

    def _repeat(self, every_s: float) -> None:
        if not hasattr(signal, "setitimer") or not self._before:
            return
        if every_s and signal.SIGALRM not in self._before:
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._ask_again)
        if signal.SIGALRM in self._before:  # else nobody has asked, and the timer may be someone else's
            signal.setitimer(signal.ITIMER_REAL, every_s, every_s)

    def _ask_again(self, *_: object) -> None:
        if not self._taken and sys.exception() is None:
            raise Asked(self.number)


class Ending(Asking):
    """When a command is over: when somebody asks for it, or after a time [s] from the first wait on.

    with Ending(seconds) as ending: ...; ending.wait()
    """

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self._seconds, self._until = seconds, math.inf

    @property
    def over(self) -> bool:
        return bool(self.number) or time.monotonic() >= self._until

    def wait(self, leaving: Leaving | None = None) -> None:
        """Until it is over, or until `leaving` is set: looked at, for a signal may come while an event is locked."""
        if self._seconds is not None and self._until == math.inf:
            self._until = time.monotonic() + self._seconds
        try:
            while not self.over and not (leaving is not None and leaving.is_set()):
                time.sleep(min(POLL_S, max(0.0, self._until - time.monotonic())))
        except KeyboardInterrupt as asked:
            self.number = self.number or exit_code(asked) - 128
        if self.number:
            self.take()


def leave_to_parent() -> None:
    """In a child: Ctrl-C and a closed terminal are for the whole group; the parent decides when the child ends."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
