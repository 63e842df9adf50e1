"""The recorder's process: writes every frame of a ring to a file, and counts those it lost.

    python -m palpate.runtime.recorder

stdin   one line of JSON: {"frame_fd": the ring, "path": the file, "hello": the scene description}
        and, if wanted, "start": number of the first frame to write (from 1; 1 unless given), "clock": see record.
        End of file means that the session is over or dead: write what is left, close, end.
stdout  lines of JSON: {"recording": path}, {"lost": so many so far}, {"done": {"frames", "lost", "seconds"}};
        {"error": why}, and then exit 2.  A file that ended with an error holds all frames up to there.

Frames go to disk at least every CHUNK_S, so kill -9 loses those of the last CHUNK_S + POLL_S, and what the machine
takes to run this process.  It only reads the ring: whatever it does, the servo cannot notice.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from palpate.record.writer import FrameWriter, layout_of
from palpate.runtime.ring import Follower, Ring

POLL_S = 0.02  # how often the ring is read
CHUNK_S = 0.04  # how old a frame may get before it is on disk

Say = Callable[..., None]


def take(follower: Follower, writer: FrameWriter) -> None:
    """Add all frames that the ring holds now."""
    newest = follower.ring.head
    while follower.next <= newest:
        frames = follower.read(most=newest + 1 - follower.next)
        if frames:
            writer.add(np.stack(frames))


def follow(
    follower: Follower, writer: FrameWriter, ended: Callable[[float], bool], say: Say,
    clock: Callable[[], float] = time.monotonic,
) -> None:  # fmt: skip
    """Write the ring's frames until `ended`, which waits for at most the given time [s], says so."""
    told, opened, over = 0, clock(), False
    while not over:
        over = ended(POLL_S)  # asked first: what was published before the end is still written
        if not writer.pending:
            opened = clock()
        take(follower, writer)
        if over or clock() - opened > CHUNK_S - POLL_S:  # the next look would be too late
            writer.flush()
        if follower.lost > told:
            told = follower.lost
            say(lost=told)


def open_ring(fd: int) -> Ring:
    """The ring behind a file descriptor."""
    try:
        return Ring(fd)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"the ring of frames cannot be opened: {error}") from None


def run(job: dict[str, Any], ended: Callable[[float], bool], say: Say) -> None:
    """Record as the job says, from opening the file to closing it."""
    ring, layout = open_ring(job["frame_fd"]), layout_of(job["hello"])
    if ring.words != layout.words:
        raise ValueError(f"the ring's frames have {ring.words} words, those of the scene description {layout.words}")
    follower = Follower(ring, start=int(job.get("start", 1)))
    writer = FrameWriter(job["path"], job["hello"], clock=job.get("clock", "monotonic"))
    try:
        take(follower, writer)  # what came before us: from "recording" on, nothing is old
        writer.flush()
        say(recording=str(writer.path))
        follow(follower, writer, ended, say)
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


def main() -> int:
    """The process; returns its exit code."""
    over, told = threading.Event(), []  # a signal handler must not set the event: it may interrupt its lock
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole terminal; the session ends us by stdin
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    line = sys.stdin.buffer.readline()

    def listen() -> None:
        while os.read(0, 4096):
            pass
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        run(json.loads(line), lambda seconds: over.wait(seconds) or bool(told), say)
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(error=f"no {error} in the orders" if isinstance(error, KeyError) else str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
