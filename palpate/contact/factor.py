"""The linear system of Newton and ADMM, N y = rhs, by blocks of 6 x 6 and only where there are any.

Nodes and what rows do to them are in unknowns.py.  K = sum J^T A J couples the nodes of each row; N has the rows of
    Om^-1 + K  where nodes are the twists of bodies by themselves,
    1 + Om K   where they are those of a tree, whose Om may have no inverse,
    1 + K      where they are the y of a reduced tree.
A stack of boxes is a band, a pile a sparse graph; ordering.py finds, once per island, an order of elimination that
keeps it sparse and a place for every block.  `factor` and `respond` are then plain block elimination.  Rows that are
open resist nothing: blocks that are zero for now are passed.

in_N  whether a block of N is not zero
"""

from palpate.contact.cone import ZERO9
from palpate.contact.ordering import coupled
from palpate.contact.rows import load_rows
from palpate.contact.unknowns import impulses_to_nodes, nodes_to_twists
from palpate.jit import kernel, shared
from palpate.jit.six import inner, lane, no_six, plus, plus_times, put_six, six, times, with_lane
from palpate.spatial.vectors import get9

SAFE = 1e-10  # of its diagonal: what a pivot must have left


@kernel
def block_rows(N, b):
    """Six rows, in registers."""
    return six(N, b, 0), six(N, b, 6), six(N, b, 12), six(N, b, 18), six(N, b, 24), six(N, b, 30)


@kernel
def add_product(C, c, A, a, B, b, sign):
    """C_c += sign A_a B_b, blocks of 6 x 6."""
    b0, b1, b2, b3, b4, b5 = block_rows(B, b)
    for i in range(6):
        k = 6 * i
        x = plus_times(plus_times(six(C, c, k), sign * A[a, k], b0), sign * A[a, k + 1], b1)
        x = plus_times(plus_times(x, sign * A[a, k + 2], b2), sign * A[a, k + 3], b3)
        put_six(C, c, k, plus_times(plus_times(x, sign * A[a, k + 4], b4), sign * A[a, k + 5], b5))


@kernel
def stiffness(r, begin, end, n):
    """N = K = sum J^T A J over the pieces of the rows, A the 3 x 3 matrix of each row in MN."""
    for b in range(r.n_blocks):
        r.in_N[b] = 0
        for c in range(0, 36, 6):
            put_six(r.N, b, c, no_six())
    for k in range(begin, end):
        A = get9(r.MN, r.order[k])
        if A == ZERO9:
            continue
        for p in range(r.piece_begin[k - begin], r.piece_begin[k - begin + 1]):
            x, y, z = six(r.piece, p, 0), six(r.piece, p, 6), six(r.piece, p, 12)
            AJ_n = plus_times(plus_times(times(A[0], x), A[1], y), A[2], z)
            AJ_1 = plus_times(plus_times(times(A[3], x), A[4], y), A[5], z)
            AJ_2 = plus_times(plus_times(times(A[6], x), A[7], y), A[8], z)
            for q in range(r.piece_begin[k - begin], r.piece_begin[k - begin + 1]):
                at = r.block[r.piece_node[q] * n + r.piece_node[p]]
                r.in_N[at] = 1
                for d in range(6):
                    row = plus_times(six(r.N, at, 6 * d), r.piece[q, d], AJ_n)
                    row = plus_times(plus_times(row, r.piece[q, 6 + d], AJ_1), r.piece[q, 12 + d], AJ_2)
                    put_six(r.N, at, 6 * d, row)


@kernel
def take_column(r, base, count, j, n):
    """F <- the blocks of N between nodes base .. base + count and node j; False if all are zero."""
    found = False
    for e in range(count):
        b = r.block[(base + e) * n + j] if coupled(r, base + e, j) else -1
        some = b >= 0 and r.in_N[b] != 0
        found = found or some
        for c in range(0, 36, 6):
            put_six(r.F, e, c, six(r.N, b, c) if some else no_six())
    return found


@kernel
def times_table(r, s, n):
    """Rows K of the tree that begins with slot s -> 1 + Om K."""
    base, count = r.local[s], r.slot_count[s]
    for j in range(n):
        if coupled(r, base, j) and take_column(r, base, count, j, n):
            for d in range(count):
                goal = r.block[(base + d) * n + j]
                r.in_N[goal] = 1
                for row in range(6):
                    at, x = r.table_at[s + d] + 6 * row * count, no_six()
                    for e in range(count):
                        for k in range(6):
                            x = plus_times(x, r.table[at + 6 * e + k], six(r.F, e, 6 * k))
                    put_six(r.N, goal, 6 * row, x)
    for i in range(base, base + count):
        add_ones(r, r.block[i * n + i])


@kernel
def add_ones(r, b):
    r.in_N[b] = 1
    for c in range(6):
        r.N[b, 7 * c] += 1.0


@kernel
def system(r, slots_begin, slots_end, n):
    """N from K, where it is."""
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        i, link = r.local[s], r.slot_link[s]
        if r.alone[link]:
            b = r.block[i * n + i]
            r.in_N[b] = 1
            for c in range(0, 36, 6):
                put_six(r.N, b, c, plus(six(r.N, b, c), six(r.inertia, link, c)))
        elif s != r.slot_first[s]:
            continue
        elif r.slot_nodes[s] == 0:
            times_table(r, s, n)
        else:
            for node in range(i, i + r.slot_nodes[s]):
                add_ones(r, r.block[node * n + node])


@kernel
def jordan(x, k):
    """Take variable k out of six rows by the first of them, which becomes the last: six times, and all is as it was."""
    row = times(1.0 / lane(x[0], k), with_lane(x[0], k, 1.0))
    return (reduced(x[1], k, row), reduced(x[2], k, row), reduced(x[3], k, row), reduced(x[4], k, row),
            reduced(x[5], k, row), row)  # fmt: skip


@kernel
def reduced(x, k, row):
    return plus_times(with_lane(x, k, 0.0), -lane(x, k), row)


@kernel
def invert(N, b):
    """N_b <- its inverse, in registers: Gauss and Jordan without pivoting; False, and N_b as it was, if that is unsafe.

    Inertia and stiffness are positive but for the skew part that sliding brings: pivots are, as a rule, too.
    """
    x = block_rows(N, b)
    if not lane(x[0], 0) > 0.0:
        return False
    x = jordan(x, 0)  # not in a loop: places in registers are constants
    if not lane(x[0], 1) > SAFE * N[b, 7]:
        return False
    x = jordan(x, 1)
    if not lane(x[0], 2) > SAFE * N[b, 14]:
        return False
    x = jordan(x, 2)
    if not lane(x[0], 3) > SAFE * N[b, 21]:
        return False
    x = jordan(x, 3)
    if not lane(x[0], 4) > SAFE * N[b, 28]:
        return False
    x = jordan(x, 4)
    if not lane(x[0], 5) > SAFE * N[b, 35]:
        return False
    x = jordan(x, 5)
    for row in range(6):
        put_six(N, b, 6 * row, x[row])
    return True


@kernel
def invert_pivoting(N, b):
    """The same with pivoting by rows; False if singular."""
    p0, p1, p2, p3, p4, p5 = 0, 1, 2, 3, 4, 5
    for k in range(6):
        pivot, big = k, abs(N[b, 7 * k])
        for i in range(k + 1, 6):
            if abs(N[b, 6 * i + k]) > big:
                pivot, big = i, abs(N[b, 6 * i + k])
        if not big > 0.0:
            return False
        if k == 0:
            p0 = pivot
        elif k == 1:
            p1 = pivot
        elif k == 2:
            p2 = pivot
        elif k == 3:
            p3 = pivot
        elif k == 4:
            p4 = pivot
        else:
            p5 = pivot
        if pivot != k:
            for j in range(6):
                N[b, 6 * k + j], N[b, 6 * pivot + j] = N[b, 6 * pivot + j], N[b, 6 * k + j]
        row = times(1.0 / N[b, 7 * k], with_lane(six(N, b, 6 * k), k, 1.0))
        put_six(N, b, 6 * k, row)
        for i in range(6):
            if i != k:
                put_six(N, b, 6 * i, plus_times(with_lane(six(N, b, 6 * i), k, 0.0), -N[b, 6 * i + k], row))
    for k in range(5, -1, -1):  # rows were exchanged, so columns are now
        pivot = (p0, p1, p2, p3, p4, p5)[k]
        if pivot != k:
            for i in range(6):
                N[b, 6 * i + k], N[b, 6 * i + pivot] = N[b, 6 * i + pivot], N[b, 6 * i + k]
    return True


@shared("int64(intp, intp, intp, intp, intp)")
def factor(address, begin, end, slots_begin, slots_end):
    """N from the rows' 3 x 3 matrices in MN, eliminated in the order that ordering.py found; False if singular."""
    (r,) = load_rows(address)
    n = r.n_nodes
    stiffness(r, begin, end, n)
    system(r, slots_begin, slots_end, n)
    for step in range(n):
        p = r.eliminated[step]
        pp = r.block[p * n + p]
        if not invert(r.N, pp) and not invert_pivoting(r.N, pp):
            return False
        for x in range(r.later_begin[step], r.later_begin[step + 1]):
            i = r.later[x]
            ip = r.block[i * n + p]
            if r.in_N[ip] == 0:
                continue
            for c in range(0, 36, 6):
                put_six(r.F, 0, c, six(r.N, ip, c))
                put_six(r.N, ip, c, no_six())
            add_product(r.N, ip, r.F, 0, r.N, pp, 1.0)  # the multiplier, in the place of what it takes out
            for y in range(r.later_begin[step], r.later_begin[step + 1]):
                pj, ij = r.block[p * n + r.later[y]], r.block[i * n + r.later[y]]
                if r.in_N[pj]:
                    r.in_N[ij] = 1
                    add_product(r.N, ij, r.N, ip, r.N, pj, -1.0)
    return True


@kernel
def subtract_product(r, b, to, x):
    """y_to -= N_b y_x, by nodes."""
    if r.in_N[b]:
        y = six(r.y, 0, 6 * x)
        for i in range(6):
            r.y[6 * to + i] -= inner(six(r.N, b, 6 * i), y)


@kernel
def substitute(r):
    """y <- N^-1 y."""
    n = r.n_nodes
    for step in range(n):
        p = r.eliminated[step]
        for x in range(r.later_begin[step], r.later_begin[step + 1]):
            subtract_product(r, r.block[r.later[x] * n + p], r.later[x], p)
    for step in range(n - 1, -1, -1):
        p = r.eliminated[step]
        for x in range(r.later_begin[step], r.later_begin[step + 1]):
            subtract_product(r, r.block[p * n + r.later[x]], p, r.later[x])
        y, b = six(r.y, 0, 6 * p), r.block[p * n + p]
        for i in range(6):
            r.y[6 * p + i] = inner(six(r.N, b, 6 * i), y)


@kernel
def respond(r, slots_begin, slots_end):
    """dW <- (1 + Om K)^-1 Om P: the twists that impulses P make where rows resist with K."""
    impulses_to_nodes(r, slots_begin, slots_end)
    substitute(r)
    nodes_to_twists(r, slots_begin, slots_end)


@kernel
def clear_impulses(r, slots_begin, slots_end):
    for k in range(slots_begin, slots_end):
        put_six(r.P, 0, 6 * r.island_slots[k], no_six())
