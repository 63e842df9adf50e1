"""A ControlPart (control/part.py) as a part of a World's tick: called while the world moves; what frames show of it is
copied word by word, what is set becomes a number of its Structs.

h Head, k Kept: which routine, and the tables of what is copied and set
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.control.part import ControlPart, Setting, Shown, Touches
from palpate.conventions import WORLD
from palpate.frame import EVENT_AT, Field
from palpate.haptics.devices.want import NOTHING
from palpate.haptics.reach_tables import load_head
from palpate.jit import Block, Struct, block_loader, kernel
from palpate.jit.routines import call_routine, routine
from palpate.model.model import Floats1, Ints1
from palpate.servo.head import Head
from palpate.servo.parts import Part
from palpate.servo.simulation import Event
from palpate.spatial.vectors import put3

if TYPE_CHECKING:
    from palpate.runtime.world.simulation import WorldSimulation


class Kept(Struct):
    """Addresses: of the part's routines and Block, and of a Block for each field and each setting."""

    tick: int
    reset: int
    block: int
    touches: int  # of a Block of Touches, 0: it does not want to know, and
    devices: Ints1  # of hands and devices (TickState.devices)
    copies: Ints1
    kinds: Ints1  # (n,) events, and
    settings: Ints1  # (n,) what each of them sets


class Copied(Struct):
    words: Ints1  # as they are in memory
    target: int  # where they go in a frame


class Settable(Struct):
    low: float
    high: float
    whole: int
    number: Floats1  # (1,)


load = block_loader((Head, False), (Kept, False))
load_touches = block_loader((Touches, False))
load_copied = block_loader((Copied, False))
load_settable = block_loader((Settable, False))


@kernel
def tell_touches(k):
    """What hands and devices do in this tick."""
    t = load_touches(k.touches)[0]
    for n in range(min(k.devices.shape[0], t.body.shape[0])):
        a = load_head(k.devices[n])[0]
        t.body[n] = (a.held if a.held != WORLD else a.touched) if a.does != NOTHING else WORLD
        put3(t.point, n, a.point)
        put3(t.force, n, a.bodies_force)


@routine
def tick_kept(address):
    h, k = load(address)
    if not h.moving:
        return 0
    if k.touches != 0:
        tell_touches(k)
    return call_routine(k.tick, k.block)


@routine
def reset_kept(address):
    _, k = load(address)
    return call_routine(k.reset, k.block) if k.reset != 0 else 0


@routine
def take_kept(address):
    """1 if the event is one of its settings; a value out of bounds changes nothing."""
    h, k = load(address)
    for i in range(k.kinds.shape[0]):
        if h.event[EVENT_AT.kind] == k.kinds[i]:
            s, value = load_settable(k.settings[i])[0], h.event_f[EVENT_AT.value]
            if s.low <= value <= s.high:  # not a NaN either
                s.number[0] = float(int(value)) if s.whole else value
            return 1
    return 0


@routine
def publish_kept(address):
    h, k = load(address)
    for i in range(k.copies.shape[0]):
        c = load_copied(k.copies[i])[0]
        for n in range(c.words.shape[0]):
            h.frames[h.frame_at + c.target + n] = c.words[n]
    return 0


class InTick:
    """The Controller that a ControlPart is."""

    def __init__(self, control: ControlPart) -> None:
        self.control = control
        # what is set by a slider is also shown
        self.shows = (*control.shows, *(Shown(Field(s.event, "f", (), s.about or s.label), s.struct, s.name)
                                        for s in control.settings if s.label and not s.field))  # fmt: skip
        self.fields: tuple[Field, ...] = tuple(shown.field for shown in self.shows)
        self.takes = tuple(Event(s.event, s.low, s.high, whole=s.whole) for s in control.settings)
        self._kept: list[Block] = []

    def part(self, engine: WorldSimulation) -> Part:
        control = self.control
        if control.world not in (0, engine.world.arrays.block.address):
            raise ValueError(f"{control.name!r} was made before bodies were added to the world: make it again")
        copies = [self._keep(Copied(words=words_of(shown), target=engine.layout.offset[shown.field.name]))
                  for shown in self.shows]  # fmt: skip
        kept = Kept(
            tick=control.tick.address, reset=control.reset.address if control.reset else 0,
            block=control.block.address, touches=self._keep(control.touches) if control.touches else 0,
            devices=engine.arrays.devices, copies=np.array(copies, dtype=np.int64),
            kinds=np.array([engine.kind_of(s.event) for s in control.settings], dtype=np.int64),
            settings=np.array([self._keep(settable(s)) for s in control.settings], dtype=np.int64),
        )  # fmt: skip
        self._block = Block(engine.head, kept)
        return Part(
            tick_kept, self._block, control.every, control.phase, take=take_kept, reset=reset_kept, publish=publish_kept
        )

    def hello(self) -> dict[str, Any]:
        """What the part tells a page, and its sliders."""
        sliders = [
            {"event": s.event, "label": s.label, "unit": s.unit, "low": s.low, "high": s.high, "about": s.about,
             "value": float(s.struct.array(s.name)), "field": s.field or s.event}
            | ({"step": s.step} if s.step else {})
            | ({"switch": True} if s.whole and (s.low, s.high) == (0.0, 1.0) else {})
            for s in self.control.settings if s.label
        ]  # fmt: skip
        return {"settings": sliders} | self.control.hello() if sliders else self.control.hello()

    def _keep(self, struct: Struct) -> int:
        self._kept.append(Block(struct))
        return self._kept[-1].address


def words_of(shown: Shown) -> Ints1:
    """The memory of a number, a vector or an array, as words."""
    array = shown.struct.array(shown.name)
    return array.reshape(-1).view(np.int64)


def settable(s: Setting) -> Settable:
    return Settable(low=s.low, high=s.high, whole=s.whole, number=s.struct.array(s.name).reshape(1))
