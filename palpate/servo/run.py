"""Run: a simulation in simulated time, every frame kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from palpate.servo.ring import Follower
from palpate.servo.simulation import Simulation

S = TypeVar("S", bound=Simulation)
BATCH = 250  # ticks between two looks at the ring, which holds many more


class Run(Generic[S]):
    """Ticks as fast as they go, the same bits every time:

        run = Run(simulation)
        run.seconds(2.0)
        run.history("time_s")                  (ticks,)

    It begins at the simulation's start.  `sink` is called with all frames (n, words) int64 of a batch of ticks; with
    `keep` False they are kept nowhere else.
    """

    def __init__(self, simulation: S) -> None:
        self.simulation, self.keep = simulation, True
        self.sink: Callable[[np.ndarray], None] = lambda frames: None
        self._frames: list[np.ndarray] = []
        simulation.restart()
        self._follower = Follower(simulation.frames)

    def ticks(self, ticks: int, hands: np.ndarray | None = None) -> None:
        """Go on for so many ticks, each with its message (ticks, words) of a hand; RuntimeError if it stopped."""
        for begin in range(0, ticks, BATCH):
            n = min(BATCH, ticks - begin)
            done = self.simulation.simulate(n, None if hands is None else hands[begin : begin + n])
            new = self._follower.read()
            self._frames += new if self.keep else []
            if new:
                self.sink(np.array(new))
            if done < n:
                raise RuntimeError(self.simulation.why_stopped())

    def seconds(self, seconds: float) -> None:
        """Go on for a while [s]."""
        self.ticks(round(seconds * self.simulation.rate_hz))

    @property
    def count(self) -> int:
        """Of frames so far."""
        return len(self._frames)

    @property
    def frames(self) -> np.ndarray:
        """All so far (ticks, words) int64, as simulation.layout has them."""
        return np.array(self._frames, dtype=np.int64).reshape(len(self._frames), self.simulation.layout.words)

    def history(self, name: str) -> np.ndarray:
        """A field of every frame so far (ticks, ...)."""
        return self.simulation.layout.column(self.frames, name)

    def histories(self) -> dict[str, np.ndarray]:
        """All fields so."""
        return self.simulation.layout.columns(self.frames)

    @property
    def now(self) -> dict[str, Any]:
        """The newest frame as a dictionary of its fields."""
        return self.simulation.layout.unpack(self._frames[-1])
