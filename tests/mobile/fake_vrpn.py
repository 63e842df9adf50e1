"""A VRPN server of our own, on loopback: what vrpn.py says of the protocol, written a second time.

**Not** VRPN: no such server was at hand.
"""

import socket
import struct
import threading

from tests.waiting import until

COOKIE = b"vrpn: ver. 07.35  0\0\0\0\0\0"


def framed(kind, sender, body, time_s=0.0, number=0):
    seconds, microseconds = int(time_s // 1), round(1e6 * (time_s % 1.0))
    header = struct.pack("!iiiiii", 24 + len(body), seconds, microseconds, sender, kind, number)
    return header + body + bytes(-len(body) % 8)


def named(kind, number, name):
    text = name.encode() + b"\0"
    return framed(kind, number, struct.pack("!I", len(text)) + text)


def pose_body(sensor, place, xyzw):
    return struct.pack("!ii", sensor, sensor) + struct.pack("!ddd", *place) + struct.pack("!dddd", *xyzw)


class FakeVrpn:
    """Whoever comes gets its cookie and then `greeting`, and whatever `send` is given; `lob` sends datagrams.

    udp: whoever knocks is called back
    """

    def __init__(self, cookie=COOKIE, greeting=b"", udp=False):
        self.cookie, self.greeting, self.heard, self.udp = cookie, greeting, b"", udp
        self._listening = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if udp else socket.SOCK_STREAM)
        self._listening.bind(("127.0.0.1", 0))
        self._listening.settimeout(30.0)
        if not udp:
            self._listening.listen()
        self.port = self._listening.getsockname()[1]
        self._guest, self._came = None, threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        try:
            if self.udp:
                self._listening.recv(100)  # once lost
                host, port = self._listening.recv(100).removesuffix(b"\0").decode().split()
                guest = socket.create_connection((host, int(port)))
            else:
                guest, _ = self._listening.accept()
        except (OSError, ValueError):
            return
        guest.sendall(self.cookie + self.greeting)
        while len(self.heard) < 24 + (24 + 16) * self.udp and (data := guest.recv(100)):
            self.heard += data
        self._guest = guest
        self._came.set()

    def send(self, data):
        until(self._came.is_set)
        self._guest.sendall(data)

    def lob(self, data):
        """To where the client said: the sender of its message of type -3."""
        until(self._came.is_set)
        length, _, _, port, kind, _ = struct.unpack_from("!6i", self.heard, 24)
        assert (kind, self.heard[48 : 24 + length]) == (-3, b"127.0.0.1\0")
        self._listening.sendto(data, ("127.0.0.1", port))

    def hang_up(self):
        until(self._came.is_set)
        self._guest.close()

    def close(self):
        self._listening.close()
        if self._guest is not None:
            self._guest.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
