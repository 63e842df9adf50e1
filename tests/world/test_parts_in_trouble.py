"""A large island is solved where it is in trouble: what is far keeps its impulses, and all obey the law."""

import numpy as np
import pytest
from test_linear_system import SCENES, stepped
from test_unconverged import tower, wall

import palpate as pp
from palpate.contact.rows import CONTACT, load_rows
from palpate.contact.troubled import choose_part
from palpate.jit import entry


@entry("intp, intp, intp, int64[::1]")
def chosen(address, k, rings, out):
    (r,) = load_rows(address)
    out[0], out[1] = choose_part(
        r, r.rows_begin[k], r.rows_begin[k + 1], r.slots_begin[k], r.slots_begin[k + 1], rings
    )  # fmt: skip


def part_of(r, k, rows, rings):
    """Rows of trees at most so many rows away from some rows of island k, and all slots of trees that they touch."""

    def trees(i):
        return {int(r.slot_first[s]) for s in r.slot[2 * i : 2 * i + 2] if s}

    island = [int(i) for i in r.order[r.rows_begin[k] : r.rows_begin[k + 1]]]
    near = set().union(*(trees(i) for i in rows))
    for _ in range(rings):
        near = near.union(*(trees(i) for i in island if trees(i) & near))
    inside = [i for i in island if trees(i) & near]
    touched = set().union(*(trees(i) for i in inside))
    slots = [int(s) for s in r.island_slots[r.slots_begin[k] : r.slots_begin[k + 1]] if int(r.slot_first[s]) in touched]
    return inside, slots


@pytest.mark.parametrize("rings", [0, 1, 3])
@pytest.mark.parametrize("scene", ["long wall", "tower", "human on planks"])
def test_a_part_is_what_is_in_trouble_and_its_neighbours(scene, rings):
    """One contact of each island is made wrong by hand, by turns; found again by sets of Python."""
    world = {"long wall": lambda: stepped(wall(columns=40, courses=3), 200), "tower": lambda: stepped(tower(), 200),
             "human on planks": SCENES["human on planks"]}[scene]()  # fmt: skip
    r, some = world.arrays.rows, 0
    rng = np.random.default_rng(2)
    for k in range(r.n_islands):
        island = r.order[r.rows_begin[k] : r.rows_begin[k + 1]].copy()
        for i in rng.choice(island[r.kind[island] == CONTACT], 3):
            kept, wrong = r.lam[i].copy(), r.lam[i] + (0.1, 0.0, 0.0)
            before, r.tolerance = r.tolerance, 1e-3  # all others are better
            r.lam[i] = wrong
            r.u[i, 0] += 1.0
            out = np.zeros(2, dtype=np.int64)
            chosen(world.arrays.state.rows, k, rings, out)
            r.lam[i], r.tolerance = kept, before
            r.u[i, 0] -= 1.0
            rows, slots = part_of(r, k, [i], rings)
            if len(rows) > 0.5 * len(island):  # most of it: the whole is solved
                assert out.tolist() == [0, 0]
                continue
            first, first_slot = r.rows_begin[r.n_islands], r.slots_begin[r.n_islands]
            assert r.order[first : first + out[0]].tolist() == rows
            assert r.island_slots[first_slot : first_slot + out[1]].tolist() == slots
            some += 1
    assert some > 0 or scene == "human on planks"


@pytest.mark.parametrize("height", [0.005, 0.02, 0.3])
@pytest.mark.parametrize("struck", [0, 4, 9])
def test_towers_on_one_plank_leave_each_other_alone(struck, height):
    """A ball that strikes one of them changes nothing of the others' impulses but rounding, though all are one island.

    The plank is so heavy that no blow on a tower moves it by as much as the tolerance.
    """
    plank = pp.models.box((2.0, 0.3, 0.1), mass=1e6, at=(0.0, 0.0, 0.05), name="plank")
    places = np.linspace(-0.9, 0.9, 10)
    towers = [
        pp.models.box((0.1, 0.1, 0.1), at=(x, 0.0, 0.15 + 0.1 * k), name=f"box{x}.{k}")
        for x in places
        for k in range(2)
    ]
    x = places[struck]
    ball = pp.models.ball(0.05, mass=0.2, at=(x, 0.0, 0.35 + height))
    world = pp.World([pp.models.plane(), plank, *towers, ball])
    r, c = world.arrays.rows, world.arrays.contacts
    while not any("ball" in (touch.body_a, touch.body_b) and touch.mode != "open" for touch in world.contacts):
        before = {int(r.key[i]): r.lam[i].copy() for i in range(r.n_contacts)}
        world.step()
        assert world.time < 1.0
    assert world.report.relative_residual <= 1e-6
    assert r.newton > 0
    far = [i for i in range(r.n_contacts) if abs(c.point[i, 0] - x) > 0.1 and c.point[i, 2] > 0.15]
    assert len(far) == 4 * 9
    assert max(np.abs(r.lam[i] - before[int(r.key[i])]).max() for i in far) < 1e-12
