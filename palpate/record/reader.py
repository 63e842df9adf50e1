"""File -> frames, whether the file was finished or its recorder died.  Chunks are read when they are needed."""

from __future__ import annotations

import json
import mmap
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from palpate.record import RecordError
from palpate.record.container import (
    DAMAGE,
    MAGIC,
    MESSAGE,
    MESSAGE_INDEX,
    RECORD,
    Contents,
    message_starts,
    scan,
    unsqueezed,
)
from palpate.record.wire import FrameCodec
from palpate.record.writer import END, FORMAT, SCENE, START, TOPIC, layout_of

CHUNKS_KEPT = 8  # decoded chunks in memory


class Frames(NamedTuple):
    """One decoded chunk."""

    words: np.ndarray  # (n, words) int64, read-only
    log_ns: np.ndarray  # (n,) int64, Unix clock [ns]


class Recording:
    """A recording, opened for reading.

    hello       the scene description           layout      of a frame
    count       frames in it                    duration_s  from its first to its last frame [s]
    finished    whether it was closed properly  lost        frames that the recorder lost; None: it died before it said
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._data = _mapped(self.path)
        self._contents = scan(self._data)
        self.finished = self._contents.finished
        self.metadata = self._contents.metadata.get(START, {})
        self.hello = _scene(self._contents, path)
        self.layout = layout_of(self.hello)
        self._codec = FrameCodec(self.layout)
        lost = self._contents.metadata.get(END, {}).get("lost", "")
        self.lost = int(lost) if lost.isdecimal() else None
        self._channel = self._contents.channels.get(TOPIC, 0)
        self._cache: OrderedDict[int, Frames] = OrderedDict()
        self._index_at, counts = self._count_messages()
        self._first_ns = np.array(self._contents.first_ns, dtype=np.int64)
        self._begin = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)  # first frame of each chunk
        self.count = int(self._begin[-1])
        span_ns = int(max(self._contents.last_ns) - self._first_ns[0]) if self.count else 0
        self.duration_s = span_ns / 1e9

    def _count_messages(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each chunk: where its index of frames is, 0 if it has none, and how many frames it holds."""
        found = self._contents
        at, counts = np.zeros(len(found.chunk_at), dtype=np.int64), np.full(len(found.chunk_at), -1, dtype=np.int64)
        ours = np.array(found.index_channel, dtype=np.int64) == self._channel
        chunks = np.array(found.index_chunk, dtype=np.int64)
        at[chunks[ours]] = np.array(found.index_at, dtype=np.int64)[ours]
        counts[chunks] = 0  # it has an index, if only of other channels
        counts[chunks[ours]] = np.array(found.index_count, dtype=np.int64)[ours]
        for chunk in np.flatnonzero(counts < 0):  # the last one, if the recorder died in between
            try:
                counts[chunk] = len(self.decode(int(chunk)).words)
            except RecordError:
                counts[chunk] = 0
        return at, counts

    @property
    def times(self) -> np.ndarray:
        """When each frame was, since the first one (count,) [s]: the axis of `index_at` and of SEEK."""
        parts = []
        for chunk, at in enumerate(self._index_at):
            n = int(self._begin[chunk + 1] - self._begin[chunk])
            if n and at:
                entries = np.frombuffer(self._data[at : at + n * MESSAGE_INDEX.itemsize], dtype=MESSAGE_INDEX)
                parts.append(entries["log_time"].astype(np.int64))
            elif n:
                parts.append(self.chunk(chunk).log_ns)
        log_ns = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
        return (log_ns - (self._first_ns[0] if parts else 0)) / 1e9

    @property
    def n_chunks(self) -> int:
        """How many chunks there are."""
        return len(self._index_at)

    def chunk(self, number: int) -> Frames:
        """One chunk, with as many frames as its index says; the last few are kept."""
        if number in self._cache:
            self._cache.move_to_end(number)
            return self._cache[number]
        frames = self.decode(number)
        if len(frames.words) != self._begin[number + 1] - self._begin[number]:
            raise RecordError(self._damaged(number))
        self._cache[number] = frames
        if len(self._cache) > CHUNKS_KEPT:
            self._cache.popitem(last=False)
        return frames

    def decode(self, number: int) -> Frames:
        """One chunk, read from the file, whatever its index says."""
        at, length = self._contents.chunk_at[number], self._contents.chunk_length[number]
        size = MESSAGE.itemsize + self._codec.size
        try:
            data = unsqueezed(self._data[at + RECORD.size : at + length])
            starts = message_starts(data, self._channel, size)
        except DAMAGE:
            raise RecordError(self._damaged(number)) from None
        raw = np.frombuffer(data, dtype=np.uint8)
        if len(starts) * size == len(data):  # nothing else in it, as we write it
            records = raw.reshape(len(starts), size)
        else:
            records = raw[starts[:, None] + np.arange(size)]
        head = np.ascontiguousarray(records[:, : MESSAGE.itemsize]).view(MESSAGE)[:, 0]
        words = self._codec.decode(records[:, MESSAGE.itemsize :])
        words.flags.writeable = False
        return Frames(words, head["log_time"].astype(np.int64))

    def _damaged(self, number: int) -> str:
        return f"{self.path} is damaged at byte {self._contents.chunk_at[number]}; `palpate recover` saves the rest"

    def frame(self, i: int) -> np.ndarray:
        """Frame `i` (words,) int64, from 0; negative numbers count from the end."""
        i = i + self.count if i < 0 else i
        if not 0 <= i < self.count:
            raise IndexError(f"{self.path} has {self.count} frames")
        chunk = int(np.searchsorted(self._begin, i, side="right")) - 1
        return self.chunk(chunk).words[i - self._begin[chunk]]

    def index_at(self, time_s: float) -> int:
        """The last frame that was not later than `time_s` after the first one; the first one if there is none."""
        if self.count == 0:
            raise RecordError(f"{self.path} holds no frames")
        when = self._first_ns[0] + round(min(max(time_s, 0.0), self.duration_s) * 1e9)
        number = max(int(np.searchsorted(self._first_ns, when, side="right")) - 1, 0)
        within = int(np.searchsorted(self.chunk(number).log_ns, when, side="right"))
        return max(int(self._begin[number]) + within - 1, 0)

    def time_at(self, i: int) -> float:
        """When frame `i` was, since the first one [s]."""
        chunk = int(np.searchsorted(self._begin, i, side="right")) - 1
        return float(self.chunk(chunk).log_ns[i - self._begin[chunk]] - self._first_ns[0]) / 1e9

    def replay_hello(self) -> dict[str, Any]:
        """The scene description for a page that shows this recording.

        Where a shown frame lies on the axis of SEEK: (wall_ns - first_wall_ns) * 1e-9 [s], from 0 to duration_s.
        """
        first = self.layout.read(self.frame(0), "wall_ns") if self.count else 0
        return self.hello | {"mode": "replay", "duration_s": self.duration_s, "first_wall_ns": first}

    def blocks(self) -> Iterator[Frames]:
        """All frames, a chunk at a time."""
        return (self.chunk(number) for number in range(self.n_chunks))

    def __iter__(self) -> Iterator[np.ndarray]:
        return (words for block in self.blocks() for words in block.words)

    def __len__(self) -> int:
        return self.count

    def close(self) -> None:
        """Let go of the file; frames that were read stay valid."""
        self._data.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def chunk_bytes(self, number: int) -> int:
        """How many bytes of the file a chunk takes."""
        return self._contents.chunk_length[number]

    @property
    def whole_bytes(self) -> int:
        """Bytes of the file up to its last whole record."""
        return len(self._data) if self.finished else self._contents.whole

    @property
    def file_bytes(self) -> int:
        """Bytes of the file."""
        return len(self._data)


def _mapped(path: Path) -> mmap.mmap:
    """The file's bytes, as far as it begins like an MCAP file."""
    try:
        with open(path, "rb") as file:
            if not (begin := file.read(len(MAGIC))):
                raise RecordError(f"{path} is empty")
            if begin != MAGIC:
                raise RecordError(f"{path} is not a recording: it does not begin like an MCAP file")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise RecordError(f"there is no file {path}") from None
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None


def _scene(found: Contents, path: str | Path) -> dict[str, Any]:
    """The scene description, if this is a recording of palpate in a format that we know."""
    if START not in found.metadata or SCENE not in found.attachments:
        if found.finished or found.chunk_at:
            raise RecordError(f"{path} is an MCAP file, but not a recording of palpate")
        raise RecordError(f"{path} ends before its first frame; there is nothing to save in it")
    if (other := found.metadata[START].get("format")) != FORMAT:
        raise RecordError(f"{path} has format {other} of palpate {found.metadata[START].get('palpate')}; "
                          f"this version reads format {FORMAT}")  # fmt: skip
    try:
        hello: dict[str, Any] = json.loads(found.attachments[SCENE])
        return dict(hello)
    except (ValueError, TypeError):
        raise RecordError(f"{path} is damaged: its scene description cannot be read") from None
