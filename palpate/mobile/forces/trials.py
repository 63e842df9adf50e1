"""Does the motion of the base alter the force that is felt?  Chapter 6 of the thesis, in simulated time.

    felt = force_trial(Trying(base="z", force_N=(0.0, 0.0, 2.0)))
    felt.measured_N, felt.commanded_N            (n, 3) means of 100 ms, as a sensor between tip and hand logs them

Three conditions for it not to (Nitzsche, Hanebeck and Schmidt 2003): the base is position-controlled, the device
torque-controlled, and nothing damps between them.  Axes are the thesis': x to the right, y up, z towards the person.
Mobile display, 5.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from palpate.haptics.devices.simulation.simulated import Simulated
from palpate.haptics.hand import Hand
from palpate.haptics.rendering.facade import Proxy
from palpate.haptics.rendering.surface import Surface
from palpate.jit import Block
from palpate.mobile.estimate.leaps import PACKETS
from palpate.mobile.estimate.prediction import Prediction, new_predictor
from palpate.mobile.forces.trial_kernels import COLUMNS, COMMANDED, MEASURED, Trial, trial_entry
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.hardware.base import Base, new_drive
from palpate.mobile.hardware.lift import new_lift
from palpate.mobile.hardware.sensor import ForceSensor, new_sensor
from palpate.mobile.hardware.tracker import Tracker, new_station
from palpate.mobile.planning.planner import IMPROVED, Safety, new_planner
from palpate.mobile.walking.follow import USABLE_M
from palpate.mobile.walking.users import Event, new_user
from palpate.model.model import Floats
from palpate.model.shapes import Shape
from palpate.spatial.placement import Transform, Vector3

AXES = ("x", "y", "z")
BASES = ("still", "x", "z", "yaw", "lift", "follow")
DEVICE = "phantom-premium-1.5"
WALL_M = 2.0  # edge of the cube whose face is the wall
SETTLE_S = 1.0  # of a trial that is not judged: the hand begins at once
SHAKE_HZ = 20.0  # faster than a hand moves on purpose

STEADY = Base(tau_s=0.02, slip=0.0, events_1_s=0.0)  # goes as it is told: 0.1 m/s, turned over at 1 m/s^2


class Swing(NamedTuple):
    """Of the hand along an axis: amplitude sin(2 pi hz t + phase)."""

    axis: str
    amplitude_m: float
    hz: float
    phase_rad: float = 0.0


FREE = (Swing("x", 0.05, 0.3), Swing("y", 0.035, 0.7, 1.0), Swing("z", 0.04, 1.3, 2.0))  # a hand that waves about


@dataclass(frozen=True)
class Trying:
    """A trial.

    hand      what it does in the room, about hold_m from the device's middle at the start
    base      "still"; to and fro along "x" or "z", or in "yaw", every reverse_s; "lift": still, with the
              lift after the hand; "follow": after a person who walks
    force_N   commanded whatever happens;  wall_N_m: a wall before the hand besides, by the virtual proxy, its normal z
    pose      what rendering knows of the base: None: the truth; else an estimate from the tracker's packets
    """

    seconds: float = 9.0
    hand: Sequence[Swing] = ()
    hold_m: Vector3 = (0.0, 0.0, 0.0)
    base: str = "still"
    base_m_s: float = 0.1
    base_rad_s: float = math.radians(20.0)
    reverse_s: float = 0.8
    force_N: Vector3 = (0.0, 0.0, 0.0)
    wall_N_m: float | None = None
    wall_Ns_m: float = 1.0
    pose: Prediction | None = None
    tracker: Tracker = PACKETS
    walk: Sequence[Event] = ()
    holder: Hand = field(default_factory=Hand)
    carrier: Base = field(default_factory=lambda: STEADY)
    sensor: ForceSensor = field(default_factory=ForceSensor)
    seed: int = 0
    tick_hz: int = 1000

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ValueError(f"base is {self.base!r}; it must be one of {', '.join(BASES)}")
        for swing in self.hand:
            if swing.axis not in AXES:
                raise ValueError(f"a swing is along x, y or z, not {swing.axis!r}")
        if not SETTLE_S < self.seconds < math.inf or not self.reverse_s > 0.0 or self.tick_hz < 100:
            raise ValueError(f"a trial lasts more than {SETTLE_S:g} s, reverse_s is positive, tick_hz at least 100")
        if not all(map(math.isfinite, (*self.hold_m, *self.force_N, self.base_m_s, self.base_rad_s))):
            raise ValueError("hold_m, force_N and the base's speeds are finite numbers")


@dataclass(frozen=True)
class Felt:
    """What came of a trial; the first second is left out of measured_N and commanded_N."""

    trace: Floats  # (n, len(COLUMNS)) every tick
    log: Floats  # (m, 7) time, commanded, measured: means of 100 ms

    def __getitem__(self, column: str) -> Floats:
        return self.trace[:, COLUMNS.index(column)]

    @property
    def time_s(self) -> Floats:
        """(k,) of the judged lines."""
        return self._judged[:, 0]

    @property
    def measured_N(self) -> Floats:
        """(k, 3) of the tip on the hand."""
        return self._judged[:, MEASURED]

    @property
    def commanded_N(self) -> Floats:
        """(k, 3)."""
        return self._judged[:, COMMANDED]

    @property
    def rms_N(self) -> Floats:
        """(3,) of the measured force about its mean."""
        return np.asarray(self.measured_N.std(axis=0))

    @property
    def shake_N(self) -> float:
        """Rms of the measured force along z above SHAKE_HZ: what the log hides and the hand feels."""
        z = self["measured_z"][self["time_s"] > SETTLE_S]
        window = np.hanning(len(z))
        power = np.abs(np.fft.rfft((z - z.mean()) * window)) ** 2
        fast = np.fft.rfftfreq(len(z), self["time_s"][1] - self["time_s"][0]) > SHAKE_HZ
        return math.sqrt(2.0 * float(power[fast].sum()) / len(z) / float((window**2).sum()))

    @property
    def _judged(self) -> Floats:
        return self.log[self.log[:, 0] > SETTLE_S + 1e-9]


def force_trial(trying: Trying | None = None) -> Felt:
    """Run one."""
    t = trying or Trying()
    chain, follows = Chain(), t.base == "follow"
    start = (0.0, IMPROVED.distance_m, 0.0) if follows else (0.0, 0.0, 0.0)
    user = new_user(t.walk, tick_hz=t.tick_hz)
    rp = chain.robot_to_device_m
    height = user.height - rp[2]  # the hand is at the device's height zero
    at = (start[0] - rp[0], user.height, start[1] + rp[1])  # the device's middle in the room, y up, at heading zero
    device = Simulated(DEVICE, t.holder, compensated=True)
    device.open()
    wall = None if t.wall_N_m is None else _wall(t.wall_N_m, t.wall_Ns_m, at)
    sign = np.array([-1.0, 1.0, -1.0])  # the device's x, y, z in the room, at heading zero
    swing = [(*(sign[AXES.index(w.axis)] * w.amplitude_m * np.eye(3)[AXES.index(w.axis)]),
              2.0 * math.pi * w.hz, w.phase_rad) for w in t.hand]  # fmt: skip
    speed = {"x": (-t.base_m_s, 0.0, 0.0), "z": (0.0, -t.base_m_s, 0.0), "yaw": (0.0, 0.0, t.base_rad_s)}
    middle = np.array(at) - (np.array([0.0, user.height, user.arm]) if follows else 0.0)
    force = t.force_N
    trial = Trial(
        tick_hz=t.tick_hz, dt=1.0 / t.tick_hz, device=device.in_tick.block.address,
        sample=device.in_tick.sample.address, send=device.in_tick.send.address, rest=height, height=height,
        rp_true=rp,
        farthest=USABLE_M, hold=tuple(middle + sign * t.hold_m), swing=np.array(swing).reshape(-1, 5),
        speed=speed.get(t.base, (0.0, 0.0, 0.0)), reverse=max(1, round(t.reverse_s * t.tick_hz)), follows=follows,
        usable=USABLE_M, head_lost=round(0.2 * t.tick_hz), force=(-force[2], -force[0], force[1]),
        proxy=0 if wall is None else wall.rendering.address, limit=device.spec.force_limit_N, perfect=t.pose is None,
    )  # fmt: skip
    parts = (
        trial, user,
        *(new_station(t.tracker, 3 * t.seed + n, t.tick_hz) for n in (1, 2)),  # head, body
        new_predictor(t.pose or Prediction(), start, t.tick_hz),
        new_planner(IMPROVED, Safety(), None, head_ahead_m=user.head_ahead),
        new_drive(t.carrier, start, 3 * t.seed + 3, t.tick_hz),
        new_lift(height, t.base == "lift", chain=chain, tick_hz=t.tick_hz), new_sensor(t.sensor, t.seed, t.tick_hz),
    )  # fmt: skip
    block, ticks = Block(*parts), round(t.seconds * t.tick_hz)
    trace, log = np.zeros((ticks, len(COLUMNS))), np.zeros((ticks * t.sensor.log_hz // t.tick_hz, 7))
    trial_entry(block.address, trace, log)
    return Felt(trace, log)


def _wall(stiffness_N_m: float, damping_Ns_m: float, at: tuple[float, float, float]) -> Proxy:
    """A cube whose face is where the tip rests, seen from the person: beyond it z is smaller."""
    x, y, z = -at[2], -at[0], at[1]  # z up; the device looks along x
    shape = Shape("box", (WALL_M, WALL_M, WALL_M), Transform(p=(x - 0.5 * WALL_M, y, z)))
    return Proxy(shape, Surface(stiffness_N_m, damping_Ns_m, 0.0, 0.0))
