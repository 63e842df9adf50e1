"""Frame <-> protobuf message, many at a time.

The message palpate.Frame has a google.protobuf.Timestamp as field 1 and the fields of the frame from 2 on, in order:
float64 as `double`, int64 as `sfixed64`, arrays `repeated` (packed).  All of these are little-endian words on the
wire, and the timestamp's varints are padded to five bytes, which protobuf allows.  So all messages of one layout have
the same length, tags and places, and encoding a batch is copying columns into copies of a template.
"""

from __future__ import annotations

import numpy as np

from palpate.frame import Layout
from palpate.record import RecordError

SCHEMA_NAME, SCHEMA_FILE = "palpate.Frame", "palpate/frame.proto"
FIRST_FIELD = 2  # number of the frame's first field; 1 is the timestamp
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


class FrameCodec:
    """Turns frames (n, words) int64 of one layout into messages (n, size) uint8 and back, bit by bit the same."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        template = bytearray(b"\x0a\x0c\x08" + bytes(_VARINT_BYTES) + b"\x10" + bytes(_VARINT_BYTES))
        varying = list(range(_SECONDS, _SECONDS + _VARINT_BYTES)) + list(range(_NANOS, _NANOS + _VARINT_BYTES))
        self._columns: list[tuple[slice, slice]] = []  # bytes of the message, bytes of the frame
        for number, field in enumerate(layout.fields, FIRST_FIELD):
            begin, size = 8 * layout.offset[field.name], 8 * layout.length[field.name]
            if field.shape:
                template += varint(number << 3 | _LENGTH_DELIMITED) + varint(size)
            else:
                template += varint(number << 3 | _SCALAR)
            self._columns.append((slice(len(template), len(template) + size), slice(begin, begin + size)))
            varying += range(len(template), len(template) + size)
            template += bytes(size)
        self.size = len(template)  # of a message [bytes]
        self._template = np.frombuffer(bytes(template), dtype=np.uint8)
        self._fixed = np.setdiff1d(np.arange(self.size), varying)

    def encode(self, frames: np.ndarray, unix_ns: np.ndarray) -> np.ndarray:
        """Messages (n, size) uint8 of frames (n, words) int64 with their times (n,) [ns]."""
        messages = np.empty((len(frames), self.size), dtype=np.uint8)
        messages[:] = self._template
        raw = np.ascontiguousarray(frames, dtype="<i8").view(np.uint8)
        for there, here in self._columns:
            messages[:, there] = raw[:, here]
        for begin, part in ((_SECONDS, unix_ns // 1_000_000_000), (_NANOS, unix_ns % 1_000_000_000)):
            for i in range(_VARINT_BYTES):
                more = 0x80 if i < _VARINT_BYTES - 1 else 0
                messages[:, begin + i] = part >> 7 * i & 0x7F | more
        return messages

    def decode(self, messages: np.ndarray) -> np.ndarray:
        """Frames (n, words) int64 of messages (n, size) uint8."""
        if not (messages[:, self._fixed] == self._template[self._fixed]).all():
            raise RecordError("its frames are not encoded as palpate encodes them")
        raw = np.empty((len(messages), 8 * self.layout.words), dtype=np.uint8)
        for there, here in self._columns:
            raw[:, here] = messages[:, there]
        return raw.view("<i8").astype(np.int64, copy=False)


def schema(layout: Layout) -> bytes:
    """The protobuf FileDescriptorSet that describes a message to other programs."""
    from google.protobuf import descriptor_pb2, timestamp_pb2

    Kind = descriptor_pb2.FieldDescriptorProto
    files = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    file = files.file.add(name=SCHEMA_FILE, package="palpate", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    message = file.message_type.add(name="Frame")
    message.field.add(name="timestamp", number=1, label=Kind.LABEL_OPTIONAL, type=Kind.TYPE_MESSAGE,
                      type_name=".google.protobuf.Timestamp")  # fmt: skip
    for number, field in enumerate(layout.fields, FIRST_FIELD):
        message.field.add(name=field.name, number=number,
                          label=Kind.LABEL_REPEATED if field.shape else Kind.LABEL_OPTIONAL,
                          type=Kind.TYPE_DOUBLE if field.kind == "f" else Kind.TYPE_SFIXED64)  # fmt: skip
    data: bytes = files.SerializeToString(deterministic=True)
    return data
