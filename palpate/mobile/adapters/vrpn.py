"""A tracker of a VRPN server (Virtual-Reality Peripheral Network), over TCP.  Mobile display, 6.2.

Facts of its protocol, 07.x, all numbers big endian (vrpn_Connection and vrpn_Tracker of VRPN; Protocol.md of vrpn-rs):

    cookie    both sides begin with 24 bytes, "vrpn: ver. 07.35  0" and zeros; the first number must be the same
    message   length i32, time s i32, us i32, sender i32, type i32, a number that is ignored i32; the body, and zeros
              to a multiple of 8.  The length counts the header's 24 bytes and the body without the zeros
    names     type -1 says what a sender is called, type -2 a type: the number is in the sender's place, the body is a
              length u32 and so many bytes, the last a zero
    pose      the type "vrpn_Tracker Pos_Quat": sensor i32, nothing i32, x, y, z f64, quaternion (x, y, z, w) f64

**Not tried with a VRPN server**, of which none was at hand: it was tested against a server of our own that speaks these
facts.  It asks for TCP only, so a lost packet holds up those behind it.  Most servers have z up: axes="z-up".
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from palpate.mobile.adapters.addresses import address
from palpate.mobile.adapters.source import Deliver, Pose, Threaded
from palpate.printable import printable

PORT = 3883
COOKIE = b"vrpn: ver. 07.35  0".ljust(24, b"\0")
HEADER = struct.Struct(">6i")
NAME_LENGTH = struct.Struct(">I")
POSE = struct.Struct(">2i3d4d")
SENDER_NAME, TYPE_NAME, POSE_TYPE = -1, -2, b"vrpn_Tracker Pos_Quat"
MOST_BYTES = 64_000  # of a message: VRPN's own buffers are not larger
CONNECT_S, LOOK_S = 2.0, 0.05


class Message(NamedTuple):
    time_s: float
    sender: int
    type: int
    body: bytes


class Stream:
    """Messages from bytes as they come, in pieces of any size; what is no message is a ValueError."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        self._data += data
        while len(self._data) >= HEADER.size:
            length, seconds, microseconds, sender, kind, _ = HEADER.unpack_from(self._data)
            if not HEADER.size <= length <= MOST_BYTES:
                raise ValueError(f"a message of {length} bytes: the server does not speak VRPN 07")
            whole = length + -length % 8
            if len(self._data) < whole:
                return
            body, self._data = self._data[HEADER.size : length], self._data[whole:]
            yield Message(seconds + 1e-6 * microseconds, sender, kind, body)


def _received(opened: socket.socket, n_bytes: int) -> bytes:
    """So many bytes, no more."""
    data = b""
    while len(data) < n_bytes:
        piece = opened.recv(n_bytes - len(data))
        if not piece:
            raise ConnectionError("it closed the connection")
        data += piece
    return data


class Vrpn(Threaded):
    """The sensors of the tracker `where`: "NAME@HOST:PORT"; without a name all trackers of the server.

    stations   sensor -> station; None: sensor k is station k
    refused    "message": what is no pose;  "sensor": none of `stations`;  and as in source.py
    """

    def __init__(
        self, where: str = "127.0.0.1", *, stations: Mapping[int, int] | None = None, axes: str = "y-up"
    ) -> None:
        super().__init__(axes)
        name, _, place = where.rpartition("@")
        self.tracker = name.encode()
        self.host, self.port = address(place, port=PORT)
        self.stations = None if stations is None else dict(stations)
        self._senders: dict[int, bytes] = {}
        self._types: dict[int, bytes] = {}
        self._socket: socket.socket | None = None

    def open(self, deliver: Deliver) -> None:
        self.close()
        try:
            self._socket = socket.create_connection((self.host, self.port), timeout=CONNECT_S)
            self._socket.sendall(COOKIE)
            theirs = _received(self._socket, len(COOKIE))
        except OSError as why:
            self._hang_up()
            raise ValueError(f"no VRPN server answers at {self.host}:{self.port}: {why.strerror or why}") from None
        version = re.match(rb"vrpn: ver\. (\d\d)\.", theirs)
        if version is None or version[1] != b"07":
            self._hang_up()
            said = printable(theirs.rstrip(b"\0").decode("latin-1"))
            raise ValueError(f"{self.host}:{self.port} does not speak VRPN 07: it begins with {said!r}")
        self._senders, self._types = {}, {}
        opened = self._socket
        opened.settimeout(LOOK_S)
        self.start(deliver, lambda: self._listen(opened))

    def _listen(self, opened: socket.socket) -> None:
        stream = Stream()
        while not self.stopping.is_set():
            try:
                data = opened.recv(MOST_BYTES)
            except TimeoutError:
                continue
            if not data:
                raise ConnectionError(f"the VRPN server at {self.host}:{self.port} closed the connection")
            for message in stream.feed(data):
                self._take(message)

    def _take(self, message: Message) -> None:
        if message.type in (SENDER_NAME, TYPE_NAME):
            names = self._senders if message.type == SENDER_NAME else self._types
            name = message.body[NAME_LENGTH.size :].split(b"\0")[0]
            names[message.sender] = name
        elif self._types.get(message.type) == POSE_TYPE and self._is_ours(message.sender):
            if len(message.body) != POSE.size:
                self.refused["message"] += 1
                return
            sensor, _, x, y, z, qx, qy, qz, qw = POSE.unpack(message.body)
            station = sensor if self.stations is None else self.stations.get(sensor)
            if station is None:
                self.refused["sensor"] += 1
                return
            self.hand_on(Pose(station, message.time_s, (x, y, z), (qw, qx, qy, qz)))

    def _is_ours(self, sender: int) -> bool:
        return not self.tracker or self._senders.get(sender) == self.tracker

    def _hang_up(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None

    def close(self) -> None:
        super().close()
        self._hang_up()
