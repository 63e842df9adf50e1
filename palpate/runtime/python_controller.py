"""A controller written in Python, for the joints of a World: beside the tick, through mailboxes (servo/beside.py).

    class Lift:
        rate_hz = 100.0                                   how often it is asked
        latency_s = 0.002                                 in simulated time: from what it is told to what it does

        def control(self, time_s, q, v):                  (nq,), (nv,)
            return tau                                    (nv,) [N m or N], until the next

h Head, e Exchange, c Controlled
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from palpate.frame import Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Floats1
from palpate.runtime.engine import Engine
from palpate.servo.beside import Beside, Exchange, ask, forget, take_answer
from palpate.servo.head import Head
from palpate.servo.parts import Part
from palpate.servo.simulation import Event


class PythonController(Protocol):
    """What a user writes; `reset()` is called after the world went back to its start, if there is one."""

    rate_hz: float
    latency_s: float

    def control(self, time_s: float, q: np.ndarray, v: np.ndarray) -> Any:
        """Joint forces (nv,) [N m or N]."""


class Controlled(Struct):
    """Of the World, and where its own field lies in a frame."""

    every: int
    age_at: int
    q: Floats1
    v: Floats1
    tau: Floats1
    tau_rest: Floats1  # (nv,) while there is no answer yet


load = block_loader((Head, False), (Exchange, False), (Controlled, False))


@routine
def tick_controlled(address):
    """Ask now and then; the newest answer is what the joints get."""
    h, e, c = load(address)
    nq, nv = c.q.shape[0], c.v.shape[0]
    if take_answer(e):
        for j in range(nv):
            c.tau[j] = e.answer_f[2 + j]
    if h.moving and h.tick % c.every == 0:
        e.request_f[2] = h.time
        for i in range(nq):
            e.request_f[3 + i] = c.q[i]
        for j in range(nv):
            e.request_f[3 + nq + j] = c.v[j]
        ask(e, h.tick)
    return 0


@routine
def reset_controlled(address):
    _, e, c = load(address)
    forget(e)
    for j in range(c.tau.shape[0]):
        c.tau[j] = c.tau_rest[j]
    return 0


@routine
def publish_controlled(address):
    h, e, c = load(address)
    age = h.dt * (h.tick - e.answered_tick) if e.answered_tick >= 0 else 0.0
    h.frames_f[h.frame_at + c.age_at] = age
    return 0


class Python:
    """A PythonController as the Controller that an Engine takes."""

    fields = (Field("control_age_s", "f", (), "how old what the controller was told is, 0: it has not answered yet [s]"),)
    takes: tuple[Event, ...] = ()

    def __init__(self, controller: PythonController) -> None:
        self.controller = controller
        self._epoch = 0

    def part(self, engine: Engine) -> Part:
        state, nq, rate_hz = engine.world.arrays.state, engine.model.nq, engine.rate_hz
        every, latency = (
            max(1, round(ticks)) for ticks in (rate_hz / self.controller.rate_hz, self.controller.latency_s * rate_hz)
        )

        def work(told: np.ndarray) -> np.ndarray:
            epoch = beside.exchange.epoch
            if epoch != self._epoch and hasattr(self.controller, "reset"):
                self.controller.reset()
            self._epoch = epoch
            return np.asarray(self.controller.control(float(told[0]), told[1 : 1 + nq], told[1 + nq :]))

        beside = Beside(work, 1 + nq + engine.model.nv, engine.model.nv, every, latency, rate_hz)
        engine.beside.append(beside)
        own = Controlled(
            every=every, age_at=engine.layout.offset["control_age_s"], q=state.q, v=state.v, tau=state.tau,
            tau_rest=state.tau.copy(),
        )  # fmt: skip
        self._block = Block(engine.head, beside.exchange, own)
        return Part(tick_controlled, self._block, reset=reset_controlled, publish=publish_controlled)
