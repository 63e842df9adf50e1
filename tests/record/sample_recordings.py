"""Frames and files that the tests of recordings share."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from palpate.frame import COUNTERS, FRAME, RUNNING, Layout
from palpate.record.writer import FrameWriter

JOINTS = ("shoulder", "elbow")
BODIES = ("world", "upper", "fore")
SMALL = Layout(FRAME, nq=2, nv=2, n_bodies=3, n_devices=0, n_contacts=2)
HUMANOID = Layout(FRAME, nq=39, nv=38, n_bodies=35, n_devices=2, n_contacts=8)


def hello_of(layout: Layout = SMALL, rate_hz: float = 1000.0) -> dict:
    small = layout is SMALL
    return {
        "palpate": "0.test", "mode": "live", "scene": "arm", "title": "Arm \N{EN DASH} \N{GREEK SMALL LETTER PI}",
        "rate_hz": rate_hz, "sizes": layout.sizes, "joints": list(JOINTS) if small else [],
        "bodies": [{"name": name, "shapes": []} for name in BODIES] if small else [],
        "frame": layout.describe(), "counters": list(COUNTERS),
    }  # fmt: skip


def frame(tick: int, wall_ns: int | None = None, layout: Layout = SMALL) -> np.ndarray:
    """A frame whose every word follows from its tick; it has 0, 1, 2, ... contacts in turn."""
    words = (np.arange(layout.words) * 0.1 + np.sin(tick)).view(np.int64).copy()
    for field in layout.fields:
        if field.kind == "i":
            words[layout.offset[field.name] :][: layout.length[field.name]] = tick % 1000
    room = layout.sizes.get("n_contacts", 0)
    contacts = tick % (room + 1)
    if "contacts" in layout.offset:
        words[layout.offset["contacts"]] = contacts
    for name in ("contact_body", "contact_mode", "contact_point", "contact_force"):
        if room and name in layout.offset:
            begin, width = layout.offset[name], layout.length[name] // room
            words[begin + contacts * width : begin + room * width] = 0
    words[layout.offset["tick"]] = tick
    words[layout.offset["wall_ns"]] = tick * 1_000_000 if wall_ns is None else wall_ns
    words[layout.offset["state"]] = RUNNING
    words[layout.offset["time_s"]] = np.float64(tick * 1e-3).view(np.int64)
    return words


def frames(n: int, layout: Layout = SMALL, first: int = 0) -> np.ndarray:
    """n frames, one each millisecond (n, words)."""
    return np.array([frame(first + i, layout=layout) for i in range(n)]).reshape(n, layout.words)


def recording(path: Path, words: np.ndarray, layout: Layout = SMALL, per_chunk: int = 20, finish: bool = True) -> Path:
    """A file of these frames; unfinished, it is what kill -9 leaves."""
    writer = FrameWriter(path, hello_of(layout))
    for begin in range(0, len(words), per_chunk):
        writer.add(words[begin : begin + per_chunk])
        writer.flush()
    if finish:
        writer.close(lost=0)
    else:
        writer._out.close()
    return path


class Recorder:
    """The recorder's process, with what it says."""

    def __init__(self, ring, file: Path, fds=(), **more) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "palpate.processes", "recorder"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[ring.fd, *fds],
        )  # fmt: skip
        job = {"frame_fd": ring.fd, "path": str(file), "hello": hello_of()} | more
        self.process.stdin.write(json.dumps(job).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self) -> dict:
        """The next thing it says."""
        line = self.process.stdout.readline()
        assert line, f"the recorder ended with {self.process.wait()}"
        return json.loads(line)

    def tell(self, message: dict) -> None:
        """One more line on its stdin."""
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def end(self) -> list[dict]:
        """Close its stdin; all it says until it ends."""
        self.process.stdin.close()
        said = [json.loads(line) for line in self.process.stdout]
        self.process.wait(timeout=300)
        return said

    def kill(self) -> int:
        """kill -9; returns the monotonic clock just before [ns]."""
        before = time.monotonic_ns()
        os.kill(self.process.pid, 9)
        self.process.wait(timeout=300)
        self.close()
        return before

    def close(self) -> None:
        self.process.kill()
        self.process.wait(timeout=300)
        self.process.stdin.close()
        self.process.stdout.close()
