"""From what touches to rows: directions, Jacobians on the twists of slots, own blocks G.

x  point of contact from the reference point of a link's tree: a direction d there reads (x cross d) . w + d . v
"""

from palpate.contact.rows import CONTACT, DRY, IDLE, LIMIT, PREPARED
from palpate.contact.single import prepare
from palpate.conventions import WORLD
from palpate.jit import kernel
from palpate.jit.six import inner, no_six, plus_times, put_six, six
from palpate.spatial.vectors import cross, dot, get3, put3, scale, sub

ZERO = (0.0, 0.0, 0.0)
# A contact whose G_nn is below this part of what its links' mobility could make it cannot be moved along its normal:
# its lever is a millionth of the lengths it is made of, far below what positions mean, far above rounding (1e-32).
IMMOBILE = 1e-12


@kernel
def tangents(n):
    """Two unit vectors across n, right-handed (n, t1, t2); continuous except where n is along -z."""
    # Duff et al. 2017, with the sign taken so that a floor's tangents are x and y
    sign = 1.0 if n[2] >= 0.0 else -1.0
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    return (1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]), (b, sign + n[1] * n[1] * a, -n[1])


@kernel
def put_direction(r, i, side, row, x, d):
    """A row of J that reads the velocity along d of the point x."""
    at = 18 * side + 6 * row
    moment = cross(x, d)
    for c in range(3):
        r.J[i, at + c] = moment[c]
        r.J[i, at + 3 + c] = d[c]


@kernel
def put_point(m, w, r, i, side, link, point, n, t1, t2):
    """Three directions at a point of a link; zero for the world, which does not move."""
    if link == WORLD:
        for c in range(18):
            r.J[i, 18 * side + c] = 0.0
        return
    x = sub(point, get3(w.origin, m.root[link]))
    sign = 1.0 if side else -1.0
    put_direction(r, i, side, 0, x, scale(sign, n))
    put_direction(r, i, side, 1, x, scale(sign, t1))
    put_direction(r, i, side, 2, x, scale(sign, t2))


@kernel
def put_axis(r, i, side, link, n, t):
    """One row: n on the angular, t on the linear velocity."""
    at, sign = 18 * side, 1.0 if side else -1.0
    for c in range(18):
        r.J[i, at + c] = 0.0
    if link != WORLD:
        for c in range(3):
            r.J[i, at + c] = sign * n[c]
            r.J[i, at + 3 + c] = sign * t[c]


@kernel
def begin_row(r, kind, link_a, link_b):
    """A new row between two links, without friction, offset or push; -1 if there is no room."""
    i = r.n_rows
    if i >= r.kind.shape[0]:
        return -1
    r.n_rows = i + 1
    r.kind[i] = kind
    r.slot[2 * i], r.slot[2 * i + 1] = link_a, link_b  # links for now; `number_slots` makes slots of them
    r.link_slot[link_a] = 1
    r.link_slot[link_b] = 1
    r.mu[i] = 0.0
    r.bound[i] = 0.0
    r.elastic[i] = 0
    r.watched[i] = 0
    put3(r.offset, i, ZERO)
    put3(r.push, i, ZERO)
    put3(r.lam, i, ZERO)
    return i


@kernel
def number_slots(r):
    r.link_slot[WORLD] = 0
    for k in range(2 * r.n_kept, 2 * r.n_rows):
        r.slot[k] = r.link_slot[r.slot[k]]


@kernel
def times_block(r, i, at, s, t):
    """(J_row Om_st) as six numbers, J's row beginning at column `at`; s, t slots of one tree."""
    width = 6 * r.slot_count[s]
    block = r.table_at[s] + 6 * (t - r.slot_first[s])
    y = no_six()
    for k in range(6):
        y = plus_times(y, r.J[i, at + k], six(r.table, 0, block + k * width))
    return y


@kernel
def own_block(r, i):
    """G = J Om J^T of a row: nn, 11, 22, n1, n2, 12; and Y = Om J^T of either side."""
    G = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for side in range(2):
        for other in range(2):
            s, t = r.slot[2 * i + side], r.slot[2 * i + other]
            if s == 0 or t == 0 or r.slot_first[s] != r.slot_first[t]:
                continue  # the world does not move, and trees feel each other only through rows
            a, b = 18 * side, 18 * other
            y0, y1, y2 = times_block(r, i, a, s, t), times_block(r, i, a + 6, s, t), times_block(r, i, a + 12, s, t)
            if side == other:
                put_six(r.Y, i, a, y0)
                put_six(r.Y, i, a + 6, y1)
                put_six(r.Y, i, a + 12, y2)
            n, t1, t2 = six(r.J, i, b), six(r.J, i, b + 6), six(r.J, i, b + 12)
            G = (G[0] + inner(n, y0), G[1] + inner(t1, y1), G[2] + inner(t2, y2),
                 G[3] + inner(t1, y0), G[4] + inner(t2, y0), G[5] + inner(t2, y1))  # fmt: skip
    return G


@kernel
def floats(r, i):
    """Whether one side of row i floats freely and the other is no part of its tree: its mass can always be pushed."""
    a, b = r.slot[2 * i], r.slot[2 * i + 1]
    apart = r.slot_first[a] != r.slot_first[b]
    return apart and (r.floating[r.slot_link[a]] != 0 or r.floating[r.slot_link[b]] != 0)


@kernel
def gross_mobility(r, i):
    """A bound of G_nn that no lever enters: |x|^2 tr(Om turning) + tr(Om moving) of both sides, x the point's place."""
    gross = 0.0
    for side in range(2):
        s, at = r.slot[2 * i + side], 18 * side
        if s == 0:
            continue
        width = 6 * r.slot_count[s]
        own = r.table_at[s] + 6 * (s - r.slot_first[s])
        xx = 0.0  # |x cross d|^2 over three directions d is 2 |x|^2
        for c in range(3):
            for row in range(0, 18, 6):
                xx += 0.5 * r.J[i, at + row + c] * r.J[i, at + row + c]
        for c in range(3):
            gross += xx * r.table[own + c * (width + 1)] + r.table[own + (c + 3) * (width + 1)]
    return gross


@kernel
def own_blocks(r):
    """G of every row, and what the local solve wants to know of it; contacts that nothing can move become idle."""
    for i in range(r.n_kept, r.n_rows):
        G = own_block(r, i)
        if r.kind[i] == CONTACT and not floats(r, i) and not G[0] > IMMOBILE * gross_mobility(r, i):
            r.kind[i] = IDLE
            put3(r.lam, i, ZERO)
            put3(r.u, i, ZERO)
        for c in range(6):
            r.G[i, c] = G[c]
        trace = G[0] + G[1] + G[2]
        scalar = r.kind[i] == LIMIT or r.kind[i] == DRY
        r.scale[i] = trace if scalar else trace / 3.0
        prepared = prepare(G)
        for c in range(PREPARED):
            r.prepared[i, c] = prepared[c]


@kernel
def in_frame(n, t1, t2, x):
    return (dot(n, x), dot(t1, x), dot(t2, x))
