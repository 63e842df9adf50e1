"""Controllers of a World's joints.  One that is compiled is a part of the tick (servo/parts.py); one written in Python
runs beside it, through mailboxes (servo/beside.py):

    class Lift:
        rate_hz = 100.0                                   how often it is asked
        latency_s = 0.002                                 in simulated time: from what it is told to what it does

        def control(self, time_s, q, v):                  (nq,), (nv,)
            return tau                                    (nv,) [N m or N], until the next

Either may have `hello() -> dict`: what a page shows and sets of it (runtime/hello.py) beside what it does of the World.
A compiled one may have `shown`: bodies as of a hello, each with its `start` (a row of `pose`), which are not the
World's; it finds its own in WorldSimulation.shown, whose rows of `pose` come after the World's, and writes them.  With
`close` it is told when the simulation ends.

h Head, e Exchange, c Controlled
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from palpate.control.part import ControlPart
from palpate.control.prioritised.tasks import Tasks
from palpate.frame import Field
from palpate.jit import Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Floats1
from palpate.runtime.world.in_tick import InTick
from palpate.runtime.world.tasks import TaskControl
from palpate.scenes.scene import Scene
from palpate.servo.beside import Beside, Exchange, ask, forget, take_answer
from palpate.servo.head import Head
from palpate.servo.parts import Part
from palpate.servo.simulation import Event

if TYPE_CHECKING:
    from palpate.runtime.world.simulation import WorldSimulation


@runtime_checkable
class Controller(Protocol):
    """What is compiled: its own fields in every frame, its own events, and a part that is made when the layout of
    frames is known."""

    fields: tuple[Field, ...]
    takes: tuple[Event, ...]

    def part(self, engine: WorldSimulation) -> Part: ...


@runtime_checkable
class PythonController(Protocol):
    """What is written in Python: `rate_hz` and `latency_s` are USUAL unless it has its own, and
    `reset()`, if it has one, is called after the world went back to its start."""

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


USUAL = {"rate_hz": 100.0, "latency_s": 0.002}

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


class BesideTick:
    """A PythonController as the Controller that an WorldSimulation takes."""

    fields: tuple[Field, ...] = (
        Field("control_age_s", "f", (), "age of what the controller knew, 0: it has not answered yet [s]"),
    )
    takes: tuple[Event, ...] = ()

    def __init__(self, controller: PythonController) -> None:
        self.controller = controller
        self._epoch: int | None = None

    def hello(self) -> dict[str, Any]:
        """Of the one that is asked."""
        told = getattr(self.controller, "hello", None)
        return dict(told()) if callable(told) else {}

    def part(self, engine: WorldSimulation) -> Part:
        state, nq, rate_hz = engine.world.arrays.state, engine.model.nq, engine.rate_hz
        asked_hz, latency_s = (getattr(self.controller, name, usual) for name, usual in USUAL.items())
        every, latency = max(1, round(rate_hz / asked_hz)), max(1, round(latency_s * rate_hz))

        def work(told: np.ndarray) -> np.ndarray:
            epoch = beside.exchange.epoch
            if self._epoch not in (None, epoch) and hasattr(self.controller, "reset"):
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


def controllers_of(scene: Scene) -> list[Controller]:
    """Of a scene; what is a function of the World makes some for the bodies that it has now."""
    made = (ControlPart, Tasks, Controller, PythonController)
    found: list[Any] = []
    for each in scene.controllers:
        found += each(scene.world) if callable(each) and not isinstance(each, made) else [each]
    return [as_controller(each) for each in found]


def as_controller(given: Any) -> Controller:
    """What a Scene lists, compiled or written in Python, as an WorldSimulation takes it."""
    if isinstance(given, ControlPart):
        return InTick(given)
    if isinstance(given, Tasks):
        return TaskControl(given)
    if isinstance(given, Controller):
        return given
    if isinstance(given, PythonController):
        return BesideTick(given)
    raise TypeError(f"a controller has `control(time_s, q, v)`, or fields, takes and part(engine); {given!r} has not")
