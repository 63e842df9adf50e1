"""A push and what comes of it: one avatar, its controllers and one force, stepped in one compiled loop.

What experiments and tests bisect over: a trial of 3 s takes a tenth of a second.  The tick of a session does the same
with hands, devices and frames around it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palpate.control.avatar import Actor, Avatar, load_avatar
from palpate.control.part import ControlPart
from palpate.conventions import WORLD
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.jit import Block, Struct, Vector, block_loader, entry, kernel
from palpate.jit.routines import call_routine
from palpate.model.model import Floats2, Ints1
from palpate.spatial.vectors import cross, scale
from palpate.world.state import load as load_world
from palpate.world.step import begin_step, end_step
from palpate.world.world import World

LOW, LEANING = 0.7, 0.2588190451025207  # fallen: below this part of its height, or leaning 75 degrees
FINE, FELL, STOPPED = range(3)


class Trial(Struct):
    """force on body at the point at_body, from tick begin on, rising over `rise` ticks, to tick end."""

    parts: Ints1  # (2 n,) routine and block of each controller
    resets: Ints1  # (2 n,)
    body: int
    at_body: Vector
    at_com: int  # the force passes through the centre of mass instead
    force: Vector
    begin: int
    rise: int
    end: int
    every: int  # ticks between two rows of the log
    rows: int
    log: Floats2  # (rows, 16)


load_trial = block_loader((Avatar, False), (Trial, False))


@kernel
def push_now(m, w, s, a, t, tick):
    if not t.begin <= tick < t.end:
        return
    part = min(1.0, (tick - t.begin + 1.0) / t.rise) if t.rise > 0 else 1.0
    f = scale(part, t.force)
    lever = point_motion(m, w, t.body, t.at_body)[0]
    n = cross(lever, f)
    if t.at_com:
        origin = point_motion(m, w, t.body, (0.0, 0.0, 0.0))[2]
        n = cross((a.com[0] - origin[0], a.com[1] - origin[1], a.com[2] - origin[2]), f)
    for r in range(3):
        s.wrenches[t.body, r] += n[r]
        s.wrenches[t.body, 3 + r] += f[r]
    s.n_wrenches = s.wrenches.shape[0]


@entry("intp, int64")
def run_trial(address, ticks):
    """FINE, FELL or STOPPED after so many ticks or at the fall."""
    a, t = load_trial(address)
    for tick in range(ticks):
        m, w, _, _, _, s = load_world(a.world)
        begin_step(a.world)
        push_now(m, w, s, a, t, tick)
        for k in range(0, t.parts.shape[0], 2):
            call_routine(t.parts[k], t.parts[k + 1])
        if t.every > 0 and tick % t.every == 0 and t.rows < t.log.shape[0]:
            for r in range(3):
                t.log[t.rows, r], t.log[t.rows, 3 + r] = a.capture[r], a.com[r]
            for side in range(2):
                for r in range(3):
                    t.log[t.rows, 6 + 3 * side + r] = 0.25 * (
                        a.sole[4 * side, r]
                        + a.sole[4 * side + 1, r]
                        + a.sole[4 * side + 2, r]
                        + a.sole[4 * side + 3, r]
                    )
                t.log[t.rows, 12 + side] = a.foot_load[side]
            R, _ = body_frame(m, w, a.chest)
            t.log[t.rows, 14] = R[8]
            t.rows += 1
        if not end_step(a.world):
            return STOPPED
        R, _ = body_frame(m, w, a.chest)
        if a.com[2] - a.floor_m < LOW * a.height_m or R[8] < LEANING:
            return FELL
    return FINE


class PushTrial:
    """Trials of one actor, each from the world's state when this was made."""

    def __init__(self, actor: Actor, log_rows: int = 6000) -> None:
        self.actor, self.world = actor, actor.world
        a = actor.avatar
        for part in actor.parts:
            part.tick.warm()
        rows = [x for p in actor.parts for x in (p.tick.address, p.block.address)]
        self.trial = Trial(
            parts=np.array(rows, dtype=np.int64), resets=np.zeros(0, dtype=np.int64), body=a.chest,
            log=np.zeros((log_rows, 16)), every=1,
        )  # fmt: skip
        self.block = Block(a, self.trial)
        self.start = self.world.snapshot()
        self.q_hold = self.world.arrays.state.q_hold.copy()

    def reset(self) -> None:
        self.world.restore(self.start)
        state = self.world.arrays.state
        state.q_hold[:], state.v_hold[:], state.tau[:] = self.q_hold, 0.0, 0.0
        state.wrenches[:] = 0.0
        begin_entry(self.actor.avatar.world)
        for part in self.actor.parts:
            if part.reset is not None:
                part.reset(part.block.address)

    def run(
        self,
        force,
        seconds=3.0,
        push_s=0.1,
        begin_s=0.05,
        rise_s=0.0,
        body=None,
        at_body=(0.0, 0.0, 0.15),
        at_com=False,
    ) -> int:
        t, dt = self.trial, self.world.dt
        self.reset()
        t.force, t.begin, t.end = tuple(float(x) for x in force), round(begin_s / dt), round((begin_s + push_s) / dt)
        t.rise, t.rows, t.at_body, t.at_com = round(rise_s / dt), 0, tuple(map(float, at_body)), int(at_com)
        t.body = self.actor.avatar.chest if body is None else body
        return int(run_trial(self.block.address, round(seconds / dt)))

    @property
    def log(self) -> np.ndarray:
        return self.trial.log[: self.trial.rows].copy()


@entry("intp")
def begin_entry(address):
    begin_step(address)
