"""A robot with ROS: velocities as rosbridge takes them, one JSON object a line, over TCP or UDP.  Mobile display, 6.2.

    {"op": "publish", "topic": "/cmd_vel", "msg": {"header": {...}, "twist": {"linear": ..., "angular": ...}}}

is geometry_msgs/TwistStamped.  Axes are REP-103: x forward, y left, z up, so that of (vx, vz, vphi) of the display's
world at heading phi the robot, which faces (sin phi, -cos phi), gets

    frame "base_link":  x = vx sin phi - vz cos phi,  y = -vx cos phi - vz sin phi,  angular z = -vphi
    any other frame:    x = -vz,  y = -vx,  angular z = -vphi                        the world's axes (frames.py)

A thread sends the newest order 50 times a second, and zero instead: when told to stop; when the tick has ordered
nothing for 100 ms (a dead man's handle); when the base does not answer; and a few times at the end, because UDP may
lose one.

Answers: with `heartbeat`, a topic such as "/odom", the robot publishes that back over the same way.  Without one for
0.5 s it is silent: a fault, counted, and `silent` asks the display to take its forces away.  An end of the connection
is final, `error` says why.

**Not tried on a robot.**  Written from the rosbridge 2.0 protocol and tested against a robot of our own on loopback.
"""

from __future__ import annotations

import contextlib
import json
import math
import select
import socket
import threading
import time
from typing import Any, Self

from palpate.mobile.adapters.addresses import address
from palpate.mobile.adapters.orders import Order, Stopping

RATE_HZ = 50.0  # of the base's own controller
DEAD_S = 0.1
ANSWER_S = 0.5
CONNECT_S = 5.0
FINISH_S = 0.2
ZEROS = 3  # at the end
MOST_BYTES = 1 << 16  # of one message
BASE_FRAME = "base_link"
TYPE = "geometry_msgs/msg/TwistStamped"
STANDING = (0.0, 0.0, 0.0)
_DECODER = json.JSONDecoder()


def twist(velocity: tuple[float, float, float], heading_rad: float, frame: str) -> tuple[float, float, float]:
    """(x, y, angular z) in ROS' axes of a velocity (vx, vz, vphi) in the display's world."""
    vx, vz, vphi = velocity
    if frame != BASE_FRAME:
        return -vz, -vx, -vphi
    s, c = math.sin(heading_rad), math.cos(heading_rad)
    return vx * s - vz * c, -vx * c - vz * s, -vphi


def message(topic: str, frame: str, xyw: tuple[float, float, float], unix_s: float) -> bytes:
    """One line of rosbridge."""
    seconds = math.floor(unix_s)
    stamp = {"sec": seconds, "nanosec": int(1e9 * (unix_s - seconds))}
    linear, angular = {"x": xyw[0], "y": xyw[1], "z": 0.0}, {"x": 0.0, "y": 0.0, "z": xyw[2]}
    msg = {"header": {"stamp": stamp, "frame_id": frame}, "twist": {"linear": linear, "angular": angular}}
    return _line({"op": "publish", "topic": topic, "msg": msg})


def _line(found: dict[str, Any]) -> bytes:
    return json.dumps(found, allow_nan=False).encode() + b"\n"


def _finish(opened: socket.socket) -> None:
    """Until the other side has read all and hung up: to close before may take away what it has not read yet."""
    opened.shutdown(socket.SHUT_WR)
    opened.settimeout(FINISH_S)
    ends_s = time.monotonic() + FINISH_S
    while opened.recv(MOST_BYTES) and time.monotonic() < ends_s:
        pass


class RosTwist(Stopping):
    """Velocities to `where`: "tcp:HOST:PORT", "udp:HOST:PORT" or "HOST:PORT", which is UDP.

    topic        of the commands;  frame  their axes
    heartbeat    topic that the robot publishes back, "": it need not answer
    speed_m_s    and turn_rad_s: no more is ever sent, whatever is ordered
    """

    def __init__(
        self, where: str, *, topic: str = "/cmd_vel", frame: str = BASE_FRAME, heartbeat: str = "",
        speed_m_s: float = 0.5, turn_rad_s: float = math.radians(40.0),
    ) -> None:  # fmt: skip
        super().__init__()
        way, _, rest = where.partition(":")
        self.way, rest = (way, rest) if way in ("tcp", "udp") else ("udp", where)
        self.host, self.port = address(rest)
        if not (0.0 < speed_m_s < math.inf and 0.0 < turn_rad_s < math.inf):
            raise ValueError(f"speed_m_s {speed_m_s} and turn_rad_s {turn_rad_s} are limits: positive and finite")
        self.topic, self.frame, self.heartbeat = topic, frame, heartbeat
        self.speed_m_s, self.turn_rad_s = speed_m_s, turn_rad_s
        self.sent, self.answers, self.error = 0, 0, ""
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._begin(0.0)

    def _begin(self, now_s: float) -> None:
        before = self.book.newest()  # which counts no more
        self._number, self._ordered_s, self._dead = before.number if before else 0, -math.inf, True
        self._answered_s, self._refused_s = now_s, -math.inf
        self._text = ""
        self.book.orders.silent = 0

    # ---- what to send, by a time that is given

    def velocity(self, now_s: float) -> tuple[tuple[float, float, float], float]:
        """(velocity in the display's world, heading) to be driven now; counts what is wrong when it begins."""
        newest = self.book.newest()
        if newest is not None and newest.number != self._number:
            self._number, self._ordered_s, self._dead = newest.number, now_s, False
        if not self._dead and now_s - self._ordered_s > DEAD_S:
            self._dead = True
            self.faults["dead"] += 1
        mute = bool(self.heartbeat) and now_s - self._answered_s > ANSWER_S
        silent = mute or now_s - self._refused_s < ANSWER_S
        if silent and not self.book.orders.silent:
            self.faults["silent"] += 1
        self.book.orders.silent = int(silent)
        if newest is None or self._dead or silent or self.book.orders.stopped:
            return STANDING, 0.0
        return self._limited(newest), newest.heading_rad

    def _limited(self, newest: Order) -> tuple[float, float, float]:
        vx, vz, w = newest.velocity
        if not all(map(math.isfinite, (vx, vz, w, newest.heading_rad))):
            self.faults["number"] += 1
            return STANDING
        share = min(1.0, self.speed_m_s / max(math.hypot(vx, vz), 1e-12))
        return vx * share, vz * share, min(max(w, -self.turn_rad_s), self.turn_rad_s)

    def hear(self, data: bytes, now_s: float) -> None:
        """Bytes from the robot: JSON objects one after the other, with or without an end of line between them."""
        text = self._text + data.decode("latin-1")
        while text := text.lstrip():
            try:
                found, end = _DECODER.raw_decode(text)
            except (ValueError, RecursionError):
                _, newline, rest = text.partition("\n")
                if not newline and len(text) <= MOST_BYTES:
                    break  # the rest of it is still to come
                self.faults["malformed"] += 1
                text = rest
                continue
            text = text[end:]
            if isinstance(found, dict) and found.get("op") == "publish" and found.get("topic") == self.heartbeat:
                self.answers += 1
                self._answered_s = now_s
        self._text = text

    # ---- the thread

    def open(self) -> None:
        self.close()
        self.error = ""
        kind = socket.SOCK_STREAM if self.way == "tcp" else socket.SOCK_DGRAM
        opened = socket.socket(socket.AF_INET, kind)
        opened.settimeout(CONNECT_S)
        try:
            opened.connect((self.host, self.port))
        except OSError as why:
            opened.close()
            raise ValueError(f"there is no base at {self.way}:{self.host}:{self.port}: {why.strerror or why}") from None
        opened.settimeout(ANSWER_S)
        self._socket = opened
        self._ending.clear()
        self._begin(time.monotonic())
        self.resume()
        self._thread = threading.Thread(target=self._run, args=(opened,), name="palpate-ros-twist", daemon=True)
        self._thread.start()

    def _run(self, opened: socket.socket) -> None:
        try:
            self._send(opened, _line({"op": "advertise", "topic": self.topic, "type": TYPE}))
            if self.heartbeat:
                self._send(opened, _line({"op": "subscribe", "topic": self.heartbeat}))
            while not self._ending.wait(1.0 / RATE_HZ):
                self._beat(opened)
        except Exception as why:  # of any kind: the display must hear of it, not this thread
            said = why.strerror if isinstance(why, OSError) and why.strerror else why
            self.error = f"the base at {self.way}:{self.host}:{self.port} was lost: {said}"
            self.faults["lost"] += 1
            self.book.orders.silent = 1

    def _beat(self, opened: socket.socket) -> None:
        self._receive(opened)
        velocity, heading_rad = self.velocity(time.monotonic())
        self._drive(opened, velocity, heading_rad)

    def _drive(self, opened: socket.socket, velocity: tuple[float, float, float], heading_rad: float) -> None:
        self._send(opened, message(self.topic, self.frame, twist(velocity, heading_rad, self.frame), time.time()))
        self.sent += 1

    def _send(self, opened: socket.socket, data: bytes) -> None:
        try:
            opened.sendall(data)
        except ConnectionRefusedError:  # UDP, and nobody is there: perhaps he comes back
            if self.way == "tcp":
                raise
            self._refused()

    def _receive(self, opened: socket.socket) -> None:
        """All that has come."""
        while select.select([opened], [], [], 0.0)[0]:
            try:
                data = opened.recv(MOST_BYTES)
            except ConnectionRefusedError:
                self._refused()
                continue
            if not data and self.way == "tcp":
                raise ConnectionError("it closed the connection")
            self.hear(data if self.way == "tcp" else data + b"\n", time.monotonic())

    def _refused(self) -> None:
        self.faults["refused"] += 1
        self._refused_s = time.monotonic()

    def close(self) -> None:
        """The base is told to stand; then the connection ends."""
        self.stop()
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._socket is not None:
            with contextlib.suppress(OSError):
                for _ in range(ZEROS):
                    self._drive(self._socket, STANDING, 0.0)
                if self.way == "tcp":
                    _finish(self._socket)
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
