"""Scenes under a hand: a simulated PHANToM in the tick, held by a hand that pushes, takes hold, drags and lets go.

What a session with this device does, without page and recorder: the same loop, tick, rendering, coupling, guard and
device; frames are read along as a recorder reads them.  Age of a force: from the beginning of its tick, where the
device is sampled, to when it has been written (the simulation of the device is part of that).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import palpate as pp
from palpate.bench.timed_servo import lateness_row, run_servo
from palpate.frame import FAULT
from palpate.haptics.reach import Reach, Reaching
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.crowd import crowd
from palpate.scenes.scene import Scene
from palpate.scenes.standing import hrp2_standing
from palpate.servo.ring import Follower
from palpate.spatial.placement import Rotation, Transform, Vector3

DEVICE = "simulated:phantom-premium-1.5"
LATE_GOAL = 1e-3  # at most this part of the ticks late, with SCHED_FIFO on a quiet machine
ROUND_S = 1.0  # of the hand, and in it:
HOLD_S = (0.5, 0.8)  # when button 0 is pressed


@dataclass(frozen=True)
class TouchedScene:
    """A scene, how the device reaches into it, and one round of the hand: way points (time [s], device frame [m])."""

    name: str
    build: Callable[[], Scene]
    reach: Reach
    way: tuple[tuple[float, Vector3], ...]

    def hand(self, seconds: float) -> pp.Hand:
        """As many rounds as begin within `seconds`."""
        rounds = max(1, int(np.ceil(seconds / ROUND_S)))
        begins = [ROUND_S * k for k in range(rounds)]
        intent = [(begin + t, p) for begin in begins for t, p in self.way]
        return pp.Hand(
            intent=[*intent, (ROUND_S * rounds, self.way[0][1])],
            holds=[(begin + HOLD_S[0], begin + HOLD_S[1]) for begin in begins],
        )

    def reaching(self, world: pp.World, device: Any, real_time: bool) -> Reaching:
        return Reaching(world, device.spec, device.in_tick, self.reach, real_time=real_time)


def touched_scenes() -> tuple[TouchedScene, ...]:
    """The arm in its crowd, stirred from above; HRP-2, pushed at the chest and pulled by it."""
    return (
        TouchedScene(
            "crowd of 200",
            crowd,
            Reach(place=Transform(p=(0.6, 0.0, -0.615)), scale=3.0, radius_m=0.01, grab_m=0.1),
            # down (not to the floor, which nobody can take hold of), through the bodies, and back with one of them
            ((0.0, (0.0, -0.06, 0.05)), (0.15, (0.0, -0.06, 0.0)), (0.45, (0.0, 0.05, 0.0)), (0.55, (0.0, 0.05, 0.0)),
             (0.75, (-0.03, -0.03, 0.01)), (0.85, (-0.03, -0.03, 0.03))),
        ),
        TouchedScene(
            "hrp2 standing",
            hrp2_standing,
            # from before it: the device's x is the robot's backwards
            Reach(place=Transform(Rotation.about((0, 0, 1), np.pi), (0.15, 0.0, 1.08)), strength_N=30.0, radius_m=0.01),
            ((0.0, (-0.03, 0.0, 0.0)), (0.15, (0.06, 0.0, 0.0)), (0.45, (0.06, 0.04, 0.03)), (0.55, (0.06, 0.04, 0.03)),
             (0.75, (0.0, 0.0, 0.03)), (0.85, (-0.03, 0.0, 0.02))),
        ),
    )  # fmt: skip


class FrameLog:
    """Reads every frame of an engine with one device: tick times, ages of forces, what the hand was doing."""

    def __init__(self, engine: WorldSimulation) -> None:
        self.follower, at, self.period_us = Follower(engine.frames), engine.layout.offset, 1e6 / engine.rate_hz
        self._floats = [at["tick_us"], at["device_age_s"], *(at["device_body_force"] + r for r in range(3))]
        self._ints = [at["device_held"], at["contacts"]]
        self._rows: list[np.ndarray] = []

    def read(self) -> None:
        for message in self.follower.read():
            floats = message.view(np.float64)[self._floats]
            self._rows.append(np.concatenate([floats, message[self._ints].astype(np.float64)]))

    def summary(self) -> dict[str, float]:
        """Times in us; parts of all ticks: `too_long` for their period, `pushing`, `holding`."""
        tick_us, age_s, fx, fy, fz, held, contacts = np.array(self._rows).T
        tick_us = tick_us[1:]  # the first frame has no tick before it
        touching = (fx != 0.0) | (fy != 0.0) | (fz != 0.0)
        times = {"tick": tick_us, "age": 1e6 * age_s}
        percentiles = {"p50": 50, "p99": 99, "p99.9": 99.9, "max": 100}
        return {
            f"{what}_{name}_us": float(np.percentile(values, percent))
            for what, values in times.items()
            for name, percent in percentiles.items()
        } | {
            "too_long": float(np.mean(tick_us > self.period_us)),
            "pushing": float(np.mean(touching & (held == 0))),
            "holding": float(np.mean(held != 0)),
            "most_contacts": int(contacts.max()),
            "frames": len(self._rows),
            "frames_lost": self.follower.lost,
        }


def touched(case: TouchedScene, seconds: float, fifo: bool) -> dict[str, Any]:
    """Run the scene in real time under the hand; a row of the table."""
    scene = case.build()
    periods = round(seconds * scene.rate_hz)
    with pp.open_device(DEVICE, hand=case.hand(seconds)) as device:
        reaching = case.reaching(scene.world, device, real_time=True)
        engine = WorldSimulation(scene, lateness_log=periods, devices=[reaching])
        log = FrameLog(engine)
        run_servo(engine, periods, fifo, log.read)
        row = {"scene": case.name, "rate_hz": scene.rate_hz} | lateness_row(engine, periods) | log.summary()
        stopped = scene.world.fault if engine.head.state == FAULT else ""
        row |= {"device": reaching.report().counts, "fault": reaching.fault or stopped}
        engine.close()
    return row


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """(what was reached, whether that meets the goal) of the rows that have one: with FIFO and without a neighbour."""
    return [
        (f"{row['scene']}, touched at {row['rate_hz']:g} Hz with SCHED_FIFO: {100 * row['late_fraction']:.3f} % late "
         f"({100 * row['too_long']:.3f} % took longer than a period themselves), goal under {100 * LATE_GOAL:g} %",
         row["late_fraction"] < LATE_GOAL)
        for row in rows
        if row["fifo"] and not row["busy"]
    ]  # fmt: skip
