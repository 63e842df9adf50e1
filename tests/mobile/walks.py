"""Displays in a World, in simulated time, for tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from palpate.haptics.reach import Reach
from palpate.haptics.rendering.surface import Surface
from palpate.mobile.display.configuration import Who
from palpate.mobile.display.displays import MobileDisplays
from palpate.mobile.estimate.prediction import Prediction
from palpate.mobile.hardware.tracker import Tracker
from palpate.mobile.planning.planner import IMPROVED
from palpate.mobile.walking.follow import Rig
from palpate.model.description import MultiBody
from palpate.model.library.primitives import box
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.run import Run
from palpate.world.world import World

WALL_M = 2.0  # along z of the floor, where a person begins at 0 and looks along it
UNBIASED = Tracker(bias_m=0.0)
WORST = Prediction(noise_m=0.002, noise_rad=np.radians(0.25))  # an estimate that knows how bad its tracker is


def rig(tracker: Tracker = UNBIASED, **changed: Any) -> Rig:
    return Rig(**{"follower": IMPROVED, "tracker": tracker} | changed)


class Walk:
    """People in a room with one wall before them."""

    def __init__(
        self, people: Sequence[Who], wall_m: float = WALL_M, stiffness_N_m: float = 1000.0, *,
        thing: MultiBody | None = None, **changed: Any,
    ) -> None:  # fmt: skip
        """thing: in the wall's place"""
        wall = thing or box((0.2, 6.0, 3.0), at=(-wall_m - 0.1, 0.0, 1.0), fixed=True, name="wall")
        self.displays = MobileDisplays(people, **{"rig": rig()} | changed)
        surface = Surface(stiffness_N_m=stiffness_N_m, static_friction=0.0, dynamic_friction=0.0)
        reach = Reach(mode="push", strength_N=8.5, surface=surface, edge_m=0.0955)
        self.scene = Scene("walk", "A walk", World([wall], dt=1e-3), controllers=(self.displays,),
                           devices=self.displays.devices(reach))  # fmt: skip
        self.simulation = WorldSimulation(self.scene)
        self.run = Run(self.simulation)

    def seconds(self, seconds: float) -> None:
        self.run.seconds(seconds)

    def __getitem__(self, field: str) -> np.ndarray:
        """(ticks, ...) of a field, so far."""
        return self.run.history(field)

    def send(self, event: str, value: float) -> None:
        kind = self.simulation.kind_of(event)
        self.simulation.events.write(self.simulation.event_layout.pack(kind=kind, value=value))

    def __enter__(self) -> "Walk":
        return self

    def __exit__(self, *_: object) -> None:
        self.simulation.close()


def walking(*events: Any, **changed: Any) -> Walk:
    """One person who does this."""
    return Walk([Who(events=events)], **changed)
