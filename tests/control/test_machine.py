"""The machine of behaviours: its table against a plain model of it, and the laws of priority (avatars.md 8)."""

from __future__ import annotations

import numpy as np
import pytest

from palpate.control.behaviours import BEHAVIOURS
from palpate.control.behaviours.machine import Held, Machine, Said, all_behaviours, step_machine
from palpate.control.behaviours.rows import (
    BRACING,
    CARRYING,
    DONE,
    FAILED,
    GESTURE,
    GUARDS,
    PATTERNS,
    SAFE,
    Behaviour,
    Row,
    commands_of,
    states_of,
    table_of,
)
from palpate.control.behaviours.tables import MEMORY
from palpate.jit import Block

LEAST = 200  # ticks
ALL = all_behaviours()
EVENTS = (*PATTERNS, DONE, FAILED, *commands_of(ALL))


def machine(behaviours=ALL) -> Machine:
    table, zeros = table_of(behaviours), np.zeros
    held, said, ints = Held(), Said(), lambda n: zeros(n, dtype=np.int64)
    return Machine(
        dt=1e-3, told=-1.0, least_ticks=LEAST, rows=table.rows, rank=table.ranks, act=ints(len(behaviours)),
        memory=zeros(MEMORY), place=ints(1), side_of=ints(1), hand_force=zeros((2, 3)), hand_N=zeros(2),
        hand_led_s=zeros(2), hand_free_s=zeros(2), point=zeros((8, 2)), hull=zeros((9, 2)),
        said=said.array("said").reshape(1),
        said_count=said.array("said_count").reshape(1), grasp_wish=held.array("wish").reshape(1),
        grasp_state=held.array("state").reshape(1),
    )  # fmt: skip


class Model:
    """The same in words: sets instead of bits, rows as they are written."""

    def __init__(self, behaviours=ALL) -> None:
        self.behaviours = {b.name: b for b in behaviours}
        self.state, self.ticks, self.waiting = behaviours[0].name, 0, set()
        self.rows = [(state, row) for b in behaviours for row in b.rows for state in states_of(row, behaviours)]

    def step(self, events: set[str], guards: set[str]) -> None:
        self.waiting |= events
        rank = lambda name: self.behaviours[name].rank  # noqa: E731
        may = [
            row.next
            for state, row in self.rows
            if state == self.state
            and (not row.event or row.event in self.waiting)
            and set(row.guards) <= guards
            and (row.urgent or rank(row.next) > rank(self.state) or self.ticks >= LEAST)
        ]
        if may:
            best = max(rank(name) for name in may)
            self.state, self.ticks, self.waiting = next(n for n in may if rank(n) == best), 0, set()
        elif self.ticks >= LEAST:
            self.waiting = set()
        self.ticks += 1


def sequence(rng: np.random.Generator, ticks: int):
    """Events now and then, guards that come and go: (events, guards) of each tick."""
    rare = {"limit", "fallen", "tipping", "lost"}
    guards: set[str] = set()
    for _ in range(ticks):
        if rng.random() < 0.02:
            guards = {g for g in GUARDS if rng.random() < (0.02 if g in rare else 0.2)}
        events = {str(e) for e in rng.choice(EVENTS, rng.integers(1, 3))} if rng.random() < 0.003 else set()
        yield events, set(guards)


def visited(seed: int) -> set[str]:
    """The states of a sequence; in every tick the machine is in that of the model."""
    rng, b, model = np.random.default_rng(seed), machine(), Model()
    block, names, been = Block(b), [each.name for each in ALL], set()
    for k, (events, guards) in enumerate(sequence(rng, 8000)):
        if k % 250 == 0:  # what leads on from here
            ways = [row for state, row in model.rows if state == model.state]
            calm = [row for row in ways if model.behaviours[row.next].rank < BRACING]
            row = (calm or ways)[rng.integers(len(calm or ways))]
            events, guards = {row.event} - {""}, set(row.guards)
        b.events = b.events | sum(1 << EVENTS.index(e) for e in events)
        b.guards = sum(1 << GUARDS.index(g) for g in guards)
        step_machine(block.address)
        model.step(events, guards)
        assert names[b.behaviour] == model.state
        been.add(model.state)
    return been


def test_the_machine_does_what_the_rows_say():
    assert len(set.union(*(visited(seed) for seed in range(12)))) >= 10


def way_to(name: str) -> list[Row]:
    """The fewest rows that lead to a state, from the first."""
    ways: dict[str, list[Row]] = {ALL[0].name: []}
    front = [ALL[0].name]
    while front:
        here = front.pop(0)
        for b in ALL:
            for row in b.rows:
                if here in states_of(row, ALL) and row.next not in ways:
                    ways[row.next] = [*ways[here], row]
                    front.append(row.next)
    return ways[name]


@pytest.mark.parametrize("name", [b.name for b in ALL])
def test_every_behaviour_is_reached_by_what_its_rows_say(name):
    b = machine()
    block, names = Block(b), [each.name for each in ALL]
    for row in way_to(name):
        for _ in range(LEAST + 1):
            b.guards = 0
            step_machine(block.address)
        b.events = 1 << EVENTS.index(row.event) if row.event else 0
        b.guards = sum(1 << GUARDS.index(g) for g in row.guards)
        step_machine(block.address)
        assert names[b.behaviour] == row.next
    assert names[b.behaviour] == name


@pytest.mark.parametrize("seed", range(3))
def test_a_state_lasts_its_least_time_unless_something_higher_or_urgent_comes(seed):
    rng, b = np.random.default_rng(100 + seed), machine()
    block = Block(b)
    urgent = {(s, row.next) for each in ALL for row in each.rows if row.urgent for s in states_of(row, ALL)}
    before, lasted, early = b.behaviour, 0, 0
    for events, guards in sequence(rng, 8000):
        b.events = b.events | sum(1 << EVENTS.index(e) for e in events)
        b.guards = sum(1 << GUARDS.index(g) for g in guards)
        step_machine(block.address)
        if b.behaviour == before:
            lasted += 1
            continue
        if lasted + 1 < LEAST:
            early += 1
            pair = (ALL[before].name, ALL[b.behaviour].name)
            assert ALL[b.behaviour].rank > ALL[before].rank or pair in urgent
        before, lasted = b.behaviour, 0
    assert early > 0


@pytest.mark.nojit
def test_what_comes_within_the_least_time_is_answered_after_it():
    b = machine()
    block = Block(b)
    names = [each.name for each in ALL]
    b.ticks = LEAST
    b.events = 1 << EVENTS.index("tap")
    step_machine(block.address)
    assert names[b.behaviour] == "acknowledge"
    b.events = b.events | 1 << EVENTS.index("double tap")  # of the same rank: it waits
    for _ in range(LEAST - 1):
        step_machine(block.address)
        assert names[b.behaviour] == "acknowledge"
    step_machine(block.address)
    assert names[b.behaviour] == "look"


@pytest.mark.nojit
def test_no_pattern_of_touch_interrupts_what_ranks_higher():
    """avatars.md 8: safe > brace > carry family > shake > follow > look, acknowledge, soften."""
    rank = {b.name: b.rank for b in ALL}
    for b in ALL:
        for row in b.rows:
            if row.event in PATTERNS:
                for state in states_of(row, ALL):
                    assert rank[row.next] >= rank[state] or rank[state] == GESTURE
    order = ("look", "follow", "shake", "carry", "brace", "safe")
    assert [rank[name] for name in order] == sorted({rank[name] for name in order})


def test_safe_is_left_by_a_persons_reset_alone():
    ways = [row for b in ALL for row in b.rows if "safe" in states_of(row, ALL)]
    assert [row.event for row in ways] == ["reset"]
    assert next(b.rank for b in ALL if b.name == "safe") == SAFE


def test_limits_and_tipping_interrupt_every_state_below():
    for name, guard in (("safe", "limit"), ("safe", "fallen"), ("brace", "tipping")):
        to = next(b for b in ALL if b.name == name)
        below = {b.name for b in ALL if b.rank < to.rank}
        rows = [row for row in to.rows if row.guards == (guard,) and not row.event]
        assert {state for row in rows for state in states_of(row, ALL)} == below


def test_whatever_holds_something_lets_go_when_it_is_lost_at_once():
    for b in ALL:
        if b.rank == CARRYING and b.name != "let go":
            assert any(row.guards == ("lost",) and row.urgent and row.next == "let go" for row in b.rows), b.name


def test_every_name_of_the_registry_is_that_of_its_behaviour():
    assert [b.name for b in ALL] == list(BEHAVIOURS)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((Row("stand", "wave", "wave"),), "nothing leads out of 'wave'"),  # of the highest rank, nothing interrupts it
        ((Row("wave", DONE, "stand"),), "nothing leads to 'wave'"),
        ((Row("stand", "wave", "wave"), Row("wave", DONE, "sit")), "no such behaviour"),
        ((Row("stand", "", "wave"), Row("wave", DONE, "stand")), "neither an event nor a guard"),
        ((Row("stand", "", "wave", ("hungry",)), Row("wave", DONE, "stand")), "there are: at hand"),
    ],
)
def test_a_table_with_a_mistake_is_refused_and_says_which(rows, said):
    wave = Behaviour("wave", ALL[0].act, SAFE, rows)
    with pytest.raises(ValueError, match=said):
        table_of([*ALL, wave])


def test_two_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two behaviours are called 'stand'"):
        table_of([*ALL, ALL[0]])
