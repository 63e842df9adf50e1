"""Turns at compiling: of several processes that need the same function one compiles it, the others wait and load it.

A lock is a byte of one file, held by a process and free as soon as that has ended, however it ended.  Nobody waits who
holds a lock, so no ring of waiting can form; and who has waited long, for a process that was stopped, say, compiles
for himself.  Where files have no locks, everybody does.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

with contextlib.suppress(ImportError):  # Windows has none
    import fcntl

PATIENCE_S = 300.0  # no function takes as long to compile, even on a busy machine
POLL_S = 0.02

while_waiting: list[Callable[[], None]] = []  # called again and again


class Turns(threading.local):
    """What this thread is compiling: a function that others may want, and the lock on it."""

    inside = 0
    held: tuple[Path, str] | None = None


_turns = Turns()
_files: dict[Path, int] = {}  # descriptors are never closed: that would free all locks of this process
_impatient = False


def _file(folder: Path) -> int:
    if folder not in _files:
        _files[folder] = os.open(folder / "compiling.lock", os.O_RDWR | os.O_CREAT, 0o600)
    return _files[folder]


def _byte(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=7).digest(), "big")


def lock(folder: Path, name: str) -> bool | None:
    """Whether `name` is now ours to make in that cache; None if it cannot be told.  Never waits."""
    try:
        fcntl.lockf(_file(folder), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _byte(name))
    except BlockingIOError:
        return False
    except (OSError, NameError):  # a cache that is only read, or a system without locks
        return None
    return True


def unlock(folder: Path, name: str) -> None:
    """Let others have it."""
    with contextlib.suppress(OSError, NameError):
        fcntl.lockf(_file(folder), fcntl.LOCK_UN, 1, _byte(name))


@contextmanager
def in_turn() -> Iterator[None]:
    """While a function is compiled or loaded that other processes may want at the same time."""
    _turns.inside += 1
    try:
        yield
    finally:
        _turns.inside -= 1
        if _turns.inside == 0 and _turns.held is not None:
            unlock(*_turns.held)
            _turns.held = None


def take(folder: Path, name: str) -> None:
    """The turn to make a file of the cache, until `in_turn` ends; when this returns, it may have been made."""
    global _impatient
    if not _turns.inside or _turns.held is not None or _impatient:
        return
    began = time.monotonic()
    while (ours := lock(folder, name)) is False:
        for call in while_waiting:
            call()
        time.sleep(POLL_S)
        if time.monotonic() - began > PATIENCE_S:
            _impatient = True
            return
    if ours:
        _turns.held = folder, name
