"""Does the haptic interface point leap?  A base in random motion, its tracker, and an estimate, tick by tick.

Mobile display, 1.4: a new velocity every 1.5 s; the pose is the tracker's sensor, which the command moves.  The HIP by
the compact form of 2.4, with the offsets as measured by ruler; estimated: the same joints on the estimated pose.
Excess step: largest change in a tick of estimated minus true.  Protection: the device cuts its forces when the HIP
seems faster than 2 m/s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from palpate.jit import Block, Struct, block_loader, entry, kernel
from palpate.mobile.estimate.prediction import Prediction, Predictor, correct, new_predictor, predict
from palpate.mobile.geometry.chain import RULER, Linkage, hip, robot_origin
from palpate.mobile.hardware.base import Base, Drive, drive, new_drive
from palpate.mobile.hardware.tracker import Station, Tracker, new_station, take, track
from palpate.model.model import Floats, Floats2

LINK_M = RULER.link1_m
TRIP_M_S = 2.0
COLUMNS = ("true_x", "true_z", "seen_x", "seen_z", "x", "z", "phi", "vx", "vz", "vphi", "fade", "hand_m_s")
PACKETS = Tracker(rate_hz=100, send_hz=0, latency_s=0.006, network_s=0.0, bias_m=0.0)


@dataclass(frozen=True)
class Motion:
    """What base and hand do."""

    seconds: float = 20.0
    speed_m_s: float = 0.2
    turn_rad_s: float = math.radians(40.0)
    change_s: float = 1.5
    hand_m_s: float = 0.0  # largest speed of the hand in device axes, to and fro across
    hand_hz: float = 0.8
    tick_hz: int = 1000

    def __post_init__(self) -> None:
        if not (self.seconds > 0.0 and self.change_s > 0.0 and self.hand_hz > 0.0 and self.tick_hz > 0):
            raise ValueError("seconds, change_s, hand_hz and tick_hz must be positive")
        if self.hand_m_s > 2.0 * math.pi * self.hand_hz * LINK_M:
            raise ValueError(f"hand_m_s {self.hand_m_s} at {self.hand_hz} Hz is a wider swing than the device has")


class Swing(Struct):
    """The hand: theta1 = width sin(rate t)."""

    width: float
    rate: float
    change: int  # ticks between commands
    commands: Floats2  # (n, 3)


load_leaps = block_loader((Swing, True), (Linkage, True), (Station, False), (Predictor, False), (Drive, False))


@kernel
def hip_of_sensor(c, x, z, phi, th1):
    """(X, Z) of the HIP of a sensor at (x, z) of the room with heading phi; in the tracker's frame that is (-z, x)."""
    X, _, Z = hip(c, phi, robot_origin(c, phi, (-z, x, 0.0)), (th1, 0.0, 0.0))
    return X, Z


@entry("intp, float64[:, ::1]")
def leaps_entry(address, trace):
    """A row of COLUMNS for each tick."""
    w, c, station, f, b = load_leaps(address)
    for k in range(trace.shape[0]):
        track(station, k, b.pose[0], 0.0, b.pose[1], b.pose[2])
        if k > 0:
            predict(f, b.command)
        ts = take(station, k)
        while ts >= 0:
            correct(f, ts, (station.pose[0], station.pose[2], station.pose[3]))
            ts = take(station, k)
        t = k / b.tick_hz
        th1 = w.width * math.sin(w.rate * t)
        row = trace[k]
        row[0], row[1] = hip_of_sensor(c, b.pose[0], b.pose[1], b.pose[2], th1)
        row[2], row[3] = hip_of_sensor(c, f.p_out[0], f.p_out[1], f.p_out[2], th1)
        for i in range(3):
            row[4 + i], row[7 + i] = f.p_out[i], f.v_out[i]
        row[10], row[11] = f.fade, LINK_M * w.width * w.rate * math.cos(w.rate * t)
        if k % w.change == 0:
            v = w.commands[k // w.change]
            b.command = (v[0], v[1], v[2])
        b.commanded_at = k
        drive(b, k)


@dataclass(frozen=True)
class Leaps:
    """One run."""

    trace: Floats  # (n, len(COLUMNS))
    dt_s: float
    counts: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, column: str) -> Floats:
        return self.trace[:, COLUMNS.index(column)]

    @property
    def error_m(self) -> Floats:
        """(n,) distance of estimated and true HIP."""
        return np.hypot(self["seen_x"] - self["true_x"], self["seen_z"] - self["true_z"])

    @property
    def step_m(self) -> Floats:
        """(n - 1,) of the estimated HIP in a tick."""
        return np.hypot(np.diff(self["seen_x"]), np.diff(self["seen_z"]))

    @property
    def excess_m(self) -> Floats:
        """(n - 1,) change in a tick of estimated minus true."""
        return np.hypot(np.diff(self["seen_x"] - self["true_x"]), np.diff(self["seen_z"] - self["true_z"]))

    @property
    def true_step_m(self) -> Floats:
        return np.hypot(np.diff(self["true_x"]), np.diff(self["true_z"]))

    @property
    def tripped_s(self) -> float:
        """When the protection first cut the forces; nan: never."""
        fast = np.flatnonzero(self.step_m > TRIP_M_S * self.dt_s)
        return float(fast[0] + 1) * self.dt_s if len(fast) else math.nan


def leap(
    prediction: Prediction, motion: Motion | None = None, tracker: Tracker = PACKETS, base: Base | None = None,
    seed: int = 0,
) -> Leaps:  # fmt: skip
    """Run it; the base slips, but has no slip events unless one is given."""
    m = motion or Motion()
    rng = np.random.default_rng(seed)
    change, ticks = round(m.change_s * m.tick_hz), round(m.seconds * m.tick_hz)
    n = ticks // change + 1
    direction, turns = rng.uniform(0.0, 2.0 * math.pi, n), rng.choice([-1.0, 1.0], n)
    commands = np.column_stack([
        m.speed_m_s * np.cos(direction), m.speed_m_s * np.sin(direction), m.turn_rad_s * turns
    ])  # fmt: skip
    rate = 2.0 * math.pi * m.hand_hz
    swing = Swing(width=m.hand_m_s / rate / LINK_M, rate=rate, change=change, commands=np.ascontiguousarray(commands))
    station = new_station(tracker, 2 * seed + 1, m.tick_hz)
    predictor = new_predictor(prediction, (0.0, 0.0, 0.0), m.tick_hz)
    carrier = new_drive(base or Base(events_1_s=0.0), (0.0, 0.0, 0.0), 2 * seed + 2, m.tick_hz)
    trace = np.zeros((ticks, len(COLUMNS)))
    block = Block(swing, RULER.linkage, station, predictor, carrier)
    leaps_entry(block.address, trace)
    counts = {name: getattr(predictor, name) for name in ("used", "stale", "absurd", "restarts")}
    return Leaps(trace, 1.0 / m.tick_hz, counts | {"sent": station.sent, "lost": station.lost})
