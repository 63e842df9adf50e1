"""The recorder's process: writes every frame of a ring to a file, and counts those it lost.

    python -m palpate.runtime.record.recorder

stdin   one line of JSON: {"frame_fd": the ring, "path": the file, "hello": the scene description}
        and, if wanted, "hand_fd" and "event_fd": the rings of what the servo is told; "meshes": files of the scene's
        meshes by number; "fifo": whether to ask for a place right after the servo's; "start": number of the first
        frame to write (from 1; 1 unless given), "clock": see record.
        Then lines {"mark": {"text", "data", "wall_ns"}}, a marker each.
        End of file means that the session is over or dead: write what is left, close, end.
stdout  lines of JSON: {"recording": path}, {"lost": so many so far}, {"note": of a mark that was none},
        {"done": {"frames", "lost", "seconds"}};
        {"error": why}, and then exit 2.  A file that ended with an error holds all frames up to there.

Frames and marks go to disk at least every CHUNK_S, so kill -9 loses those of the last CHUNK_S + POLL_S, and what the
machine takes to run this process.  It only reads the rings: whatever it does, the servo cannot notice.  A full disk
ends the recording; so does one that is too slow for more than half of the frames.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from palpate.record.marks import LARGEST_BYTES
from palpate.record.writer import FrameWriter, layout_of
from palpate.runtime.ending import leave_to_parent
from palpate.servo.ring import Follower, Ring

POLL_S = 0.02  # how often the rings are read
CHUNK_S = 0.04  # how old a frame may get before it is on disk
PRIORITY = 1  # of SCHED_FIFO: the servo has 80
LONGEST_LINE = 8 * LARGEST_BYTES  # with a mark: JSON in ASCII has at most three bytes for one of UTF-8
LONGEST_NOTE = 200  # characters
PATIENCE_S = 5.0  # more frames lost than written in this time, and again: the disk is too slow

Say = Callable[..., None]


class SlowDisk(OSError):
    """More is lost than written."""


class Sources:
    """All that is recorded: the ring of frames and, if they are there, of hands and events, and marks."""

    def __init__(
        self, frames: Follower, hands: Follower | None = None, events: Follower | None = None,
        marks: deque[Any] | None = None, clock: Callable[[], float] = time.monotonic, say: Say = lambda **_: None,
    ) -> None:  # fmt: skip
        self.frames, self._hands, self._events = frames, hands, events
        self._marks: deque[Any] = deque() if marks is None else marks
        self.clock, self.say, self._noted = clock, say, False
        self._since, self._lost, self._written, self._slow = clock(), 0, 0, False  # of the present PATIENCE_S

    def take(self, writer: FrameWriter) -> None:
        """Add all that is there now to the file."""
        newest = self.frames.ring.head
        while self.frames.next <= newest:
            frames = self.frames.read(most=min(newest + 1 - self.frames.next, 1024))
            if frames:
                writer.add(np.stack(frames))
        # after the frames: what a frame has used is then always there, too
        if self._hands is not None and (hands := self._hands.read()):
            writer.hands(np.stack(hands))
        if self._events is not None and (events := self._events.read()):
            writer.events(np.stack(events), time.monotonic_ns())
        while self._marks:
            self._mark(writer, self._marks.popleft())

    def _mark(self, writer: FrameWriter, mark: Any) -> None:
        """A marker, if it is one: whatever it is, the frames around it are kept."""
        if not isinstance(mark, dict) or type(mark.get("wall_ns")) is not int:
            return
        try:
            writer.mark(str(mark.get("text", "")), mark.get("data"), mark["wall_ns"])
        except OSError:
            raise
        except Exception as error:
            if not self._noted:
                self.say(note=f"a mark was left out: {type(error).__name__}: {error}"[:LONGEST_NOTE])
            self._noted = True

    def insist(self) -> None:
        """SlowDisk if more frames were lost than written, twice PATIENCE_S long: once may be a machine that slept."""
        if self.clock() - self._since < PATIENCE_S:
            return
        lost, written = self.frames.lost, self.frames.next - self.frames.lost
        more, less = lost - self._lost, written - self._written
        if more > less and self._slow:
            raise SlowDisk(f"the disk is too slow, {more} of {more + less} frames of {PATIENCE_S:g} s were lost")
        self._since, self._lost, self._written, self._slow = self.clock(), lost, written, more > less


def follow(sources: Sources, writer: FrameWriter, ended: Callable[[float], bool], say: Say) -> None:
    """Write what comes until `ended`, which waits for at most the given time [s], says so."""
    clock = sources.clock
    told, opened, over = 0, clock(), False
    while not over:
        over = ended(POLL_S)  # asked first: what was published before the end is still written
        if not writer.pending:
            opened = clock()
        sources.take(writer)
        if over or clock() - opened > CHUNK_S - POLL_S:  # the next look would be too late
            writer.flush()
        if sources.frames.lost > told:
            told = sources.frames.lost
            say(lost=told)
        sources.insist()


def come_next() -> None:
    """Before all else on this machine but the servo, if that is permitted: or a busy one keeps frames waiting."""
    with contextlib.suppress(PermissionError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


def open_ring(fd: int) -> Ring:
    """The ring behind a file descriptor."""
    try:
        return Ring(fd)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"the ring of frames cannot be opened: {error}") from None


def run(job: dict[str, Any], ended: Callable[[float], bool], say: Say, marks: deque[Any] | None = None) -> None:
    """Record as the job says, from opening the file to closing it."""
    if job.get("fifo"):
        come_next()
    ring, layout = open_ring(job["frame_fd"]), layout_of(job["hello"])
    if ring.words != layout.words:
        raise ValueError(f"the ring's frames have {ring.words} words, those of the scene description {layout.words}")
    follower = Follower(ring, start=int(job.get("start", 1)))
    hands, events = (Follower(open_ring(job[key]), start=1) if key in job else None for key in ("hand_fd", "event_fd"))
    sources = Sources(follower, hands, events, marks, say=say)
    meshes = [Path(path).read_bytes() for path in job.get("meshes", ())]
    writer = FrameWriter(job["path"], job["hello"], clock=job.get("clock", "monotonic"), meshes=meshes)
    try:
        sources.take(writer)  # what came before us: from "recording" on, nothing is old
        writer.flush()
        say(recording=str(writer.path))
        follow(sources, writer, ended, say)
        writer.close(lost=follower.lost)
    except OSError as error:
        hint = ""
        try:  # the summary may still fit where a chunk did not
            writer.close(lost=follower.lost)
        except OSError:
            hint = "; other programs read it after `palpate recover`"
        raise OSError(f"recording stopped: {error.strerror or error}; {writer.path} holds the {writer.frames} frames "
                      f"({writer.seconds:.1f} s) before that{hint}") from None  # fmt: skip
    say(done={"frames": writer.frames, "lost": follower.lost, "seconds": round(writer.seconds, 6)})


def say(**message: Any) -> None:
    """One line on stdout, unless nobody is there any more to read it."""
    with contextlib.suppress(OSError):
        os.write(1, (json.dumps(message) + "\n").encode())


def lines(fd: int, longest: int) -> Iterator[bytes]:
    """Lines from a file descriptor, without a lock that a thread could hold while the process ends.

    After the first, the orders, lines that are longer than `longest` [bytes] are left out, and never kept.
    """
    parts: list[bytes] = []
    size, most = 0, float("inf")
    while data := os.read(fd, 1 << 16):
        *ends, rest = data.split(b"\n")
        for end in ends:
            if size + len(end) <= most:
                yield b"".join((*parts, end))
            parts, size, most = [], 0, longest
        size += len(rest)
        parts.append(rest)
        if size > most:
            parts.clear()


def listen(told: Iterator[bytes], marks: deque[Any], over: threading.Event) -> None:
    """Marks, until nothing more is told; lines that are none are left out."""
    for line in told:
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
            marks.append(json.loads(line)["mark"])
    over.set()


def main() -> int:
    """The process; returns its exit code."""
    over, ended = threading.Event(), []  # a signal handler must not set the event: it may interrupt its lock
    marks: deque[Any] = deque()
    leave_to_parent()
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    told = lines(0, LONGEST_LINE)
    orders = next(told, b"")
    threading.Thread(target=listen, args=(told, marks, over), daemon=True).start()
    try:
        run(json.loads(orders), lambda seconds: over.wait(seconds) or bool(ended), say, marks)
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(error=f"no {error} in the orders" if isinstance(error, KeyError) else str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
