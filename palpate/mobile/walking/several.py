"""Several persons, each served by a robot, in one room and in simulated time.  Mobile display, 6.3.

    room = Several(wanderers(2, seed=1), seed=1)
    history = room.run(60.0, every=10)  # (n, persons, columns)
    room.numbers().least_between_bases_m

Every person is an obstacle to every robot, robots keep apart, and which serves whom may change.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from palpate.jit import Block
from palpate.mobile.planning.others import OTHERS
from palpate.mobile.planning.planner import IMPROVED
from palpate.mobile.walking.follow import Following, Rig
from palpate.mobile.walking.follow_kernels import COLUMNS
from palpate.mobile.walking.several_kernels import KNOWN, WIDTH, Team, several_entry
from palpate.mobile.walking.users import Event, explore
from palpate.model.model import Floats

ROW = (*COLUMNS, "base")
APART_M = 1.6  # persons keep it


class Person(NamedTuple):
    """One of several, and what they do."""

    events: Sequence[Event]
    at: tuple[float, float, float]  # x, z, g
    apart_m: float = APART_M
    home: tuple[float, float, float] = (0.0, 0.0, 0.0)  # x, z, radius that is not left; 0: none
    robot: tuple[float, float, float] | None = None  # x, z, phi where one robot starts; None: before the person


class Together(NamedTuple):
    """Of one run."""

    least_between_bases_m: float
    least_to_any_user_m: float  # of any base to any person
    least_between_users_m: float
    swaps: int  # times that bases changed hands
    off_share: float  # of the time of the person who had it most


def wanderers(
    n: int, seed: int, seconds: float = 60.0, speed_m_s: float = 0.4, home_m: float = 1.8, turn_deg: float = 90.0
) -> list[Person]:
    """Persons who walk and turn at random in a circle of this radius, and keep apart."""
    if not (1 <= n <= OTHERS + 1 and home_m >= APART_M):
        raise ValueError(f"{n} persons within {home_m} m: 1 to {OTHERS + 1}, and home_m is at least {APART_M}")
    rng = np.random.default_rng(seed)
    first = float(rng.uniform(-math.pi, math.pi))
    people = []
    for i in range(n):
        angle = first + 2.0 * math.pi * i / n
        where = 0.5 * APART_M / math.sin(math.pi / n) + 0.1 if n > 1 else 0.0
        g = math.atan2(math.cos(angle), math.sin(angle))  # they look outwards: the robots have room
        events = explore(1000 * seed + i, seconds, speed_m_s, turn_deg)
        people.append(Person(events, (where * math.cos(angle), where * math.sin(angle), g), home=(0.0, 0.0, home_m)))
    return people


class Several:
    """A room that can be run on: `run(seconds)`; its displays are open to whoever disturbs them."""

    def __init__(
        self, people: Sequence[Person], rig: Rig | None = None, seed: int = 0, hysteresis_m: float = 0.3
    ) -> None:
        n, r = len(people), rig or Rig(IMPROVED)
        if not 1 <= n <= OTHERS + 1:
            raise ValueError(f"there are {n} persons; a room has 1 to {OTHERS + 1}")
        if not (math.isfinite(hysteresis_m) and hysteresis_m >= 0.0):
            raise ValueError(f"hysteresis_m is {hysteresis_m}; it is 0 or more")
        if r.start is not None:
            raise ValueError("the rig has a start: of several robots each is given one by its Person")
        self.rig = r
        self.displays = [
            Following(
                p.events, replace(r, start=p.robot), 100 * seed + i, at=p.at, apart_m=p.apart_m, home=p.home,
                field_seed=seed,
            )
            for i, p in enumerate(people)
        ]  # fmt: skip
        orders = np.array(list(itertools.permutations(range(n))), dtype=np.int64)
        self.team = Team(
            tick_hz=r.tick_hz, rate_hz=r.follower.rate_hz, hysteresis=hysteresis_m, least_bases=math.inf,
            least_users=math.inf, least_apart=math.inf,
            displays=np.array([d.block.address for d in self.displays], dtype=np.int64), orders=orders.ravel(),
            base_of=np.arange(n), cost=np.zeros((n, n)), known=np.zeros((n, KNOWN)),
        )  # fmt: skip
        self._block = Block(self.team)

    def run(self, seconds: float, every: int = 0) -> Floats:
        """On for so long; history (rows, persons, len(ROW)), a row every so many ticks, 0: none."""
        if not (math.isfinite(seconds) and seconds >= 0.0 and every >= 0):
            raise ValueError(f"seconds {seconds} and every {every} must be 0 or more")
        ticks, n = round(seconds * self.rig.tick_hz), len(self.displays)
        history = np.zeros((ticks // every + 1 if every else 1, n * WIDTH))
        self.team.rows = 0
        several_entry(self._block.address, ticks, every, history)
        return history[: self.team.rows].reshape(-1, n, WIDTH)

    def numbers(self) -> Together:
        """So far."""
        t = self.team
        off = max(d.numbers().off_share for d in self.displays)
        return Together(t.least_bases, t.least_users, t.least_apart, t.swaps, off)
