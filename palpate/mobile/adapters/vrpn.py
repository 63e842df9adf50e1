"""A tracker of a VRPN server (Virtual-Reality Peripheral Network).  Mobile display, 6.2.

Facts of its protocol, 07.x, all numbers big endian (as vrpn_Connection and vrpn_Tracker of VRPN have them):

    cookie    both sides begin with 24 bytes, "vrpn: ver. 07.35  0" and zeros; the first number must be the same
    message   length i32, time s i32, us i32, sender i32, type i32, a number that is ignored i32; the body, and zeros
              to a multiple of 8.  The length counts the header's 24 bytes and the body without the zeros
    names     type -1 says what a sender is called, type -2 a type: the number is in the sender's place, the body is a
              length u32 and so many bytes, the last a zero
    pose      the type "vrpn_Tracker Pos_Quat": sensor i32, nothing i32, x, y, z f64, quaternion (x, y, z, w) f64
    TCP       the client connects to port 3883
    UDP       the client sends "ADDRESS PORT" and a zero to UDP port 3883, and the server connects to that; a message
              of type -3, with a port as its sender and an address and a zero as its body, says where datagrams of
              whole messages shall go: poses, while names still come over TCP

**Not tried with a VRPN server**, of which none was at hand: it was tested against a server of our own that speaks these
facts.  Most servers have z up: axes="z-up".
"""

from __future__ import annotations

import contextlib
import re
import select
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
SENDER_NAME, TYPE_NAME, UDP_PLACE = -1, -2, -3
POSE_TYPE = b"vrpn_Tracker Pos_Quat"
MOST_BYTES = 64_000  # of a message: VRPN's own buffers are not larger
CONNECT_S, KNOCK_S, LOOK_S = 5.0, 0.25, 0.05


class Message(NamedTuple):
    time_s: float
    sender: int
    type: int
    body: bytes


class Stream:
    """Messages from bytes as they come, in pieces of any size; what is no message is a ValueError."""

    def __init__(self) -> None:
        self.rest = b""  # of a message that is not whole yet

    def feed(self, data: bytes) -> Iterator[Message]:
        self.rest += data
        while len(self.rest) >= HEADER.size:
            length, seconds, microseconds, sender, kind, _ = HEADER.unpack_from(self.rest)
            if not HEADER.size <= length <= MOST_BYTES:
                raise ValueError(f"a message of {length} bytes: the server does not speak VRPN 07")
            whole = length + -length % 8
            if len(self.rest) < whole:
                return
            body, self.rest = self.rest[HEADER.size : length], self.rest[whole:]
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
    """The sensors of the tracker `where`: "NAME@HOST:PORT", without a name all trackers of the server.

    "udp:NAME@HOST:PORT" asks for datagrams; without, all comes over TCP, and a lost packet holds up those behind it
    stations   sensor -> station; None: sensor k is station k
    refused    "message": what is no pose;  "sensor": none of `stations`;  and as in source.py
    """

    def __init__(
        self, where: str = "127.0.0.1", *, stations: Mapping[int, int] | None = None, axes: str = "y-up"
    ) -> None:
        super().__init__(axes)
        self.udp = where.startswith("udp:")
        name, _, place = where.removeprefix("udp:").rpartition("@")
        self.tracker = name.encode()
        self.host, self.port = address(place, port=PORT)
        self.stations = None if stations is None else dict(stations)
        self._senders: dict[int, bytes] = {}
        self._types: dict[int, bytes] = {}
        self._sockets: list[socket.socket] = []

    def open(self, deliver: Deliver) -> None:
        self.close()
        try:
            opened = self._called_back() if self.udp else socket.create_connection((self.host, self.port), CONNECT_S)
            self._sockets = [opened]
            opened.sendall(COOKIE)
            theirs = _received(opened, len(COOKIE))
            version = re.match(rb"vrpn: ver\. (\d\d)\.", theirs)
            if self.udp:
                self._sockets.append(_datagrams(opened))
        except OSError as why:
            self._hang_up()
            raise ValueError(f"no VRPN server answers at {self.host}:{self.port}: {why.strerror or why}") from None
        if version is None or version[1] != b"07":
            self._hang_up()
            said = printable(theirs.rstrip(b"\0").decode("latin-1"))
            raise ValueError(f"{self.host}:{self.port} does not speak VRPN 07: it begins with {said!r}")
        self._senders, self._types = {}, {}
        self.start(deliver, self._listen)

    def _called_back(self) -> socket.socket:
        """Knock over UDP until the server connects to us."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as knocking:
            knocking.connect((self.host, self.port))
            here = knocking.getsockname()[0]
            with socket.create_server((here, 0)) as listening:
                listening.settimeout(KNOCK_S)
                for _ in range(round(CONNECT_S / KNOCK_S)):
                    knocking.send(f"{here} {listening.getsockname()[1]}".encode() + b"\0")
                    with contextlib.suppress(TimeoutError):
                        opened = listening.accept()[0]
                        opened.settimeout(CONNECT_S)
                        return opened
        raise TimeoutError("it did not call back")

    def _listen(self) -> None:
        opened, stream = self._sockets[0], Stream()
        while not self.stopping.is_set():
            for ready in select.select(self._sockets, [], [], LOOK_S)[0]:
                data = ready.recv(MOST_BYTES)
                if ready is not opened:
                    self._take_datagram(data)
                    continue
                if not data:
                    raise ConnectionError(f"the VRPN server at {self.host}:{self.port} closed the connection")
                for message in stream.feed(data):
                    self._take(message)

    def _take_datagram(self, data: bytes) -> None:
        """Of whole messages; anybody may have sent it."""
        stream = Stream()
        try:
            for message in stream.feed(data):
                self._take(message)
        except ValueError:
            self.refused["message"] += 1
            return
        if stream.rest:
            self.refused["message"] += 1

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
        for opened in self._sockets:
            opened.close()
        self._sockets = []

    def close(self) -> None:
        super().close()
        self._hang_up()


def _datagrams(opened: socket.socket) -> socket.socket:
    """A socket for datagrams of the server, which is told of it."""
    here = opened.getsockname()[0]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind((here, 0))
    body = here.encode() + b"\0"
    header = HEADER.pack(HEADER.size + len(body), 0, 0, datagrams.getsockname()[1], UDP_PLACE, 0)
    opened.sendall(header + body + bytes(-len(body) % 8))
    return datagrams
