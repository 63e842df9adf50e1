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
    """Listens; whoever comes gets its cookie and then `greeting`, and whatever `send` is given."""

    def __init__(self, cookie=COOKIE, greeting=b""):
        self.cookie, self.greeting, self.heard = cookie, greeting, b""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._guest, self._came = None, threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        try:
            guest, _ = self._listening.accept()
        except OSError:
            return
        while len(self.heard) < 24 and (data := guest.recv(24 - len(self.heard))):
            self.heard += data
        guest.sendall(self.cookie + self.greeting)
        self._guest = guest
        self._came.set()

    def send(self, data):
        until(self._came.is_set)
        self._guest.sendall(data)

    def hang_up(self):
        until(self._came.is_set)
        self._guest.close()

    def close(self):
        self._listening.close()
        if self._guest is not None:
            self._guest.close()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
