"""What `palpate bench contact` asks of an engine, and our own World as one of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

import palpate as pp
from palpate.bench.contact_scenes import DAMPING, DT, NO_FORCE, STIFFNESS, BenchScene, Vector

OURS = "Palpate"
PEERS = {  # as `pip` calls them -> engine, its file in peers/ and its class there
    "mujoco": ("MuJoCo", "mujoco", "MujocoPeer"),
    "pybullet": ("PyBullet", "bullet", "BulletPeer"),
    "rapier3d": ("Rapier", "rapier", "RapierPeer"),
    "drake": ("Drake", "drake", "DrakePeer"),
}


class Engine(Protocol):
    """A scene built in one engine."""

    @property
    def name(self) -> str: ...

    @property
    def setting(self) -> str: ...  # of its solver

    @property
    def loops(self) -> bool: ...  # `advance` runs in the engine, not in Python

    @property
    def step(self) -> Callable[[], Any]: ...  # one step, called from Python

    def advance(self, steps: int) -> None: ...  # many

    def push(self, body: str, force: Vector) -> None: ...  # in the next step, world axes, at the body's origin [N]

    def save(self) -> Any: ...

    def restore(self, saved: Any) -> None: ...

    def poses(self, bodies: Sequence[str]) -> np.ndarray: ...  # (n, 4, 4) of their frames in the world

    def contacts(self) -> int: ...  # points in the last step

    def residual(self) -> float | None: ...  # of the last step, relative to its largest impulse

    def close(self) -> None: ...


class Ours:
    """A scene in our World."""

    name = OURS
    loops = True

    def __init__(self, scene: BenchScene) -> None:
        self.setting = "all points" if scene.all_points else "corners"
        self.world = pp.World(list(scene.parts), dt=DT, full=scene.all_points, sleep=scene.sleep)
        if scene.held:
            self.world.hold(stiffness=STIFFNESS, damping=DAMPING)
        self.step = self.world.step

    def advance(self, steps: int) -> None:
        self.world.step(steps)

    def push(self, body: str, force: Vector) -> None:
        if force != NO_FORCE:
            self.world.apply(body, force=force)

    def save(self) -> Any:
        return self.world.snapshot()

    def restore(self, saved: Any) -> None:
        self.world.restore(saved)

    def poses(self, bodies: Sequence[str]) -> np.ndarray:
        return np.array([self.world.pose(body) for body in bodies])

    def contacts(self) -> int:
        return int(self.world.report.contacts)

    def residual(self) -> float | None:
        return float(self.world.report.relative_residual)

    def q(self) -> np.ndarray:
        return np.array(self.world.q)

    def close(self) -> None:
        pass


def peer_class(package: str) -> Any:
    """The class of a peer, or None where its package is not installed."""
    _, file, name = PEERS[package]
    try:
        return getattr(importlib.import_module(f"palpate.bench.peers.{file}"), name)
    except ImportError:
        return None


def missing() -> list[str]:
    """Peers that are not installed, as `pip` calls them."""
    return [f"{package} ({engine})" for package, (engine, *_) in PEERS.items() if peer_class(package) is None]


def settled(scene: BenchScene, ours: Callable[[BenchScene], Any] = Ours) -> list[Engine]:
    """The scene in every engine that is installed, ours first, each at rest."""
    engines: list[Engine] = []
    own = ours(scene)
    own.advance(scene.settling)
    engines.append(own)
    if peer := peer_class("mujoco"):
        for setting in scene.peer_solvers:
            engine = peer(scene, setting)
            engine.advance(scene.settling)
            engines.append(engine)
    if (peer := peer_class("pybullet")) and not scene.sleep:  # it would take the longest by far, and is measured awake
        engine = peer(scene, own.q())
        engine.advance(scene.resettling)
        engines.append(engine)
    if peer := peer_class("rapier3d"):
        engine = peer(scene)
        engine.advance(scene.settling)
        engines.append(engine)
    if (peer := peer_class("drake")) and not scene.sleep:  # its bodies never do
        for setting in peer.settings(scene):
            engine = peer(scene, setting, None if scene.held else own.q())
            engine.advance(scene.settling if scene.held else scene.resettling)
            engines.append(engine)
    return engines
