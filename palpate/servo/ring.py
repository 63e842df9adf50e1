"""A ring of numbered slots in shared memory: one writer at a time, any number of readers, which never wait.

Words (int64):   0 MAGIC   1 slots   2 words per message   3 head: how many messages were published   4..7 spare
then the slots:  each its sequence number (n for the n-th message, counted from 1; 0 while it is being written) and
the message.  A reader copies a slot and keeps the copy only if the number was right before and after.

The memory is anonymous (memfd): it has no name, is handed to child processes as a file descriptor, and is gone when
the last process that holds it is, however that ends.

The servo writes through atomics (servo/ring_kernels.py).  This file is the Python side, which never loads the
compiler: its 8-byte stores and loads are single instructions, and x86-64 keeps the order of stores and of loads (an
ARM does not promise that: there a frame may be torn).
"""

from __future__ import annotations

import contextlib
import mmap
import os
import weakref
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

MAGIC = 0x50414C5041544531  # "PALPATE1"
HEAD, HEADER_WORDS = 3, 8


class Ring:
    """One ring in shared memory, seen from Python."""

    def __init__(self, fd: int, private: mmap.mmap | None = None) -> None:
        self.fd = fd  # -1: the memory is this process's own
        self._map = mmap.mmap(fd, 0) if private is None else private
        self.memory: np.ndarray = np.frombuffer(self._map, dtype=np.int64)
        if self.memory[0] != MAGIC:
            raise ValueError("this is not a ring of this version of palpate")
        self.slots, self.words = int(self.memory[1]), int(self.memory[2])
        self._close: Callable[[], object] = partial(os.close, fd) if fd >= 0 else lambda: None

    @classmethod
    def create(cls, slots: int, words: int, shared: bool = True) -> Ring:
        """A new ring of `slots` messages of `words` words; shared: with other processes, by its file descriptor."""
        size = 8 * (HEADER_WORDS + slots * (1 + words))
        header = np.array([MAGIC, slots, words], dtype=np.int64).tobytes()
        if not shared:
            own = mmap.mmap(-1, size)
            own[:24] = header
            return cls(-1, own)
        if hasattr(os, "memfd_create"):
            fd = _above_streams(os.memfd_create("palpate", 0))
        else:  # not on Linux: an unlinked temporary file behaves the same
            import tempfile

            with tempfile.TemporaryFile() as file:
                fd = os.dup(file.fileno())
        os.ftruncate(fd, size)
        with mmap.mmap(fd, size) as memory:
            memory[:24] = header
        ring = cls(fd)
        ring._close = weakref.finalize(ring, os.close, fd)  # also if nobody closes it
        return ring

    @property
    def head(self) -> int:
        """How many messages were published so far."""
        return int(self.memory[HEAD])

    def _slot(self, number: int) -> int:
        return HEADER_WORDS + (number - 1) % self.slots * (1 + self.words)

    def write(self, message: np.ndarray) -> None:
        """Publish a message (words,) int64.  Several processes may, each from one thread at a time: they wait."""
        with _alone(self.fd):
            number = self.head + 1
            at = self._slot(number)
            self.memory[at] = 0
            self.memory[at + 1 : at + 1 + self.words] = message
            self.memory[at] = number
            self.memory[HEAD] = number

    def read(self, number: int) -> np.ndarray | None:
        """Message `number` (from 1), or None if it is not there: not yet, no more, or just being written."""
        at = self._slot(number)
        if self.memory[at] != number:
            return None
        message = self.memory[at + 1 : at + 1 + self.words].copy()
        return message if self.memory[at] == number else None

    def newest(self) -> tuple[int, np.ndarray] | None:
        """(number, message) of the newest, or None if there is none yet."""
        for _ in range(100):
            number = self.head
            if number == 0:
                return None
            message = self.read(number)
            if message is not None:
                return number, message
        return None  # overwritten a hundred times in a row: the writer runs far faster than real time

    def close(self) -> None:
        """Let go of the memory; it disappears when the last process has."""
        self.memory = np.empty(0, dtype=np.int64)
        with contextlib.suppress(BufferError):  # someone still holds a view; it goes with the view
            self._map.close()
        self._close()


def _above_streams(fd: int) -> int:
    """The same file, not as 0, 1 or 2: in a program that was started without them it would be a child's stdin."""
    if fd > 2:
        return fd
    import fcntl

    above = fcntl.fcntl(fd, fcntl.F_DUPFD, 3)
    os.close(fd)
    return above


@contextlib.contextmanager
def _alone(fd: int) -> Iterator[None]:
    """No other process is inside: page and session both write events.  Ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows, where there is no other process either (children.py)
        yield
        return
    if fd < 0:  # nobody else can be
        yield
        return
    fcntl.lockf(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.lockf(fd, fcntl.LOCK_UN)


class Follower:
    """Reads every message of a ring in order, and counts those that were overwritten before it came."""

    def __init__(self, ring: Ring, start: int | None = None) -> None:
        self.ring, self.next, self.lost = ring, (ring.head + 1 if start is None else start), 0

    def read(self, most: int = 1_000_000) -> list[np.ndarray]:
        """All messages since the last call, at most `most`."""
        messages: list[np.ndarray] = []
        while self.next <= (head := self.ring.head) and len(messages) < most:
            message = self.ring.read(self.next)
            if message is None:  # overwritten: go on with the oldest that is safely there
                oldest = max(self.next + 1, head - self.ring.slots + self.ring.slots // 8 + 1)
                self.lost += oldest - self.next
                self.next = oldest
            else:
                messages.append(message)
                self.next += 1
        return messages
