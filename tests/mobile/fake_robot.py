"""A robot of our own on loopback that takes rosbridge's lines, over UDP or TCP.  **Not** ROS."""

import contextlib
import json
import socket
import threading


class FakeRobot:
    """heard: every message; it answers each with `answer`, as long as there is one."""

    def __init__(self, way="udp", answer=b""):
        self.way, self.answer, self.heard, self.guest = way, answer, [], None
        kind = socket.SOCK_STREAM if way == "tcp" else socket.SOCK_DGRAM
        self._socket = socket.socket(socket.AF_INET, kind)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        if way == "tcp":
            self._socket.listen()
        self._socket.settimeout(0.02)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def where(self):
        return f"{self.way}:127.0.0.1:{self.port}"

    @property
    def twists(self):
        """(x, y, angular z) of every command so far."""
        found = [message["msg"]["twist"] for message in list(self.heard) if message["op"] == "publish"]
        return [(twist["linear"]["x"], twist["linear"]["y"], twist["angular"]["z"]) for twist in found]

    def _serve(self):
        rest = b""
        while not self._ending.is_set():
            try:
                if self.way == "udp":
                    data, guest = self._socket.recvfrom(65536)
                elif self.guest is None:
                    self.guest = self._socket.accept()[0]
                    self.guest.settimeout(0.02)
                    continue
                else:
                    data = self.guest.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                return
            if self.way == "tcp" and not data:
                self.guest.close()
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.heard.append(json.loads(line))
                with contextlib.suppress(OSError):  # whoever hung up gets no answer
                    if self.answer and self.way == "udp":
                        self._socket.sendto(self.answer, guest)
                    elif self.answer:
                        self.guest.sendall(self.answer)

    def close(self):
        self._ending.set()
        self._thread.join()
        if self.guest is not None:
            self.guest.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
