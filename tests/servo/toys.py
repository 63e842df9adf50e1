"""Simulations that are no World: the example's ball, and a counter that says what it was asked to do."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import palpate as pp
from palpate.frame import EVENT_AT, Field, places
from palpate.jit import Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Ints1
from palpate.servo.head import Head, advance, begin_frame, end_frame
from palpate.servo.parts import COLUMNS, PUBLISH, RESET, TAKE, Part, call_parts, part_table, tick_parts

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_simulation.py"


def example() -> Any:
    """The module examples/own_simulation.py."""
    spec = importlib.util.spec_from_file_location("own_simulation", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIELDS = (Field("ticks", "i", (), "that it did"), Field("still", "i", (), "calls that did not move"))
At = places("At", FIELDS)


class Counts(Struct):
    ticks: int
    still: int
    resets: int
    refuses: int  # events that are not to be taken now
    stops_at: int  # tick at which it stops, 0: never
    taken: Ints1  # (n,) kinds of events, in their order
    n_taken: int
    parts: Ints1


load = block_loader((Head, False), (At, False), (Counts, False))


@routine
def tick_counts(address):
    h, at, c = load(address)
    tick_parts(c.parts, h.tick)
    c.still += not h.moving
    if h.moving or h.showing:
        frame = begin_frame(h)
        h.frames[frame + at.ticks], h.frames[frame + at.still] = c.ticks, c.still
        call_parts(c.parts, PUBLISH)
        end_frame(h)
    if h.moving:
        if c.stops_at and h.tick >= c.stops_at:
            return -1
        c.ticks += 1
        advance(h)
    return 0


@routine
def reset_counts(address):
    c = load(address)[2]
    c.resets += 1
    c.ticks = 0
    call_parts(c.parts, RESET)
    return 0


@routine
def take_counts(address):
    h, _, c = load(address)
    if c.refuses > 0:
        c.refuses -= 1
        return -1
    c.taken[c.n_taken] = h.event[EVENT_AT.kind]
    c.n_taken += 1
    return int(call_parts(c.parts, TAKE))


class Counter(pp.Simulation):
    name, title = "counter", "Counts"
    at = At
    tick, reset, take = tick_counts, reset_counts, take_counts

    def __init__(self, parts: list[Part] | None = None, rate_hz: float = 1000.0, more: tuple[Field, ...] = ()) -> None:
        self.fields = FIELDS + more
        parts = parts or []
        self.counts = Counts(taken=np.zeros(64, dtype=np.int64), parts=np.zeros(COLUMNS * len(parts), dtype=np.int64))
        super().__init__(self.counts, rate_hz=rate_hz)
        self.counts.parts[:] = part_table(parts)

    def why_stopped(self) -> str:
        return "it was to stop"
