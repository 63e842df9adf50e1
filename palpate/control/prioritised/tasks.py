"""Tasks in order of priority: what a body should do, as a list; the first is never given up for a later one.

    feet, hand = pp.tasks.Feet("foot_r", "foot_l"), pp.tasks.Point("hand_r", (0.4, -0.2, 1.0))
    tasks = pp.Tasks(model, [feet, pp.tasks.CenterOfMass(), hand, pp.tasks.Posture()], q)
    q = tasks.step(q, 0.001)

Several in a tuple have the same priority.  Targets that are not given are where things are at q.  Velocities, methods
and damping: priorities.py; from a part of a tick: task_kernels.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.prioritised.priorities import SINGULAR_SPEED
from palpate.control.prioritised.task_entries import look_at_tasks_entry, step_tasks_entry
from palpate.control.prioritised.task_tables import CENTER, GAZE, POSE, POSTURE, TaskTable
from palpate.control.prioritised.tree import tree_of
from palpate.dynamics.coordinates import FINE
from palpate.dynamics.facade import center_of_mass, forward_kinematics
from palpate.dynamics.workspace import workspace
from palpate.jit import Block
from palpate.model.model import CHAIN, Floats, Floats1, Model
from palpate.spatial.placement import Transform, Vector3, vector3

__all__ = ["CenterOfMass", "Feet", "Gaze", "Point", "Pose", "Posture", "Task", "Tasks"]

STANDING_GAIN = 100.0  # [1/s] of what should not move at all: takes out what a finite step leaves, 0.5 dt v^2 a second
SPEED_LIMIT = 4.0  # [rad/s, m/s] of a joint, where the model has no limit of its own: reference on avatars 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """gain [1/s]: of what is missing a share of gain dt is done in a step; speed_m_s, turn_rad_s: but no faster."""

    gain: float = 10.0
    speed_m_s: float = 1.0
    turn_rad_s: float = 3.0

    def __post_init__(self) -> None:
        for name in ("gain", "speed_m_s", "turn_rad_s"):
            if not 0.0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {getattr(self, name)!r}")
        known = "XYZxyz" if isinstance(self, Pose) else "xyz"
        axes = getattr(self, "axes", known)
        if not axes or set(axes) - set(known) or len(set(axes)) < len(axes):
            raise ValueError(f"axes are some of {known!r}, each once, got {axes!r}")


@dataclass(frozen=True, eq=False)
class Point(Task):
    """A point of a body [m, body axes] to a place in the world [m]; axes: those of the world that count."""

    body: str
    target: Vector3 | None = None
    at_body: Vector3 = (0.0, 0.0, 0.0)
    axes: str = "xyz"


@dataclass(frozen=True, eq=False)
class Pose(Task):
    """A frame at a point of a body (its axes the body's) to a Transform; axes: "XYZ" turn about, "xyz" go along."""

    body: str
    target: Transform | None = None
    at_body: Vector3 = (0.0, 0.0, 0.0)
    axes: str = "XYZxyz"


@dataclass(frozen=True, eq=False)
class CenterOfMass(Task):
    """The centre of mass of the tree above a place in the world [m]; axes: "xy" leaves its height free."""

    target: Vector3 | None = None
    axes: str = "xy"
    gain: float = field(default=STANDING_GAIN, kw_only=True)


@dataclass(frozen=True, eq=False)
class Gaze(Task):
    """A direction of a body (from at_body [m], along `axis`, body axes) towards a place in the world [m]."""

    body: str
    target: Vector3 | None = None
    at_body: Vector3 = (0.0, 0.0, 0.0)
    axis: Vector3 = (1.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Posture(Task):
    """Joints towards those of q (nq,), of the model or of the tree; joints: names, None: all that may move.

    Of all joints, as the last task, it is the cheapest; of some, or with others below it, each velocity is a row.
    """

    target: ArrayLike | None = None
    joints: Sequence[str] | None = None
    gain: float = field(default=2.0, kw_only=True)


class Feet:
    """Bodies that stay as they are: a Pose each, of one priority; `poses`, to move one of them."""

    def __init__(self, *bodies: str, gain: float = STANDING_GAIN, speed_m_s: float = 1.0) -> None:
        self.poses = tuple(Pose(body, gain=gain, speed_m_s=speed_m_s) for body in bodies)


class Tasks:
    """Prioritised tasks of one tree of a model.

    model   that q is of; the tree is that of the tasks' bodies, or of `root`, a body of it
    q       (nq,) what targets that are not given are taken from, default: neutral
    joints  names of those that may move, None: all of the tree
    speed_limit     of every joint without a limit of its own [rad/s, m/s]; what a task asks beyond it is done slower
    singular_speed  [rad/s] of joints in what they hardly reach (priorities.py): less is calmer, more is quicker there
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Any],
        q: ArrayLike | None = None,
        *,
        root: str | None = None,
        joints: Sequence[str] | None = None,
        speed_limit: float = SPEED_LIMIT,
        singular_speed: float = SINGULAR_SPEED,
    ) -> None:
        for name, value in (("speed_limit", speed_limit), ("singular_speed", singular_speed)):
            if not 0.0 < value < np.inf:
                raise ValueError(f"{name} must be positive and finite, got {value!r}")
        self.model, self.levels = model, [_level(each) for each in tasks]
        self.tasks = tuple(task for level in self.levels for task in level)
        if not self.tasks:
            raise ValueError("at least one task is needed")
        if len({id(task) for task in self.tasks}) < len(self.tasks):
            raise ValueError("a task stands in the list twice")
        bodies = [task.body for task in self.tasks if isinstance(task, (Point, Pose, Gaze))]
        self.tree = tree_of(model, root or next(iter(bodies), None))
        for body in bodies:
            if body not in self.tree.model.body_names[1:]:
                model.body(body)  # complains of one that is not there at all
                raise ValueError(f"{body!r} is no body of the tree of {self.tree.model.body_names[1]!r}")
        self.table = self._table(joints, float(speed_limit))
        self.table.singular_speed = float(singular_speed)
        self._block = Block(self.tree.model.arrays, workspace(self.tree.model), self.table)
        self._start(model.neutral() if q is None else np.array(q, dtype=np.float64))

    @property
    def address(self) -> int:
        """For a part of a tick (task_kernels.py); whoever keeps it keeps this object too."""
        return self._block.address

    def row(self, task: Task) -> int:
        """Of a task in the table's arrays."""
        for k, each in enumerate(self.tasks):
            if each is task:
                return k
        raise ValueError(f"{task!r} is not in this list")

    def aim(self, task: Task, target: Any, velocity: ArrayLike | None = None) -> None:
        """Another target, of the kind that the task takes; velocity (3,) or (6,), of the target: (angular, linear)."""
        k, t = self.row(task), self.table
        if isinstance(task, Posture):
            q, tree = np.asarray(target, dtype=np.float64), self.tree
            q = q[tree.q] if q.shape == (self.model.nq,) else q
            if q.shape != (tree.model.nq,) or not np.isfinite(q).all():
                raise ValueError(f"a posture has {self.model.nq} finite numbers, or the tree's {tree.model.nq}")
            for name in tree.model.joint_names if task.joints is None else task.joints:
                t.q_posture[tree.model.q_index[name]] = q[tree.model.q_index[name]]
        elif isinstance(task, Pose):
            X = target if isinstance(target, Transform) else Transform.from_matrix(target)
            t.target[k] = (*X.p, *X.R.wxyz)
        else:
            t.target[k, :3] = vector3(target, "target")
        rate = np.zeros(6) if velocity is None else np.asarray(velocity, dtype=np.float64)
        if rate.shape not in ((3,), (6,)) or not np.isfinite(rate).all():
            raise ValueError(f"velocity has 3 or 6 finite numbers, got shape {rate.shape}")
        t.rate[k] = (0.0, 0.0, 0.0, *rate) if rate.shape == (3,) else rate

    def step(self, q: ArrayLike, dt: float, steps: int = 1) -> Floats1:
        """q (nq,) of the model, `steps` of dt [s] further: only the tree's coordinates change."""
        if not 0.0 < dt < np.inf or steps < 1:
            raise ValueError(f"dt must be positive and finite, and steps at least 1, got {dt} and {steps}")
        q = self._coordinates(q)
        self._check(step_tasks_entry(self.address, q, float(dt), int(steps)), q)
        return q

    def error(self, task: Task, q: ArrayLike) -> tuple[float, float]:
        """What is missing at q: (turn [rad], way [m]); of a Posture the length of what joints are away by, and 0."""
        q, k = self._coordinates(q), self.row(task)
        self._check(look_at_tasks_entry(self.address, q), q)
        turn, way = self.table.error[k].tolist()
        return turn, way

    @property
    def velocity(self) -> Floats:
        """(nv,) of the last step, of the model."""
        v = np.zeros(self.model.nv)
        v[self.tree.v] = self.table.v_tree
        return v

    def _coordinates(self, q: ArrayLike) -> Floats1:
        q = np.array(q, dtype=np.float64)
        if q.shape != (self.model.nq,):
            raise ValueError(f"q has shape {q.shape}, the model needs ({self.model.nq},)")
        return q

    def _check(self, code: int, q: Floats1) -> None:
        if code != FINE:
            n = self.tree.q.start + code
            raise ValueError(f"q[{n}] = {q[n]} is not finite, or begins a quaternion that is not of unit length")

    # ---- set up

    def _table(self, joints: Sequence[str] | None, speed_limit: float) -> TaskTable:
        tree, m, n_tasks = self.tree.model, self.tree.model.arrays, len(self.tasks)
        names = tree.joint_names if joints is None else tuple(joints)
        for name in names:
            if name not in tree.v_index:
                raise ValueError(f"there is no joint {name!r} in this tree; known: {', '.join(tree.joint_names)}")
        v_of = np.array(sorted(j for name in names for j in range(tree.nv)[tree.v_index[name]]), dtype=np.int64)
        n, column = len(v_of), np.full(tree.nv, -1)
        column[v_of] = np.arange(n)
        q_of, fastest = np.full(n, -1), np.full(n, np.inf)
        for i in range(1, tree.n_links):
            own = slice(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i])
            for k in range(len(m.axis_v))[own]:
                c = column[m.axis_v[k]]
                if c >= 0 and m.kind[i] == CHAIN:
                    q_of[c] = m.axis_q[k]
        rooted = _root_joint(tree)
        for name in names:
            cs = column[tree.v_index[name]]
            allowed = tree.velocity_limit[tree.v_index[name]]
            fastest[cs] = np.inf if name == rooted else np.where(np.isfinite(allowed), allowed, speed_limit)
        ends = np.array([tree.lower, tree.upper])
        lower, upper = (np.where(q_of >= 0, each[q_of], end) for each, end in zip(ends, (-np.inf, np.inf), strict=True))
        last = self.tasks[-1]
        full = isinstance(last, Posture) and last.joints is None and len(self.levels[-1]) == 1
        rows = [self._rows(task, column, full and task is last) for task in self.tasks]
        columns = [c for _, _, _, own in rows for c in own]
        count = np.array([n for _, n, _, _ in rows], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(count)])
        sizes = [sum(rows[self.row(task)][1] for task in level) for level in self.levels]
        levels = sizes[:-1] if full else sizes
        total, most = max(1, int(first[-1])), max([1, *levels])
        zeros = np.zeros
        table = TaskTable(
            dt=1e-3, q_begin=self.tree.q.start, v_begin=self.tree.v.start, has_posture=int(full),
            q=tree.neutral(), q_next=zeros(tree.nq), v_tree=zeros(tree.nv),
            kind=np.array([kind for _, _, kind, _ in rows], dtype=np.int64), count=count,
            body=np.array([self._body(task) for task in self.tasks], dtype=np.int64),
            first=np.ascontiguousarray(first[:-1]),
            row_of=np.array([at for at, _, _, _ in rows], dtype=np.int64).ravel(),
            at_body=np.array([getattr(task, "at_body", (0.0, 0.0, 0.0)) for task in self.tasks], dtype=np.float64),
            axis=np.array([_unit(getattr(task, "axis", (1.0, 0.0, 0.0))) for task in self.tasks]),
            target=np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (n_tasks, 1)), rate=zeros((n_tasks, 6)),
            gain=np.array([task.gain for task in self.tasks], dtype=np.float64),
            speed=np.array([task.speed_m_s for task in self.tasks], dtype=np.float64),
            turn_speed=np.array([task.turn_rad_s for task in self.tasks], dtype=np.float64),
            error=zeros((n_tasks, 2)), q_posture=tree.neutral(),
            posture_column=np.array(columns or [0], dtype=np.int64),
            gain_posture=np.full(n, last.gain if full else 0.0),
            away=zeros(tree.nv), level_begin=np.concatenate([[0], np.cumsum(levels)]).astype(np.int64),
            column=column, v_of=v_of, q_of=q_of, lower=lower, upper=upper, fastest=fastest, J=zeros((total, n)),
            e=zeros(total), e_posture=zeros(n), v=zeros(n), dv=zeros(n), free=np.ones(n), low=zeros(n),
            high=zeros(n), A=zeros((most, n)), basis=zeros((n + most + 1, n)), R=zeros((most, most)),
            W=zeros((most, most)), rest=zeros(most), y=zeros(most),
            size=zeros(most), square=zeros(most), pivot=zeros(most, dtype=np.int64), mass=zeros(tree.n_links),
            moment=zeros((tree.n_links, 3)),
        )  # fmt: skip
        return table

    def _rows(self, task: Task, column: np.ndarray, last: bool) -> tuple[list[int], int, int, list[int]]:
        """(row of each axis, how many rows, kind, columns of a posture's rows) of a task."""
        none = [-1] * 6
        if isinstance(task, Posture):
            tree = self.tree.model
            names = tree.joint_names if task.joints is None else task.joints
            for name in names:
                if name not in tree.v_index:
                    raise ValueError(f"there is no joint {name!r} in this tree; known: {', '.join(tree.joint_names)}")
            own = [] if last else [int(c) for name in names for c in column[tree.v_index[name]] if c >= 0]
            return none, len(own), POSTURE, own
        if isinstance(task, Gaze):
            return none, 2, GAZE, [0, 0]
        places = [task.axes.find(axis) for axis in "XYZxyz"]  # type: ignore[attr-defined]
        kind = CENTER if isinstance(task, CenterOfMass) else POSE
        return places, len(task.axes), kind, [0] * len(task.axes)  # type: ignore[attr-defined]

    def _body(self, task: Task) -> int:
        return self.tree.model.body(task.body) if isinstance(task, (Point, Pose, Gaze)) else 0

    def _start(self, q: Floats1) -> None:
        """Targets as given, or where things are."""
        q = self._coordinates(q)
        tree, own = self.tree.model, q[self.tree.q]
        self.table.q[:], self.table.q_posture[:] = own, own
        poses = forward_kinematics(tree, own)
        for task in reversed(self.tasks):  # of two postures of a joint the higher counts
            target: Any = task.target  # type: ignore[attr-defined]
            if target is None:
                if isinstance(task, Posture):
                    target = own
                elif isinstance(task, CenterOfMass):
                    target = center_of_mass(tree, own)
                else:
                    X = poses[tree.body(task.body)]  # type: ignore[attr-defined]
                    at = X[:3, :3] @ np.asarray(task.at_body) + X[:3, 3]  # type: ignore[attr-defined]
                    if isinstance(task, Gaze):  # straight ahead
                        at = at + X[:3, :3] @ _unit(task.axis)
                    target = Transform.from_matrix(np.vstack([np.c_[X[:3, :3], at], X[3]]))
                    target = target if isinstance(task, Pose) else tuple(at)
            self.aim(task, target)


def _level(given: Any) -> tuple[Task, ...]:
    """Of one priority."""
    parts = given.poses if isinstance(given, Feet) else given if isinstance(given, (tuple, list)) else (given,)
    found = tuple(task for part in parts for task in (part.poses if isinstance(part, Feet) else (part,)))
    for task in found:
        if not isinstance(task, Task):
            raise TypeError(f"{task!r} is no task: see pp.tasks")
    return found


def _root_joint(tree: Model) -> str | None:
    """Of a tree that floats: what its feet do limits it, not a speed of its own."""
    joint = tree.parent_joint(1)
    return joint.name if joint is not None and joint.kind == "free" else None


def _unit(direction: Vector3) -> np.ndarray:
    x = np.asarray(direction, dtype=np.float64)
    length = float(np.linalg.norm(x))
    if x.shape != (3,) or not 0.0 < length < np.inf:
        raise ValueError(f"an axis is a vector (3,) that is not zero, got {direction!r}")
    return x / length
