"""A person walks and the robot follows, in simulated time: one run with its history, or thousands with their numbers.

    run = follow([walk(1.0, 3.0, 0.5, towards_deg=90.0)], 8.0, Rig(IMPROVED))
    run.numbers.off_share, run.numbers.least_distance_m, run["robot_x"]
    study = follow_many([explore(seed) for seed in range(200)], 30.0, Rig(THESIS.fast()))

Mobile display, 4.7 and 4.9.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from palpate.jit import Block, warm
from palpate.mobile.estimate.prediction import Prediction, Predictor, new_predictor
from palpate.mobile.hardware.base import Base, Drive, new_drive
from palpate.mobile.hardware.tracker import Station, Tracker, new_station
from palpate.mobile.planning.planner import THESIS, Follower, Planner, Safety, new_planner
from palpate.mobile.planning.room import Room
from palpate.mobile.walking.follow_kernels import COLUMNS, follow_entry
from palpate.mobile.walking.measures import Loop
from palpate.mobile.walking.users import Event, Walker, new_user
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
    lead_s: float  # for so long a warning had been on at the first contact
    alarms: float  # predictions of a contact
    false_alarms: float  # those that no contact followed
    broken: float  # plans that did not keep the barrier
    escapes: float  # times that the robot was nearer than d' - 0.15 m
    escape_s: float  # the longest of them
    freed_s: float  # the longest that the robot was so near to a user who did not come on
    met: float  # walls that the hand went through
    missed: float  # those that it could not have felt

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
    walls: tuple[tuple[float, float, float], ...] = ()  # nx, nz, c: to be touched at n.(x, z) = c, from below
    tick_hz: int = 1000

    def __post_init__(self) -> None:
        if self.tick_hz < max(self.follower.rate_hz, self.base.rate_hz, self.tracker.rate_hz, self.tracker.send_hz):
            raise ValueError(f"tick_hz {self.tick_hz} is below one of the rates that it has to keep")


class Following:
    """A loop that can be run on: `run(seconds)`; its parts are open to whoever disturbs it."""

    def __init__(
        self, events: Sequence[Event], rig: Rig | None = None, seed: int = 0, *,
        at: tuple[float, float, float] = (0.0, 0.0, 0.0), apart_m: float = 0.0,
        home: tuple[float, float, float] = (0.0, 0.0, 0.0), field_seed: int | None = None,
    ) -> None:  # fmt: skip
        """at, apart_m, home: of the person, as new_user has them; field_seed: of the tracker's bias, else the seed."""
        self.rig = r = rig or Rig()
        d, (x, z, g) = r.follower.distance_m, at
        start = r.start or (x + d * math.sin(g), z + d * math.cos(g), -g)
        field = seed if field_seed is None else field_seed
        walls = np.array(r.walls, dtype=np.float64).reshape(-1, 3)
        if not np.isfinite(walls).all():
            raise ValueError("walls are nx, nz and c, finite numbers")
        self.user: Walker = new_user(events, at, sway=r.sway, apart_m=apart_m, home=home, tick_hz=r.tick_hz)
        self.head: Station = new_station(r.tracker, 3 * seed + 1, r.tick_hz, field_seed=field)
        self.body: Station = new_station(r.tracker, 3 * seed + 2, r.tick_hz, field_seed=field)
        self.predictor: Predictor = new_predictor(r.prediction, start, r.tick_hz)
        self.planner: Planner = new_planner(r.follower, r.safety, r.room, head_ahead_m=self.user.head_ahead)
        self.drive: Drive = new_drive(r.base, start, 3 * seed + 3, r.tick_hz)
        self.loop = Loop(
            tick_hz=r.tick_hz, r_c=r.safety.contact_m, usable=USABLE_M, hand_height=self.user.height,
            ahead=r.follower.hip_ahead_m, head_lost=round(r.prediction.lost_s * r.tick_hz),
            shown=self.planner.show, least=math.inf, touched_at=-1, warned_at=-1, foreseen_at=-1, ringing_at=-1,
            lead=-1, walls=walls,
        )  # fmt: skip
        self.block = Block(self.loop, self.user, self.head, self.body, self.predictor, self.planner, self.drive)

    def run(self, seconds: float, every: int = 0) -> Floats:
        """On for so long; history (n, len(COLUMNS)), a row every so many ticks, 0: none."""
        if not (math.isfinite(seconds) and seconds >= 0.0 and every >= 0):
            raise ValueError(f"seconds {seconds} and every {every} must be 0 or more")
        ticks = round(seconds * self.rig.tick_hz)
        history = np.zeros((ticks // every + 1 if every else 1, len(COLUMNS)))
        self.loop.rows = 0
        follow_entry(self.block.address, ticks, every, history)
        return history[: self.loop.rows]

    def numbers(self) -> Numbers:
        """So far."""
        m = self.loop
        if m.tick == 0:
            raise ValueError("nothing has run yet")
        touched, warned, foreseen, lead = (
            at / m.tick_hz if at >= 0 else math.nan for at in (m.touched_at, m.warned_at, m.foreseen_at, m.lead)
        )
        return Numbers(
            m.least, m.off / m.tick, m.most, m.sum_offset / m.tick, touched, warned, foreseen, lead, m.alarms,
            m.alarms - m.true_alarms, m.broken, m.escapes, m.escape_longest / m.tick_hz, m.freed_longest / m.tick_hz,
            m.met, m.missed,
        )  # fmt: skip


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
    walks: Sequence[Sequence[Event]], seconds: float = 30.0, rig: Rig | None = None, seed: int = 0, *,
    walls: Sequence[tuple[tuple[float, float, float], ...]] | None = None, threads: int | None = None,
) -> dict[str, Floats]:  # fmt: skip
    """Many walks, walk i with the seed + i: Numbers by name, each (n,).

    walls: of each walk, in place of the rig's; threads: None is one for each processor, and all give the same numbers.
    """
    if walls is not None and len(walls) != len(walks):
        raise ValueError(f"there are walls for {len(walls)} walks, and {len(walks)} walks")
    rig = rig or Rig()

    def numbers_of(i: int) -> Numbers:
        following = Following(walks[i], rig if walls is None else replace(rig, walls=walls[i]), seed + i)
        following.run(seconds)
        return following.numbers()

    warm(follow_entry)  # before the threads ask for it, all at once
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        rows = list(pool.map(numbers_of, range(len(walks))))
    return dict(zip(Numbers._fields, np.array(rows).reshape(-1, len(Numbers._fields)).T.copy(), strict=True))
