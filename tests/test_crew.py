"""Threads that run compiled calls side by side: each number once, errors after all have ended, one master at a time."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from palpate.jit import DISABLED, Block, Struct, block_loader, entry, warm
from palpate.jit.atomics import fetch_add
from palpate.jit.crew import Crew, usable_cores
from palpate.jit.words import copy_words
from palpate.model.model import Ints1


class Count(Struct):
    next: Ints1  # (1,)
    taken: Ints1  # (n,) how often each number was


load = block_loader((Count, False))


@entry("intp")
def take(address):
    (c,) = load(address)
    k = fetch_add(c.next, 0, 1)
    while k < c.taken.shape[0]:
        c.taken[k] += 1
        k = fetch_add(c.next, 0, 1)


@entry("intp, intp, intp")
def move(to, start, count):
    copy_words(to, start, count)


@pytest.mark.parametrize("size", [1] if DISABLED else [1, 2, 3, 7])
def test_threads_that_count_together_take_each_number_once(size):
    count = Count(next=np.zeros(1, dtype=np.int64), taken=np.zeros(100_000, dtype=np.int64))
    crew, block = Crew(size), Block(count)
    warm(take)
    crew.run(take, [block.address] * size)
    crew.close()
    assert (count.taken == 1).all()
    assert count.next[0] == 100_000 + size


def test_an_error_of_one_comes_after_all_have_ended():
    crew, ended, begun = Crew(3), [], threading.Barrier(3)

    def call(k):
        begun.wait()
        if k != 1:
            ended.append(k)
            raise ValueError(f"call {k}")
        ended.append(k)

    with pytest.raises(ValueError, match="call 0"):
        crew.run(call, [0, 1, 2])
    assert sorted(ended) == [0, 1, 2]
    crew.close()
    crew.close()


def test_only_one_is_inside():
    crew = Crew(1)
    with crew.alone(), pytest.raises(ValueError, match="another thread has it at work"), crew.alone():
        pass
    with crew.alone():
        pass


@pytest.mark.parametrize("count", [0, 1, 2, 5, 33])
def test_words_are_moved_as_they_are(count):
    rng = np.random.default_rng(count)
    start, to = rng.integers(-(2**63), 2**63 - 1, 40), np.zeros(40, dtype=np.int64)  # some are NaN as floats
    move(to.ctypes.data, start.ctypes.data, count)
    assert np.array_equal(to[:count], start[:count])
    assert not to[count:].any()


def test_there_is_a_core():
    assert usable_cores() >= 1
