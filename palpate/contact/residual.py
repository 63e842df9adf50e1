"""How well impulses obey the law, row by row: the natural map as a velocity, beside the island's approach.

The natural map F is an impulse.  Beside what may it be small?  Not beside the largest impulse: a body of a gram on one
of a tonne would be left to itself.  Nor beside a body's own: a gram below a tonne bears loads that would make it fly.
Velocities compare bodies of any mass, so
    relative residual = max_i g_i |F_i| / V,    V the fastest approach of any row of the island without impulses
V is g dt for what rests and the speed of a blow where one falls.  No less than rounding: the velocity of a row is a sum
of products J W, exact to some bits of the largest; those along the tangents count too, or a box that falls along a wall
would be asked for the last bit of what its speed leaves across.  Turning rows (joint ends, welds) count by the length
at which their link's mobility in turning equals that in moving.
"""

import math

from palpate.contact.rows import CONTACT, DRY, LIMIT
from palpate.contact.sweeps import relative, row_target
from palpate.jit import kernel
from palpate.spatial.vectors import dot, get3, sub

ROUNDING = 1e-14  # of the sum of |J| |W|: what a row's velocity cannot tell from zero


@kernel
def lever(r, i):
    """Metres for a radian of row i; 1 if it reads a linear velocity."""
    side = 1 if r.slot[2 * i + 1] else 0
    at, s = 18 * side, r.slot[2 * i + side]
    if r.J[i, at + 3] != 0.0 or r.J[i, at + 4] != 0.0 or r.J[i, at + 5] != 0.0:
        return 1.0
    width = 6 * r.slot_count[s]
    first, turning, moving = r.table_at[s] + 6 * (s - r.slot_first[s]), 0.0, 0.0
    for c in range(3):
        turning += r.table[first + c * (width + 1)]
        moving += r.table[first + (c + 3) * (width + 1)]
    return math.sqrt(moving / turning) if moving > 0.0 and turning > 0.0 else 1.0


@kernel
def approach(r, i):
    """Speed at which row i would be violated without any impulse [m/s, rad/s], and the rounding of it."""
    u, rounding = 0.0, 0.0
    for side in range(2):
        b, at = 6 * r.slot[2 * i + side], 18 * side
        if b:
            for k in range(6):
                W = r.W_free[b + k]
                u += r.J[i, at + k] * W
                rounding += (abs(r.J[i, at + k]) + abs(r.J[i, at + 6 + k]) + abs(r.J[i, at + 12 + k])) * abs(W)
    kind = r.kind[i]
    if kind in (CONTACT, LIMIT):
        speed = max(0.0, -u - r.offset[i, 0])
    elif kind == DRY:
        speed = min(abs(u), r.scale[i] * r.bound[i])
    else:
        c = relative(r, i, r.W_free)
        speed = math.sqrt(dot(c, c))
    return speed, ROUNDING * rounding


@kernel
def find_units(r, begin, end):
    """unit of every row of an island: the velocity by which g F is measured [m/s, rad/s].  Returns V [m/s]."""
    fastest = 0.0
    for k in range(begin, end):
        i = r.order[k]
        speed, rounding = approach(r, i)
        r.unit[i] = lever(r, i)
        fastest = max(fastest, r.unit[i] * max(speed, rounding / r.tolerance))
    for k in range(begin, end):
        r.unit[r.order[k]] = fastest / r.unit[r.order[k]]
    return fastest


@kernel
def measured(r, i, F):
    """The square of the relative residual of row i."""
    square = r.scale[i] * r.scale[i] * dot(F, F)
    if square == 0.0:
        return 0.0
    return square / (r.unit[i] * r.unit[i]) if r.unit[i] > 0.0 else math.inf


@kernel
def unfulfilled(r, i):
    """The natural map F of row i [N s]; u is up to date."""
    l = get3(r.lam, i)
    return sub(l, row_target(r, i, l, get3(r.u, i)))


@kernel
def residual(r, begin, end):
    """Squares of the largest relative residual and of the largest natural map [N s] of an island; u is up to date."""
    worst, largest = 0.0, 0.0
    for k in range(begin, end):
        i = r.order[k]
        F = unfulfilled(r, i)
        worst, largest = max(worst, measured(r, i, F)), max(largest, dot(F, F))
    return worst, largest
