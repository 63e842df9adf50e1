"""What `palpate bench batch` asks of an engine: many copies of one scene, from the same beginning, again and again."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

import palpate as pp
from palpate.bench.contact_engines import OURS, Ours
from palpate.bench.contact_scenes import BenchScene, Phase

STIRRED = 0.01  # standard deviation of the velocities with which copies begin [m/s, rad/s]: no two are alike


class Copies(Protocol):
    """A settled scene, n times, in one engine."""

    @property
    def name(self) -> str: ...

    @property
    def setting(self) -> str: ...

    def prepare(self, threads: int, phase: Phase) -> None: ...  # from the beginning, whatever was before; not timed

    def rollout(self) -> None: ...  # all copies, all steps, the states after each step kept

    def heights(self) -> np.ndarray: ...  # (n,) of the root's origin after the last step [m]

    def close(self) -> None: ...


def pushes(phase: Phase, n: int) -> np.ndarray:
    """(n, steps, 3) forces: from half of the phase's to the whole, copy by copy."""
    f = np.zeros((n, phase.steps, 3))
    f[:, : phase.pushed] = np.linspace(0.5, 1.0, n)[:, None, None] * np.asarray(phase.force)
    return f


def stirred(nv: int, n: int) -> np.ndarray:
    """Velocities (n, nv) that are added to those of the settled scene."""
    return np.random.default_rng(0).normal(0.0, STIRRED, (n, nv))


class OurCopies:
    """A Batch."""

    name = OURS

    def __init__(self, scene: BenchScene, n: int) -> None:
        engine = Ours(scene)
        engine.advance(scene.settling)
        self.setting, self.world = engine.setting, engine.world
        self.v = engine.world.v + stirred(engine.world.model.nv, n)
        self._batches = {threads: pp.Batch(engine.world, n, threads=threads) for threads in (1, 2)}
        self.prepare(1, Phase("nothing", 1))

    def prepare(self, threads: int, phase: Phase) -> None:
        self._batch = self._batches[threads]
        self._batch.reset()
        self._batch.v = self.v
        self._asked: dict[str, Any] = {"steps": phase.steps}
        if phase.pushed:
            f = pushes(phase, len(self.v))
            self._asked["pushes"] = {phase.body: np.concatenate([np.zeros_like(f), f], axis=2)}

    def rollout(self) -> None:
        self._out = self._batch.rollout(**self._asked)

    def step(self) -> None:
        """All copies, one step, called from Python."""
        self._batch.step()

    def heights(self) -> np.ndarray:
        return np.array(self._out.q[:, -1, 2])

    def close(self) -> None:
        for batch in self._batches.values():
            batch.close()


def mujoco_class() -> Any:
    """MujocoCopies, or None where MuJoCo is not installed."""
    try:
        from palpate.bench.peers.mujoco_rollout import MujocoCopies
    except ImportError:
        return None
    return MujocoCopies
