"""An MCAP file being written: whole records or nothing, and a table of contents at the end."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import zstandard
from mcap.records import Attachment, Channel, Header, Metadata, Schema

from palpate.record import RecordError
from palpate.record.container import MAGIC, chunk_records, packed
from palpate.record.summary import Summary

ZSTD_LEVEL = 1  # level 3 takes twice the time for two per cent


class Output:
    """What was added is handed to the operating system at once: it survives the death of this process.

    An OSError (a full disk) leaves the file as it was after the last whole record; `end` may still succeed then.
    """

    def __init__(self, path: str | Path, palpate: str, overwrite: bool = False) -> None:
        self.path, self.summary, self.size = Path(path), Summary(Path(path).parent), 0
        self._squeeze = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        try:
            self._file = open(self.path, "wb" if overwrite else "xb", buffering=0)  # noqa: SIM115
        except FileExistsError:
            raise RecordError(f"{self.path} is there already; choose another name or remove it") from None
        except OSError as error:
            raise RecordError(f"cannot write {self.path}: {error.strerror}") from None
        try:
            self._append(MAGIC + packed(Header("", f"palpate {palpate} mcap {version('mcap')}")))
        except OSError:
            self._file.close()
            raise

    @property
    def closed(self) -> bool:
        """Whether nothing more can be added."""
        return self._file.closed

    def add_attachment(self, attachment: Attachment) -> None:
        """A file within the file."""
        at, record = self.size, packed(attachment)
        self._append(record)
        self.summary.add_attachment(at, len(record), attachment)

    def add_metadata(self, name: str, data: Mapping[str, object]) -> None:
        """Names and values."""
        metadata = Metadata(name, {key: str(value) for key, value in data.items()})
        at, record = self.size, packed(metadata)
        self._append(record)
        self.summary.add_metadata(at, len(record), metadata)

    def add_channel(self, channel: Channel, schema: Schema | None = None) -> None:
        """A topic, with what its messages look like; before its first message."""
        record = b""
        if schema is not None and schema.id not in self.summary.schemas:
            record = packed(schema)
            self.summary.schemas[schema.id] = schema
        self._append(record + packed(channel))
        self.summary.channels[channel.id] = channel

    def add_chunk(self, data: bytes, indexes: dict[int, np.ndarray]) -> None:
        """Message records, one after the other, and where those of each channel are (n,) MESSAGE_INDEX."""
        chunk, entries = chunk_records(data, self._squeeze.compress(data), "zstd", indexes)
        at = self.size
        self._append(b"".join((chunk, *entries)))
        self.summary.add_chunk(at, chunk, entries, {channel: len(index) for channel, index in indexes.items()})

    def end(self, name: str, data: Mapping[str, object]) -> None:
        """A last metadata record and the table of contents; closes the file, after an OSError too."""
        before = self.size
        try:
            self.add_metadata(name, data)
            for piece in self.summary.end(self.size):
                self._append(piece)
        except OSError:
            os.ftruncate(self._file.fileno(), before)
            raise
        finally:
            self.close()

    def close(self) -> None:
        """Close the file without its end, as a crash would."""
        self._file.close()
        self.summary.chunks.close()

    def discard(self) -> None:
        """Give up: close the file and remove it."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _append(self, data: bytes) -> None:
        """All of it, or an OSError and the file as it was before."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                self._file.seek(self.size)
                os.ftruncate(self._file.fileno(), self.size)
            raise
        self.size += len(data)
