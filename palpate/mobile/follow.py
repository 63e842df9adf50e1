"""A person walks and the robot follows, in simulated time: one run with its history, or thousands with their numbers.

    run = follow([walk(1.0, 3.0, 0.5, towards_deg=90.0)], 8.0, Rig(IMPROVED))
    run.numbers.off_share, run.numbers.least_distance_m, run["robot_x"]
    study = follow_many([explore(seed) for seed in range(200)], 30.0, Rig(THESIS.fast()))

Mobile display, 4.7 and 4.9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from palpate.jit import Block
from palpate.mobile.base import Base, Drive, new_drive
from palpate.mobile.follow_kernels import COLUMNS, Loop, follow_entry
from palpate.mobile.planning.planner import THESIS, Follower, Planner, Safety, new_planner
from palpate.mobile.planning.room import Room
from palpate.mobile.prediction import Prediction, Predictor, new_predictor
from palpate.mobile.tracker import Station, Tracker, new_station
from palpate.mobile.users import Event, Walker, new_user
from palpate.model.model import Floats

USABLE_M = 0.0955  # radius of the sphere that every PHANToM Premium 1.5 reaches
HOLD = Prediction(method="hold", bleed=False)


class Numbers(NamedTuple):
    """Of one walk; times are nan where it never was."""

    least_distance_m: float  # between the centres of robot and user
    off_share: float  # of the time with the hand outside the usable sphere
    most_offset_m: float  # of the hand from the HIP's centre
    mean_offset_m: float
    touched_s: float  # first nearer than robot and user are wide
    warned_s: float  # first sound
    foreseen_s: float  # first prediction of a contact

    @property
    def collided(self) -> bool:
        return not math.isnan(self.touched_s)


@dataclass(frozen=True)
class Rig:
    """Everything beside the person: what is carried through a study unchanged."""

    follower: Follower = field(default_factory=lambda: THESIS)
    safety: Safety = field(default_factory=Safety)
    base: Base = field(default_factory=Base)
    tracker: Tracker = field(default_factory=Tracker)
    prediction: Prediction = field(default_factory=Prediction)
    room: Room | None = None
    sway: bool = False
    start: tuple[float, float, float] | None = None  # of the robot: x, z, phi; None: where it rests, before the user
    tick_hz: int = 1000

    def __post_init__(self) -> None:
        if self.tick_hz < max(self.follower.rate_hz, self.base.rate_hz, self.tracker.rate_hz, self.tracker.send_hz):
            raise ValueError(f"tick_hz {self.tick_hz} is below one of the rates that it has to keep")


class Following:
    """A loop that can be run on: `run(seconds)`; its parts are open to whoever disturbs it."""

    def __init__(self, events: Sequence[Event], rig: Rig | None = None, seed: int = 0) -> None:
        self.rig = r = rig or Rig()
        start = r.start or (0.0, r.follower.distance_m, 0.0)
        self.user: Walker = new_user(events, sway=r.sway, tick_hz=r.tick_hz)
        self.head: Station = new_station(r.tracker, 3 * seed + 1, r.tick_hz, field_seed=seed)
        self.body: Station = new_station(r.tracker, 3 * seed + 2, r.tick_hz, field_seed=seed)
        self.predictor: Predictor = new_predictor(r.prediction, start, r.tick_hz)
        self.planner: Planner = new_planner(r.follower, r.safety, r.room, head_ahead_m=self.user.head_ahead)
        self.drive: Drive = new_drive(r.base, start, 3 * seed + 3, r.tick_hz)
        self.loop = Loop(
            tick_hz=r.tick_hz, r_c=r.safety.contact_m, usable=USABLE_M, hand_height=self.user.height,
            ahead=r.follower.hip_ahead_m, head_lost=round(r.prediction.lost_s * r.tick_hz), least=math.inf,
            touched_at=-1, warned_at=-1, foreseen_at=-1,
        )  # fmt: skip
        self._block = Block(
            self.loop, self.user, self.head, self.body, self.predictor, self.planner, self.drive
        )  # fmt: skip

    def run(self, seconds: float, every: int = 0) -> Floats:
        """On for so long; history (n, len(COLUMNS)), a row every so many ticks, 0: none."""
        if not (math.isfinite(seconds) and seconds >= 0.0 and every >= 0):
            raise ValueError(f"seconds {seconds} and every {every} must be 0 or more")
        ticks = round(seconds * self.rig.tick_hz)
        history = np.zeros((ticks // every + 1 if every else 1, len(COLUMNS)))
        self.loop.rows = 0
        follow_entry(self._block.address, ticks, every, history)
        return history[: self.loop.rows]

    def numbers(self) -> Numbers:
        """So far."""
        m = self.loop
        if m.tick == 0:
            raise ValueError("nothing has run yet")
        times = [at / m.tick_hz if at >= 0 else math.nan for at in (m.touched_at, m.warned_at, m.foreseen_at)]
        return Numbers(m.least, m.off / m.tick, m.most, m.sum_offset / m.tick, *times)


@dataclass(frozen=True)
class Followed:
    """One run."""

    history: Floats  # (n, len(COLUMNS))
    numbers: Numbers
    rig: Rig
    seed: int

    def __getitem__(self, column: str) -> Floats:
        return self.history[:, COLUMNS.index(column)]


def follow(
    events: Sequence[Event], seconds: float = 8.0, rig: Rig | None = None, seed: int = 0, every: int = 10
) -> Followed:
    """One walk, with its history."""
    following = Following(events, rig, seed)
    history = following.run(seconds, every)
    return Followed(history, following.numbers(), following.rig, seed)


def follow_many(
    walks: Sequence[Sequence[Event]], seconds: float = 30.0, rig: Rig | None = None, seed: int = 0
) -> dict[str, Floats]:
    """Many walks, walk i with the seed + i: Numbers by name, each (n,)."""
    rows = []
    for i, events in enumerate(walks):
        following = Following(events, rig, seed + i)
        following.run(seconds)
        rows.append(following.numbers())
    return dict(zip(Numbers._fields, np.array(rows).reshape(-1, len(Numbers._fields)).T.copy(), strict=True))
