"""Protobuf messages that are always the same but for some numbers: made once, then only filled in.

Building a message field by field takes the protobuf library microseconds for each; a recorder writes ten thousand
arrows a second.  A blank is the bytes of a message with room for doubles, which are eight bytes each on the wire, and
for timestamps, whose varints are padded to one length, as protobuf allows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palpate.record.wire import stamp_bytes, varint

_DOUBLE, _BYTES = 1, 2  # wire types


class Blank:
    """Bytes, and where in them the doubles begin, in the order they were added."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.places: list[int] = []
        self.stamps: list[int] = []  # where timestamps begin

    def doubles(self, *numbers: int) -> Blank:
        """Room for a double field of each number."""
        for number in numbers:
            self.data += varint(number << 3 | _DOUBLE)
            self.places.append(len(self.data))
            self.data += bytes(8)
        return self

    def text(self, number: int, text: str | bytes) -> Blank:
        """A field that is a string, or a message as bytes."""
        raw = text.encode(errors="backslashreplace") if isinstance(text, str) else text
        self.data += varint(number << 3 | _BYTES) + varint(len(raw)) + raw
        return self

    def stamp(self, number: int) -> Blank:
        """A field that is a google.protobuf.Timestamp."""
        self.data += varint(number << 3 | _BYTES) + varint(len(stamp_bytes(0)))
        self.stamps.append(len(self.data))
        self.data += stamp_bytes(0)
        return self

    def part(self, number: int, part: Blank) -> Blank:
        """A field that is a message with doubles of its own."""
        self.data += varint(number << 3 | _BYTES) + varint(len(part.data))
        self.places += [len(self.data) + place for place in part.places]
        self.stamps += [len(self.data) + place for place in part.stamps]
        self.data += part.data
        return self

    def filled(self, values: np.ndarray, unix_ns: int = 0) -> bytes:
        """n copies, one after the other, with values (n, doubles) and this time [ns]."""
        n, size, stamp = len(values), len(self.data), stamp_bytes(unix_ns)
        for place in self.stamps:
            self.data[place : place + len(stamp)] = stamp
        out = np.empty((n, size), dtype=np.uint8)
        out[:] = np.frombuffer(bytes(self.data), dtype=np.uint8)
        where = (np.array(self.places, dtype=np.int64)[:, None] + np.arange(8)).ravel()
        out[:, where] = np.ascontiguousarray(values, dtype="<f8").view(np.uint8).reshape(n, -1)
        return out.tobytes()


def vector(numbers: Sequence[int]) -> Blank:
    """A message that is only doubles: Vector3, Quaternion, Color."""
    return Blank().doubles(*numbers)
