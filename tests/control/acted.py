"""An avatar that answers, in simulated time: told, touched, and what its frames said."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.behaviours.machine import Acting
from palpate.frame import PULL, PUSH
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.haptics.spring import spring_fields
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.scene import Scene

BLUNT = DeviceSpec("person", force_limit_N=1000.0, force_rise_N_s=1e9)  # a force is there at once


def acting_of(simulation: WorldSimulation) -> Acting:
    """The behaviours of the first avatar of a simulation."""
    part = next(c.control for c in simulation.controllers if c.control.name == "behaviours")  # type: ignore[attr-defined]
    acting = part.hello.__self__
    assert isinstance(acting, Acting)
    return acting


class Acted:
    """with Acted(scene) as avatar: avatar.push("CHEST_JOINT1", (0, 30, 0), 0.5); avatar.states()"""

    def __init__(self, scene: Scene, device: DeviceSpec = BLUNT) -> None:
        self._stack, self.scene = ExitStack(), scene
        self.run = self._stack.enter_context(running(scene, device=device))
        self.simulation = self.run.simulation
        self.acting = acting_of(self.simulation)
        self.actor: Actor = self.acting.actor
        self.avatar, self.model = self.actor.avatar, scene.model

    def __enter__(self) -> Acted:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    # ---- what a person does

    def tell(self, word: str) -> None:
        self.send(self.acting.event, self.acting.command(word))

    def send(self, event: str, value: float) -> None:
        kind = self.simulation.kind_of(event)
        self.simulation.events.write(self.simulation.event_layout.pack(kind=kind, value=value))

    def say(self, pattern: int) -> None:
        """As if a pattern had been recognised."""
        machine = self.acting.machine
        machine.said[0] = pattern
        machine.said_count[0] += 1

    def wait(self, seconds: float) -> None:
        self.hands(seconds, lambda t: {})

    def push(self, body: str, force: tuple[float, float, float], seconds: float, at=(0.0, 0.0, 0.0)) -> None:
        row = self.model.body(body)
        self.hands(seconds, lambda t: {"body": row, "hold": PUSH, "force": force, "at_body": at})

    def tap(self, body: str, force: tuple[float, float, float], at: tuple[float, float, float], seconds=0.1) -> None:
        """A half sine."""
        row, peak = self.model.body(body), np.array(force)
        self.hands(
            seconds,
            lambda t: {"body": row, "hold": PUSH, "force": peak * np.sin(np.pi * t / seconds), "at_body": at},
        )

    def lead(self, way: Callable[[float], np.ndarray], seconds: float, stiffness=400.0, damping=10.0, side=0) -> None:
        """Hold a palm by a spring; way(t) from where the palm is now [m]."""
        a = self.avatar
        start, body, at = a.palm[side].copy(), int(a.hand[side]), a.palm_at[side]
        spring = spring_fields(stiffness, damping)
        self.hands(seconds, lambda t: {"body": body, "hold": PULL, "at_body": at, "target": start + way(t), **spring})

    def hands(self, seconds: float, fields: Callable[[float], dict]) -> None:
        n, dt = round(seconds * self.simulation.rate_hz), 1.0 / self.simulation.rate_hz
        rows = np.array([self.simulation.hand_layout.pack(**fields(k * dt)) for k in range(n)])
        self.run.ticks(n, rows)

    # ---- what was seen

    def __getitem__(self, name: str) -> np.ndarray:
        return self.run.history(name if name in self.simulation.layout.offset else f"avatar_{name}")

    def names(self) -> list[str]:
        """The state of every tick."""
        return [self.acting.names[k] for k in self["behaviour"]]

    def states(self) -> list[str]:
        """One after the other."""
        names = self.names()
        return [name for k, name in enumerate(names) if k == 0 or names[k - 1] != name]

    def palm_speed(self, side: int = 0, from_chest: bool = False) -> np.ndarray:
        """(ticks - 1,) of a palm in the world, or beside the chest [m/s], from poses."""
        path = self.palm_path(side)
        path = path - self["pose"][:, self.avatar.chest, :3] if from_chest else path
        return np.linalg.norm(np.diff(path, axis=0), axis=1) * self.simulation.rate_hz

    def palm_path(self, side: int = 0) -> np.ndarray:
        """(ticks, 3)"""
        pose = self["pose"][:, self.avatar.hand[side]]
        w, x, y, z = pose[:, 3:].T
        at = self.avatar.palm_at[side]
        R = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
        return pose[:, :3] + np.einsum("rck,c->kr", R, at)
