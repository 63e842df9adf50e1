"""File -> what other programs read: CSV, Parquet, joint trajectory, marks; and the hands, to be played back.

CSV and Parquet have one row for each frame and the same columns; numbers are written so that they read back as the
same bits.  The trajectory is the message trajectory_msgs/JointTrajectory of ROS as JSON, of the last run: from the
last reset on, without pauses.  It has the joints' axes, each an angle or a length; free bodies and spherical joints are
left out.  The hand is of the last run, too: of the first device, in world axes, which `playback:FILE` plays again; or,
if there was no device, of the page (hands.py).

A file is whole or not there.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from palpate.control.plans.cells import text_cell, write_row
from palpate.control.plans.joint_trajectory import Point, write_joint_trajectory
from palpate.record import RecordError, labels
from palpate.record.hands import hands_of, write_hands
from palpate.record.labels import Column
from palpate.record.reader import Recording
from palpate.record.writer import utc
from palpate.whole_files import WriteError, written_whole

FORMATS = ("csv", "parquet", "trajectory", "hand", "hands", "marks")
DEVICE = ("device_position", "device_quaternion", "device_buttons")  # fields of a frame, if there is a device
Progress = Callable[[float], None]  # told how much is done, 0 to 1
Note = Callable[[str], None]  # told what is not in the file, and why


def export(
    path: str | Path, out: str | Path, format: str = "csv", everything: bool = False, progress: Progress | None = None,
    note: Note = lambda text: None,
) -> int:  # fmt: skip
    """Write a recording as `format` into `out`; returns how many rows or points it has.

    `everything` adds the contacts, the poses of all bodies and the lateness histogram to CSV and Parquet.
    """
    if format not in FORMATS:
        raise RecordError(f"no format is called {format!r}; there are: {', '.join(FORMATS)}")
    with Recording(path) as recording:
        if Path(out).resolve() == recording.path.resolve():
            raise RecordError(f"{out} is the recording itself; choose another name")
        if recording.count == 0 and format != "marks":
            raise RecordError(f"{path} holds no frames")
        with _complaining(out):
            return _export(recording, Path(out), format, everything, progress, note)


def _export(
    recording: Recording, out: Path, format: str, everything: bool, progress: Progress | None, note: Note
) -> int:
    if format == "marks":
        return _marks(recording, out)
    if format == "csv":
        return _csv(recording, out, everything, progress)
    if format == "parquet":
        return _parquet(recording, out, everything, progress)
    device = recording.hello.get("devices", True) and all(map(recording.layout.length.get, DEVICE))
    if format == "hands" or (format == "hand" and not device):
        return write_hands(out, hands_of(recording))
    if format == "hand":
        return _hand(recording, out, progress)
    return _trajectory(recording, out, progress, note)


@contextmanager
def _complaining(out: str | Path) -> Iterator[None]:
    """A folder that is not there, or a disk that is full, is one line."""
    try:
        yield
    except WriteError as error:  # which says so itself
        raise RecordError(str(error)) from None
    except OSError as error:
        raise RecordError(f"{out} cannot be written: {error.strerror or error}") from None


def columns(recording: Recording, everything: bool = False) -> list[Column]:
    """The columns of CSV and Parquet."""
    return labels.columns(recording.layout, recording.hello, everything)


def _blocks(recording: Recording, progress: Progress | None) -> Iterator[np.ndarray]:
    """Frames (n, words), a chunk at a time."""
    for number, block in enumerate(recording.blocks(), 1):
        if len(block.words):
            yield block.words
        if progress:
            progress(number / recording.n_chunks)


def _column(block: np.ndarray, column: Column) -> np.ndarray:
    values = np.ascontiguousarray(block[:, column.word])
    return values.view(np.float64) if column.kind == "f" else values


def _csv(recording: Recording, out: Path, everything: bool, progress: Progress | None) -> int:
    wanted = columns(recording, everything)
    with written_whole(out) as file:
        writer = csv.writer(file, lineterminator="\n")  # writes floats with repr: the shortest that reads back the same
        write_row(file, (column.name for column in wanted))
        for block in _blocks(recording, progress):
            writer.writerows(zip(*(_column(block, column).tolist() for column in wanted)))
    return recording.count


def _parquet(recording: Recording, out: Path, everything: bool, progress: Progress | None) -> int:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise RecordError("Parquet needs pyarrow: pip install 'palpate[parquet]' (CSV needs nothing)") from None
    wanted, rows = columns(recording, everything), 0
    types: Any = {"i": pyarrow.int64(), "f": pyarrow.float64()}
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in wanted])
    with written_whole(out, "wb") as file, pyarrow.parquet.ParquetWriter(file, schema) as writer:
        waiting: list[np.ndarray] = []
        for block in _blocks(recording, progress):
            waiting.append(block)
            rows += len(block)
            if sum(map(len, waiting)) >= 65536 or rows == recording.count:  # one row group
                whole = np.concatenate(waiting)
                writer.write_table(pyarrow.table([_column(whole, column) for column in wanted], schema=schema))
                waiting = []
    return recording.count


def _marks(recording: Recording, out: Path) -> int:
    """A row for each mark; data that is an object has a column for each of its names, other data is in `data`."""
    marks = recording.marks
    names = dict.fromkeys(name for mark in marks if isinstance(mark.data, dict) for name in mark.data)
    with written_whole(out) as file:
        write_row(file, ["time_s", "utc", "wall_ns", "text", "data", *(f"data.{name}" for name in names)])
        for mark in marks:
            object_ = mark.data if isinstance(mark.data, dict) else {}
            plain = "" if mark.data is None or object_ is mark.data else _cell(mark.data)
            write_row(file, [repr(mark.time_s), utc(mark.unix_ns), mark.wall_ns, text_cell(mark.text), plain]
                      + [_cell(object_[name]) if name in object_ else "" for name in names])  # fmt: skip
    return len(marks)


def _cell(value: Any) -> str:
    """Text as text, anything else as JSON, which no spreadsheet takes for a formula."""
    return text_cell(value) if isinstance(value, str) else json.dumps(value)


def _trajectory(recording: Recording, out: Path, progress: Progress | None, note: Note) -> int:
    layout, joints = recording.layout, recording.hello.get("joints", [])
    axes = labels.axes_of(layout, recording.hello)
    if not axes:
        raise RecordError(f"{recording.path} has no joints with one coordinate each, of which a joint trajectory is; "
                          f"export CSV instead")  # fmt: skip
    names = [axis.name for axis in axes]
    others = [name for name in joints if not {name, f"{name}.1"} & set(names)]
    if there := sorted(set(others) - _always_parked(recording), key=others.index):
        note(f"left out, having more than one coordinate: {', '.join(there)}")
    q, v = (layout.offset["q"] + np.array([a.q for a in axes]), layout.offset["v"] + np.array([a.v for a in axes]))
    clock = _clock(recording)
    begin = _last_reset(recording, clock)

    def points() -> Iterator[Point]:
        at, start, last = 0, np.nan, -np.inf
        for block in _blocks(recording, progress):
            times, floats = _column(block, clock), block.view(np.float64)
            for i in range(max(begin - at, 0), len(block)):
                if times[i] > last:
                    start, last = (times[i] if np.isnan(start) else start), times[i]
                    yield Point(times[i] - start, floats[i, q].tolist(), floats[i, v].tolist())
            at += len(block)

    return write_joint_trajectory(out, names, points())


def _always_parked(recording: Recording) -> set[str]:
    """Names of the bodies that waited all the time to be added, and took no part."""
    layout, bodies = recording.layout, recording.hello.get("bodies", [])
    if layout.length.get("parked") != len(bodies):
        return set()
    waiting, at = np.ones(len(bodies), dtype=bool), layout.offset["parked"]
    for block in recording.blocks():
        waiting &= (block.words[:, at : at + len(bodies)] != 0).all(axis=0)
    return {body["name"] for body, parked in zip(bodies, waiting, strict=True) if parked}


def _hand(recording: Recording, out: Path, progress: Progress | None) -> int:
    from palpate.haptics.devices.simulation.playback import HandRecording, write_recording

    layout = recording.layout
    words = np.concatenate(list(_blocks(recording, progress)))[_last_reset(recording, _clock(recording)) :]
    floats, at = words.view(np.float64), layout.offset
    moving = np.concatenate(([True], np.diff(floats[:, at["time_s"]]) > 0.0))
    words, floats = words[moving], floats[moving]
    position, turned = (
        floats[:, at[name] : at[name] + n] for name, n in (("device_position", 3), ("device_quaternion", 4))
    )
    write_recording(out, HandRecording(floats[:, at["time_s"]], position, turned, words[:, at["device_buttons"]]))
    return len(words)


def _clock(recording: Recording) -> Column:
    return Column("time_s", recording.layout.offset["time_s"], "f")


def _last_reset(recording: Recording, clock: Column) -> int:
    """The first frame of the last run: where simulated time went back for the last time."""
    begin, at, last = 0, 0, -np.inf
    for block in recording.blocks():
        times = np.concatenate(([last], _column(block.words, clock)))
        back = np.flatnonzero(np.diff(times) < 0)
        begin = at + int(back[-1]) if len(back) else begin
        at, last = at + len(block.words), times[-1]
    return begin
