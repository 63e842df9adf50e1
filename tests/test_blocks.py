"""Blocks: compiled code sees every array and number of a Block as Python does, whatever was called so before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from palpate import jit
from palpate.jit import Block, Quaternion, Struct, Vector, block_loader, entry
from palpate.model.model import Floats1, Floats2, Ints1


class Row(NamedTuple):
    """One of each kind of field."""

    before: int
    numbers: Floats1
    table: Floats2
    counts: Ints1
    after: int


class Other(NamedTuple):
    """Comes behind it."""

    numbers: Floats1


load = block_loader((Row, False), (Other, True))


@entry("intp, float64[::1]")
def look(address, seen):
    """What compiled code sees: shapes, numbers, and a write."""
    row, other = load(address)
    seen[0], seen[1] = row.before, row.after
    seen[2], seen[3], seen[4] = row.numbers.shape[0], row.table.shape[0], row.table.shape[1]
    seen[5], seen[6], seen[7] = row.numbers[-1], row.table[1, 2], row.counts[1]
    seen[8], seen[9] = row.numbers.size, other.numbers[0]
    total = 0.0
    for x in row.table[1]:
        total += x
    seen[10] = total
    row.table[0, 1] = 42.0


@pytest.mark.nojit
def test_every_field_of_a_block_is_what_python_has():
    row = Row(7, np.arange(4.0), np.arange(6.0).reshape(2, 3), np.array([3, -5]), 9)
    block, seen = Block(row, Other(np.array([2.5]))), np.zeros(11)
    look(block.address, seen)
    assert seen.tolist() == [7, 9, 4, 2, 3, 3.0, 5.0, -5, 4, 2.5, 12.0]
    assert row.table[0, 1] == 42.0


@pytest.mark.skipif(jit.DISABLED, reason="Python itself lets them be written")
def test_what_is_read_only_is_not_written():
    @entry("intp")
    def write(address):
        load(address)[1].numbers[0] = 1.0

    jit.entries.remove(write)
    with pytest.raises(Exception, match=r"[Cc]annot .*(modify|setitem)|readonly"):
        write(Block(Row(0, np.zeros(1), np.zeros((1, 1)), np.zeros(1, int), 0), Other(np.zeros(1))).address)


@pytest.mark.nojit
def test_a_class_written_again_with_other_fields_is_another():
    """As in a notebook: both have the same name, and each is read as it is."""

    def reader(fields):
        Again = NamedTuple("Again", fields)
        find = block_loader((Again, False))

        @entry("intp")
        def last(address):
            return find(address)[0].last[0]

        if not jit.DISABLED:
            jit.entries.remove(last)
        return lambda *values: last(Block(Again(*values)).address)

    one = reader([("last", "Floats1")])
    two = reader([("first", "Floats2"), ("last", "Floats1")])
    assert one(np.array([1.0])) == 1.0
    assert two(np.zeros((2, 2)), np.array([2.0])) == 2.0
    assert one(np.array([3.0])) == 3.0


@pytest.mark.skipif(jit.DISABLED, reason="Python takes anything")
def test_a_field_of_no_known_kind_is_one_line():
    with pytest.raises(TypeError, match=r"Odd.x is annotated with 'list', not with one of the names Floats1, Floats2"):
        block_loader((NamedTuple("Odd", [("x", "list")]), False))


class Beat(Struct):
    """Numbers that change, between arrays."""

    tick: int
    q: Floats1
    dt: float
    point: Vector
    mode: int
    counts: Ints1


load_beat = block_loader((Other, True), (Beat, False))
load_fixed = block_loader((Other, True), (Beat, True))


@entry("intp")
def beat(address):
    """One more tick."""
    other, head = load_beat(address)
    head.tick += 1
    head.dt = head.dt * 0.5 + other.numbers[0]
    head.mode = head.tick // 2
    head.q[0] += head.dt
    x, y, z = head.point
    head.point = (y, z, x + head.dt)
    head.counts[1] = head.tick


@pytest.mark.nojit
def test_a_number_of_a_struct_is_one_number_for_python_and_compiled_code():
    rng = np.random.default_rng(1)
    head, other = Beat(dt=0.5, q=np.zeros(3), counts=np.zeros(2, dtype=np.int64)), Other(rng.normal(size=1))
    block = Block(other, head)
    tick, dt, q, point = 0, 0.5, 0.0, (0.0, 0.0, 0.0)
    for step in range(20):
        if step % 5 == 4:  # Python writes, too
            head.tick, head.dt = tick, dt = int(rng.integers(-(2**62), 2**62)), float(rng.normal())
            head.point = point = tuple(rng.normal(size=3).tolist())
        beat(block.address)
        tick, dt = tick + 1, dt * 0.5 + float(other.numbers[0])
        q, point = q + dt, (point[1], point[2], point[0] + dt)
        assert head.point == point
        assert head.array("point").tolist() == [*point]
        assert (head.tick, head.dt, head.mode, head.q[0], head.counts[1]) == (tick, dt, tick // 2, q, tick)
        assert type(head.tick) is int
        assert type(head.dt) is float


class Pose(Struct):
    turn: Quaternion
    place: Vector


load_pose = block_loader((Pose, False))


@entry("intp")
def conjugate(address):
    (pose,) = load_pose(address)
    w, x, y, z = pose.turn
    pose.turn = (w, -x, -y, -z)


@pytest.mark.nojit
def test_a_quaternion_is_four_numbers_and_what_is_frozen_stays():
    pose = Pose(turn=(1.0, 2.0, 3.0, 4.0), place=(5.0, 6.0, 7.0))
    block = Block(pose)
    conjugate(block.address)
    assert pose.turn == (1.0, -2.0, -3.0, -4.0)
    assert pose.place == (5.0, 6.0, 7.0)
    pose.turn = np.array([0.0, 1.0, 0.0, 0.0])
    assert pose.frozen().array("turn").tolist() == [0.0, 1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        pose.place = (0.0, 0.0, 0.0)


@pytest.mark.nojit
def test_a_struct_in_two_blocks_is_one():
    head = Beat(q=np.zeros(1), counts=np.zeros(2, dtype=np.int64))
    for number in (1.0, 2.0):
        beat(Block(Other(np.array([number])), head).address)
    assert (head.tick, head.dt) == (2, 2.5)


@pytest.mark.skipif(jit.DISABLED, reason="Python itself lets them be written")
def test_numbers_of_a_read_only_struct_are_not_written():
    @entry("intp")
    def write(address):
        load_fixed(address)[1].tick = 1

    jit.entries.remove(write)
    head = Beat(q=np.zeros(1), counts=np.zeros(2, dtype=np.int64))
    with pytest.raises(Exception, match=r"Beat const.tick cannot be written"):
        write(Block(Other(np.zeros(1)), head).address)


@pytest.mark.nojit
def test_what_a_struct_cannot_hold_is_one_line():
    fit = {"q": np.zeros(3), "counts": np.zeros(2, dtype=np.int64)}
    with pytest.raises(TypeError, match=r"^Beat has no speed$"):
        Beat(**fit, speed=1.0)
    for q in (None, [1.0], np.zeros(3, dtype=np.float32), np.zeros((3, 1)), np.zeros(6)[::2], np.zeros(3, dtype=int)):
        with pytest.raises(TypeError, match=r"^Beat.q must be a contiguous array of float64 with 1 dimensions, not "):
            Beat(**{**fit, "q": q})
    head = Beat(**fit)
    with pytest.raises(AttributeError, match=r"^Beat.q is no number: write into the array$"):
        head.q = np.zeros(3)
    with pytest.raises(AttributeError, match=r"^Beat.tock is no number"):
        head.tock = 1


@pytest.mark.skipif(jit.DISABLED, reason="Python takes anything")
def test_a_block_takes_only_arrays_as_they_are_annotated():
    fit = Row(7, np.arange(4.0), np.zeros((2, 3)), np.array([3, -5]), 9)
    for wrong in ({"numbers": np.zeros(8)[::2]}, {"table": np.zeros((3, 2)).T}, {"counts": np.zeros(2)}, {"table": 1}):
        with pytest.raises(TypeError, match=rf"^Row.{next(iter(wrong))} must be a contiguous array of "):
            Block(fit._replace(**wrong))
