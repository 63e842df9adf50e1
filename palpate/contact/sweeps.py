"""Gauss-Seidel on twists: each row reads its velocity from its links' twists, is solved by itself, and moves them.

The (3m x 3m) matrix of all contacts is never formed; a row costs as much as its tree has touching links.
"""

from palpate.contact.cone import project, shifted
from palpate.contact.rows import CONTACT, DRY, LIMIT
from palpate.contact.single import impulse, own_velocity, solve_prepared
from palpate.jit import kernel
from palpate.jit.six import lane, no_six, plus, plus_times, put_six, six, times
from palpate.spatial.vectors import get3, put3, sub


@kernel
def row_times(r, i, at, W, b):
    return (r.J[i, at] * W[b] + r.J[i, at + 1] * W[b + 1] + r.J[i, at + 2] * W[b + 2]
            + r.J[i, at + 3] * W[b + 3] + r.J[i, at + 4] * W[b + 4] + r.J[i, at + 5] * W[b + 5])  # fmt: skip


@kernel
def relative(r, i, W):
    """J W of row i."""
    u = (0.0, 0.0, 0.0)
    for side in range(2):
        b, at = 6 * r.slot[2 * i + side], 18 * side
        if b:
            u = (u[0] + row_times(r, i, at, W, b), u[1] + row_times(r, i, at + 6, W, b),
                 u[2] + row_times(r, i, at + 12, W, b))  # fmt: skip
    return u


@kernel
def normal_velocity(r, i, W):
    """The first component of J W of row i."""
    u = 0.0
    for side in range(2):
        b = 6 * r.slot[2 * i + side]
        if b:
            u += row_times(r, i, 18 * side, W, b)
    return u


@kernel
def wrench(r, i, at, l):
    """J^T l of one side of row i."""
    return plus_times(plus_times(times(l[0], six(r.J, i, at)), l[1], six(r.J, i, at + 6)), l[2], six(r.J, i, at + 12))


@kernel
def add_wrench(r, i, l, P):
    """P += J^T l: (moment, impulse) on both slots of row i; that of the world is nobody's."""
    for side in range(2):
        p, at = 6 * r.slot[2 * i + side], 18 * side
        if p:
            put_six(P, 0, p, plus(six(P, 0, p), wrench(r, i, at, l)))


@kernel
def move(r, s, f, W):
    """W += Om f for an impulse f on slot s: all slots of its tree move."""
    width, at, first = 6 * r.slot_count[s], r.table_at[s], 6 * r.slot_first[s]
    for j in range(0, width, 6):
        x = six(W, 0, first + j)
        for k in range(6):  # by columns of Om, which is symmetric
            x = plus_times(x, lane(f, k), six(r.table, 0, at + k * width + j))
        put_six(W, 0, first + j, x)


@kernel
def apply_row(r, i, l, W):
    """W += Om J^T l for an impulse l of row i."""
    for side in range(2):
        s, at = r.slot[2 * i + side], 18 * side
        if s == 0:
            continue
        if r.slot_count[s] == 1:  # a link that moves no other: Om J^T is at hand
            x = plus_times(plus_times(six(W, 0, 6 * s), l[0], six(r.Y, i, at)), l[1], six(r.Y, i, at + 6))
            put_six(W, 0, 6 * s, plus_times(x, l[2], six(r.Y, i, at + 12)))
        else:
            move(r, s, wrench(r, i, at, l), W)


@kernel
def apply_normal(r, i, l, W):
    """The same for an impulse along the normal alone."""
    for side in range(2):
        s, at = r.slot[2 * i + side], 18 * side
        if s == 0:
            continue
        if r.slot_count[s] == 1:
            put_six(W, 0, 6 * s, plus_times(six(W, 0, 6 * s), l, six(r.Y, i, at)))
        else:
            move(r, s, times(l, six(r.J, i, at)), W)


@kernel
def gather(r, begin, end, slots_begin, slots_end):
    """P and W of an island anew from its impulses: W = W_free + Om sum J^T l."""
    for k in range(slots_begin, slots_end):
        p = 6 * r.island_slots[k]
        put_six(r.P, 0, p, no_six())
        put_six(r.W, 0, p, six(r.W_free, 0, p))
    for k in range(begin, end):
        add_wrench(r, r.order[k], get3(r.lam, r.order[k]), r.P)
    for k in range(slots_begin, slots_end):
        s = r.island_slots[k]
        move(r, s, six(r.P, 0, 6 * s), r.W)


@kernel
def local_solve(r, i, c, warm):
    """Row i by itself: its impulse under velocities c without it."""
    kind = r.kind[i]
    if kind == LIMIT:
        return (max(0.0, -c[0] / r.G[i, 0]), 0.0, 0.0)
    if kind == DRY:
        return (min(max(-c[0] / r.G[i, 0], -r.bound[i]), r.bound[i]), 0.0, 0.0)
    x = r.prepared
    prepared = (x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5], x[i, 6])
    if kind == CONTACT:
        l, several = solve_prepared(prepared, c, r.mu[i], warm)
        r.multi_roots += several
        return l
    # held in all three directions: -G^-1 c
    inv, r1, r2, _, _, cos, sin = prepared
    y1, y2 = cos * c[1] + sin * c[2] - r1 * c[0], cos * c[2] - sin * c[1] - r2 * c[0]
    n, l1, l2, _ = impulse(prepared, -c[0] * inv, y1, y2, 0.0)
    return (n, cos * l1 - sin * l2, sin * l1 + cos * l2)


@kernel
def sweep(r, begin, end):
    """Every row of an island once."""
    for k in range(begin, end):
        i = r.order[k]
        old = get3(r.lam, i)
        u = relative(r, i, r.W)
        G = (r.G[i, 0], r.G[i, 1], r.G[i, 2], r.G[i, 3], r.G[i, 4], r.G[i, 5])
        own = own_velocity(G, old)
        c = (u[0] + r.offset[i, 0] - own[0], u[1] + r.offset[i, 1] - own[1], u[2] + r.offset[i, 2] - own[2])
        new = local_solve(r, i, c, old)
        d = sub(new, old)
        if d[0] != 0.0 or d[1] != 0.0 or d[2] != 0.0:
            put3(r.lam, i, new)
            apply_row(r, i, d, r.W)


@kernel
def allowed(r, i, x, unit):
    """The nearest impulse that row i allows, both in units of 1 / unit N s."""
    kind = r.kind[i]
    if kind == CONTACT:
        return project(x, r.mu[i])
    if kind == LIMIT:
        return (max(x[0], 0.0), 0.0, 0.0)
    if kind == DRY:
        bound = unit * r.bound[i]
        return (min(max(x[0], -bound), bound), 0.0, 0.0)
    return x


@kernel
def row_target(r, i, l, u):
    """What the natural map compares l with: l - u~ / g brought back to what the row allows; mu is 0 but of contacts."""
    return allowed(r, i, shifted(l, u, r.mu[i], r.scale[i]), 1.0)


@kernel
def velocities_of_rows(r, begin, end):
    """u of an island's rows, from W."""
    for k in range(begin, end):
        i = r.order[k]
        u = relative(r, i, r.W)
        put3(r.u, i, (u[0] + r.offset[i, 0], u[1] + r.offset[i, 1], u[2] + r.offset[i, 2]))
