"""A push and what comes of it: one avatar, its controllers and one force, stepped in one compiled loop.

What experiments and tests bisect over: a trial of 3 s takes a tenth of a second.  The tick of a session does the same
with hands, devices and frames around it.

    J_b = m w d            bound of an impulse at the height of the centre of mass without a step, d to the edge
    F_b = m g d / h        of a force that lasts, at height h                                          (avatars.md 1)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from palpate.control.avatar import Actor, Avatar
from palpate.dynamics.jacobian import body_frame, point_motion
from palpate.jit import Block, Struct, Vector, block_loader, entry, kernel
from palpate.jit.routines import call_routine
from palpate.model.model import Floats2, Ints1
from palpate.spatial.placement import Vector3, vector3
from palpate.spatial.vectors import cross, scale, sub
from palpate.world.state import load as load_world
from palpate.world.step import begin_step, end_step

LOW, LEANING = 0.7, math.cos(math.radians(75.0))  # fallen: below this part of its height, or the chest leans so much
FINE, FELL, STOPPED = range(3)
CHEST_M = (0.0, 0.0, 0.15)  # where the chest is pushed, above its origin
PUSH_S, BEGIN_S = 0.1, 0.05
# columns of a log
CAPTURE, COM, RIGHT_SOLE, LEFT_SOLE, LOADS, UPRIGHT = (slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12),
                                                       slice(12, 14), 14)  # fmt: skip
COLUMNS = 15


class Trial(Struct):
    """A force on a body at a point of it, from tick `begin` on, rising over `rise` ticks, until tick `end`."""

    parts: Ints1  # (2 n,) routine and block of each controller
    body: int
    at_body: Vector
    at_com: int  # the force passes through the centre of mass instead
    force: Vector  # world [N]
    begin: int
    rise: int
    end: int
    rows: int  # of the log, one a tick
    log: Floats2  # (ticks, COLUMNS)


load_trial = block_loader((Avatar, False), (Trial, False))


@kernel
def push_now(m, w, s, a, t, tick):
    """The force of this tick, as a hand's wrench on the body."""
    if not t.begin <= tick < t.end:
        return
    part = min(1.0, (tick - t.begin + 1.0) / t.rise) if t.rise > 0 else 1.0
    f = scale(part, t.force)
    lever, _, point, _, _ = point_motion(m, w, t.body, t.at_body)
    if t.at_com:
        lever = sub(a.com, sub(point, lever))
    n = cross(lever, f)
    for r in range(3):
        s.wrenches[t.body, r] += n[r]
        s.wrenches[t.body, 3 + r] += f[r]
    s.n_wrenches = s.wrenches.shape[0]


@kernel
def note(a, t, upright):
    """A row of the log."""
    if t.rows == t.log.shape[0]:
        return
    for r in range(3):
        t.log[t.rows, r], t.log[t.rows, 3 + r] = a.capture[r], a.com[r]
        for side in range(2):
            k = 4 * side
            middle = 0.25 * (a.sole[k, r] + a.sole[k + 1, r] + a.sole[k + 2, r] + a.sole[k + 3, r])
            t.log[t.rows, 6 + 3 * side + r] = middle
    for side in range(2):
        t.log[t.rows, 12 + side] = a.foot_load[side]
    t.log[t.rows, 14] = upright
    t.rows += 1


@entry("intp, int64")
def run_trial(address, ticks):
    """FINE, FELL or STOPPED after so many ticks, or at the fall."""
    a, t = load_trial(address)
    m, w, _, _, _, s = load_world(a.world)
    for tick in range(ticks):
        begin_step(a.world)
        push_now(m, w, s, a, t, tick)
        for k in range(0, t.parts.shape[0], 2):
            call_routine(t.parts[k], t.parts[k + 1])
        R, _ = body_frame(m, w, a.chest)
        note(a, t, R[8])
        if not end_step(a.world):
            return STOPPED
        if a.com[2] - a.floor_m < LOW * a.height_m or R[8] < LEANING:
            return FELL
    return FINE


@entry("intp")
def begin_entry(address):
    begin_step(address)


class PushTrial:
    """Trials of one actor, each from where its world was when this was made."""

    def __init__(self, actor: Actor, seconds: float = 6.0) -> None:
        self.actor, self.world = actor, actor.world
        rows = [x for part in actor.parts for x in (part.tick.address, part.block.address)]
        log = np.zeros((round(seconds / self.world.dt), COLUMNS))
        self.trial = Trial(parts=np.array(rows, dtype=np.int64), body=actor.avatar.chest, log=log)
        self._block = Block(actor.avatar, self.trial)
        self._start = self.world.snapshot()
        self.reset()
        a = actor.avatar
        self.com, self.sole = np.array(a.com), a.sole.copy()

    def reset(self) -> None:
        """Everything back to the start."""
        self.world.restore(self._start)
        begin_entry(self.actor.avatar.world)
        for part in self.actor.parts:
            if part.reset is not None:
                part.reset(part.block.address)

    def run(
        self, force: Vector3, seconds: float = 2.5, *, push_s: float = PUSH_S, rise_s: float = 0.0,
        body: int | None = None, at_body: Vector3 = CHEST_M, at_com: bool = False, start: bool = True,
    ) -> int:  # fmt: skip
        """FINE, FELL or STOPPED: a force [N] on a body (the chest), after BEGIN_S; start: from the beginning."""
        t, dt = self.trial, self.world.dt
        if start:
            self.reset()
        t.force, t.at_body, t.at_com = vector3(force, "force"), vector3(at_body, "at_body"), int(at_com)
        t.begin, t.end, t.rise = round(BEGIN_S / dt), round((BEGIN_S + push_s) / dt), round(rise_s / dt)
        t.body, t.rows = self.actor.avatar.chest if body is None else body, 0
        return int(run_trial(self._block.address, round(seconds / dt)))

    @property
    def log(self) -> np.ndarray:
        """(ticks, COLUMNS) of the last trial."""
        return self.trial.log[: self.trial.rows].copy()

    # ---- the bound

    def edge_m(self, degrees: float) -> float:
        """d: from the ground point of the centre of mass to the edge of the soles in a direction."""
        u = np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
        flat = self.sole[:, :2] - self.com[:2]
        best = math.inf
        for i in range(8):
            for j in range(8):
                a, b = flat[i], flat[j]
                n = np.array([b[1] - a[1], a[0] - b[0]])
                if i != j and ((flat - a) @ n <= 1e-12).all() and n @ u > 1e-12:  # an edge of the hull, ahead
                    best = min(best, float(n @ a / (n @ u)))
        return best

    def impulse_bound_Ns(self, degrees: float) -> float:
        a = self.actor.avatar
        return a.mass * a.w * self.edge_m(degrees)

    def push(self, degrees: float, share: float, **how: Any) -> int:
        """A push of PUSH_S along a direction with this share of the bound."""
        force = share * self.impulse_bound_Ns(degrees) / PUSH_S
        return self.run((force * math.cos(math.radians(degrees)), force * math.sin(math.radians(degrees)), 0.0), **how)

    def survived(self, degrees: float, low: float = 0.3, high: float = 2.4, within: float = 0.02, **how: Any) -> float:
        """The largest share that it withstands, by bisection."""
        while high - low > within:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.push(degrees, middle, **how) == FINE else (low, middle)
        return low

    def held_N(self, degrees: float, step_N: float = 15.0, most_N: float = 180.0) -> float:
        """The largest force at the right hand that it withstands for 2.5 s, risen in 0.3 s."""
        a = self.actor.avatar
        force, u = 0.0, np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), 0.0])
        while force + step_N <= most_N:
            pulled = (force + step_N) * u
            how: dict[str, Any] = {"body": int(a.hand[0]), "at_body": tuple(a.palm_at[0]), "rise_s": 0.3, "push_s": 2.8}
            if self.run((pulled[0], pulled[1], 0.0), 3.1, **how) != FINE:
                break
            force += step_N
        return force
