"""All islands, each by itself (island.py), and those again that a watched contact joins after all (watched.py)."""

from palpate.contact.deadline import share_time
from palpate.contact.island import put_left_over, solve_island
from palpate.contact.islands import find_islands
from palpate.contact.rows import load_rows
from palpate.contact.sweeps import gather
from palpate.contact.watched import take_all_in, take_in
from palpate.jit import kernel, shared
from palpate.spatial.vectors import get3

MOST_ROUNDS = 4  # after which nobody is watched any more: one or two is what piles take


@kernel
def report(r):
    """The worst that is left in any island, and in how many it is above the tolerance."""
    for s in range(1, r.n_slots):
        residual, relative_residual, speed = get3(r.left_over, s)
        r.residual = max(r.residual, residual)
        r.relative = max(r.relative, relative_residual)
        r.speed = max(r.speed, speed)
        r.ran_out += relative_residual > r.tolerance


@kernel
def to_solve(r, slots_begin, slots_end):
    """Whether a slot of an island is marked; marks are taken away."""
    marked = False
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        marked = marked or r.unsolved[s] != 0
        r.unsolved[s] = 0
    return marked


@kernel
def all_known(r, begin, end):
    """Whether every row of an island has a warm start."""
    for k in range(begin, end):
        if r.fresh[r.order[k]]:
            return False
    return True


@shared("void(intp, intp)")
def solve(address, warm):
    """All islands, each with its share of the budget, and those again that a watched contact joins.

    warm  0: no row's impulse is of the step before
    """
    (r,) = load_rows(address)
    for s in range(1, r.n_slots):
        r.unsolved[s] = 1
    left, rounds = 0.0, 0  # left by islands that did not need theirs
    while True:
        for k in range(r.n_islands):
            begin, end = r.rows_begin[k], r.rows_begin[k + 1]
            slots_begin, slots_end = r.slots_begin[k], r.slots_begin[k + 1]
            if not to_solve(r, slots_begin, slots_end):
                continue
            if begin == end:  # all that it touches is only watched
                gather(r, begin, end, slots_begin, slots_end)
                put_left_over(r, slots_begin, slots_end, 0.0, 0.0, 0.0)
                continue
            share = r.budget * (end - begin) / r.rows_begin[r.n_islands]
            share_time(r, begin, end)
            known = warm != 0 and all_known(r, begin, end)
            left = solve_island(address, r, begin, end, slots_begin, slots_end, known, share + left)
        if take_in(r) == 0:
            break
        rounds += 1
        if rounds == MOST_ROUNDS:
            take_all_in(r)
        find_islands(r)
    report(r)
