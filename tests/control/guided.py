"""A guided scene in simulated time, tick by tick, with hands that push or pull and events in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from palpate.control.plans.guide_tables import Editing
from palpate.control.plans.plan import Plan
from palpate.frame import PUSH
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.run import Run
from palpate.world.world import World

BLUNT = DeviceSpec("test", force_limit_N=500.0, force_rise_N_s=1e9)  # a force is there at once


class Guided:
    """An engine and what its frames said; hand(k) gives the fields of a HAND message for tick k, or None."""

    def __init__(self, world: World, plan: Plan, editing: Editing) -> None:
        self.simulation = WorldSimulation(Scene("guided", "Guided", world, plan, editing=editing), BLUNT)
        self.model, self.dt, self._run = world.model, world.dt, Run(self.simulation)

    def run(self, ticks: int, hand: Callable[[int], dict | None] | None = None) -> Guided:
        fields = [(hand(self._run.count + k) if hand else None) or {} for k in range(ticks)]
        self._run.ticks(ticks, np.array([self.simulation.hand_layout.pack(**each) for each in fields]))
        return self

    def push(self, body: str, force, first: int, last: int, at_body=(0.0, 0.0, 0.0)) -> Callable[[int], dict | None]:
        """A hand that pushes from tick `first` up to before tick `last`."""
        fields = {"body": self.model.body(body), "hold": PUSH, "force": force, "at_body": at_body}
        return lambda k: fields if first <= k < last else None

    def event(self, kind: int, value: float = 0.0, **fields) -> None:
        self.simulation.events.write(self.simulation.event_layout.pack(kind=kind, value=value, **fields))

    def __getitem__(self, name: str) -> np.ndarray:
        return self._run.history(name)

    @property
    def acceleration(self) -> np.ndarray:
        """(ticks - 1, nv): of each tick, as velocities say."""
        return np.diff(self["v"], axis=0) / self.dt

    def position(self, body: str) -> np.ndarray:
        return self["pose"][:, self.model.body(body), :3]
