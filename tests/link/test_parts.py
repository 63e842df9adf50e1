"""A state that crosses in parts is put together again, whatever order they come in, or it is lost."""

from __future__ import annotations

import numpy as np
import pytest

from palpate.jit import Block, Struct, block_loader, entry
from palpate.link.parts import take_part
from palpate.link.wire import LARGEST_REST, LARGEST_WORDS, MOST_PARTS, SEQUENCE, STATE_AT, state_parts
from palpate.model.model import Ints1

pytestmark = pytest.mark.nojit


class Receiver(Struct):
    """As much of a mirror as parts concern."""

    parts: int
    first: int
    got: int
    seen: int
    dropped: int
    words: Ints1
    rest: Ints1


load = block_loader((Receiver, False))


@entry("intp")
def take_one(address):
    return take_part(load(address)[0])


class Hearing:
    """Somebody who hears parts of states of so many words."""

    def __init__(self, words: int) -> None:
        self.parts, self.n = state_parts(words, 0)
        self.x = Receiver(parts=self.parts, words=np.zeros(LARGEST_WORDS, dtype=np.int64),
                          rest=np.zeros(self.parts * self.n, dtype=np.int64))  # fmt: skip
        self.block = Block(self.x)

    def hear(self, sequence: int, first: int, part: int, rest: np.ndarray) -> bool:
        x = self.x
        x.words[SEQUENCE], x.words[STATE_AT.first], x.words[STATE_AT.part] = sequence, first, part
        x.words[STATE_AT.rest : STATE_AT.rest + self.n] = rest
        return bool(take_one(self.block.address))


@pytest.mark.parametrize("seed", range(24))
def test_a_state_is_complete_when_its_last_part_is_there_unless_a_newer_one_has_begun(seed):
    """Against a model that keeps sets; parts are lost, doubled and, in two thirds of the cases, overtaken."""
    rng = np.random.default_rng(seed)
    hearing = Hearing(int(rng.integers(1, MOST_PARTS * LARGEST_REST)))
    parts, n = hearing.parts, hearing.n
    states = {1 + k * parts: rng.integers(-(2**62), 2**62, parts * n) for k in range(30)}
    copies = rng.choice([0, 1, 2], p=[0.03, 0.87, 0.1], size=(len(states), parts))
    packets = [(f, p) for k, f in enumerate(states) for p in range(parts) for _ in range(copies[k, p])]
    order = np.argsort([f + p + [0.0, 0.7, 2.0][seed % 3] * rng.normal() for f, p in packets])
    begun, got, seen, completed = 0, set[int](), 0, 0
    for first, part in (packets[k] for k in order):
        whole = False
        if first > seen and first >= begun:
            got = got | {part} if first == begun else {part}
            begun, whole = first, got == set(range(parts))
        assert hearing.hear(first + part, first, part, states[first][part * n : (part + 1) * n]) == whole
        if whole:
            assert np.array_equal(hearing.x.rest, states[first])
            hearing.x.seen = seen = first + parts - 1
            completed += 1
    assert completed > 0


@pytest.mark.parametrize("words", [1, LARGEST_REST, 3 * LARGEST_REST + 1, MOST_PARTS * LARGEST_REST])
def test_parts_of_one_state_may_come_in_any_order(words):
    hearing, rng = Hearing(words), np.random.default_rng(words)
    state = rng.integers(-(2**62), 2**62, hearing.parts * hearing.n)
    order = rng.permutation(hearing.parts).tolist()
    rows = state.reshape(hearing.parts, hearing.n)
    heard = [hearing.hear(100 + part, 100, part, rows[part]) for part in order]
    assert heard == [False] * (hearing.parts - 1) + [True]
    assert np.array_equal(hearing.x.rest, state)


@pytest.mark.parametrize(("first", "part", "sequence"), [(5, -1, 4), (5, 99, 104), (5, 1, 5), (0, 0, 0), (5, 2**62, 7),
                                                         (5, -(2**62), 5), (2**62, 0, 5)])  # fmt: skip
def test_a_part_that_cannot_be_is_dropped_though_it_is_sealed(first, part, sequence):
    hearing = Hearing(3 * LARGEST_REST)
    assert not hearing.hear(sequence, first, part, np.ones(hearing.n, dtype=np.int64))
    assert (hearing.x.dropped, hearing.x.got, hearing.x.first) == (1, 0, 0)
    assert not hearing.x.rest.any()
