"""Poses that the computer of a tracker sends over UDP, as MHD1 packets.  Mobile display, 1.1.

UDP, because a lost packet must not hold up those behind it; whatever is late, doubled or out of order is the inbox's
business.  There is no key: who can send to the port can move the robot, so it is bound to this machine unless another
address is given, and then the network must be one's own.
"""

from __future__ import annotations

import socket

from palpate.mobile.adapters.addresses import address
from palpate.mobile.adapters.packets import PACKET_BYTES, unpack
from palpate.mobile.adapters.source import Deliver, Malformed, Threaded

LOOK_S = 0.05  # how often the thread looks whether it shall end
PORT = 9000


class Udp(Threaded):
    """Packets that come to `where`: "HOST:PORT", "PORT" of this machine, port 0: a free one.

    port    where it listens, once open;  refused  packets by what was wrong with them
    """

    def __init__(self, where: str | int = PORT, *, axes: str = "y-up") -> None:
        super().__init__(axes)
        self.host, self.port = address(where, port=PORT)
        self._socket: socket.socket | None = None

    def open(self, deliver: Deliver) -> None:
        self.close()
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            opened.bind((self.host, self.port))
        except OSError as why:
            opened.close()
            raise ValueError(f"poses cannot be received at {self.host}:{self.port}: {why.strerror or why}") from None
        opened.settimeout(LOOK_S)
        self.port = opened.getsockname()[1]
        self._socket = opened
        self.start(deliver, lambda: self._listen(opened))

    def _listen(self, opened: socket.socket) -> None:
        while not self.stopping.is_set():
            try:
                packet = opened.recv(PACKET_BYTES + 1)  # of a longer one enough to see that it is
            except TimeoutError:
                continue
            try:
                pose = unpack(packet)
            except Malformed as why:
                self.refused[why.kind] += 1
                continue
            self.hand_on(pose)

    def close(self) -> None:
        super().close()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
