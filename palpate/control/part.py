"""ControlPart: a compiled controller as a World's tick takes it, without knowing the tick.

It is a routine with a Block.  What frames show of it and what a page may set are numbers of its Structs, by their
names: no code of its own copies them (runtime/world/in_tick.py does).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from palpate.frame import Field
from palpate.jit import Block, Struct
from palpate.jit.routines import Routine
from palpate.model.model import Floats2, Ints1


class Shown(NamedTuple):
    """A field of every frame: where its words are, a Struct and the name of a number, a vector or an array in it."""

    field: Field
    struct: Struct
    name: str


class Setting(NamedTuple):
    """An event that a page or a program may send: its value becomes a number (a float) of a Struct.

    With a label it is a slider on the page, or a switch if it is 0 or 1;  field: the frame's field that says what it is
    now, by default one of the event's name
    """

    event: str
    low: float
    high: float
    struct: Struct
    name: str
    whole: bool = False
    label: str = ""
    unit: str = ""
    step: float = 0.0
    about: str = ""
    field: str = ""


class Touches(Struct):
    """Hands and devices, one a row, as a part of the tick that wants to know them is told; world axes."""

    body: Ints1  # (n,) that it holds or touches, 0: none
    point: Floats2  # (n, 3) where [m]
    force: Floats2  # (n, 3) on that body [N]


MOST_TOUCHES = 8  # hands and devices beyond it are not told


def no_touches() -> Touches:
    n = MOST_TOUCHES
    return Touches(body=np.zeros(n, dtype=np.int64), point=np.zeros((n, 3)), force=np.zeros((n, 3)))


def nothing() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class ControlPart:
    """
    tick      called in ticks k with k % every == phase, while the world moves, after all hands and before the step
    reset     after the world went back to its start
    world     address of the World's block that it was made for, 0: any
    touches   filled in before `tick`: which hands and devices touch what, and where
    keeps     whatever its addresses point at, so that it lives as long
    remembers what its next tick depends on, by name: arrays, and numbers as `Struct.array` gives them; each copy in a
              Batch has its own.  {}: nothing; None: it does not say, and no Batch takes it
    hello     what a page needs to know of it: merged into the World's hello (docs/extending.md)
    """

    name: str
    tick: Routine
    block: Block
    reset: Routine | None = None
    every: int = 1
    phase: int = 0
    world: int = 0
    shows: tuple[Shown, ...] = ()
    settings: tuple[Setting, ...] = ()
    touches: Touches | None = None
    keeps: Any = None
    hello: Callable[[], dict[str, Any]] = field(default=nothing)
    remembers: Mapping[str, np.ndarray] | None = None
