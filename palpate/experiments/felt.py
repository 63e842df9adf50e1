"""A hand without eyes: it knows where it is, where it wants to be and what it feels, and nothing of what is in the way.

It goes straight for its goal.  Where something resists it keeps up a light press and slides along it, on the side that
leads on; where that ends, or its goal lies away from it, it goes for its goal again.  It remembers how far out it had
to go, and in the next trial goes by there, a little further out; when nothing was in its way it goes faster.  What it
feels is the force of the tick on what it holds, reversed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from palpate.experiments.simulated import recorded
from palpate.frame import BASE_AT, PULL
from palpate.haptics.devices.simulation.scripted import Scripted
from palpate.haptics.spring import spring_fields
from palpate.runtime.world.hello import STIFFNESS_N_M
from palpate.runtime.world.simulation import running
from palpate.scenes.scene import Scene
from palpate.scenes.task import REACHED, trials_of

EVERY = 10  # ticks between two decisions: a hundred a second
TOUCH_N, PRESS_N, FREE_N = 2.5, 3.0, 1.0  # something resists; how hard to press along it; nothing does any more
FEELS_S, STARTS_S = 0.03, 0.06  # over how long it feels, and how fast it takes up a new direction
YIELD = 0.4  # share of the press's error that is taken back in one decision
OUT_M = 0.015  # how much further out than it got free it goes by next time; and again, while it still hits something
FASTER, FASTEST_M_S = 1.2, 0.35


class FeltHand:
    """Reaches a goal (world) by what it feels, in the plane z = const, and learns from one trial to the next."""

    def __init__(self, goal_m: Sequence[float], speed_m_s: float = 0.12, presses: float = 1.0) -> None:
        """presses: times TOUCH_N, PRESS_N and FREE_N, for what is harder to move."""
        self.goal, self.speed, self.presses = np.array(goal_m, dtype=float), speed_m_s, presses
        self.by: np.ndarray | None = None  # where it goes by, learnt
        self._trail: list[np.ndarray] = []  # of the trial, and
        self._touched = False  # whether something was in its way

    def begin(self, at_m: np.ndarray) -> None:
        """A trial: the hand takes hold there.  What was felt in the trial before is learnt."""
        if self._touched and self.by is None:
            trail, straight = np.array(self._trail), _unit(self.goal - self._trail[0])
            out = trail - trail[0] - np.outer((trail - trail[0]) @ straight, straight)  # from the straight way
            far = np.linalg.norm(out, axis=1)
            farthest = far > 0.95 * far.max()
            self._outward = _unit(out[farthest].mean(axis=0))
            self.by = trail[farthest].mean(axis=0)
        if self._touched and self.by is not None:
            self.by = self.by + OUT_M * self._outward
        elif self._trail:
            self.speed = min(self.speed * FASTER, FASTEST_M_S)
        self.at, self._trail, self._touched = at_m.copy(), [at_m.copy()], False
        self._felt, self._velocity = np.zeros(3), np.zeros(3)
        self._along: np.ndarray | None = None  # something that resists, at the moment
        self._side: np.ndarray | None = None  # on which it went along something
        self._to = [self.goal] if self.by is None else [self.by, self.goal]

    def move(self, felt_N: np.ndarray, dt: float) -> np.ndarray:
        """Where the hand goes next (3,)."""
        self._felt += min(1.0, dt / FEELS_S) * (np.array([felt_N[0], felt_N[1], 0.0]) - self._felt)
        size = float(np.linalg.norm(self._felt))
        if len(self._to) > 1 and np.linalg.norm(self._to[0] - self.at) < 0.02:
            self._to.pop(0)
        left = self._to[0] - self.at
        ahead, press = _unit(left), np.zeros(3)
        leads_away = self._felt @ ahead >= 0.0
        if leads_away or size < self.presses * (TOUCH_N if self._along is None else FREE_N):
            self._along = None
        else:  # along what resists: on the side that leads on, and in this trial on that side from then on
            across = np.array([-self._felt[1], self._felt[0], 0.0]) / size
            self._side = across if across @ (ahead if self._side is None else self._side) >= 0.0 else -across
            self._along = self._side
            self._touched = True
            press = YIELD * (size - self.presses * PRESS_N) / STIFFNESS_N_M * self._felt / size
        wanted = min(self.speed, float(np.linalg.norm(left)) / STARTS_S) * (
            ahead if self._along is None else self._along
        )
        self._velocity += min(1.0, dt / STARTS_S) * (wanted - self._velocity)
        self.at = self.at + dt * self._velocity + press
        self._trail.append(self.at.copy())
        return self.at


def _unit(x: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(x))
    return x / length if length > 0.0 else x


def felt_trials(
    scene: Scene, hand: FeltHand, trials: int, seconds: float, record: Path | None = None
) -> dict[str, np.ndarray]:
    """Histories (ticks, ...) of the frame's fields over trials of the scene's task, each at most so long.

    The servo's own tick in simulated time; the same bits every time.  The scene stays as it was.
    """
    task, dt = scene.task, scene.world.dt
    if task is None:
        raise ValueError(f"the scene {scene.name!r} has no task")
    spring = spring_fields(STIFFNESS_N_M)
    with running(scene, device=Scripted().spec) as run, recorded(scene, run, record) as writer:
        run.sink = lambda frames: None  # each trial is written whole, below, with a clock that goes on
        engine, body = run.simulation, scene.model.body(task.body)
        written: list[np.ndarray] = []
        for _ in range(trials):
            engine.restart()
            begun = run.count
            run.ticks(1, engine.hand_layout.pack()[None])
            held = run.now["pose"][body][:3].copy()
            hand.begin(held)
            for _ in range(round(seconds / dt / EVERY) - 1):
                goes = hand.move(-run.now["hand_force"][0], EVERY * dt)
                way = held + np.arange(1, EVERY + 1)[:, None] / EVERY * (goes - held)
                held = goes
                table = [engine.hand_layout.pack(body=body, hold=PULL, target=x, **spring) for x in way]
                run.ticks(EVERY, np.array(table))
                if run.now["task_state"] == REACHED:
                    break
            written.append(run.frames[begun:])
            ticks = np.arange(begun, run.count) + 1
            written[-1][:, BASE_AT.wall_ns] = ticks * round(1e9 * dt)
            if writer:
                writer.add(written[-1])
                (trial,) = trials_of(engine.layout.columns(written[-1]))
                writer.mark(f"trial {trial.number}", trial._asdict(), int(written[-1][-1, BASE_AT.wall_ns]))
        return engine.layout.columns(np.concatenate(written))
