"""File -> frames, marks, hands and events, whether the file was finished or its recorder died.

Chunks are read when they are needed.
"""

from __future__ import annotations

import contextlib
import mmap
import re
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from palpate.frame import EVENT, HAND, Layout
from palpate.record import RecordError
from palpate.record.container import (
    DAMAGE,
    MAGIC,
    MESSAGE,
    MESSAGE_INDEX,
    MOST_TIMES,
    RECORD,
    SMALL_FILE,
    Contents,
    Messages,
    messages_in,
    scan,
    unsqueezed,
)
from palpate.record.marks import read_mark, shown
from palpate.record.scene_file import read_scene
from palpate.record.wire import FrameCodec
from palpate.record.writer import END, EVENTS, FORMAT, FRAMES, HANDS, MARKS, MESH_FILE, SCENE_FILE, START, layout_of
from palpate.scenes.task import Trial, trials_of

CHUNKS_KEPT = 8  # decoded chunks in memory,
MOST_KEPT = 1 << 28  # and no more than these bytes
LARGEST_DECODED = 1 << 28  # one of them [bytes]
READS = ("1", FORMAT)  # formats of the file
# What a message was before fields were added to its end, by its words now.
OLDER = {Layout(HAND).words: Layout(HAND[: 1 + [f.name for f in HAND].index("energy_J")])}


class Frames(NamedTuple):
    """One decoded chunk."""

    words: np.ndarray  # (n, words) int64, read-only
    log_ns: np.ndarray  # (n,) int64, Unix clock [ns]


class Mark(NamedTuple):
    """A marker that someone put into the recording."""

    time_s: float  # on the axis of `times`: from the first frame
    text: str
    data: Any  # whatever JSON can hold
    wall_ns: int  # of the recording's clock, as in frames
    unix_ns: int


class Recording:
    """A recording, opened for reading.

    hello       the scene description           layout      of a frame
    count       frames in it                    duration_s  from its first to its last frame [s]
    finished    whether it was closed properly  lost        frames that the recorder lost; None: it died before it said
    metadata    format, version and clocks      meshes      of the scene, as runtime/world/meshes.py writes them
    notes       what a person should know of it, as far as it was read: a line each
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._data = _mapped(self.path)
        try:
            self._open()
        except BaseException:
            self._data.close()
            raise

    def _open(self) -> None:
        self._contents = scan(self._data)
        if self._contents.unpacked > SMALL_FILE + MOST_TIMES * len(self._data):
            raise RecordError(f"{self.path} is damaged, or made to fill the memory: its {len(self._data)} bytes "
                              f"say that they unpack to {self._contents.unpacked}")  # fmt: skip
        self.finished = self._contents.finished
        self.metadata = self._contents.metadata.get(START, {})
        self.hello = _scene(self._contents, self.path)
        with self._named():
            self.layout = layout_of(self.hello)
        self._codec = FrameCodec(self.layout)
        self.lost = _integer(self._contents.metadata.get(END, {}).get("lost", ""))
        self._clock_offset_ns = _integer(self.metadata.get("clock_offset_ns", "")) or 0
        self.notes: set[str] = set()  # what a person should know of this file, a line each
        self._channel = self._contents.channel(FRAMES)
        self._cache: OrderedDict[int, Frames] = OrderedDict()
        self._chunks = np.arange(len(self._contents.chunk_at))  # those that hold frames
        self._index_at, counts = self._count_messages()
        self._chunks, self._index_at = np.flatnonzero(counts), self._index_at[counts > 0]
        self._first_ns = np.array(self._contents.first_ns, dtype=np.int64)[self._chunks]
        self._begin = np.concatenate(([0], np.cumsum(counts[self._chunks]))).astype(np.int64)  # first frame of each
        self.count = int(self._begin[-1])
        last_ns = np.array(self._contents.last_ns, dtype=np.int64)[self._chunks]
        self.duration_s = int(last_ns.max() - self._first_ns[0]) / 1e9 if self.count else 0.0

    def _count_messages(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each chunk of the file: where its index of frames is, 0 if it has none, and how many frames it holds."""
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
        """How many chunks hold frames."""
        return len(self._chunks)

    def chunk(self, number: int) -> Frames:
        """One chunk, with as many frames as its index says; the last few are kept."""
        if number in self._cache:
            self._cache.move_to_end(number)
            return self._cache[number]
        frames = self.decode(int(self._chunks[number]))
        if len(frames.words) != self._begin[number + 1] - self._begin[number]:
            raise RecordError(self._damaged(int(self._chunks[number])))
        self._cache[number] = frames
        while len(self._cache) > CHUNKS_KEPT or sum(kept.words.nbytes for kept in self._cache.values()) > MOST_KEPT:
            self._cache.popitem(last=False)
        return frames

    def unpacked(self, place: int) -> tuple[bytes, Messages]:
        """The message records of the file's chunk at a place, its checksum checked, and where each of them lies."""
        at, length = self._contents.chunk_at[place], self._contents.chunk_length[place]
        try:
            data = unsqueezed(self._data[at + RECORD.size : at + length])
            return data, messages_in(data)
        except DAMAGE:
            raise RecordError(self._damaged(place)) from None

    def decode(self, place: int) -> Frames:
        """The frames of the file's chunk at a place, whatever its index says."""
        return self.decoded(*self.unpacked(place), self._channel, self._codec)

    def decoded(self, data: bytes, messages: Messages, channel: int = -1, codec: FrameCodec | None = None) -> Frames:
        """The messages of one channel in a chunk's data, in their order: frames, unless another channel is given."""
        codec = codec or self._codec
        found, raw = messages.of(self._channel if channel < 0 else channel), np.frombuffer(data, dtype=np.uint8)
        if 8 * len(found.start) * codec.layout.words > LARGEST_DECODED:  # rows that were left out would fill the memory
            raise RecordError(f"{self.path} is damaged: a chunk holds more frames than it can")
        words = np.empty((len(found.start), codec.layout.words), dtype=np.int64)
        for size in np.unique(found.size):
            which = np.flatnonzero(found.size == size)
            if len(which) * size == len(data):  # nothing else in it, as we write it
                records = raw.reshape(len(which), size)
            else:
                records = raw[found.start[which, None] + np.arange(size)]
            with self._named():
                words[which] = codec.decode(records[:, MESSAGE.itemsize :])
        words.flags.writeable = False
        return Frames(words, found.log_ns)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """What is wrong is told with the name of the file."""
        try:
            yield
        except RecordError as error:
            raise RecordError(f"{self.path}: {error}") from None

    def _damaged(self, place: int) -> str:
        return f"{self.path} is damaged at byte {self._contents.chunk_at[place]}; `palpate recover` saves the rest"

    # ---- what else there is

    @property
    def marks(self) -> list[Mark]:
        """Markers, in the order of time; `notes` says if some are not as they were set."""
        marks, odd, first_ns = [], 0, int(self._first_ns[0]) if self.count else 0
        for message, unix_ns in self._messages(MARKS):
            text, data, wall_ns, whole = read_mark(message)
            wall_ns = unix_ns - self._clock_offset_ns if wall_ns is None else wall_ns
            marks.append(Mark((unix_ns - first_ns) / 1e9, text, data, wall_ns, unix_ns))
            odd += not whole
        if odd:
            self.notes.add(f"{self.path}: {odd} of {len(marks)} marks hold more than a mark may; their data is text")
        return sorted(marks, key=lambda mark: mark.unix_ns)

    @property
    def hands(self) -> np.ndarray:
        """Every HAND message that the recorder saw (n, words) int64, as frame.HAND lays it out."""
        return self._others(HANDS, Layout(HAND))

    @property
    def events(self) -> np.ndarray:
        """Every EVENT message that the recorder saw (n, words) int64, as frame.EVENT lays it out."""
        return self._others(EVENTS, Layout(EVENT))

    @property
    def topics(self) -> list[str]:
        """Names of all topics."""
        return [channel.topic for channel in self._contents.channels.values()]

    @property
    def meshes(self) -> list[bytes]:
        """The scene's meshes in the order of their numbers."""
        found, meshes = self._contents.attachments, list[bytes]()
        while (name := MESH_FILE.format(len(meshes))) in found:
            meshes.append(found[name].data)
        return meshes

    @property
    def trials(self) -> list[Trial]:
        """Of the scene's task, as the frames have them; none if it has none, or the recording is of before."""
        names = ("task_trial", "task_state", "task_time_s", "task_path_m", "task_peak_N", "task_collisions")
        if not set(names) <= set(self.layout.offset):
            return []
        kinds = {f.name: np.float64 if f.kind == "f" else np.int64 for f in self.layout.fields}
        columns = {name: [block.words[:, self.layout.offset[name]] for block in self.blocks()] for name in names}
        return trials_of({name: np.concatenate([np.zeros(0, dtype=np.int64), *parts]).view(kinds[name])
                          for name, parts in columns.items()})  # fmt: skip

    def _places(self, channel: int) -> list[int]:
        """The file's chunks that hold messages of a channel, or may, having no index."""
        found = self._contents
        indexed = zip(found.index_chunk, found.index_channel, strict=True)
        ours = {place for place, number in indexed if number == channel}
        return sorted(ours | (set(range(len(found.chunk_at))) - set(found.index_chunk)))

    def _messages(self, topic: str) -> Iterator[tuple[bytes, int]]:
        """(message, log_time) of a topic; chunks that are damaged are left out."""
        channel = self._contents.channel(topic)
        for place in self._places(channel) if channel >= 0 else ():
            with contextlib.suppress(RecordError):
                data, messages = self.unpacked(place)
                found = messages.of(channel)
                for start, size, log_ns in zip(found.start, found.size, found.log_ns.tolist(), strict=True):
                    yield data[start + MESSAGE.itemsize : start + size], log_ns

    def _others(self, topic: str, layout: Layout) -> np.ndarray:
        channel, codec = self._contents.channel(topic), FrameCodec(layout)
        parts = [np.empty((0, layout.words), dtype=np.int64)]
        for place in self._places(channel) if channel >= 0 else ():
            with contextlib.suppress(RecordError):
                parts.append(self.decoded(*self.unpacked(place), channel, codec).words)
        found = np.concatenate(parts)
        if not len(found) and (older := OLDER.get(layout.words)) is not None:
            before = self._others(topic, older)  # later fields come last, and were zero
            found = np.pad(before, ((0, 0), (0, layout.words - older.words)))
        return found

    # ---- frames

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
        marks = [{"time_s": mark.time_s, "text": mark.text, "data": shown(mark.data)} for mark in self.marks]
        told = {"mode": "replay", "duration_s": self.duration_s, "first_wall_ns": first, "marks": marks}
        return self.hello | told

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

    @property
    def contents(self) -> Contents:
        """Where everything is in the file."""
        return self._contents

    @property
    def whole_bytes(self) -> int:
        """Bytes of the file up to its last whole record."""
        return len(self._data) if self.finished else self._contents.whole

    @property
    def file_bytes(self) -> int:
        """Bytes of the file."""
        return len(self._data)


def _integer(text: str) -> int | None:
    """A number of the metadata, if it is one."""
    return int(text) if re.fullmatch(r"-?[0-9]{1,19}", text) else None


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
    if START not in found.metadata or SCENE_FILE not in found.attachments:
        if found.finished or found.chunk_at:
            raise RecordError(f"{path} is an MCAP file, but not a recording of palpate")
        raise RecordError(f"{path} ends before its first frame; there is nothing to save in it")
    if (other := found.metadata[START].get("format")) not in READS:
        raise RecordError(f"{path} has format {other} of palpate {found.metadata[START].get('palpate')}; "
                          f"this version reads {' and '.join(READS)}")  # fmt: skip
    return read_scene(found.attachments[SCENE_FILE].data, path)
