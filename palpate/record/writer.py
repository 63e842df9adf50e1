"""Frames -> file.  What was flushed survives the death of this process; what was not is lost with it."""

from __future__ import annotations

import contextlib
import json
import os
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Header, Metadata, Schema

from palpate.frame import Field, Layout
from palpate.record import RecordError
from palpate.record.container import MAGIC, MESSAGE, MESSAGE_INDEX, Summary, chunk_records, packed
from palpate.record.wire import SCHEMA_NAME, FrameCodec, schema

FORMAT = "1"  # of the file; a reader refuses others
TOPIC, SCENE, START, END = "/frame", "scene.json", "palpate", "palpate.end"
CLOCKS = ("monotonic", "simulated")  # what wall_ns of the frames counts
CHUNK_BYTES = 1 << 19  # a chunk that grows to this is closed even if nobody asks
ZSTD_LEVEL = 1  # level 3 takes twice the time for two per cent


def layout_of(hello: dict[str, Any]) -> Layout:
    """The layout that a scene description gives of its frames: a file is read by its own, not by this version's."""
    try:
        fields = tuple(Field(f["name"], f["kind"], tuple(f["shape"]), f.get("about", "")) for f in hello["frame"])
        layout = Layout(fields, **hello.get("sizes", {}))
        same = [(f["offset"], f["length"]) for f in hello["frame"]] == [
            (layout.offset[f.name], layout.length[f.name]) for f in fields
        ]
        for name in ("tick", "wall_ns", "state", "time_s"):
            layout.offset[name]
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"the scene description does not say how its frames are laid out ({error!r})") from None
    if not same:
        raise RecordError("the scene description lays its frames out in a way that this version does not know")
    return layout


class FrameWriter:
    """Writes one recording.  `add` gathers frames, `flush` puts them on disk as one chunk, `close` ends the file.

    `hello` is the scene description; it goes whole into the file.  An OSError (a full disk) leaves the file as it was
    after the last whole chunk; `close` may still succeed then.
    """

    def __init__(
        self, path: str | Path, hello: dict[str, Any], *, clock: str = "monotonic", clock_offset_ns: int | None = None,
        overwrite: bool = False,
    ) -> None:  # fmt: skip
        if clock not in CLOCKS:
            raise RecordError(f"no clock is called {clock!r}; there are: {', '.join(CLOCKS)}")
        self.path, self.layout, self.clock = Path(path), layout_of(hello), clock
        self._codec = FrameCodec(self.layout)
        self._opened_ns = time.time_ns()
        if clock_offset_ns is None:
            clock_offset_ns = self._opened_ns - (time.monotonic_ns() if clock == "monotonic" else 0)
        self.clock_offset_ns = clock_offset_ns
        self._squeeze = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self._pending: list[np.ndarray] = []  # (n, record size) uint8: message records of the chunk to come
        self._pending_bytes = self._size = 0
        self.pending = 0  # frames that are not on disk yet
        self._summary = Summary(
            Schema(id=1, name=SCHEMA_NAME, encoding="protobuf", data=schema(self.layout)),
            Channel(id=1, topic=TOPIC, message_encoding="protobuf", schema_id=1, metadata={}),
        )
        try:
            self._file = open(self.path, "wb" if overwrite else "xb", buffering=0)  # noqa: SIM115
        except FileExistsError:
            raise RecordError(f"{self.path} is there already; choose another name or remove it") from None
        except OSError as error:
            raise RecordError(f"cannot write {self.path}: {error.strerror}") from None
        try:
            self._begin(hello)
        except OSError:
            self._file.close()
            raise

    def _begin(self, hello: dict[str, Any]) -> None:
        library = f"palpate {hello.get('palpate', '')} mcap {version('mcap')}"
        self._append(MAGIC + packed(Header("", library)))
        scene = Attachment(self._opened_ns, self._opened_ns, SCENE, "application/json", json.dumps(hello).encode())
        at, record = self._size, packed(scene)
        self._append(record)
        self._summary.add_attachment(at, len(record), scene)
        self._add_metadata(START, {
            "format": FORMAT, "palpate": str(hello.get("palpate", "")), "clock": self.clock,
            "clock_offset_ns": str(self.clock_offset_ns), "opened_unix_ns": str(self._opened_ns),
        })  # fmt: skip
        self._append(packed(self._summary.schema) + packed(self._summary.channel))

    @property
    def frames(self) -> int:
        """Frames on disk."""
        return self._summary.count

    @property
    def seconds(self) -> float:
        """From the first to the last frame on disk [s]."""
        return (self._summary.last_ns - self._summary.first_ns) / 1e9

    def add(self, frames: np.ndarray, log_ns: np.ndarray | None = None) -> None:
        """Frames (n, words) int64 for the chunk to come, with other log times (n,) [ns] than their own if given."""
        if len(frames) == 0:
            return
        if log_ns is None:
            log_ns = np.maximum(frames[:, self.layout.offset["wall_ns"]] + self.clock_offset_ns, 0)
        head = np.empty(len(frames), dtype=MESSAGE)
        head["opcode"], head["channel"] = Opcode.MESSAGE, self._summary.channel.id
        head["length"] = MESSAGE.itemsize - 9 + self._codec.size
        head["sequence"], head["log_time"] = frames[:, self.layout.offset["tick"]] & 0xFFFFFFFF, log_ns
        time_s = np.ascontiguousarray(frames[:, self.layout.offset["time_s"]]).view(np.float64)
        simulated = np.isfinite(time_s) & (time_s > 0) & (time_s < 9e9)
        head["publish_time"] = np.rint(np.where(simulated, time_s, 0.0) * 1e9).astype(np.int64)
        raw = head.view(np.uint8).reshape(len(frames), MESSAGE.itemsize)
        self._pending.append(np.concatenate((raw, self._codec.encode(frames, log_ns)), axis=1))
        self._pending_bytes += self._pending[-1].nbytes
        self.pending += len(frames)
        if self._pending_bytes >= CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Put what was added on disk, as one chunk: handed to the operating system, not forced onto the platter."""
        if not self.pending:
            return
        records = np.concatenate(self._pending)
        self._pending, self._pending_bytes, self.pending = [], 0, 0
        index = np.empty(len(records), dtype=MESSAGE_INDEX)
        index["log_time"] = records[:, : MESSAGE.itemsize].copy().view(MESSAGE)["log_time"][:, 0]
        index["offset"] = np.arange(len(records)) * records.shape[1]
        data = records.tobytes()
        squeezed = self._squeeze.compress(data)
        chunk, entries = chunk_records(data, squeezed, "zstd", self._summary.channel.id, index)
        at = self._size
        self._append(chunk + entries)
        self._summary.add_chunk(at, chunk, entries, "zstd", len(squeezed), len(records))

    def close(self, **end: int | str) -> None:
        """Write what is left, what there is to say at the end (lost=...), and the summary; a second call does nothing.

        After an OSError the file is closed too: without summary, but with all whole chunks.
        """
        if self._file.closed:
            return
        try:
            self.flush()
            before = self._size
            try:
                self._add_metadata(END, {"frames": str(self.frames)} | {k: str(v) for k, v in end.items()})
                self._append(self._summary.end(self._size))
            except OSError:
                os.ftruncate(self._file.fileno(), before)
                raise
        finally:
            self._file.close()

    def discard(self) -> None:
        """Give up: close the file and remove it."""
        self._file.close()
        self.path.unlink(missing_ok=True)

    def _add_metadata(self, name: str, data: dict[str, str]) -> None:
        metadata = Metadata(name, data)
        at, record = self._size, packed(metadata)
        self._append(record)
        self._summary.add_metadata(at, len(record), metadata)

    def _append(self, data: bytes) -> None:
        """All of it, or an OSError and the file as it was before."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                self._file.seek(self._size)
                os.ftruncate(self._file.fileno(), self._size)
            raise
        self._size += len(data)

    def __enter__(self) -> FrameWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
