"""The part of an island that is not solved yet, and what surrounds it.

What a new contact or a blow changes in a pile is mostly a matter of its neighbours, and everywhere else the impulses of
the last step still hold.  So a large island is first solved in part: the links of rows above the tolerance and a few
rings of their neighbours, all rows of those, while the others keep their impulses.  Where that disturbs what was solved
before, the rings grow; what is in trouble all over is left to the whole.

A part is a list of rows and of slots like an island's, behind those of all islands in `order` and `island_slots`.
Links of one tree move together: they are all in it, or none is.
"""

from palpate.contact.residual import measured, unfulfilled
from palpate.jit import kernel

FEWEST_SLOTS = 12  # of an island that is solved in parts
MOST_TROUBLED, MOST_ROWS = 0.25, 0.5  # parts of its rows: above the tolerance, and in the part
BORDER = 1 << 30  # ring of links that a row of the part touches, and that are in none


@kernel
def find_troubled(r, begin, end, slots_begin, slots_end):
    """ring 1 for the trees of rows above the tolerance, 0 for others; returns how many rows are."""
    enough = r.tolerance**2
    for k in range(slots_begin, slots_end):
        r.ring[r.island_slots[k]] = 0
    count = 0
    for k in range(begin, end):
        i = r.order[k]
        if measured(r, i, unfulfilled(r, i)) > enough:
            count += 1
            for side in range(2):
                r.ring[r.slot_first[r.slot[2 * i + side]]] = 1
    r.ring[0] = 0
    return count


@kernel
def add_ring(r, begin, end, last):
    """Trees that share a row with one of ring `last` and are in none yet become the next."""
    for k in range(begin, end):
        i = r.order[k]
        a, b = r.slot_first[r.slot[2 * i]], r.slot_first[r.slot[2 * i + 1]]
        if a and b:
            if r.ring[a] == last and r.ring[b] == 0:
                r.ring[b] = last + 1
            elif r.ring[b] == last and r.ring[a] == 0:
                r.ring[a] = last + 1


@kernel
def list_part(r, begin, end, slots_begin, slots_end):
    """Rows of trees in a ring, and the slots of all trees that they touch; returns how many."""
    rows, slots = r.rows_begin[r.n_islands], r.slots_begin[r.n_islands]
    n, m = 0, 0
    for k in range(begin, end):
        i = r.order[k]
        a, b = r.slot_first[r.slot[2 * i]], r.slot_first[r.slot[2 * i + 1]]
        if 0 < r.ring[a] < BORDER or 0 < r.ring[b] < BORDER:
            r.order[rows + n] = i
            n += 1
            for tree in (a, b):
                if r.ring[tree] == 0:
                    r.ring[tree] = BORDER
    r.ring[0] = 0
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        if r.ring[r.slot_first[s]]:
            r.island_slots[slots + m] = s
            m += 1
    return n, m


@kernel
def choose_part(r, begin, end, slots_begin, slots_end, rings):
    """List what is in trouble and so many rings of neighbours; (rows, slots) of it, (0, 0): too much of the island."""
    n = end - begin
    troubled = find_troubled(r, begin, end, slots_begin, slots_end)
    if troubled > MOST_TROUBLED * n:
        return 0, 0
    for ring in range(1, rings + 1):
        add_ring(r, begin, end, ring)
    rows, slots = list_part(r, begin, end, slots_begin, slots_end)
    return (rows, slots) if rows <= MOST_ROWS * n else (0, 0)
