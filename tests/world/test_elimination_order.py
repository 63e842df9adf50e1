"""The order of elimination is minimum degree as sets of Python find it, and every block has a place of its own."""

import numpy as np
import pytest
from test_linear_system import SCENES as LINEAR_SYSTEMS
from test_linear_system import stepped
from test_unconverged import tower, wall

import palpate as pp
from palpate.contact import rows
from palpate.contact.ordering import analyse
from palpate.contact.rows import load_rows
from palpate.jit import entry


@entry("intp, intp, int64[::1]")
def analysed(address, k, out):
    (r,) = load_rows(address)
    out[0] = analyse(address, r.rows_begin[k], r.rows_begin[k + 1], r.slots_begin[k], r.slots_begin[k + 1])


SCENES = LINEAR_SYSTEMS | {
    "one box": lambda: stepped(pp.World([pp.models.plane(), pp.models.box((0.1, 0.1, 0.1), at=(0, 0, 0.05))]), 3),
    "64 bricks": lambda: stepped(wall(columns=8, courses=8), 2),  # some 60: about a word
    "300 bricks": lambda: stepped(wall(columns=100, courses=3), 2),
    "60 planks": lambda: stepped(tower(), 5),
}


def nodes(r, s):
    """Of a slot, and of its tree."""
    first = r.local[r.slot_first[s]]
    if r.slot_nodes[s]:
        whole = range(first, first + r.slot_nodes[s])
        return set(whole), set(whole)
    return {int(r.local[s])}, set(range(first, first + r.slot_count[s]))


def neighbours_of(r, k):
    """Whom each node shares a block of N with, before anything fills in."""
    slots = [int(s) for s in r.island_slots[r.slots_begin[k] : r.slots_begin[k + 1]]]
    graph = {int(i): set() for s in slots for i in nodes(r, s)[1]}
    pairs = [(x, x) for x in (nodes(r, s)[1] for s in slots)]
    for i in r.order[r.rows_begin[k] : r.rows_begin[k + 1]]:
        a, b = (int(s) for s in r.slot[2 * i : 2 * i + 2])
        if a and b:
            pairs += [(nodes(r, a)[0], nodes(r, b)[1]), (nodes(r, b)[0], nodes(r, a)[1])]
    for x, y in pairs:
        for i in x:
            for j in y:
                graph[int(i)].add(int(j))
                graph[int(j)].add(int(i))
    return {i: found - {i} for i, found in graph.items()}


@pytest.mark.parametrize("scene", SCENES)
def test_nodes_go_in_the_order_of_their_degree(scene):
    world = SCENES[scene]()
    r = world.arrays.rows
    assert r.n_islands > 0
    for k in range(r.n_islands):
        done = np.zeros(1, dtype=np.int64)
        analysed(world.arrays.state.rows, k, done)
        graph, work, blocks = neighbours_of(r, k), 0, {}
        n = r.n_nodes
        assert len(graph) == n
        for step in range(n):
            p = min(graph, key=lambda i: (len(graph[i]), i))
            later = graph.pop(p)
            work += 1 + len(later) * (len(later) + 1)
            assert r.eliminated[step] == p
            assert r.later[r.later_begin[step] : r.later_begin[step + 1]].tolist() == sorted(later)
            for i in later:
                graph[i] |= later
                graph[i] -= {p, i}
            for i, j in [(p, p), *((p, i) for i in later), *((i, p) for i in later)]:
                blocks[i, j] = int(r.block[i * n + j])
        assert done[0] == work
        assert sorted(blocks.values()) == list(range(r.n_blocks))


@pytest.mark.parametrize(("slots", "per_slot"), [(10, 40), (64, 1)])
def test_an_island_without_room_for_its_blocks_is_swept(slots, per_slot, monkeypatch):
    """More nodes than NEWTON_SLOTS, or more blocks: refused, and what it would have needed is not written."""
    monkeypatch.setattr(rows, "NEWTON_SLOTS", slots)
    monkeypatch.setattr(rows, "BLOCKS_PER_SLOT", per_slot)
    world = stepped(wall(columns=5, courses=5), 20)
    r, done = world.arrays.rows, np.ones(1, dtype=np.int64)
    analysed(world.arrays.state.rows, 0, done)
    assert done[0] == 0
    assert r.newton == 0
    assert r.sweeps > 0
    assert np.abs(world.v).max() < 0.1  # it stands
