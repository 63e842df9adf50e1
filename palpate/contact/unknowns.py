"""What Newton and ADMM solve for: six numbers a node, and how rows act on nodes.

A tree with few touching links has a node for each of them, its twist W.  A tree with many has fewer freedoms than six
times that: then its table, Om = R R^T, is factored into as many columns as it has rank (pivoted Cholesky; Higham 2002,
section 10.3), W = R y, and its nodes are the y, six to a node.  A humanoid lying on its limbs: 7 nodes instead of 25.
`pieces` are the rows' Jacobians on nodes: J on a twist, J R on y.

slot_nodes  nodes of a slot's tree if it is reduced, else 0
local       node of a slot; of a reduced tree, its first
"""

import math

from palpate.jit import kernel
from palpate.jit.six import no_six, plus, plus_times, put_six, six

FEWEST = 4  # slots of a tree from which it may be reduced
RANK_FLOOR = 1e-14  # of the largest diagonal left when the factor began: what is smaller is rounding


@kernel
def root_of_table(r, first, count, columns):
    """R of Om = R R^T of a tree, (6 count, columns) in `root`; the columns that Om has, -1: more than there is room."""
    n, at = 6 * count, r.table_at[first]
    largest = 0.0
    for i in range(n):
        r.left[i] = r.table[at + i * (n + 1)]
        largest = max(largest, r.left[i])
    for k in range(columns + 1):
        p = 0
        for i in range(1, n):
            if r.left[i] > r.left[p]:
                p = i
        if not r.left[p] > RANK_FLOOR * largest:
            for i in range(n):
                for j in range(k, columns):
                    r.root[at + i * columns + j] = 0.0
            return k
        if k == columns:
            return -1
        top = math.sqrt(r.left[p])
        for i in range(n):
            x = r.table[at + p * n + i]
            for j in range(k):
                x -= r.root[at + i * columns + j] * r.root[at + p * columns + j]
            r.root[at + i * columns + k] = x / top
            r.left[i] -= (x / top) * (x / top)
        r.left[p] = 0.0
    return -1


@kernel
def number_nodes(r, slots_begin, slots_end):
    """Nodes for the slots of an island, tree by tree; returns how many."""
    n, k = 0, slots_begin
    while k < slots_end:
        s = r.island_slots[k]
        count = r.slot_count[s]
        nodes = (r.tree_axes[r.slot_link[s]] + 5) // 6
        reduced = count >= FEWEST and nodes < count and root_of_table(r, s, count, 6 * nodes) >= 0
        for e in range(s, s + count):
            r.slot_nodes[e] = nodes if reduced else 0
            r.local[e] = n
            n += not reduced
        n += nodes * reduced
        k += count
    r.n_nodes = n
    return n


@kernel
def add_piece(r, node):
    """Room for the next piece of a row, cleared."""
    at = r.n_pieces
    r.n_pieces = at + 1
    r.piece_node[at] = node
    for c in range(0, 18, 6):
        put_six(r.piece, at, c, no_six())
    return at


@kernel
def fill_piece(r, i, side, at, k):
    """Add to a piece what side `side` of row i does to its node; k: which of the nodes of a reduced tree."""
    s = r.slot[2 * i + side]
    if r.slot_nodes[s] == 0:
        for c in range(0, 18, 6):
            put_six(r.piece, at, c, plus(six(r.piece, at, c), six(r.J, i, 18 * side + c)))
        return
    first = r.slot_first[s]
    columns = 6 * r.slot_nodes[s]
    base = r.table_at[first] + 6 * (s - first) * columns + 6 * k
    for c in range(3):
        x = six(r.piece, at, 6 * c)
        for j in range(6):
            x = plus_times(x, r.J[i, 18 * side + 6 * c + j], six(r.root, 0, base + j * columns))
        put_six(r.piece, at, 6 * c, x)


@kernel
def cut_pieces(r, begin, end):
    """The Jacobians of an island's rows on its nodes; False if there is no room."""
    r.n_pieces = 0
    for k in range(begin, end):
        i = r.order[k]
        r.piece_begin[k - begin] = r.n_pieces
        for side in range(2):
            s = r.slot[2 * i + side]
            other = r.slot[2 * i] if side else 0
            if s == 0:
                continue
            nodes = max(r.slot_nodes[s], 1)
            if r.n_pieces + nodes > r.piece.shape[0]:
                return False
            if other and r.local[other] == r.local[s]:  # both links in one reduced tree: one set of pieces
                for e in range(nodes):
                    fill_piece(r, i, side, r.piece_begin[k - begin] + e, e)
            else:
                for e in range(nodes):
                    fill_piece(r, i, side, add_piece(r, r.local[s] + e), e)
    r.piece_begin[end - begin] = r.n_pieces
    return True


@kernel
def impulses_to_nodes(r, slots_begin, slots_end):
    """y <- P of bodies by themselves, Om P of other slots that are nodes, R^T P of reduced trees."""
    for k in range(r.n_nodes):
        put_six(r.y, 0, 6 * k, no_six())
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        first, nodes = r.slot_first[s], r.slot_nodes[s]
        f = 6 * s
        if r.alone[r.slot_link[s]]:
            put_six(r.y, 0, 6 * r.local[s], six(r.P, 0, f))
        elif nodes == 0:
            width, at, to = 6 * r.slot_count[s], r.table_at[s], 6 * r.local[first]
            for j in range(0, width, 6):
                x = six(r.y, 0, to + j)
                for c in range(6):  # by columns of Om, which is symmetric
                    x = plus_times(x, r.P[f + c], six(r.table, 0, at + c * width + j))
                put_six(r.y, 0, to + j, x)
        else:
            columns, to = 6 * nodes, 6 * r.local[s]
            at = r.table_at[first] + 6 * (s - first) * columns
            for j in range(0, columns, 6):
                x = six(r.y, 0, to + j)
                for c in range(6):
                    x = plus_times(x, r.P[f + c], six(r.root, 0, at + c * columns + j))
                put_six(r.y, 0, to + j, x)


@kernel
def nodes_to_twists(r, slots_begin, slots_end):
    """dW of the slots from y."""
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        first, nodes, at = r.slot_first[s], r.slot_nodes[s], 6 * r.local[s]
        if nodes == 0:
            put_six(r.dW, 0, 6 * s, six(r.y, 0, at))
            continue
        columns = 6 * nodes
        base = r.table_at[first] + 6 * (s - first) * columns
        for c in range(6):
            x = 0.0
            for j in range(columns):
                x += r.root[base + c * columns + j] * r.y[at + j]
            r.dW[6 * s + c] = x
