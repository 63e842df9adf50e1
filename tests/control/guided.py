"""A guided scene in simulated time, tick by tick, with hands that push or pull and events in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from palpate.control.guide_tables import Editing
from palpate.control.plan import Plan
from palpate.frame import PUSH
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.runtime.engine import Engine
from palpate.scenes.scene import Scene
from palpate.servo.ring import Follower
from palpate.world.world import World

BLUNT = DeviceSpec("test", force_limit_N=500.0, force_rise_N_s=1e9)  # a force is there at once


class Guided:
    """An engine and what its frames said; hand(k) gives the fields of a HAND message for tick k, or None."""

    def __init__(self, world: World, plan: Plan, editing: Editing) -> None:
        self.engine = Engine(Scene("guided", "Guided", world, plan, editing=editing), BLUNT)
        self.engine.restart()
        self.model, self.dt = world.model, world.dt
        self._follower, self._frames, self.done = Follower(self.engine.frames), [], 0

    def run(self, ticks: int, hand: Callable[[int], dict | None] | None = None) -> Guided:
        for begin in range(0, ticks, 500):
            n = min(500, ticks - begin)
            table = np.zeros((n, self.engine.hand_layout.words), dtype=np.int64)
            for k in range(n):
                fields = hand(self.done + k) if hand else None
                if fields:
                    table[k] = self.engine.hand_layout.pack(**fields)
            assert self.engine.simulate(n, table) == n
            self._frames += self._follower.read()
            self.done += n
        assert self._follower.lost == 0
        return self

    def push(self, body: str, force, first: int, last: int, at_body=(0.0, 0.0, 0.0)) -> Callable[[int], dict | None]:
        """A hand that pushes from tick `first` up to before tick `last`."""
        fields = {"body": self.model.body(body), "hold": PUSH, "force": force, "at_body": at_body}
        return lambda k: fields if first <= k < last else None

    def event(self, kind: int, value: float = 0.0, **fields) -> None:
        self.engine.events.write(self.engine.event_layout.pack(kind=kind, value=value, **fields))

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array([self.engine.layout.read(words, name) for words in self._frames])

    @property
    def acceleration(self) -> np.ndarray:
        """(ticks - 1, nv): of each tick, as velocities say."""
        return np.diff(self["v"], axis=0) / self.dt

    def position(self, body: str) -> np.ndarray:
        return self["pose"][:, self.model.body(body), :3]
