"""Sequences of tasks: what an avatar's hands do one after the other, as phases with postures, loads and durations.

    Reach   palms to places, or joints to a posture; the hands are empty
    Take    palms straight to the object's sides, then the squeeze rises
    Lift    the object straight up
    Carry   the object straight along
    Place   the object straight down, the squeeze falls, and the palms part

    sequence = Sequence(avatar, q, [Reach(*box.sides(0.05)), Take(), Lift(0.1), Carry((0, 0.15, 0)), Place(0.1)], box)
    sequence.given(dt)        every phase a quintic from rest to rest (reference on avatars 4.2)
    sequence.optimise(dt)     durations and points between are free, and it only stops where the squeeze changes

Legs and root stay.  What is held is a load on the palms (half its mass on each, with its inertia) that squeeze it; who
plays a sequence closes the real grasp.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.plans.timing import minimum_jerk
from palpate.control.sequences.optimise import Curve, Infeasible, Run, optimise, slowed
from palpate.control.sequences.performance import Limits, Measuring, Performance, Phase, performed
from palpate.control.sequences.performer import Avatar
from palpate.model.model import Floats1, Floats2
from palpate.spatial.placement import Vector3, vector3

JOINT_ROOM = 0.3  # [rad or m] that a point between may be away from where the given motion has it
OBJECT_ROOM_M = 0.05  # the same for the object
CLOSING_CORRIDOR_M = 0.01  # palms keep to their straight way to and from the object this well
OBJECT_CORRIDOR_M = 0.05  # and the object to its own


class SequenceError(ValueError):
    """A sequence that makes no sense, or cannot be done; one line that names the task."""


@dataclass(frozen=True)
class Held:
    """Something to be taken by two palms at its sides: size [m], mass [kg], where its centre is."""

    size: Vector3
    mass_kg: float
    at: Vector3

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass_kg) and self.mass_kg > 0.0 and min(vector3(self.size, "size")) > 0.0):
            raise SequenceError(f"what is taken needs a positive mass and size, got {self.mass_kg} kg and {self.size}")

    def sides(self, gap_m: float = 0.0, at: Vector3 | None = None) -> tuple[Vector3, Vector3]:
        """Places of the right and of the left palm at this distance from its sides (-y, +y)."""
        x, y, z = self.at if at is None else at
        half = 0.5 * self.size[1] + gap_m
        return (x, y - half, z), (x, y + half, z)


@dataclass(frozen=True, kw_only=True)
class Task:
    """seconds: how long it takes in the given motion; via: points between that may be moved."""

    seconds: float = 1.0
    via: int = 2

    def __post_init__(self) -> None:
        name = type(self).__name__
        if not (np.isfinite(self.seconds) and self.seconds > 0.0):
            raise SequenceError(f"{name}: seconds must be positive, got {self.seconds}")
        if not 0 <= self.via <= 8:
            raise SequenceError(f"{name}: via must be from 0 to 8, got {self.via}")


@dataclass(frozen=True)
class Reach(Task):
    """Palms to places [m]; or, without places, joints to a posture (nq,)."""

    right: Vector3 | None = None
    left: Vector3 | None = None
    posture: ArrayLike | None = None


@dataclass(frozen=True)
class Take(Task):
    """squeeze [N] that rises in grip_s once the palms are there."""

    squeeze_N: float = 20.0
    grip_s: float = 0.3


@dataclass(frozen=True)
class Lift(Task):
    height_m: float = 0.05


@dataclass(frozen=True)
class Carry(Task):
    by: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Place(Task):
    """Down by depth [m]; then, in grip_s, nothing is squeezed any more, and the palms part by open [m]."""

    depth_m: float = 0.05
    open_m: float = 0.05
    grip_s: float = 0.3


@dataclass(frozen=True, eq=False)
class Optimised:
    """Both motions within limits, and what the search took.

    given    every phase from rest to rest; where that breaks a limit, the phases of a run slowed `slowed` times
    best     never longer, and never rougher than `rougher` times `given`
    """

    given: Performance
    best: Performance
    slowed: tuple[float, ...]  # of each run between stops
    steps: int
    evaluations: int


@dataclass(frozen=True, eq=False)
class Sequence:
    """Tasks of an avatar from posture q (nq,) on; `held` is what it takes, `limits` are kept by `optimise`."""

    avatar: Avatar
    q: ArrayLike
    tasks: Many[Task]
    held: Held | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        q = np.array(self.q, dtype=np.float64)
        if q.shape != (self.avatar.model.nq,) or not np.isfinite(q).all():
            raise SequenceError(f"q has shape {q.shape} and must be finite, the model needs ({self.avatar.model.nq},)")
        object.__setattr__(self, "q", q)
        object.__setattr__(self, "tasks", tuple(self.tasks))
        if not self.tasks:
            raise SequenceError("a sequence needs at least one task")
        self.limits.check(self.avatar.model)
        self.phases  # noqa: B018  finds what is wrong now

    # ---- phases

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """One after the other; their postures by inverse kinematics."""
        state = _Compiling(self.avatar, np.array(self.q), self.held)
        for number, task in enumerate(self.tasks):
            label = f"task {number} ({type(task).__name__.lower()})"
            try:
                state.add(task, number)
            except ValueError as wrong:  # unreachable, out of order, or no numbers
                raise SequenceError(f"{label}: {wrong}") from None
        return tuple(state.phases)

    @cached_property
    def runs(self) -> tuple[tuple[Phase, ...], ...]:
        """Phases between stops: a pause stands alone."""
        groups: list[list[Phase]] = []
        for phase in self.phases:
            if groups and groups[-1][-1].moves and phase.moves:
                groups[-1].append(phase)
            else:
                groups.append([phase])
        return tuple(tuple(group) for group in groups)

    # ---- motions

    def given(self, dt: float) -> Performance:
        """Every phase from rest to rest in its own seconds, whether within limits or not; one row per dt [s]."""
        return performed(self.avatar, self.q, self.limits, [(run, self._run(run).given) for run in self.runs], dt)

    def optimise(
        self,
        dt: float,
        *,
        rougher: float = 1.0,
        weight: float = 0.1,
        progress: Callable[[str, int, float], None] | None = None,
    ) -> Optimised:
        """The shortest and smoothest within limits (optimise.py); Infeasible names the limit if there is none.

        rougher   how many times the given integrated squared jerk each run may have
        progress  called with (phases, step, duration [s] of this run so far)
        """
        if not (np.isfinite(dt) and dt > 0.0):
            raise SequenceError(f"dt must be positive, got {dt} s")
        runs = [(phases, self._run(phases)) for phases in self.runs]
        for _, run in runs:
            slowed(run.given, run.measure)  # what cannot be done is said before anything is searched for
        given, best, factors, steps, evaluations = [], [], [], 0, 0
        for phases, run in runs:
            names = ", ".join(phase.name for phase in phases)
            if not phases[0].moves:  # a pause is what it is
                given.append((phases, run.given))
                best.append((phases, run.given))
                continue
            told = None if progress is None else partial(_tell, progress, names)
            found = optimise(run, rougher=rougher, weight=weight, progress=told)
            given.append((phases, found.given))
            best.append((phases, found.best))
            factors.append(found.slowed)
            steps, evaluations = steps + found.steps, evaluations + found.evaluations
        one, two = (performed(self.avatar, self.q, self.limits, curves, dt) for curves in (given, best))
        return Optimised(one, two, tuple(factors), steps, evaluations)

    def _run(self, phases: tuple[Phase, ...]) -> Run:
        """Knots of these phases, and what may move them."""
        avatar, points, owner, stops = self.avatar, [phases[0].posture[0]], [], [True]
        base: list[Callable[[Floats1], Floats1] | None] = [None]
        sizes, rooms = [0], []
        for k, phase in enumerate(phases):
            u = np.linspace(0.0, 1.0, phase.via + 2)[1:]
            for s in minimum_jerk(u)[0]:
                last = len(points) and s == 1.0
                q = phase.between(avatar, float(s))
                points.append(q)
                owner.append(k)
                stops.append(bool(last))
                free = None if last else phase.mover(avatar, q, float(s))
                base.append(free)
                sizes.append(0 if free is None else 3 if phase.held else len(avatar.joints))
                if free is not None:
                    rooms.append(np.full(sizes[-1], OBJECT_ROOM_M if phase.held else JOINT_ROOM))
        table = np.array([q[avatar.in_q] for q in points])
        begins = np.concatenate([[0], np.cumsum(sizes)])

        def knots(x: Floats1) -> Floats2:
            p = table.copy()
            for i, move in enumerate(base):
                part = x[begins[i] : begins[i + 1]]
                if move is not None and part.any():
                    p[i] = move(part)
            return p

        h = np.concatenate([np.full(phase.via + 1, phase.seconds / (phase.via + 1)) for phase in phases])
        room = np.concatenate(rooms) if rooms else np.zeros(0)
        given = Curve(h, table, np.array(stops))
        return Run(given, knots, room, Measuring(avatar, self.q, self.limits, phases, np.array(owner)))


def _tell(progress: Callable[[str, int, float], None], names: str, step: int, seconds: float, jerk: float) -> None:
    progress(names, step, seconds)


class _Compiling:
    """Where hands and object are while tasks become phases."""

    def __init__(self, avatar: Avatar, q: Floats1, held: Held | None) -> None:
        self.avatar, self.q, self.held = avatar, q, held
        self.palms = avatar.palms(q)
        self.squeeze = 0.0  # > 0: it is held
        self.at = np.array(held.at if held else (0.0, 0.0, 0.0), dtype=np.float64)
        self.phases: list[Phase] = []

    def add(self, task: Task, number: int) -> None:
        if isinstance(task, Reach):
            self._reach(task, number)
            return
        if len(self.avatar.hands) != 2 or self.held is None:
            raise SequenceError("it needs two hands and something to hold")
        if isinstance(task, Take):
            if self.squeeze:
                raise SequenceError("it is held already")
            if not task.squeeze_N > 0.0:
                raise SequenceError(f"squeeze_N must be positive, got {task.squeeze_N}")
            self._move("close", task, number, np.array(self.held.sides(at=tuple(self.at))), CLOSING_CORRIDOR_M)
            self._pause("squeeze", task.grip_s, number, (0.0, task.squeeze_N))
            self.squeeze = task.squeeze_N
            return
        if not self.squeeze:
            raise SequenceError("nothing is held; take it first")
        by = {Lift: lambda: (0.0, 0.0, task.height_m), Carry: lambda: task.by,  # type: ignore[attr-defined]
              Place: lambda: (0.0, 0.0, -task.depth_m)}  # type: ignore[attr-defined]  # fmt: skip
        if type(task) not in by:
            raise SequenceError(f"there is no such task; known: Reach, Take, Lift, Carry, Place, not {task!r}")
        way = np.array(vector3(by[type(task)](), "the way"))
        if not np.abs(way).max() > 0.0:
            raise SequenceError("it moves nothing")
        self.at = self.at + way
        name = "lower" if isinstance(task, Place) else type(task).__name__.lower()
        self._move(name, task, number, self.palms + way, OBJECT_CORRIDOR_M, held=True)
        if isinstance(task, Place):
            self._pause("release", task.grip_s, number, (self.squeeze, 0.0))
            self.squeeze = 0.0
            if task.open_m > 0.0:
                apart = np.array(self.held.sides(task.open_m, tuple(self.at)))
                self._move("part", task, number, apart, CLOSING_CORRIDOR_M)

    def _reach(self, task: Reach, number: int) -> None:
        if self.squeeze:
            raise SequenceError("the hands are not empty; place what they hold first")
        places = {k: vector3(p, "a place") for k, p in enumerate((task.right, task.left)) if p is not None}
        if bool(places) == (task.posture is not None):
            raise SequenceError("it needs places for palms, or else a posture")
        if places and max(places) >= len(self.avatar.hands):
            raise SequenceError("this avatar has no left hand")
        if places:
            q = self.avatar.reach(self.q, {k: np.array(p) for k, p in places.items()}, lean=True)
        else:
            q, wanted = self.q.copy(), np.array(task.posture, dtype=np.float64)
            if wanted.shape != q.shape or not np.isfinite(wanted).all():
                raise SequenceError(f"the posture has shape {wanted.shape} and must be finite, {q.shape} is needed")
            q[self.avatar.in_q] = wanted[self.avatar.in_q]
        self._append("reach", task, number, q, np.inf, straight=False)

    def _move(self, name: str, task: Task, number: int, palms: Floats2, corridor_m: float, held: bool = False) -> None:
        q = self.avatar.reach(self.q, dict(enumerate(palms)), lean=True)
        self._append(name, task, number, q, corridor_m, straight=True, held=held)

    def _append(self, name: str, task: Task, number: int, q: Floats1, corridor_m: float, *, straight: bool,
                held: bool = False) -> None:  # fmt: skip
        palms = self.avatar.palms(q)
        load = self.held.mass_kg if held and self.held else 0.0
        squeeze = (self.squeeze, self.squeeze) if held else (0.0, 0.0)
        ways = np.stack([self.palms, palms])
        self.phases.append(Phase(name, number, task.seconds, True, straight, held, task.via, corridor_m, load, squeeze,
                                 ways, np.stack([self.q, q])))  # fmt: skip
        self.q, self.palms = q, palms

    def _pause(self, name: str, seconds: float, number: int, squeeze: tuple[float, float]) -> None:
        if not (np.isfinite(seconds) and seconds > 0.0):
            raise SequenceError(f"grip_s must be positive, got {seconds}")
        still = np.stack([self.palms, self.palms]), np.stack([self.q, self.q])
        self.phases.append(Phase(name, number, seconds, False, True, False, 0, np.inf, 0.0, squeeze, *still))


__all__ = [
    "Avatar", "Carry", "Held", "Infeasible", "Lift", "Limits", "Optimised", "Performance", "Phase", "Place", "Reach",
    "Sequence", "SequenceError", "Take", "Task",
]  # fmt: skip
