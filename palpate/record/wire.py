"""Messages of 8-byte words <-> protobuf messages, many at a time.

A message palpate.Frame has a google.protobuf.Timestamp as field 1 and the fields of the frame from 2 on, in order:
float64 as `double`, int64 as `sfixed64`, arrays `repeated` (packed).  All of these are little-endian words on the
wire, and the timestamp's varints are padded to five bytes, which protobuf allows.  So all messages with the same
lengths of arrays have the same length, tags and places, and encoding a batch is copying columns into copies of a
template.  Hands and events (frame.py) are written in the same way.

Contact rows that are not used are left out: a frame has room for many more contacts than it usually holds.  There is
a template for each number of rows, and a message's length says which one it is of.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from palpate.frame import Layout
from palpate.record import RecordError

PACKAGE = "palpate"
FIRST_FIELD = 2  # number of the message's first field; 1 is the timestamp
_SCALAR, _LENGTH_DELIMITED = 1, 2  # wire types: 8 bytes, a counted run of bytes
_VARINT_BYTES = 5  # of both parts of the timestamp: 35 bits hold seconds until the year 3058
_SECONDS, _NANOS = 3, 9  # where they begin: tag, length, tag | seconds, tag | nanos


def varint(number: int) -> bytes:
    """A number >= 0 in protobuf's seven bits a byte."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def stamp_bytes(unix_ns: int) -> bytes:
    """A google.protobuf.Timestamp whose varints are padded to one length, as all messages here have it."""
    parts = [[part >> 7 * i & 0x7F | (0x80 if i < _VARINT_BYTES - 1 else 0) for i in range(_VARINT_BYTES)]
             for part in divmod(unix_ns, 1_000_000_000)]  # fmt: skip
    return b"\x08" + bytes(parts[0]) + b"\x10" + bytes(parts[1])


class Batch(NamedTuple):
    """Messages of one length."""

    which: np.ndarray  # (m,) rows of the batch they came from
    messages: np.ndarray  # (m, size) uint8


class Template:
    """All messages of a layout that have `rows` contact rows: `size` bytes each [bytes]."""

    def __init__(self, layout: Layout, rows: int, trimmed: dict[str, int]) -> None:
        text = bytearray(b"\x0a\x0c" + stamp_bytes(0))
        self._columns: list[tuple[slice, slice]] = []  # bytes of the message, bytes of the words
        for number, field in enumerate(layout.fields, FIRST_FIELD):
            begin = 8 * layout.offset[field.name]
            size = 8 * (rows * trimmed[field.name] if field.name in trimmed else layout.length[field.name])
            if field.shape:
                text += varint(number << 3 | _LENGTH_DELIMITED) + varint(size)
            else:
                text += varint(number << 3 | _SCALAR)
            self._columns.append((slice(len(text), len(text) + size), slice(begin, begin + size)))
            text += bytes(size)
        self.size, self._words = len(text), layout.words
        self._text = np.frombuffer(bytes(text), dtype=np.uint8)

    @cached_property
    def _fixed(self) -> np.ndarray:
        """The bytes that are the same in every message: tags and lengths."""
        fixed = np.ones(self.size, dtype=bool)
        for begin in (_SECONDS, _NANOS):
            fixed[begin : begin + _VARINT_BYTES] = False
        for there, _ in self._columns:
            fixed[there] = False
        return np.flatnonzero(fixed)

    def write(self, words: np.ndarray, unix_ns: np.ndarray, out: np.ndarray) -> None:
        """Messages into out (n, size) uint8."""
        out[:] = self._text
        raw = np.ascontiguousarray(words, dtype="<i8").view(np.uint8)
        for there, here in self._columns:
            out[:, there] = raw[:, here]
        for begin, part in ((_SECONDS, unix_ns // 1_000_000_000), (_NANOS, unix_ns % 1_000_000_000)):
            for i in range(_VARINT_BYTES):
                more = 0x80 if i < _VARINT_BYTES - 1 else 0
                out[:, begin + i] = part >> 7 * i & 0x7F | more

    def read(self, messages: np.ndarray) -> np.ndarray:
        """Words (n, words) int64 of messages (n, size) uint8; rows that were left out are zero."""
        if not (messages[:, self._fixed] == self._text[self._fixed]).all():
            raise RecordError("its frames are not encoded as palpate encodes them")
        raw = np.zeros((len(messages), 8 * self._words), dtype=np.uint8)
        for there, here in self._columns:
            raw[:, here] = messages[:, there]
        return raw.view("<i8").astype(np.int64, copy=False)


class FrameCodec:
    """Turns messages (n, words) int64 of one layout into protobuf messages and back, bit by bit the same."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.room = int(layout.sizes.get("n_contacts", 0))
        self._trimmed = {  # words of one row of the fields that have a row for each contact
            f.name: int(np.prod(layout.shape[f.name][1:], dtype=int))
            for f in layout.fields
            if f.name.startswith("contact_") and layout.shape[f.name][:1] == (self.room,)
        }
        if not self._trimmed or "contacts" not in layout.offset:
            self._trimmed, self.room = {}, 0
        self._templates: dict[int, Template] = {}
        self._sizes: dict[int, int] = {}  # of a message -> its contact rows

    def template(self, rows: int) -> Template:
        """Of messages with so many contact rows."""
        if rows not in self._templates:
            self._templates[rows] = Template(self.layout, rows, self._trimmed)
        return self._templates[rows]

    def rows_used(self, words: np.ndarray) -> np.ndarray:
        """Contact rows (n,) after which there are only zeros."""
        if not self.room:
            return np.zeros(len(words), dtype=np.int64)
        rows = np.clip(words[:, self.layout.offset["contacts"]], 0, self.room)
        for count in np.unique(rows):
            which = np.flatnonzero(rows == count)
            some = slice(None) if len(which) == len(words) else which  # a view if it can be
            rest = np.zeros(len(which), dtype=bool)
            for name, width in self._trimmed.items():
                begin = self.layout.offset[name]
                rest |= words[some, begin + count * width : begin + self.room * width].any(axis=1)
            rows[which[rest]] = self.room  # a frame that nobody expected, kept as it is
        return rows

    def encode(self, words: np.ndarray, unix_ns: np.ndarray, head: int = 0) -> list[Batch]:
        """Messages of words (n, words) int64 and their times (n,) [ns], with `head` free bytes before each."""
        rows, batches = self.rows_used(words), []
        for count in np.unique(rows):
            which = np.flatnonzero(rows == count)
            template = self.template(int(count))
            out = np.empty((len(which), head + template.size), dtype=np.uint8)
            some = words if len(which) == len(words) else words[which]
            template.write(some, unix_ns[which], out[:, head:])
            batches.append(Batch(which, out))
        return batches

    def decode(self, messages: np.ndarray) -> np.ndarray:
        """Words (n, words) int64 of messages (n, size) uint8, which are all of one length."""
        size = messages.shape[1]
        if not self._sizes:
            self._sizes = {self.template_size(rows): rows for rows in range(self.room + 1)}
        if size not in self._sizes:
            raise RecordError("its frames are not encoded as palpate encodes them")
        return self.template(self._sizes[size]).read(messages)

    def template_size(self, rows: int) -> int:
        """Length of a message with so many contact rows, without making its template [bytes]."""
        shorter = 0
        for width in self._trimmed.values():
            full, size = 8 * self.room * width, 8 * rows * width
            shorter += full - size + len(varint(full)) - len(varint(size))
        return self.template(self.room).size - shorter


def schema(layout: Layout, name: str = "Frame") -> bytes:
    """The protobuf FileDescriptorSet that describes palpate.NAME to other programs."""
    from google.protobuf import descriptor_pb2, timestamp_pb2

    Kind = descriptor_pb2.FieldDescriptorProto
    files = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    file = files.file.add(name=f"{PACKAGE}/{name.lower()}.proto", package=PACKAGE, syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    message = file.message_type.add(name=name)
    message.field.add(name="timestamp", number=1, label=Kind.LABEL_OPTIONAL, type=Kind.TYPE_MESSAGE,
                      type_name=".google.protobuf.Timestamp")  # fmt: skip
    for number, field in enumerate(layout.fields, FIRST_FIELD):
        message.field.add(name=field.name, number=number,
                          label=Kind.LABEL_REPEATED if field.shape else Kind.LABEL_OPTIONAL,
                          type=Kind.TYPE_DOUBLE if field.kind == "f" else Kind.TYPE_SFIXED64)  # fmt: skip
    data: bytes = files.SerializeToString(deterministic=True)
    return data
