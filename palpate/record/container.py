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

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream, RecordBuilder
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    McapRecord,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)
from mcap.stream_reader import get_chunk_data_stream

# what reading a damaged chunk may raise
DAMAGE = (McapError, zstandard.ZstdError, struct.error, ValueError, RuntimeError, MemoryError)
KNOWN = frozenset(Opcode) | frozenset(range(0x80, 0x100))  # opcodes from 0x80 on are for private use
MAGIC = b"\x89MCAP0\r\n"
LATEST_NS = 2**63 - 1
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


class Summary:
    """What the end of a file says about the rest of it, gathered while it is written."""

    def __init__(self) -> None:
        self.schemas: dict[int, Schema] = {}
        self.channels: dict[int, Channel] = {}
        self.counts: dict[int, int] = {}  # channel -> messages
        self.n_chunks = self.n_attachments = self.n_metadata = 0
        self.first_ns, self.last_ns = 0, 0  # log_time of the first and the last message
        self._chunks, self._attachments, self._metadata = bytearray(), bytearray(), bytearray()

    def add_attachment(self, at: int, length: int, it: Attachment) -> None:
        """An attachment was written as the record at `at` of `length` bytes."""
        self._attachments += packed(
            AttachmentIndex(at, length, it.log_time, it.create_time, len(it.data), it.name, it.media_type)
        )
        self.n_attachments += 1

    def add_metadata(self, at: int, length: int, it: Metadata) -> None:
        """Metadata was written as the record at `at` of `length` bytes."""
        self._metadata += packed(MetadataIndex(at, length, it.name))
        self.n_metadata += 1

    def add_chunk(self, at: int, chunk: bytes, entries: list[bytes], counts: dict[int, int]) -> None:
        """A chunk and the indexes of its channels, which have so many messages, were written one after the other."""
        first, last, size, _, n = CHUNK.unpack_from(chunk, RECORD.size)
        places, end = {}, at + len(chunk)
        for channel, entry in zip(counts, entries, strict=True):
            places[channel] = end
            end += len(entry)
        begin = RECORD.size + CHUNK.size
        self._chunks += packed(
            ChunkIndex(
                chunk_start_offset=at, chunk_length=len(chunk), message_start_time=first, message_end_time=last,
                message_index_offsets=places, message_index_length=end - at - len(chunk),
                compression=chunk[begin : begin + n].decode(), compressed_size=len(chunk) - begin - n - 8,
                uncompressed_size=size,
            )
        )  # fmt: skip
        self.first_ns = min(first, self.first_ns) if self.n_chunks else first
        self.last_ns = max(last, self.last_ns)
        for channel, count in counts.items():
            self.counts[channel] = self.counts.get(channel, 0) + count
        self.n_chunks += 1

    def end(self, at: int) -> bytes:
        """Everything from the end of the data, which is at `at`, to the end of the file."""
        data_end = packed(DataEnd(0))
        statistics = Statistics(
            self.n_attachments, len(self.channels), self.counts, self.n_chunks, sum(self.counts.values()),
            self.last_ns, self.first_ns, self.n_metadata, len(self.schemas),
        )  # fmt: skip
        start, parts, offsets = at + len(data_end), b"", b""
        for opcode, group in (
            (Opcode.SCHEMA, b"".join(map(packed, self.schemas.values()))),
            (Opcode.CHANNEL, b"".join(map(packed, self.channels.values()))),
            (Opcode.STATISTICS, packed(statistics)), (Opcode.CHUNK_INDEX, bytes(self._chunks)),
            (Opcode.ATTACHMENT_INDEX, bytes(self._attachments)), (Opcode.METADATA_INDEX, bytes(self._metadata)),
        ):  # fmt: skip
            if group:
                offsets += packed(SummaryOffset(opcode, start + len(parts), len(group)))
                parts += group
        summary = parts + offsets
        footer = packed(Footer(start, start + len(parts), 0))[:-4]  # without its crc, which covers it up to there
        return data_end + summary + footer + struct.pack("<I", zlib.crc32(summary + footer)) + MAGIC


@dataclass
class Contents:
    """Where things are in a file; one entry for each whole chunk and each index of one channel in one chunk."""

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
            first, last, _, _, _ = CHUNK.unpack_from(data, body)
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
    """What is in a chunk record, its checksum checked; one of DAMAGE if it is damaged."""
    first, last, size, crc, n = CHUNK.unpack_from(chunk)
    codec = chunk[CHUNK.size : CHUNK.size + n].decode()
    squeezed = chunk[CHUNK.size + n + 8 :]
    if codec == "zstd" and zstandard.get_frame_parameters(squeezed).content_size != size:
        raise ValueError("sizes differ")  # before anything of a wrong size is allocated
    stream, length = get_chunk_data_stream(Chunk(codec, squeezed, last, first, crc, size), validate_crc=True)
    return stream.read(length)


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
    rows, at = [], 0
    while at < len(data):
        opcode, length = RECORD.unpack_from(data, at)
        if at + RECORD.size + length > len(data):
            raise ValueError("a record beyond the end of its chunk")
        if opcode == Opcode.MESSAGE:
            channel, _, log_ns = _HEAD.unpack_from(data, at + RECORD.size)
            rows.append((at, RECORD.size + length, channel, min(log_ns, LATEST_NS)))
        at += RECORD.size + length
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    return Messages(*(np.ascontiguousarray(column) for column in table.T))
