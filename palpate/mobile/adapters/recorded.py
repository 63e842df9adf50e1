"""Recorded poses, by their time stamps: the same every time.

A file has one line for each pose and named columns in any order, others are ignored; metres, seconds, (w, x, y, z):

    time_s, x, y, z, qw, qx, qy, qz     when it was sampled, and what was seen
    station                             0 if there is no such column
    arrived_s                           when it came; without the column at once
    lost                                1: the tracker did not see it

In simulated time whoever has the clock calls `serve`; in real time `open` starts a thread that does.  Poses are given
in the order of their arrival, whatever that does to their time stamps: a recording of a bad network is one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path

from palpate.mobile.adapters.source import Deliver, Pose, Threaded
from palpate.mobile.tables import read_lines
from palpate.printable import printable
from palpate.whole_files import write_whole

NEEDED = ("time_s", "x", "y", "z", "qw", "qx", "qy", "qz")
OPTIONAL = ("station", "arrived_s", "lost")
STEP_S = 0.001  # how often the thread looks what is due

Arrivals = list[tuple[float, Pose]]


def read_arrivals(path: str | Path) -> Arrivals:
    """(when it came [s], pose) of a file, in the order of arrival; what is wrong with it is a ValueError of one line.

    Numbers that are no pose are left as they are: whoever plays them refuses them as it would refuse the tracker's.
    """
    path = Path(path)
    lines = read_lines(path)
    header = lines[0][1]
    for name in NEEDED:
        if name not in header:
            raise ValueError(f"{path} has no column {name}; it has {printable(', '.join(header))[:200]}")
    for name in (*NEEDED, *OPTIONAL):
        if header.count(name) > 1:
            raise ValueError(f"{path} has more than one column of {name}")
    if len(lines) == 1:
        raise ValueError(f"{path} has no poses")
    found: Arrivals = []
    for line, row in lines[1:]:
        if len(row) != len(header):
            raise ValueError(f"{path}, line {line}: {len(row)} cells for {len(header)} columns")
        cells = dict(zip(header, row, strict=True))
        of = {name: _number(path, line, name, cells[name]) for name in (*NEEDED, *OPTIONAL) if name in cells}
        arrived_s, station = of.get("arrived_s", of["time_s"]), of.get("station", 0.0)
        if not (math.isfinite(arrived_s) and math.isfinite(of["time_s"])):
            raise ValueError(f"{path}, line {line}: a time is not finite")
        if station not in range(256):
            raise ValueError(f"{path}, line {line}: station {station:g} is no whole number from 0")
        place, turn = (of["x"], of["y"], of["z"]), (of["qw"], of["qx"], of["qy"], of["qz"])
        found.append((arrived_s, Pose(int(station), of["time_s"], place, turn, of.get("lost", 0.0) != 0.0)))
    return sorted(found, key=lambda arrival: arrival[0])


def write_arrivals(path: str | Path, arrivals: Iterable[tuple[float, Pose]]) -> None:
    """As `read_arrivals` reads them, to the last bit."""
    rows = [",".join((*NEEDED, *OPTIONAL))]
    for arrived_s, pose in arrivals:
        numbers = (pose.sampled_s, *pose.position_m, *pose.quaternion)
        rows.append(",".join(map(repr, map(float, numbers))) + f",{pose.station},{float(arrived_s)!r},{int(pose.lost)}")
    write_whole(path, "\n".join(rows) + "\n")


def _number(path: Path, line: int, name: str, cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise ValueError(f"{path}, line {line}: {name} is no number: {printable(cell)[:40]!r}") from None


class Recorded(Threaded):
    """The poses of a file, or of a list of (arrived_s, Pose) in that order, counted from the first arrival on.

    simulated   no thread: whoever has the clock calls `serve`
    """

    def __init__(self, recording: str | Path | Arrivals, *, simulated: bool = False, axes: str = "y-up") -> None:
        super().__init__(axes)
        self.arrivals = recording if isinstance(recording, list) else read_arrivals(recording)
        if not self.arrivals:
            raise ValueError("a recording without poses cannot be played")
        self.simulated = simulated
        self.begin_s = self.arrivals[0][0]
        self.duration_s = self.arrivals[-1][0] - self.begin_s
        self._next = 0

    def open(self, deliver: Deliver) -> None:
        self.close()
        self._next = 0
        if self.simulated:
            super().open(deliver)
        else:
            self.start(deliver, self._play)

    def _play(self) -> None:
        began_s = time.monotonic()
        while not (self.stopping.wait(STEP_S) or self.ended):
            self.serve(time.monotonic() - began_s)

    @property
    def ended(self) -> bool:
        return self._next == len(self.arrivals)

    def serve(self, now_s: float) -> None:
        """Deliver what has come by a time from the first arrival on [s]."""
        while not self.ended and self.arrivals[self._next][0] - self.begin_s <= now_s:
            pose = self.arrivals[self._next][1]
            self._next += 1
            self.hand_on(pose)
