"""Behaviours and the rows by which one follows another, as they are written; and as numbers for the machine.

    Row(states, event, next, guards, urgent)        in one of `states`, on `event`, if all guards hold: `next`

states  a name, several, or a rank: every state of that rank or below
event   a pattern of touch (PATTERNS), DONE or FAILED (its act returned 1 or 2), "" (none: as soon as the guards hold),
        or any other word: a command that a page or a program tells
guards  of GUARDS: what is so now
urgent  does not wait until the state has lasted its least time; nor does a row to a higher rank
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from palpate.jit.routines import Routine
from palpate.model.model import Ints1

# Ranks: who interrupts whom (reference 8)
STANDING, GESTURE, LED, SHAKING, CARRYING, BRACING, SAFE = range(7)
PATTERNS = ("push", "pull", "tap", "double tap", "shake", "hold", "stroke")
DONE, FAILED = "done", "failed"  # what an act returned: 1, or 2
GUARDS = (
    "at hand", "at arm", "at trunk",  # where the newest pattern was
    "led", "free",  # a hand is pulled for longer than a tap; none is, for a while
    "pressed", "released",  # the same of the trunk
    "tipping", "steady",  # the capture point is near the edge of the soles; it is well within, for a while
    "limit", "fallen",
    "holding", "lost",  # of the grasp
)  # fmt: skip
COLUMNS = 5  # of the table: state, event, guards, next, urgent
MOST_EVENTS = 62  # bits of a word


class Row(NamedTuple):
    states: str | int | tuple[str, ...]
    event: str
    next: str
    guards: tuple[str, ...] = ()
    urgent: bool = False


class Behaviour(NamedTuple):
    """
    act   routine of the Block of Avatar, Intent and Machine (machine.py), called in every tick of its state:
          writes the Intent; 1: it is done, 2: it cannot be done
    rows  that lead into it and out of it
    """

    name: str
    act: Routine
    rank: int
    rows: tuple[Row, ...]


def states_of(row: Row, behaviours: Sequence[Behaviour]) -> list[str]:
    """The states that a row is for; never the one it leads to."""
    if isinstance(row.states, int):
        return [b.name for b in behaviours if b.rank <= row.states and b.name != row.next]
    return [row.states] if isinstance(row.states, str) else list(row.states)


def commands_of(behaviours: Sequence[Behaviour]) -> list[str]:
    """Words that can be told, in the order in which rows have them."""
    words = [row.event for b in behaviours for row in b.rows if row.event not in (*PATTERNS, DONE, FAILED, "")]
    return list(dict.fromkeys(words))


class Table(NamedTuple):
    """Of a machine: rows (n * COLUMNS,), ranks (states,), and the words that its events are."""

    rows: Ints1
    ranks: Ints1
    events: tuple[str, ...]


def table_of(behaviours: Sequence[Behaviour]) -> Table:
    """As numbers; ValueError where a row names what there is not, or where a state could not be reached or left."""
    names = [b.name for b in behaviours]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two behaviours are called {name!r}")
    rank = {b.name: b.rank for b in behaviours}
    events = (*PATTERNS, DONE, FAILED, *commands_of(behaviours))
    if len(events) > MOST_EVENTS:
        raise ValueError(f"a machine knows {MOST_EVENTS} events, these behaviours have {len(events)}")
    numbers: list[int] = []
    edges: set[tuple[str, str]] = set()
    for b in behaviours:
        for row in b.rows:
            for word in [*states_of(row, behaviours), row.next]:
                if word not in rank:
                    raise ValueError(f"{b.name!r} has a row with {word!r}, and there is no such behaviour")
            for guard in row.guards:
                if guard not in GUARDS:
                    raise ValueError(f"{b.name!r} has a guard {guard!r}; there are: {', '.join(GUARDS)}")
            if not row.event and not row.guards:
                raise ValueError(f"{b.name!r} has a row to {row.next!r} with neither an event nor a guard")
            event = 1 << events.index(row.event) if row.event else 0
            guards = sum(1 << GUARDS.index(guard) for guard in row.guards)
            for state in states_of(row, behaviours):
                urgent = row.urgent or rank[row.next] > rank[state]
                numbers += [names.index(state), event, guards, names.index(row.next), int(urgent)]
                edges.add((state, row.next))
    for name in names:
        if not any(a == name for a, _ in edges):
            raise ValueError(f"nothing leads out of {name!r}")
    reached, before = {names[0]}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {b for a, b in edges if a in reached}
    if missing := [name for name in names if name not in reached]:
        raise ValueError(f"nothing leads to {', '.join(map(repr, missing))}")
    return Table(np.array(numbers, dtype=np.int64), np.array([b.rank for b in behaviours], dtype=np.int64), events)
