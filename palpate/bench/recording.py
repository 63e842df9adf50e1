"""`palpate bench record`: does the recorder keep up, and what does kill -9 cost?

The servo runs in this process, the recorder in its own, as with `palpate touch --record`.

written, lost    frames of the file, and those that were overwritten before the recorder came; together they are all
                 that the servo published
MB/s             of frames as they come, and of the file
recorder         part of a core that it took
at most          frames that the recorder's writer writes in a second of a core, beside raw bytes and beside the mcap
                 package's own writer, which gets the same messages ready made
killed           recorders killed at random moments: how much of the recording each lost, in the recording's own time.
                 A busy machine keeps them waiting, and they lose that, too
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType, Writer

from palpate.bench.dynamics import machine
from palpate.frame import COUNTERS
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.wire import FrameCodec
from palpate.record.writer import FrameWriter
from palpate.runtime.children import Child
from palpate.runtime.folders import Folder
from palpate.runtime.hello import hello_of
from palpate.runtime.record.recorder import CHUNK_S
from palpate.runtime.world.session import WorldSession
from palpate.runtime.world.tick import tick_world
from palpate.scenes.arm import arm
from palpate.scenes.scene import Scene
from palpate.scenes.standing import human_standing
from palpate.servo.ring import Ring

LOST_GOAL_S = 0.1  # of a recording, by kill -9
LOOK_S = 0.005  # between two looks at how far a recorder is
KILLS, LIVES_S = 6, (0.15, 0.5)  # recorders that are killed, and how long they record, at random
START_S = 30.0  # patience for one to start
CROWDED = 104  # contacts that a recorder must keep up with at 4 kHz
LATE = COUNTERS.index("late")


@dataclass(frozen=True)
class Recorded:
    """A scene to record."""

    name: str
    build: Callable[[], Scene]


RECORDED = (
    Recorded("arm, 1 kHz", arm),
    Recorded("human on 104 points, 4 kHz", lambda: human_standing(full=True, rate_hz=4000.0)),
)


# ---- a whole recording


def record_row(case: Recorded, seconds: float, folder: Path) -> dict[str, Any]:
    """Record a session for a while; what came of it."""
    path = folder / "whole.mcap"
    session = WorldSession(case.build(), record=path)
    ring = Ring(os.dup(session.simulation.frames.fd))  # outlives the session: it knows how many were published
    with session:
        recorder = session.recorder
        begin, cpu = time.monotonic(), _cpu_s(recorder)
        session.wait(seconds)
        cpu_share = (_cpu_s(recorder) - cpu) / (time.monotonic() - begin)
    published = ring.head
    ring.close()
    with Recording(path) as back:
        contacts = np.concatenate([frames.words[:, back.layout.offset["contacts"]] for frames in back.blocks()])
        written, lost, length_s, words = back.count, back.lost or 0, back.duration_s, back.layout.words
    size = path.stat().st_size
    path.unlink()
    return {
        "scene": case.name, "rate_hz": session.simulation.rate_hz, "contacts": int(np.median(contacts)),
        "published": published, "written": written, "lost": lost, "seconds": length_s, "frame_bytes": 8 * words,
        "frames_MB_s": 8e-6 * words * written / max(length_s, 1e-9), "file_MB_s": 1e-6 * size / max(length_s, 1e-9),
        "recorder_cpu": cpu_share, "late_fraction": session.report.late_fraction, "notes": session.report.notes,
    }  # fmt: skip


def _cpu_s(recorder: Child | None) -> float:
    """That a child has used so far."""
    if recorder is None:
        return 0.0
    fields = Path(f"/proc/{recorder.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- as fast as it goes


def flat_out(session: WorldSession, folder: Path) -> dict[str, float]:
    """Frames in a second of a core: those in a session's ring, written as the recorder does, a chunk each CHUNK_S."""
    ring, layout = session.simulation.frames, session.simulation.layout
    head = ring.head
    kept = [words for n in range(max(1, head - ring.slots // 2), head + 1) if (words := ring.read(n)) is not None]
    each = max(1, round(CHUNK_S * session.simulation.rate_hz))
    chunks = [np.stack(kept[k : k + each]) for k in range(0, len(kept), each)]
    hello = hello_of(session.simulation)

    def ours() -> None:
        with FrameWriter(folder / "ours.mcap", hello, overwrite=True) as writer:
            for chunk in chunks:
                writer.add(chunk)
                writer.flush()

    def raw() -> None:
        with open(folder / "raw.bin", "wb", buffering=0) as file:
            for chunk in chunks:
                file.write(chunk.tobytes())

    codec, at = FrameCodec(layout), layout.offset["wall_ns"]
    messages = [(int(chunk[k, at]), row.tobytes()) for chunk in chunks for batch in codec.encode(chunk, chunk[:, at])
                for k, row in zip(batch.which, batch.messages, strict=True)]  # fmt: skip

    def package() -> None:
        with open(folder / "package.mcap", "wb") as file:
            writer = Writer(file, compression=CompressionType.ZSTD)
            writer.start()
            schema = writer.register_schema("palpate.Frame", "protobuf", b"")
            channel = writer.register_channel("/frame", "protobuf", schema)
            for ns, data in messages:
                writer.add_message(channel, ns, data, ns)
            writer.finish()

    return {name: len(kept) / _best_s(write) for name, write in (("recorder", ours), ("raw", raw), ("mcap", package))}


def _best_s(write: Callable[[], None], rounds: int = 3) -> float:
    """Of this thread alone: others may take a core meanwhile."""
    times = []
    for _ in range(rounds):
        begin = time.thread_time()
        write()
        times.append(time.thread_time() - begin)
    return max(min(times), 1e-9)


# ---- kill -9


@dataclass(frozen=True)
class Killed:
    """What a killed recorder left."""

    lost_s: float  # of the recording: from the last frame in the file to the newest when it was killed
    words: np.ndarray  # (n, words) the frames of the mended file
    lost_bytes: int  # at the end of the file, that were not whole


def kill_recorder(session: WorldSession, path: Path, life_s: float) -> Killed:
    """Attach a recorder to a running session, let it record for a while, kill it -9 and mend what it left."""
    frames, hello = session.simulation.frames, hello_of(session.simulation)
    orders = {"frame_fd": frames.fd, "path": str(path), "hello": hello, "start": frames.head + 1, "fifo": True}
    recorder = Child("recorder", orders, [frames.fd])
    try:
        recorder.answer("recording", START_S)
        _catch_up(path, session)
        time.sleep(life_s)
        newest_ns = session.frame()["wall_ns"]
        recorder.process.kill()
        recorder.process.wait()
    finally:
        recorder.end()
    mended = recover(path)
    with Recording(mended.path) as back:
        words = np.array([*back], dtype=np.int64)
    last_ns = int(words[-1, session.simulation.layout.offset["wall_ns"]])
    return Killed(max(0.0, 1e-9 * (newest_ns - last_ns)), words, mended.lost_bytes)


def _catch_up(path: Path, session: WorldSession) -> None:
    """A recorder that comes late has a backlog, which one of a session has not: wait until it has written that."""
    behind_ns, end = session.frame()["wall_ns"], time.monotonic() + START_S
    while time.monotonic() < end:
        with Recording(path) as sofar:
            if sofar.count and sofar.layout.read(sofar.frame(sofar.count - 1), "wall_ns") >= behind_ns:
                return
        time.sleep(LOOK_S)
    raise RuntimeError(f"a recorder was still behind after {START_S:g} s")


def kill_rows(session: WorldSession, folder: Path, kills: int, seed: int = 1) -> list[dict[str, float]]:
    """Kill so many, one after the other, at random moments."""
    rows = []
    for k, life_s in enumerate(np.random.default_rng(seed).uniform(*LIVES_S, kills)):
        killed = kill_recorder(session, folder / f"killed{k}.mcap", float(life_s))
        rows.append({"life_s": float(life_s), "lost_s": killed.lost_s, "frames": len(killed.words),
                     "lost_bytes": killed.lost_bytes})  # fmt: skip
    return rows


# ---- the whole


def verdicts(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal)."""
    goals = []
    for row in rows:
        name, all_there = row["scene"], row["written"] + row["lost"] == row["published"]
        goals.append((f"{name}: {row['lost']} of {row['published']} frames lost, goal none", row["lost"] == 0))
        goals.append((f"{name}: {row['written']} written and {row['lost']} counted as lost, of {row['published']} "
                      f"published, goal all", all_there))  # fmt: skip
        worst = max(kill["lost_s"] for kill in row["killed"])
        goals.append((f"{name}: kill -9 lost at most {1e3 * worst:.0f} ms, goal at most {1e3 * LOST_GOAL_S:g} ms",
                      worst <= LOST_GOAL_S))  # fmt: skip
        if row["rate_hz"] >= 4000.0:
            goals.append((f"{name}: {row['contacts']} contacts in a frame, goal at least {CROWDED}",
                          row["contacts"] >= CROWDED))  # fmt: skip
    return goals


def run(seconds: float = 5.0, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Measure everything; returns what `palpate bench record --json` writes."""
    if not hasattr(os, "sched_setscheduler"):
        raise ValueError("this bench needs Linux: elsewhere the loop is timed by Python")
    before, load, rows = machine(), os.getloadavg(), []
    progress("the kernels of the servo, compiled or loaded")
    tick_world.warm()
    with Folder("bench") as folder:
        for case in RECORDED:
            progress(f"a recording of {case.name}")
            row = record_row(case, seconds, folder)
            with WorldSession(case.build(), shared=True) as session:
                progress(f"kill -9 of recorders of {case.name}")
                row["killed"] = kill_rows(session, folder, KILLS)
                progress(f"frames of {case.name}, as fast as they go")
                row["frames_per_s"] = flat_out(session, folder)
                row["fifo"] = session.report.fifo
            rows.append(row)
            for left in folder.iterdir():
                left.unlink()
    goals = verdicts(rows)
    return {
        "bench": "record", "machine": before, "load": {"before": load, "after": os.getloadavg()}, "seconds": seconds,
        "folder": tempfile.gettempdir(), "rows": rows,
        "met": [what for what, is_met in goals if is_met],
        "shortfalls": [what for what, is_met in goals if not is_met],
    }  # fmt: skip
