"""Prioritised tasks (control/prioritised/tasks.py) as a part of the tick: q_d and its velocity for the joints' springs.

    scene = pp.Scene("reach", "It reaches", world, controllers=(tasks,))
    TaskControl(tasks, every=5)                   in place of `tasks`, to run on a slower divider, or under another name
    control.aim(session, hand, (0.4, -0.2, 1.1))  another target while it runs

h Head, c Tasked, t TaskTable
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.control.prioritised.task_kernels import put_q, put_v, step_tasks, take_q
from palpate.control.prioritised.task_tables import load_tasks
from palpate.control.prioritised.tasks import Pose, Posture, Task, Tasks
from palpate.frame import EVENT_AT, Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Floats1
from palpate.servo.head import Head
from palpate.servo.parts import Part
from palpate.servo.simulation import Event
from palpate.spatial.placement import Transform, vector3

if TYPE_CHECKING:
    from palpate.runtime.world.simulation import WorldSimulation


class Tasked(Struct):
    """Of the World, of the tasks, and where their own field lies in a frame."""

    tasks: int  # address
    every: int
    missing_at: int
    aim_kind: int  # of the event
    q_hold: Floats1  # (nq,)
    v_hold: Floats1  # (nv,)
    q_start: Floats1  # (nq,) q_d to begin with
    target_start: Floats1  # (7 T,) targets to begin with


load = block_loader((Head, False), (Tasked, False))


@routine
def tick_tasked(address):
    """q_d a step further."""
    h, c = load(address)
    if h.moving:
        _, _, t = load_tasks(c.tasks)
        step_tasks(c.tasks, h.dt * c.every)
        put_q(t, c.q_hold)
        put_v(t, c.v_hold)
    return 0


@routine
def take_tasked(address):
    """Another target: its task in event_body, where in placement."""
    h, c = load(address)
    _, _, t = load_tasks(c.tasks)
    k = h.event[EVENT_AT.event_body]
    if h.event[EVENT_AT.kind] != c.aim_kind or not 0 <= k < t.kind.shape[0]:
        return 0
    for r in range(7):
        t.target[k, r] = h.event_f[EVENT_AT.placement + r]
    return 1


@routine
def reset_tasked(address):
    """Back to the start, targets too."""
    _, c = load(address)
    _, _, t = load_tasks(c.tasks)
    take_q(t, c.q_start)
    put_q(t, c.q_hold)
    for j in range(t.v_tree.shape[0]):
        t.v_tree[j] = 0.0
    put_v(t, c.v_hold)
    for k in range(t.target.shape[0]):
        for r in range(7):
            t.target[k, r] = c.target_start[7 * k + r]
    return 0


@routine
def publish_tasked(address):
    """What is missing of each task."""
    h, c = load(address)
    _, _, t = load_tasks(c.tasks)
    for k in range(t.error.shape[0]):
        h.frames_f[h.frame_at + c.missing_at + k] = max(t.error[k, 0], t.error[k, 1])
    return 0


class TaskControl:
    """A Controller: one step of the tasks in every so many ticks; q_d begins where the joints are held."""

    def __init__(self, tasks: Tasks, every: int = 1, name: str = "tasks") -> None:
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        self.tasks, self.every, self.name = tasks, every, name
        about = "what was missing of each task, the larger of turn [rad] and way [m]"
        self.fields: tuple[Field, ...] = (Field(f"{name}_missing", "f", (len(tasks.tasks),), about),)
        self.takes: tuple[Event, ...] = (Event(f"{name}_aim", inside=True),)

    def part(self, engine: WorldSimulation) -> Part:
        state, t = engine.world.arrays.state, self.tasks.table
        if self.tasks.model.nq != engine.model.nq:
            raise ValueError(f"the tasks are of {self.tasks.model.name!r}, not of this world's model")
        t.q[:] = state.q_hold[self.tasks.tree.q]
        own = Tasked(
            tasks=self.tasks.address, every=self.every, missing_at=engine.layout.offset[f"{self.name}_missing"],
            aim_kind=engine.kind_of(f"{self.name}_aim"), q_hold=state.q_hold, v_hold=state.v_hold,
            q_start=state.q_hold.copy(), target_start=t.target.ravel().copy(),
        )  # fmt: skip
        self._block = Block(engine.head, own)
        return Part(tick_tasked, self._block, self.every, take=take_tasked, reset=reset_tasked, publish=publish_tasked)

    def aim(self, session: Any, task: Task, target: Any) -> None:
        """Another target in a running session: a place, or of a Pose a Transform."""
        if isinstance(task, Posture):
            raise ValueError("a Posture keeps its target while a session runs")
        place = np.array([*vector3(target, "target"), 1.0, 0.0, 0.0, 0.0]) if not isinstance(task, Pose) else None
        if place is None:
            X = target if isinstance(target, Transform) else Transform.from_matrix(target)
            place = np.array([*X.p, *X.R.wxyz])
        if not np.isfinite(place).all():
            raise ValueError(f"a target is of finite numbers, got {target!r}")
        session._event(session.simulation.kind_of(f"{self.name}_aim"), event_body=self.tasks.row(task), placement=place)
