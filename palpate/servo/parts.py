"""Parts: what a simulation's tick calls without knowing it, on integer dividers: controllers, trackers, filters.

A part is routines with a Block of their own.  Adding one edits no tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from palpate.jit import Block, kernel
from palpate.jit.routines import Routine, call_routine
from palpate.model.model import Ints1

# columns of a table of parts
TICK, BLOCK, EVERY, PHASE, TAKE, RESET, PUBLISH = range(7)
COLUMNS = 7


class Part(NamedTuple):
    """Called in ticks k with k % every == phase; while nothing moves in every period, so it looks at Head.moving.

    take     an event was sent: 1 if it is this part's (Head.event);  reset: back to the start
    publish  its own fields into the frame that begins at Head.frame_at
    """

    tick: Routine
    block: Block
    every: int = 1
    phase: int = 0
    take: Routine | None = None
    reset: Routine | None = None
    publish: Routine | None = None


def part_table(parts: Sequence[Part]) -> Ints1:
    """(n * COLUMNS,) addresses and dividers; compiles or loads the routines."""
    rows = []
    for part in parts:
        if not 0 <= part.phase < part.every:
            raise ValueError(f"a part is called every n ticks with a phase of 0 .. n - 1, not {part[2:4]}")
        others = [0 if each is None else each.address for each in (part.take, part.reset, part.publish)]
        rows += [part.tick.address, part.block.address, part.every, part.phase, *others]
    return np.array(rows, dtype=np.int64)


@kernel
def tick_parts(parts, tick):
    """Those that are due."""
    for k in range(0, parts.shape[0], COLUMNS):
        if tick % parts[k + EVERY] == parts[k + PHASE]:
            call_routine(parts[k + TICK], parts[k + BLOCK])


@kernel
def call_parts(parts, which):
    """TAKE, RESET or PUBLISH of all that have it; whether one answered with something else than 0."""
    answered = False
    for k in range(0, parts.shape[0], COLUMNS):
        if parts[k + which] != 0:
            answered = call_routine(parts[k + which], parts[k + BLOCK]) != 0 or answered
    return answered
