"""The linear system of Newton and ADMM, N dW = rhs with N = 1 + Om K, by blocks of 6 x 6 and only where there are any.

K = sum J^T A J couples the slots of each row, Om those of each tree: a stack of boxes is a band, a pile a sparse graph.
`analyse` finds, once per island, an order of elimination that keeps it sparse (minimum degree) and a place for every
block, those that fill in counted; `factor` and `substitute` are then plain block elimination, George & Liu 1981.

block[i n + j]  place in N and K of the block between the i-th and j-th slot of the island, -1: none
in_K            whether a block of K is not zero
later           for each slot in the order of elimination, its neighbours that come after it
"""

from palpate.contact.rows import LATER, load_rows
from palpate.contact.sweeps import move
from palpate.jit import kernel, shared
from palpate.jit.six import no_six, plus_times, put_six, six, times, with_lane
from palpate.spatial.vectors import get9

MOST_WORK = 12_000  # products of blocks in one factor, about 1.5 ms; beyond it the island is swept


@kernel
def couple(r, n, i, j):
    """Note that slots i and j of the island are neighbours."""
    if i != j and r.block[i * n + j] < 0:
        r.block[i * n + j] = r.block[j * n + i] = 0
        r.degree[i] += 1
        r.degree[j] += 1


@kernel
def pattern(r, begin, end, slots_begin, n):
    """Who is a neighbour of whom: slots of one row, and slots that a row joins to one's tree."""
    for i in range(n):
        r.degree[i] = 0
        for j in range(n):
            r.block[i * n + j] = -1
    for i in range(n):
        s = r.island_slots[slots_begin + i]
        for j in range(i + 1, i + r.slot_first[s] + r.slot_count[s] - s):  # the rest of its tree comes right after it
            couple(r, n, i, j)
    for k in range(begin, end):
        a, b = r.slot[2 * r.order[k]], r.slot[2 * r.order[k] + 1]
        if a == 0 or b == 0:
            continue
        for s in range(r.slot_first[a], r.slot_first[a] + r.slot_count[a]):
            couple(r, n, r.local[s], r.local[b])
        for s in range(r.slot_first[b], r.slot_first[b] + r.slot_count[b]):
            couple(r, n, r.local[s], r.local[a])


@kernel
def least_degree(r, n):
    best, least = 0, 1 << 40
    for i in range(n):
        if r.degree[i] < least:
            best, least = i, r.degree[i]
    return best


@shared("int64(intp, intp, intp, intp, intp)")
def analyse(address, begin, end, slots_begin, slots_end):
    """Order and places for the blocks of an island; the products of blocks in one factor, 0: too many, or no room."""
    (r,) = load_rows(address)
    n = slots_end - slots_begin
    if n * n > r.block.shape[0]:
        return 0
    pattern(r, begin, end, slots_begin, n)
    places, used, work = 0, 0, 0
    for step in range(n):
        p = least_degree(r, n)
        r.degree[p] = 1 << 41  # out
        r.eliminated[step] = p
        r.later_begin[step] = used
        count = 0
        for j in range(n):
            if r.block[p * n + j] >= 0 and r.degree[j] <= 1 << 40:
                count += 1
        if places + 1 + 2 * count > r.N.shape[0] or used + count > r.later.shape[0]:
            return 0
        for j in range(n):
            if r.block[p * n + j] >= 0 and r.degree[j] <= 1 << 40:
                r.later[used] = j
                used += 1
                r.degree[j] -= 1
        for x in range(used - count, used):  # its neighbours become neighbours of each other
            for y in range(x + 1, used):
                couple(r, n, r.later[x], r.later[y])
        r.block[p * n + p] = places
        places += 1
        for x in range(used - count, used):
            r.block[p * n + r.later[x]], r.block[r.later[x] * n + p] = places, places + 1
            places += 2
        work += 1 + count * (count + 1)
    r.later_begin[n] = used
    r.integer[LATER] = places
    return work if work <= MOST_WORK else 0


@kernel
def add_product(C, c, A, a, B, b, sign):
    """C_c += sign A_a B_b, blocks of 6 x 6."""
    for i in range(6):
        x = six(C, c, 6 * i)
        for k in range(6):
            x = plus_times(x, sign * A[a, 6 * i + k], six(B, b, 6 * k))
        put_six(C, c, 6 * i, x)


@kernel
def stiffness(r, begin, end, n):
    """K = sum J^T A J, A the 3 x 3 matrix of each row in MDE."""
    for k in range(r.integer[LATER]):
        r.in_K[k] = 0
        for c in range(0, 36, 6):
            put_six(r.K, k, c, no_six())
    for k in range(begin, end):
        i = r.order[k]
        A = get9(r.MDE, i)
        for other in range(2):
            t, b = r.slot[2 * i + other], 18 * other
            if t == 0:
                continue
            x, y, z = six(r.J, i, b), six(r.J, i, b + 6), six(r.J, i, b + 12)
            AJ_n = plus_times(plus_times(times(A[0], x), A[1], y), A[2], z)
            AJ_1 = plus_times(plus_times(times(A[3], x), A[4], y), A[5], z)
            AJ_2 = plus_times(plus_times(times(A[6], x), A[7], y), A[8], z)
            for side in range(2):
                s, a = r.slot[2 * i + side], 18 * side
                if s:
                    at = r.block[r.local[s] * n + r.local[t]]
                    r.in_K[at] = 1
                    for d in range(6):
                        row = plus_times(six(r.K, at, 6 * d), r.J[i, a + d], AJ_n)
                        row = plus_times(plus_times(row, r.J[i, a + 6 + d], AJ_1), r.J[i, a + 12 + d], AJ_2)
                        put_six(r.K, at, 6 * d, row)


@kernel
def system(r, slots_begin, n):
    """N = 1 + Om K."""
    for k in range(r.integer[LATER]):
        for c in range(0, 36, 6):
            put_six(r.N, k, c, no_six())
    for i in range(n):
        s = r.island_slots[slots_begin + i]
        first, count = r.slot_first[s], r.slot_count[s]
        width, base = 6 * count, i - (s - first)
        diagonal = r.block[i * n + i]
        for c in range(6):
            r.N[diagonal, 7 * c] = 1.0
        for e in range(count):  # rows of K from each slot of the tree
            at = r.table_at[s] + 6 * e
            for j in range(n):
                source, goal = r.block[(base + e) * n + j], r.block[i * n + j]
                if source < 0 or goal < 0 or r.in_K[source] == 0:
                    continue
                for row in range(6):
                    x = six(r.N, goal, 6 * row)
                    for k in range(6):
                        x = plus_times(x, r.table[at + row * width + k], six(r.K, source, 6 * k))
                    put_six(r.N, goal, 6 * row, x)


@kernel
def invert(N, b):
    """N_b <- its inverse, Gauss-Jordan with pivoting by rows; False if singular."""
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
    """N from the rows' 3 x 3 matrices in MDE, eliminated in the order that `analyse` found; False if singular."""
    (r,) = load_rows(address)
    n = slots_end - slots_begin
    stiffness(r, begin, end, n)
    system(r, slots_begin, n)
    for step in range(n):
        p = r.eliminated[step]
        pp = r.block[p * n + p]
        if not invert(r.N, pp):
            return False
        for x in range(r.later_begin[step], r.later_begin[step + 1]):
            i = r.later[x]
            ip = r.block[i * n + p]
            for c in range(0, 36, 6):
                put_six(r.F, 0, c, six(r.N, ip, c))
                put_six(r.N, ip, c, no_six())
            add_product(r.N, ip, r.F, 0, r.N, pp, 1.0)  # the multiplier, in the place of what it takes out
            for y in range(r.later_begin[step], r.later_begin[step + 1]):
                j = r.later[y]
                add_product(r.N, r.block[i * n + j], r.N, ip, r.N, r.block[p * n + j], -1.0)
    return True


@kernel
def subtract_product(r, b, to, x):
    """dW_to -= N_b dW_x, by slots."""
    for i in range(6):
        value = 0.0
        for k in range(6):
            value += r.N[b, 6 * i + k] * r.dW[6 * x + k]
        r.dW[6 * to + i] -= value


@kernel
def substitute(r, slots_begin, slots_end):
    """dW <- N^-1 dW."""
    n = slots_end - slots_begin
    for step in range(n):
        p = r.eliminated[step]
        for x in range(r.later_begin[step], r.later_begin[step + 1]):
            i = r.later[x]
            subtract_product(r, r.block[i * n + p], r.island_slots[slots_begin + i], r.island_slots[slots_begin + p])
    for step in range(n - 1, -1, -1):
        p = r.eliminated[step]
        s = r.island_slots[slots_begin + p]
        for x in range(r.later_begin[step], r.later_begin[step + 1]):
            j = r.later[x]
            subtract_product(r, r.block[p * n + j], s, r.island_slots[slots_begin + j])
        b = r.block[p * n + p]
        for i in range(6):
            value = 0.0
            for k in range(6):
                value += r.N[b, 6 * i + k] * r.dW[6 * s + k]
            r.F[0, i] = value
        for i in range(6):
            r.dW[6 * s + i] = r.F[0, i]


@kernel
def respond(r, slots_begin, slots_end):
    """dW <- Om P: what the impulses P do to the twists of an island."""
    for k in range(slots_begin, slots_end):
        put_six(r.dW, 0, 6 * r.island_slots[k], no_six())
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        move(r, s, six(r.P, 0, 6 * s), r.dW)


@kernel
def clear_impulses(r, slots_begin, slots_end):
    for k in range(slots_begin, slots_end):
        put_six(r.P, 0, 6 * r.island_slots[k], no_six())
