"""The end of an MCAP file: its table of contents.

It has an entry for each chunk, and there are fifty chunks a second: 18 MB in an hour.  So it waits in a file without a
name beside the recording; however long that gets, no more than IN_MEMORY bytes of it are kept here.
"""

from __future__ import annotations

import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    ChunkIndex,
    DataEnd,
    Footer,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)

from palpate.record.container import CHUNK, MAGIC, RECORD, packed

IN_MEMORY = 1 << 16  # bytes


class Entries:
    """Records in the order they came; most of them on disk, if they are many."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._rest, self.size = folder, bytearray(), 0
        self._file: IO[bytes] | None = None

    def add(self, record: bytes) -> None:
        """One more.  After an OSError it is kept all the same."""
        self._rest += record
        self.size += len(record)
        if len(self._rest) >= IN_MEMORY:
            if self._file is None:
                self._file = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
            at = self.size - len(self._rest)
            self._file.seek(at)
            if self._file.write(self._rest) != len(self._rest):
                return  # the disk is nearly full: again with the next one, or an OSError then
            self._rest.clear()

    def __iter__(self) -> Iterator[bytes]:
        """All of them, in pieces."""
        left = self.size - len(self._rest)
        if self._file is not None:
            self._file.seek(0)
            while left and (piece := self._file.read(min(left, IN_MEMORY))):
                left -= len(piece)
                yield piece
        yield bytes(self._rest)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class Summary:
    """What the end of a file says about the rest of it, gathered while it is written; `folder` is where it may wait."""

    def __init__(self, folder: Path) -> None:
        self.schemas: dict[int, Schema] = {}
        self.channels: dict[int, Channel] = {}
        self.counts: dict[int, int] = {}  # channel -> messages
        self.n_chunks = self.n_attachments = self.n_metadata = 0
        self.first_ns, self.last_ns = 0, 0  # log_time of the first and the last message
        self.chunks, self._attachments, self._metadata = Entries(folder), bytearray(), bytearray()

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
        self.first_ns = min(first, self.first_ns) if self.n_chunks else first
        self.last_ns = max(last, self.last_ns)
        for channel, count in counts.items():
            self.counts[channel] = self.counts.get(channel, 0) + count
        self.n_chunks += 1
        self.chunks.add(packed(
            ChunkIndex(
                chunk_start_offset=at, chunk_length=len(chunk), message_start_time=first, message_end_time=last,
                message_index_offsets=places, message_index_length=end - at - len(chunk),
                compression=chunk[begin : begin + n].decode(), compressed_size=len(chunk) - begin - n - 8,
                uncompressed_size=size,
            )
        ))  # fmt: skip

    def end(self, at: int) -> Iterator[bytes]:
        """Everything from the end of the data, which is at `at`, to the end of the file, in pieces."""
        statistics = Statistics(
            self.n_attachments, len(self.channels), self.counts, self.n_chunks, sum(self.counts.values()),
            self.last_ns, self.first_ns, self.n_metadata, len(self.schemas),
        )  # fmt: skip
        data_end, offsets, crc = packed(DataEnd(0)), b"", 0
        yield data_end
        start = here = at + len(data_end)
        for opcode, group in (
            (Opcode.SCHEMA, map(packed, self.schemas.values())), (Opcode.CHANNEL, map(packed, self.channels.values())),
            (Opcode.STATISTICS, [packed(statistics)]), (Opcode.CHUNK_INDEX, self.chunks),
            (Opcode.ATTACHMENT_INDEX, [bytes(self._attachments)]), (Opcode.METADATA_INDEX, [bytes(self._metadata)]),
        ):  # fmt: skip
            begin = here
            for piece in group:
                crc, here = zlib.crc32(piece, crc), here + len(piece)
                yield piece
            if here > begin:
                offsets += packed(SummaryOffset(opcode, begin, here - begin))
        footer = packed(Footer(start, here, 0))[:-4]  # without its crc, which covers it up to there
        yield offsets + footer + struct.pack("<I", zlib.crc32(offsets + footer, crc)) + MAGIC
