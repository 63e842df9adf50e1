"""Frames, hands, events and marks -> file.  What was flushed survives the death of this process."""

from __future__ import annotations

import datetime
import json
import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Schema

from palpate.frame import EVENT, HAND, Layout
from palpate.record import RecordError
from palpate.record.container import LATEST_NS, MESSAGE, MESSAGE_INDEX, messages_in
from palpate.record.marks import check_mark
from palpate.record.output import Output
from palpate.record.views import RATE_HZ, SCENE, Topic, Views
from palpate.record.wire import FrameCodec, schema

FORMAT = "2"  # of the file: contact rows that are not used are left out
SCENE_FILE, MESH_FILE, START, END = "scene.json", "mesh/{}", "palpate", "palpate.end"
FRAMES, HANDS, EVENTS, MARKS = "/frame", "/hand", "/event", "/marks"
CLOCKS = ("monotonic", "simulated")  # what wall_ns of the frames counts
CHUNK_BYTES = 1 << 19  # a chunk that grows to this is closed even if nobody asks
MARK_SCHEMA = {
    "title": "palpate.Mark", "type": "object", "additionalProperties": True,  # data: whatever the mark brings
    "properties": {"text": {"type": "string"}, "wall_ns": {"type": "integer"}, "utc": {"type": "string"}},
}  # fmt: skip
_HEAD = struct.Struct("<BQHIQQ")  # a message record before its data, as container.MESSAGE


def layout_of(hello: dict[str, Any]) -> Layout:
    """The layout that a scene description gives of its frames: a file is read by its own, not by this version's."""
    try:
        layout = Layout.described(hello["frame"], **hello.get("sizes", {}))
        for name in ("tick", "wall_ns", "state", "time_s"):
            layout.offset[name]
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the scene description does not say how its frames are laid out ({error!r})") from None
    return layout


class FrameWriter:
    """Writes one recording.  `add` gathers frames, `flush` puts them on disk as one chunk, `close` ends the file.

    hello   the scene description; it goes whole into the file, and so do the scene's
    meshes  in the order of their numbers, each as runtime/world/meshes.py writes it: a replay needs nothing else
    views   also what other viewers show (views.py)

    An OSError (a full disk) leaves the file as it was after the last whole chunk; `close` may still succeed then.
    """

    def __init__(
        self, path: str | Path, hello: dict[str, Any], *, clock: str = "monotonic", clock_offset_ns: int | None = None,
        overwrite: bool = False, meshes: Sequence[bytes] = (), views: bool = True,
    ) -> None:  # fmt: skip
        if clock not in CLOCKS:
            raise RecordError(f"no clock is called {clock!r}; there are: {', '.join(CLOCKS)}")
        self.path, self.layout, self.clock = Path(path), layout_of(hello), clock
        self._codec = FrameCodec(self.layout)
        self._opened_ns, self._opened_monotonic_ns = time.time_ns(), time.monotonic_ns()
        if clock_offset_ns is None:
            clock_offset_ns = self._opened_ns - (self._opened_monotonic_ns if clock == "monotonic" else 0)
        self.clock_offset_ns = clock_offset_ns
        self._parts: list[Any] = []  # arrays of records of frames of the chunk to come,
        self._sizes: list[np.ndarray] = []  # their lengths [bytes], and
        self._times: list[np.ndarray] = []  # when they were [ns]
        self._bytes = 0
        self._others = bytearray()  # message records of all other topics
        self.pending = 0  # messages that are not on disk yet
        self.seconds = 0.0  # from the first to the last frame on disk [s]
        self._first_ns: int | None = None
        self._at_once = max(1, CHUNK_BYTES // (8 * self.layout.words))  # frames
        self._views = Views(hello, self.layout, meshes) if views else None
        self._viewed = -1  # the last period of RATE_HZ that has something to view
        self._codecs = {HANDS: FrameCodec(Layout(HAND)), EVENTS: FrameCodec(Layout(EVENT))}
        self._channels: dict[str, int] = {}
        self._sequence: dict[str, int] = {}
        self._out = Output(self.path, str(hello.get("palpate", "")), overwrite)
        try:
            self._begin(hello, meshes)
        except OSError:
            self._out.close()
            raise

    def _begin(self, hello: dict[str, Any], meshes: Sequence[bytes]) -> None:
        ns, out = self._opened_ns, self._out
        out.add_attachment(Attachment(ns, ns, SCENE_FILE, "application/json", json.dumps(hello).encode()))
        for number, mesh in enumerate(meshes):
            out.add_attachment(Attachment(ns, ns, MESH_FILE.format(number), "application/octet-stream", mesh))
        out.add_metadata(START, {
            "format": FORMAT, "palpate": hello.get("palpate", ""), "clock": self.clock,
            "clock_offset_ns": self.clock_offset_ns, "opened_unix_ns": ns,
            "opened_monotonic_ns": self._opened_monotonic_ns, "opened_utc": utc(ns),
        })  # fmt: skip
        topics = [
            Topic(topic, f"palpate.{name}", "protobuf", "protobuf", schema(layout, name))
            for topic, name, layout in ((FRAMES, "Frame", self.layout), (HANDS, "Hand", Layout(HAND)),
                                        (EVENTS, "Event", Layout(EVENT)))
        ]  # fmt: skip
        topics.append(Topic(MARKS, "palpate.Mark", "json", "jsonschema", json.dumps(MARK_SCHEMA).encode()))
        schemas: dict[str, int] = {}
        for topic in topics + (self._views.topics() if self._views else []):
            number = schemas.setdefault(topic.schema, len(schemas) + 1)
            self._channels[topic.name] = len(self._channels) + 1
            out.add_channel(
                Channel(self._channels[topic.name], topic.name, topic.encoding, {}, number),
                Schema(id=number, name=topic.schema, encoding=topic.schema_encoding, data=topic.schema_data),
            )

    @property
    def frames(self) -> int:
        """Frames on disk."""
        return self._out.summary.counts.get(self._channels[FRAMES], 0)

    # ---- what comes in

    def add(self, frames: np.ndarray, log_ns: np.ndarray | None = None) -> None:
        """Frames (n, words) int64 for the chunk to come, with other log times (n,) [ns] than their own if given."""
        if log_ns is None:
            log_ns = np.maximum(frames[:, self.layout.offset["wall_ns"]] + self.clock_offset_ns, 0)
        for begin in range(0, len(frames), self._at_once):
            some = slice(begin, begin + self._at_once)
            self._add(frames[some], log_ns[some])
            self._view(frames[some], log_ns[some])
            if self._bytes >= CHUNK_BYTES:
                self.flush()

    def _add(self, frames: np.ndarray, log_ns: np.ndarray) -> None:
        head = np.empty(len(frames), dtype=MESSAGE)
        head["opcode"], head["channel"] = Opcode.MESSAGE, self._channels[FRAMES]
        head["sequence"], head["log_time"] = frames[:, self.layout.offset["tick"]] & 0xFFFFFFFF, log_ns
        time_s = np.ascontiguousarray(frames[:, self.layout.offset["time_s"]]).view(np.float64)
        simulated = np.isfinite(time_s) & (time_s > 0) & (time_s < 9e9)
        head["publish_time"] = np.rint(np.where(simulated, time_s, 0.0) * 1e9).astype(np.int64)
        batches = self._codec.encode(frames, log_ns, MESSAGE.itemsize)
        sizes = np.empty(len(frames), dtype=np.int64)
        records: list[Any] = [None] * len(frames)
        for which, rows in batches:
            sizes[which] = rows.shape[1]
            some = head[which]
            some["length"] = rows.shape[1] - 9
            rows[:, : MESSAGE.itemsize] = some.view(np.uint8).reshape(len(which), MESSAGE.itemsize)
            if len(batches) > 1:
                for k, row in zip(which.tolist(), rows, strict=True):
                    records[k] = row
        self._parts += [batches[0].messages] if len(batches) == 1 else records
        self._sizes.append(sizes)
        self._times.append(log_ns)
        self._bytes += int(sizes.sum())
        self.pending += len(frames)

    def _view(self, frames: np.ndarray, log_ns: np.ndarray) -> None:
        """The first frame of each period of RATE_HZ, for other viewers."""
        if self._views is None:
            return
        periods = log_ns // (1_000_000_000 // RATE_HZ)
        for k in np.flatnonzero(np.diff(periods, prepend=self._viewed) != 0).tolist():
            ns = int(log_ns[k])
            if self._viewed < 0 and SCENE in self._channels:
                self._message(SCENE, ns, self._views.scene(ns))
            self._viewed = int(periods[k])
            for topic, data in self._views.messages(frames[k], ns):
                self._message(topic, ns, data)

    def hands(self, hands: np.ndarray) -> None:
        """HAND messages (n, words) int64, as they were sent to the servo; a frame's hand_age_s says which it used."""
        self._words(HANDS, hands, hands[:, Layout(HAND).offset["sent_ns"]])

    def events(self, events: np.ndarray, wall_ns: int) -> None:
        """EVENT messages (n, words) int64, seen at this time [ns]: they carry none of their own."""
        self._words(EVENTS, events, np.full(len(events), wall_ns))

    def mark(self, text: str, data: Any = None, wall_ns: int | None = None) -> None:
        """A marker: a word, and what JSON can hold (marks.py); wall_ns [ns] of the recording's clock, or now."""
        check_mark(text, data)
        if wall_ns is None:
            wall_ns = time.monotonic_ns() if self.clock == "monotonic" else 0
        if abs(wall_ns) > LATEST_NS // 2:
            raise ValueError("a mark's wall_ns is of the recording's clock, which does not go that far")
        ns = max(wall_ns + self.clock_offset_ns, 0)
        told = {"text": text, "data": data, "wall_ns": wall_ns, "utc": utc(ns)}
        self._message(MARKS, ns, json.dumps(told).encode())

    def _words(self, topic: str, words: np.ndarray, wall_ns: np.ndarray) -> None:
        if len(words):
            log_ns = np.maximum(wall_ns + self.clock_offset_ns, 0)
            (batch,) = self._codecs[topic].encode(words, log_ns)
            for ns, row in zip(log_ns.tolist(), batch.messages, strict=True):
                self._message(topic, ns, row.tobytes())

    def _message(self, topic: str, log_ns: int, data: bytes) -> None:
        self._sequence[topic] = (self._sequence.get(topic, 0) + 1) & 0xFFFFFFFF
        length = _HEAD.size - 9 + len(data)
        self._others += _HEAD.pack(
            Opcode.MESSAGE, length, self._channels[topic], self._sequence[topic], log_ns, log_ns
        ) + data  # fmt: skip
        self.pending += 1
        if len(self._others) >= CHUNK_BYTES:
            self.flush()

    # ---- what goes out

    def flush(self) -> None:
        """Put what was added on disk: handed to the operating system, not forced onto the platter."""
        parts, sizes, times, others = self._parts, self._sizes, self._times, bytes(self._others)
        self._parts, self._sizes, self._times, self._bytes, self.pending = [], [], [], 0, 0
        self._others.clear()
        if parts:
            size, log_ns = np.concatenate(sizes), np.concatenate(times)
            index = np.empty(len(size), dtype=MESSAGE_INDEX)
            index["log_time"], index["offset"] = log_ns, np.cumsum(size) - size
            self._out.add_chunk(b"".join(parts), {self._channels[FRAMES]: index})
            self._first_ns = int(log_ns.min()) if self._first_ns is None else min(self._first_ns, int(log_ns.min()))
            self.seconds = max(self.seconds, (int(log_ns.max()) - self._first_ns) / 1e9)
        if others:
            self._out.add_chunk(others, messages_in(others).indexes())

    def close(self, **end: int | str) -> None:
        """Write what is left, what there is to say at the end (lost=...), and the summary; a second call does nothing.

        After an OSError the file is closed too: without summary, but with all whole chunks.
        """
        if self._out.closed:
            return
        try:
            self.flush()
            self._out.end(END, {"frames": self.frames, **end})
        finally:
            self._out.close()

    def discard(self) -> None:
        """Give up: close the file and remove it."""
        self._out.discard()

    def __enter__(self) -> FrameWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def utc(unix_ns: int) -> str:
    """The Unix clock [ns] for people: 2026-07-01T09:30:00.000001+00:00; what no calendar holds is left empty."""
    try:
        return datetime.datetime.fromtimestamp(unix_ns // 1000 / 1e6, datetime.UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError, OSError):
        return ""
