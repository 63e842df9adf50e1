"""What every source of poses is: stations with a place and an orientation, each with the time of its sample.

Positions are in the display's world: y up, right-handed, origin on the floor [m].  Quaternions (w, x, y, z) turn the
axes of a thing that faces -Z into those it has now, so a heading grows against a turn about y (frames.py).  Times are
of the source's own clock [s]: the inbox finds out how it runs.  Axes of others end here:

    "y-up"      as they are: also WebXR and OpenXR
    "z-up"      REP-103, most VRPN servers: x forward, y left, z up
    "tracker"   the IS-900's own frame (4.1): on the ceiling, z down
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple, Protocol, Self

from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.frames import Z_UP, world_from_tracker

ROBOT, HEAD, TOOL = range(3)  # stations; from 3 on further users and robots
STATIONS = 16
LARGEST_M = 100.0  # no room is larger
LARGEST_S = 1e10  # a Unix clock is at 2e9
LENGTH_OFF = 0.01  # of a quaternion, from 1: rounding of 16 bits passes, Euler angles do not
AXES = ("y-up", "z-up", "tracker")


class Pose(NamedTuple):
    """Of one station, as a source has it."""

    station: int
    sampled_s: float  # by the source's clock
    position_m: tuple[float, float, float]
    quaternion: tuple[float, float, float, float]  # (w, x, y, z)
    lost: bool = False  # the tracker does not see it: the numbers mean nothing


Deliver = Callable[[Pose], None]


class Malformed(ValueError):
    """What is no pose; `kind` is counted."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class PoseSource(Protocol):
    """The contract.  `open` begins, `close` ends, at any time and twice too; nothing is delivered after it."""

    refused: Counter[str]  # what came and was no pose, by kind

    def open(self, deliver: Deliver) -> None:
        """From now on every pose is given to `deliver`, by one thread at a time, as it comes."""

    def close(self) -> None: ...


def checked(pose: Pose) -> Pose:
    """The pose with a quaternion of length 1; Malformed if it cannot be one."""
    if not 0 <= pose.station < STATIONS:
        raise Malformed("station")
    if not abs(pose.sampled_s) <= LARGEST_S:
        raise Malformed("time")
    if pose.lost:
        return pose
    if not all(map(math.isfinite, (*pose.position_m, *pose.quaternion))):
        raise Malformed("number")
    if max(map(abs, pose.position_m)) > LARGEST_M:
        raise Malformed("far")
    length = math.hypot(*pose.quaternion)
    if abs(length - 1.0) > LENGTH_OFF:
        raise Malformed("quaternion")
    w, x, y, z = (part / length for part in pose.quaternion)
    return pose._replace(quaternion=(w, x, y, z))


def in_world(pose: Pose, axes: str, ceiling_m: float = Chain.ceiling_m) -> Pose:
    """A pose of other axes in the display's world; both a place and the thing's own axes turn: A R A^T."""
    if axes == "y-up" or pose.lost:
        return pose
    A, origin = _TURNS[axes], (0.0, ceiling_m if axes == "tracker" else 0.0, 0.0)
    x, y, z = (A @ pose.position_m + origin).tolist()
    w, *vector = pose.quaternion
    return pose._replace(position_m=(x, y, z), quaternion=(w, *(A @ vector).tolist()))


_TURNS = {"z-up": Z_UP.T, "tracker": world_from_tracker(Chain())[:3, :3]}


def known_axes(axes: str) -> str:
    if axes not in AXES:
        raise ValueError(f"axes are {axes!r}; they are one of {', '.join(AXES)}")
    return axes


class Delivering:
    """The part of the contract that sources share: being open, refusing, counting."""

    def __init__(self, axes: str = "y-up") -> None:
        self.axes = known_axes(axes)
        self.refused: Counter[str] = Counter()
        self.delivered = 0
        self._deliver: Deliver | None = None

    def open(self, deliver: Deliver) -> None:
        self._deliver = deliver

    def close(self) -> None:
        self._deliver = None

    def hand_on(self, pose: Pose) -> None:
        """A pose as the source's own world has it: refused and counted, or delivered."""
        deliver = self._deliver
        if deliver is None:
            return
        try:
            found = in_world(checked(pose), self.axes)
        except Malformed as why:
            self.refused[why.kind] += 1
            return
        self.delivered += 1
        deliver(found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Threaded(Delivering):
    """A source with a thread of its own, which listens until `stopping` is set."""

    def __init__(self, axes: str = "y-up") -> None:
        super().__init__(axes)
        self.stopping = threading.Event()
        self.error = ""  # why it ended by itself
        self._thread: threading.Thread | None = None

    def start(self, deliver: Deliver, listen: Callable[[], None]) -> None:
        """Run `listen` in the thread; it looks at `stopping` now and then."""
        Delivering.open(self, deliver)
        self.error = ""
        self.stopping.clear()
        name = f"palpate-{type(self).__name__.lower()}"
        self._thread = threading.Thread(target=self._run, args=(listen,), name=name, daemon=True)
        self._thread.start()

    def _run(self, listen: Callable[[], None]) -> None:
        try:
            listen()
        except Exception as why:  # of any kind: poses cease, which the display notices; the reason is for people
            self.error = str(why) or type(why).__name__

    def close(self) -> None:
        self.stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        super().close()
