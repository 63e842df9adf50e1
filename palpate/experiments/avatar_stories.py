"""An avatar at a table takes a box, and a hand leads it: the runs that experiments and tests measure (avatars.md 4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from palpate.control.avatar import Actor
from palpate.control.grasp.grasp_tables import CARRY, FREE, HELD, HOLD, LIFTED, STATES
from palpate.control.grasp.grasping import Grasping
from palpate.control.plans import timing
from palpate.control.sequences.performance import convex_hull
from palpate.frame import PULL, PUSH
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.runtime.world.simulation import WorldSimulation, running
from palpate.scenes.scene import Scene
from palpate.scenes.tables import table_world, taking
from palpate.servo.run import Run
from palpate.world.world import World

HAND = DeviceSpec("hand", force_limit_N=500.0, force_rise_N_s=1e9)  # the story's hand is limited by its story alone
STIFFNESS_N_M, DAMPING_NS_M = 500.0, 63.2  # 2 sqrt(m kp) of 2 kg
LIMIT_S = 12.0  # that a state may take to come


def minimum_jerk(u: np.ndarray | float) -> np.ndarray:
    """0 .. 1, still before and after."""
    return timing.minimum_jerk(np.clip(u, 0.0, 1.0))[0]


def there_and_back(way_m: float, move_s: float = 2.0, stay_s: float = 1.0, rate_hz: float = 1000.0) -> np.ndarray:
    """(n,) the hand's way [m] at every tick."""
    t = np.arange(round((2.0 * move_s + stay_s) * rate_hz)) / rate_hz
    return way_m * (minimum_jerk(t / move_s) - minimum_jerk((t - move_s - stay_s) / move_s))


@dataclass
class Led:
    """What happened while a hand led the box."""

    time_s: np.ndarray  # (n,)
    hand: np.ndarray  # (n, 3) where the hand was [m]
    box: np.ndarray  # (n, 7)
    force_N: np.ndarray  # (n, 3) of the hand on the box
    palms_N: np.ndarray  # (n, 2)
    slip_m: np.ndarray  # (n,) beyond what there was before
    feet_m: float  # that a foot went
    margin_m: float  # of the capture point inside the soles, the least
    state: np.ndarray  # (n,)
    work_J: float  # of the hand

    @property
    def lag_m(self) -> np.ndarray:
        return np.linalg.norm(self.hand - self.box[:, :3], axis=1)

    @property
    def rms_m(self) -> float:
        return float(np.sqrt(np.mean(self.lag_m**2)))

    @property
    def peak_N(self) -> float:
        return float(np.linalg.norm(self.force_N, axis=1).max())

    @property
    def least_N(self) -> np.ndarray:
        """(2,)"""
        return self.palms_N.min(axis=0)

    def row(self) -> dict[str, Any]:
        return {"rms_mm": 1e3 * self.rms_m, "max_mm": 1e3 * float(self.lag_m.max()), "peak_N": self.peak_N,
                "least_R_N": float(self.least_N[0]), "least_L_N": float(self.least_N[1]),
                "slip_mm": 1e3 * float(self.slip_m.max()), "margin_m": self.margin_m, "feet_mm": 1e3 * self.feet_m,
                "work_J": self.work_J}  # fmt: skip


class Story:
    """One avatar at its table, in simulated time."""

    def __init__(self, run: Run[WorldSimulation], world: World, actor: Actor, grasping: Grasping) -> None:
        self.run, self.world, self.actor, self.grasping = run, world, actor, grasping
        self.box_q = world.model.q_index["box"]
        self.box_at = world.model.body("box")

    # ---- what is asked

    def wish(self, wish: int) -> None:
        self.grasping.arrays.wish = float(wish)

    def until(self, state: int, limit_s: float = LIMIT_S) -> float:
        """Go on until the hands do that; how long it took [s]."""
        g, ticks = self.grasping.arrays, 0
        while g.state != state:
            self.run.ticks(10)
            ticks += 10
            if ticks > limit_s * 1000:
                raise RuntimeError(f"the hands did not come to {STATES[state]!r} in {limit_s} s: {self.grasping.state} "
                                   f"{self.grasping.why}")  # fmt: skip
        return ticks * 1e-3

    def take(self) -> None:
        self.wish(HELD)
        self.until(HOLD)

    def lift(self) -> None:
        self.wish(LIFTED)
        self.until(CARRY)
        self.run.ticks(500)

    def release(self) -> None:
        self.wish(FREE)

    # ---- what a hand does

    def pack(self, **what: Any) -> np.ndarray:
        return self.run.simulation.hand_layout.pack(**what)

    def nothing(self) -> np.ndarray:
        return self.pack()

    def push(
        self, force: tuple[float, float, float], ticks: int, at_body: tuple[float, float, float] = (0, 0, 0)
    ) -> None:
        message = self.pack(body=self.box_at, hold=PUSH, force=force, at_body=at_body)
        self.run.ticks(ticks, np.tile(message, (ticks, 1)))

    def leave(self, ticks: int) -> None:
        """Without the hand."""
        self.run.ticks(ticks, np.tile(self.nothing(), (ticks, 1)))

    def lead(
        self,
        way_m: np.ndarray,
        along: tuple[float, float, float] = (0.0, 1.0, 0.0),
        stiffness_N_m: float = STIFFNESS_N_M,
        damping_Ns_m: float = DAMPING_NS_M,
        **more: Any,
    ) -> Led:
        """A hand holds the box at its middle by a spring and goes along a way (n,) [m]."""
        start = self.now("q")[self.box_q][:3]
        hand = start + np.outer(way_m, along)
        how = {"body": self.box_at, "hold": PULL, "stiffness_N_m": stiffness_N_m,
               "damping_Ns_m": (damping_Ns_m,) * 3} | more  # fmt: skip
        messages = np.array([self.pack(target=tuple(at), **how) for at in hand])
        first, slip = self.run.count, float(self.grasping.arrays.slip_m)
        self.run.ticks(len(messages), messages)
        led = self.told(first, hand, slip)
        self.leave(100)
        return led

    def told(self, first: int, hand: np.ndarray, slip_m: float) -> Led:
        layout, frames = self.run.simulation.layout, self.run.frames[first:]
        name, a = self.actor.field_prefix, self.actor.avatar

        def column(field: str) -> np.ndarray:
            return layout.column(frames, field)

        feet = column("pose")[:, a.foot, :3]
        box, force = column("q")[:, self.box_q], column(name + "led_force")
        velocity = np.gradient(hand, 1e-3, axis=0)
        return Led(
            column("time_s"), hand, box, force, column(name + "palm_load"),
            np.abs(column(name + "grasp_slip_m") - slip_m), float(np.linalg.norm(feet - feet[0], axis=2).max()),
            float(margins(a.sole[:, :2], column(name + "capture_point")[:, :2]).min()), column(name + "grasp_state"),
            float((force * velocity).sum() * 1e-3),
        )  # fmt: skip

    # ---- what is so

    def now(self, name: str) -> Any:
        return self.run.now[name]

    @property
    def box(self) -> np.ndarray:
        """(7,) position and quaternion."""
        return self.now("q")[self.box_q]

    @property
    def tilt_deg(self) -> float:
        """Of the box's z."""
        _, x, y, _ = self.box[3:]
        return float(np.degrees(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))))


def margins(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(n,) of points (n, 2) inside the hull of corners (k, 2): the way to its nearest edge, negative outside."""
    hull = convex_hull(corners)
    edges = np.roll(hull, -1, axis=0) - hull
    inwards = np.stack([-edges[:, 1], edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    return (((points[:, None] - hull) * inwards).sum(axis=2)).min(axis=1)


@contextmanager
def story(kind: str, *, friction: float = 0.8, box_kg: float = 2.0, sole: str = "box", **how: Any) -> Iterator[Story]:
    """HRP-2 ("hrp2") or a human ("human") at its table, hands free; how: of Grasping."""
    world = table_world(kind, friction=friction, box_kg=box_kg, sole=sole)
    actor, grasping = taking(world, wish=FREE, **({"friction": friction} | how))
    scene = Scene(f"table-{kind}", kind, world, controllers=tuple(actor.parts))
    with running(scene, device=HAND) as run:
        run.ticks(1)
        yield Story(run, world, actor, grasping)
