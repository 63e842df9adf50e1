"""The loops of trials.py from Python: what an observer says of a push, and how device and body keep together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from palpate.jit import Block
from palpate.planar.control.channels import SLAVE, Channels, new_channels
from palpate.planar.control.impedance import Impedance, new_impedance
from palpate.planar.control.observer import Observer, new_observer
from palpate.planar.control.trials import (
    APPLIED,
    BODY,
    COLUMNS,
    COPY_RATE,
    FAULT,
    FELT,
    HAND,
    LARGEST_TORQUE,
    MEASURED,
    RATE,
    RESIDUAL,
    SCALE,
    WALL,
    Trial,
    V,
    X,
    couple_rows,
    observe_rows,
)
from palpate.planar.pantograph.drive import new_drive
from palpate.planar.pantograph.mechanism import Pantograph
from palpate.planar.pantograph.plant import HandSpring, Plant, soft_hand

Triple = tuple[float, float, float]


class Track(NamedTuple):
    """What a loop left, a row for every sample: (n,) of single numbers, else (n, 3)."""

    time_s: np.ndarray
    X: np.ndarray  # true
    V: np.ndarray
    measured: np.ndarray
    rate: np.ndarray  # the observer's velocity
    copy_rate: np.ndarray  # its x2, which is biased
    felt: np.ndarray  # the observer's force
    hand: np.ndarray  # the hand's, true
    body: np.ndarray
    wall: np.ndarray  # on the body
    applied: np.ndarray
    torque: np.ndarray  # the largest of the four
    residual: np.ndarray
    fault: np.ndarray
    scale: np.ndarray


@dataclass
class Loop:
    """A device with its control; every part may be another."""

    pantograph: Pantograph = field(default_factory=Pantograph)
    start: Triple = (0.0, 0.0, 0.0)
    observer: Observer = field(default_factory=new_observer)
    impedance: Impedance = field(default_factory=new_impedance)
    channels: Channels = field(default_factory=new_channels)
    hand: HandSpring = field(default_factory=HandSpring)
    dt_s: float = 2e-3
    biased: bool = False
    body_damping: Triple = (0.5, 0.5, 6e-4)
    wall_x: float = math.inf
    wall_K: float = 0.0
    wall_B: float = 0.0
    stiffness: Triple = (60.0, 60.0, 0.15)
    damping: Triple = (4.0, 4.0, 0.01)

    def __post_init__(self) -> None:
        if not self.observer.omega * self.dt_s <= 0.4:
            raise ValueError(f"an observer of {self.observer.omega:g} rad/s is too fast for samples of {self.dt_s:g} s")
        self.plant, self.drive = Plant(X=self.start), new_drive(self.dt_s)
        self.drive.X = (0.0, 0.0, self.start[2])  # which turn it is on, no encoder says
        self.trial = Trial(
            dt=self.dt_s, home=self.start, stiffness=self.stiffness, damping=self.damping, biased=self.biased,
            body=self.start, inertia=SLAVE, body_damping=self.body_damping, wall_x=self.wall_x, wall_K=self.wall_K,
            wall_B=self.wall_B, vertex=(0.015, 0.010, 0.0),
        )  # fmt: skip
        self.block = Block(self.pantograph.mechanism, self.plant, self.hand, self.drive, self.observer, self.impedance,
                           self.channels, self.trial)  # fmt: skip
        self.steps = 0

    def _track(self, out: np.ndarray) -> Track:
        time_s = self.dt_s * (self.steps + np.arange(len(out)))
        self.steps += len(out)
        threes = (X, V, MEASURED, RATE, COPY_RATE, FELT, HAND, BODY, WALL, APPLIED)
        ones = (LARGEST_TORQUE, RESIDUAL, FAULT, SCALE)
        return Track(time_s, *(out[:, k : k + 3] for k in threes), *(out[:, k] for k in ones))

    def observe(self, pushes: np.ndarray, noise_rad: np.ndarray | None = None) -> Track:
        """Under the soft spring, pushed with (n, 3)."""
        out = np.zeros((len(pushes), COLUMNS))
        noise = np.zeros((0, 4)) if noise_rad is None else noise_rad
        observe_rows(self.block.address, np.ascontiguousarray(pushes, dtype=float), noise, out)
        return self._track(out)

    def couple(self, targets: np.ndarray) -> Track:
        """With a body, led by a hand to (n, 3)."""
        out = np.zeros((len(targets), COLUMNS))
        couple_rows(self.block.address, np.ascontiguousarray(targets, dtype=float), out)
        return self._track(out)


PUSH = (2.0, -1.0, 0.03)  # [N, N, N m]


def pushed_loop(way: str = "position", **changed: Any) -> Loop:
    """The observer's set-up of 10.1."""
    chosen: dict[str, Any] = {"start": (0.02, -0.01, 0.4), "observer": new_observer(way), "hand": HandSpring(holds=1)}
    return Loop(**chosen | changed)


def push_history(seconds: float, begin_s: float = 0.05, dt_s: float = 2e-3, push: Triple = PUSH) -> np.ndarray:
    """(n, 3) a push from begin_s on."""
    time = dt_s * np.arange(round(seconds / dt_s))
    return np.where(time[:, None] >= begin_s - 1e-12, push, 0.0)


def four_channel_loop(mode: str = "position-force", way: str = "position", **changed: Any) -> Loop:
    """The set-up of 10.1: a hand, a body at the same pose, a wall at x = 0.02 m."""
    chosen: dict[str, Any] = {
        "start": (-0.02, 0.0, 0.0), "observer": new_observer(way), "channels": new_channels(mode), "hand": soft_hand(),
        "wall_x": 0.02, "wall_K": 2000.0, "wall_B": 4.0,
    }  # fmt: skip
    return Loop(**chosen | changed)


def four_channel_path(steps: int = 900, dt_s: float = 2e-3) -> np.ndarray:
    """(steps, 3) where the hand of 10.1 wants to be: onto the wall in 0.5 s, with y and angle to and fro."""
    t = dt_s * np.arange(steps)
    x = -0.02 + 0.06 * np.minimum(1.0, t / 0.5)
    turn = np.where(t < 0.9, 0.2 * np.sin(2.0 * math.pi * 0.7 * t), 0.0)
    return np.stack([x, 0.01 * np.sin(2.0 * math.pi * t), turn], axis=1)
