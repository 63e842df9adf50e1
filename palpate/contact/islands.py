"""Islands: groups of touching links that act on each other, through rows or through their tree."""

from palpate.contact.rows import IDLE
from palpate.jit import kernel


@kernel
def leader(group, s):
    while group[s] != s:
        group[s] = group[group[s]]  # halve the way for the next
        s = group[s]
    return s


@kernel
def join(group, a, b):
    a, b = leader(group, a), leader(group, b)
    if a < b:  # the lower leads: the outcome does not depend on the order of joining
        group[b] = a
    else:
        group[a] = b


@kernel
def takes_part(r, i):
    return r.kind[i] < IDLE and r.watched[i] == 0


@kernel
def find_islands(r):
    """Rows that take part and slots sorted by island, in their old order within one; islands by their lowest slot."""
    n, first, m = r.n_slots, r.n_kept, r.n_rows
    for s in range(1, n):
        r.group[s] = r.slot_first[s]
    for i in range(first, m):
        if takes_part(r, i) and r.slot[2 * i] and r.slot[2 * i + 1]:
            join(r.group, r.slot[2 * i], r.slot[2 * i + 1])
    islands = 0
    for s in range(1, n):
        if r.group[s] == s:
            r.island_of[s] = islands
            r.slots_begin[islands + 1], r.rows_begin[islands + 1] = 0, 0
            islands += 1
    r.n_islands = islands
    r.slots_begin[0], r.rows_begin[0] = 0, 0
    for s in range(1, n):
        r.island_of[s] = r.island_of[leader(r.group, s)]
        r.slots_begin[r.island_of[s] + 1] += 1
    for i in range(first, m):
        r.island[i] = r.island_of[max(r.slot[2 * i], r.slot[2 * i + 1])]
        r.rows_begin[r.island[i] + 1] += takes_part(r, i)
    for k in range(islands):
        r.slots_begin[k + 1] += r.slots_begin[k]
        r.rows_begin[k + 1] += r.rows_begin[k]
    for s in range(1, n):  # counting sort; `begin` is moved on and set back
        k = r.island_of[s]
        r.island_slots[r.slots_begin[k]] = s
        r.slots_begin[k] += 1
    for i in range(first, m):
        if takes_part(r, i):
            r.order[r.rows_begin[r.island[i]]] = i
            r.rows_begin[r.island[i]] += 1
    for k in range(islands, 0, -1):
        r.slots_begin[k], r.rows_begin[k] = r.slots_begin[k - 1], r.rows_begin[k - 1]
    r.slots_begin[0], r.rows_begin[0] = 0, 0
