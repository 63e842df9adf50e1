"""An order in which to eliminate the nodes of an island that keeps its blocks few: minimum degree, George & Liu 1981.

A node that goes makes its neighbours neighbours of each other.  Neighbours are sets of bits, so that this is an `or` of
words; who has the fewest left is found in a set for each number of them.  Nothing here goes with the square of the
nodes but the room for places, which is touched only where there is a block.

neighbours      (n, words) whom a node shares a block with, those that fill in counted
remaining       (words,) who is not eliminated yet
of_degree       (n, words) who has so many neighbours left
block[i n + j]  place in N of the block between the i-th and the j-th node; meaningless where there is none
later           for each node in the order of elimination, its neighbours that come after it
"""

from palpate.contact.rows import load_rows
from palpate.contact.unknowns import cut_pieces, number_nodes
from palpate.jit import kernel, shared
from palpate.jit.bits import bit, lowest, ones

MOST_WORK = 12_000  # products of blocks in one factor, about 0.6 ms,
MOST_WORK_PER_ROW = 12  # or so many for each row: beyond it the island is swept


@kernel
def words_for(n):
    """Words that a set of n nodes takes."""
    return (n + 63) >> 6


@kernel
def couple(r, words, i, j):
    """Note that nodes i and j of the island are neighbours."""
    if i != j:
        r.neighbours[i * words + (j >> 6)] |= bit(j)
        r.neighbours[j * words + (i >> 6)] |= bit(i)


@kernel
def coupled(r, i, j):
    """Whether there is a block between nodes i and j."""
    return i == j or r.neighbours[i * words_for(r.n_nodes) + (j >> 6)] & bit(j) != 0


@kernel
def nodes_of_tree(r, s):
    """First and last + 1 of the nodes of a slot's tree."""
    first = r.local[r.slot_first[s]]
    return first, first + (r.slot_nodes[s] if r.slot_nodes[s] else r.slot_count[s])


@kernel
def find_neighbours(r, begin, end, slots_begin, slots_end, n, words):
    """Who is a neighbour of whom: nodes of one tree, and nodes that a row joins to one's tree."""
    for k in range(n * words):
        r.neighbours[k] = r.of_degree[k] = 0
    for k in range(slots_begin, slots_end):
        first, last = nodes_of_tree(r, r.island_slots[k])
        for i in range(first, last):
            for j in range(i + 1, last):
                couple(r, words, i, j)
    for k in range(begin, end):
        i = r.order[k]
        for side in range(2):
            s, other = r.slot[2 * i + side], r.slot[2 * i + 1 - side]
            if s == 0 or other == 0:
                continue
            first, last = nodes_of_tree(r, s)
            for e in range(max(r.slot_nodes[other], 1)):
                for j in range(first, last):
                    couple(r, words, r.local[other] + e, j)


@kernel
def count_left(r, i, words):
    """Sort node i by how many of its neighbours are left."""
    count = 0
    for w in range(words):
        count += ones(r.neighbours[i * words + w] & r.remaining[w])
    r.degree[i] = count
    r.of_degree[count * words + (i >> 6)] |= bit(i)


@kernel
def least_degree(r, words, least):
    """The first of those that have the fewest neighbours left, which are `least` or more."""
    k = least * words
    while r.of_degree[k] == 0:
        k += 1
    return (k % words << 6) + lowest(r.of_degree[k])


@kernel
def list_left(r, p, words, at):
    """The neighbours of node p that are left, into `later` from `at` on; False if there is no room."""
    if at + r.degree[p] > r.later.shape[0]:
        return False
    for w in range(words):
        word = r.neighbours[p * words + w] & r.remaining[w]
        while word != 0:
            k = lowest(word)
            r.later[at] = (w << 6) + k
            at += 1
            word ^= bit(k)
    return True


@kernel
def take_out(r, p, words):
    """Node p is no longer left, nor among those of its degree."""
    r.remaining[p >> 6] ^= bit(p)
    r.of_degree[r.degree[p] * words + (p >> 6)] ^= bit(p)


@kernel
def join_neighbours(r, p, words, first, last):
    """The neighbours of node p, later[first:last], become neighbours of each other."""
    for x in range(first, last):
        i = r.later[x]
        r.of_degree[r.degree[i] * words + (i >> 6)] ^= bit(i)
        for w in range(words):
            r.neighbours[i * words + w] |= r.neighbours[p * words + w] & r.remaining[w]
        r.neighbours[i * words + (i >> 6)] ^= bit(i)  # not of itself
        count_left(r, i, words)


@shared("int64(intp, intp, intp, intp, intp)")
def analyse(address, begin, end, slots_begin, slots_end):
    """Nodes, pieces, order and places for the blocks of an island.

    Returns the products of blocks in one factor, 0: too many, or no room.
    """
    (r,) = load_rows(address)
    n = number_nodes(r, slots_begin, slots_end)
    if n * n > r.block.shape[0] or not cut_pieces(r, begin, end):
        return 0
    words = words_for(n)
    find_neighbours(r, begin, end, slots_begin, slots_end, n, words)
    for w in range(words):
        r.remaining[w] = 0
    for i in range(n):
        r.remaining[i >> 6] |= bit(i)
    for i in range(n):
        count_left(r, i, words)
    most = max(MOST_WORK, MOST_WORK_PER_ROW * (end - begin))
    places, used, work, least = 0, 0, 0, 0
    for step in range(n):
        p = least_degree(r, words, least)
        count = r.degree[p]
        work += 1 + count * (count + 1)
        if places + 1 + 2 * count > r.N.shape[0] or work > most or not list_left(r, p, words, used):
            return 0
        take_out(r, p, words)
        r.eliminated[step], r.later_begin[step] = p, used
        join_neighbours(r, p, words, used, used + count)
        least = max(count - 1, 0)
        r.block[p * n + p] = places
        places += 1
        for x in range(used, used + count):
            r.block[p * n + r.later[x]], r.block[r.later[x] * n + p] = places, places + 1
            places += 2
        used += count
    r.later_begin[n] = used
    r.n_blocks = places
    return work
