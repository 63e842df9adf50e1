"""The MCAP records that recordings need (https://mcap.dev/spec): making them, and finding them in a file.

mcap's own reader needs the summary at the end of a file, which a crash leaves unwritten.  `scan` needs none: it goes
from record to record and keeps places, so that a long file is opened without being read.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from array import array
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, NamedTuple

import lz4.frame
import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    Channel,
    McapRecord,
    Metadata,
    Schema,
)

# what reading a damaged chunk may raise
DAMAGE = (McapError, zstandard.ZstdError, struct.error, ValueError, RuntimeError, MemoryError)
KNOWN = frozenset(Opcode) | frozenset(range(0x80, 0x100))  # opcodes from 0x80 on are for private use
MAGIC = b"\x89MCAP0\r\n"
LATEST_NS = 2**63 - 1
# What one chunk may come to, unpacked [bytes]; ours have a hundredth.  And all of a file: so many times its size, which
# no frames come to (each has 16 bytes in an index that is not compressed), and something for the small ones.
LARGEST_CHUNK = 1 << 26
MOST_TIMES, SMALL_FILE = 1000, 1 << 28
RECORD = struct.Struct("<BQ")  # opcode, length of what follows
CHUNK = struct.Struct("<QQQII")  # first and last log_time, size and crc32 before compression, codec's name
MESSAGE = np.dtype([("opcode", "u1"), ("length", "<u8"), ("channel", "<u2"), ("sequence", "<u4"),
                    ("log_time", "<u8"), ("publish_time", "<u8")])  # fmt: skip
_HEAD = struct.Struct("<HIQ")  # of a message: channel, sequence, log_time
MESSAGE_INDEX = np.dtype([("log_time", "<u8"), ("offset", "<u8")])


def packed(record: McapRecord) -> bytes:
    """A record as it stands in the file."""
    builder = RecordBuilder()
    record.write(builder)
    return bytes(builder.end())


def chunk_records(
    data: bytes, squeezed: bytes, codec: str, indexes: dict[int, np.ndarray]
) -> tuple[bytes, list[bytes]]:
    """A chunk of messages and, for each channel, the index of its messages (n,) MESSAGE_INDEX, as in the file."""
    name, times = codec.encode(), np.concatenate([index["log_time"] for index in indexes.values()])
    head = CHUNK.pack(int(times.min()), int(times.max()), len(data), zlib.crc32(data), len(name))
    body = b"".join((head, name, struct.pack("<Q", len(squeezed)), squeezed))
    entries = []
    for channel, index in indexes.items():
        entry = struct.pack("<HI", channel, index.nbytes) + index.tobytes()
        entries.append(RECORD.pack(Opcode.MESSAGE_INDEX, len(entry)) + entry)
    return RECORD.pack(Opcode.CHUNK, len(body)) + body, entries


@dataclass
class Contents:
    """Where things are in a file; one entry for each whole chunk and each index of one channel in one chunk.

    unpacked  what all chunks say they hold before compression [bytes], but those that say more than one may
    """

    chunk_at: array[int] = field(default_factory=lambda: array("Q"))
    chunk_length: array[int] = field(default_factory=lambda: array("Q"))
    first_ns: array[int] = field(default_factory=lambda: array("Q"))
    last_ns: array[int] = field(default_factory=lambda: array("Q"))
    index_chunk: array[int] = field(default_factory=lambda: array("Q"))
    index_channel: array[int] = field(default_factory=lambda: array("Q"))
    index_at: array[int] = field(default_factory=lambda: array("Q"))  # its first entry
    index_count: array[int] = field(default_factory=lambda: array("Q"))
    schemas: dict[int, Schema] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    attachments: dict[str, Attachment] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    unpacked: int = 0
    whole: int = len(MAGIC)  # end of the last whole record of the data [bytes]
    finished: bool = False  # everything is there, down to the closing magic

    def channel(self, topic: str) -> int:
        """The number of a topic's first channel; -1: there is none."""
        return next((number for number, channel in self.channels.items() if channel.topic == topic), -1)


def _read(kind: Any, payload: bytes) -> Any:
    """The record, or None if it is damaged."""
    try:
        return kind.read(ReadDataStream(BytesIO(payload)))
    except (McapError, struct.error, UnicodeDecodeError):
        return None


def scan(data: mmap.mmap | bytes) -> Contents:
    """The contents of a file that begins with MAGIC, up to where it ends or stops making sense."""
    found, at, in_data = Contents(), len(MAGIC), True
    while at + RECORD.size <= len(data):
        opcode, length = RECORD.unpack_from(data, at)
        body, end = at + RECORD.size, at + RECORD.size + length
        if end > len(data) or opcode not in KNOWN:
            break
        if opcode == Opcode.CHUNK and length >= CHUNK.size:
            first, last, size, _, _ = CHUNK.unpack_from(data, body)
            found.unpacked += size if size <= LARGEST_CHUNK else 0
            found.chunk_at.append(at)
            found.chunk_length.append(end - at)
            found.first_ns.append(min(first, LATEST_NS))
            found.last_ns.append(min(last, LATEST_NS))
        elif opcode == Opcode.MESSAGE_INDEX and length >= 6 and found.chunk_at:
            number, size = struct.unpack_from("<HI", data, body)
            found.index_chunk.append(len(found.chunk_at) - 1)
            found.index_channel.append(number)
            found.index_at.append(body + 6)
            found.index_count.append(min(size, length - 6) // MESSAGE_INDEX.itemsize)
        elif opcode == Opcode.CHANNEL and (channel := _read(Channel, data[body:end])):
            found.channels.setdefault(channel.id, channel)
        elif opcode == Opcode.SCHEMA and (schema := _read(Schema, data[body:end])):
            found.schemas.setdefault(schema.id, schema)
        elif opcode == Opcode.ATTACHMENT and (attachment := _read(Attachment, data[body:end])):
            found.attachments.setdefault(attachment.name, attachment)
        elif opcode == Opcode.METADATA and (metadata := _read(Metadata, data[body:end])):
            found.metadata.setdefault(metadata.name, metadata.metadata)
        elif opcode == Opcode.DATA_END:
            in_data = False
        elif opcode == Opcode.FOOTER:
            found.finished = data[end : end + len(MAGIC)] == MAGIC
            break
        at = end
        if in_data:
            found.whole = at
    return found


def unsqueezed(chunk: bytes) -> bytes:
    """What is in a chunk record, its checksum checked; one of DAMAGE if it is damaged.

    However much it would come to, no more is unpacked than it says, nor than LARGEST_CHUNK.
    """
    _, _, size, crc, n = CHUNK.unpack_from(chunk)
    codec, squeezed = chunk[CHUNK.size : CHUNK.size + n].decode(), chunk[CHUNK.size + n + 8 :]
    if size > LARGEST_CHUNK:
        raise ValueError("too large")
    if codec == "zstd":
        if zstandard.get_frame_parameters(squeezed).content_size != size:
            raise ValueError("sizes differ")
        data = zstandard.ZstdDecompressor().decompress(squeezed, max_output_size=size)
    elif codec == "lz4":
        data = lz4.frame.LZ4FrameDecompressor().decompress(squeezed, max_length=size + 1)
    elif codec == "":
        data = squeezed
    else:
        raise ValueError(f"no compression is called {codec!r}")
    if len(data) != size or (crc and zlib.crc32(data) != crc):
        raise ValueError("not what was written")
    return data


class Messages(NamedTuple):
    """Where the messages of a chunk lie."""

    start: np.ndarray  # (n,) of each message record in the chunk's data
    size: np.ndarray  # (n,) of the record [bytes]
    channel: np.ndarray  # (n,)
    log_ns: np.ndarray  # (n,)

    def of(self, channel: int) -> Messages:
        """Those of one channel."""
        ours = self.channel == channel
        return Messages(*(part[ours] for part in self))

    def indexes(self) -> dict[int, np.ndarray]:
        """The index of each channel (n,) MESSAGE_INDEX, in the order of the channels' first messages."""
        made = {}
        for channel in dict.fromkeys(self.channel.tolist()):
            ours = self.of(channel)
            made[channel] = np.empty(len(ours.start), dtype=MESSAGE_INDEX)
            made[channel]["log_time"], made[channel]["offset"] = ours.log_ns, ours.start
        return made


def messages_in(data: bytes) -> Messages:
    """The messages of a chunk's data, walked from record to record; one of DAMAGE if it is torn."""
    if (same := _of_one_size(data)) is not None:
        return same
    table, at = array("q"), 0
    while at < len(data):
        opcode, length = RECORD.unpack_from(data, at)
        if at + RECORD.size + length > len(data):
            raise ValueError("a record beyond the end of its chunk")
        if opcode == Opcode.MESSAGE:
            if length < MESSAGE.itemsize - RECORD.size:
                raise ValueError("a message that is too short")
            channel, _, log_ns = _HEAD.unpack_from(data, at + RECORD.size)
            table.extend((at, RECORD.size + length, channel, min(log_ns, LATEST_NS)))
        at += RECORD.size + length
    columns = np.array(table, dtype=np.int64).reshape(-1, 4).T
    return Messages(*(np.ascontiguousarray(column) for column in columns))


def _of_one_size(data: bytes) -> Messages | None:
    """The same, all at once, if there are only messages of one size, as most chunks have them."""
    if len(data) < MESSAGE.itemsize:
        return None
    opcode, length = RECORD.unpack_from(data)
    size = RECORD.size + length
    if opcode != Opcode.MESSAGE or size < MESSAGE.itemsize or len(data) % size:
        return None
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
    head = np.ascontiguousarray(rows[:, : MESSAGE.itemsize]).view(MESSAGE)[:, 0]
    if (head["opcode"] != opcode).any() or (head["length"] != length).any():
        return None
    log_ns = np.minimum(head["log_time"], LATEST_NS).astype(np.int64)
    start = np.arange(len(rows), dtype=np.int64) * size
    return Messages(start, np.full(len(rows), size, dtype=np.int64), head["channel"].astype(np.int64), log_ns)
