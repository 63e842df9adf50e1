"""How well impulses obey the law, row by row: the natural map F, measured by what is at stake for the row's own bodies.

F_i is an impulse.  Beside what may it be small?  Not beside the largest impulse of all: a body of a gram on one of a
tonne would be left to itself.  So each row has a *stake*, the energy that its impulse moves or that its approach
brings, and each body the largest stake of its rows; a row is measured by the lesser of its two bodies:
    s_i = max(g_i |l_i|^2, (closing speed without impulses)^2 / g_i)          [J]
    unit_i = min over the row's slots of (max over the slot's rows of s)      [J]
    relative residual = max_i sqrt(g_i |F_i|^2 / unit_i)
Energies compare contacts with joint ends and connections, whose impulses have other units.  No less than rounding:
the velocity of a row is a sum of products J W, and is exact to some bits of the largest.
"""

import math

from palpate.contact.rows import CONTACT, DRY, LIMIT, RELATIVE, RESIDUAL, SPEED, TOLERANCE
from palpate.contact.sweeps import relative, row_target
from palpate.jit import kernel
from palpate.spatial.vectors import dot, get3, sub

ROUNDING = 1e-14  # of the sum of |J W|: what a row's velocity cannot tell from zero


@kernel
def closing(r, i):
    """Speed at which row i would be violated without any impulse [m/s, rad/s], and the rounding of it."""
    c = relative(r, i, r.W_free)
    rounding = 0.0
    for side in range(2):
        b, at = 6 * r.slot[2 * i + side], 18 * side
        for k in range(6):
            rounding += abs(r.J[i, at + k] * r.W_free[b + k])
    kind = r.kind[i]
    speed = abs(c[0])
    if kind in (CONTACT, LIMIT):
        speed = max(0.0, -c[0] - r.offset[i, 0])
    elif kind == DRY:
        speed = min(speed, r.scale[i] * r.bound[i])
    else:
        speed = math.sqrt(dot(c, c))
    return speed, ROUNDING * rounding


@kernel
def stakes(r, begin, end):
    """What the rows of an island meet without impulses; `unit` holds the rounding until `units` fills it."""
    for k in range(begin, end):
        i = r.order[k]
        speed, rounding = closing(r, i)
        least = rounding / r.number[TOLERANCE]
        r.stake[i] = max(speed * speed, least * least) / r.scale[i]


@kernel
def units(r, begin, end, slots_begin, slots_end):
    """unit of every row of an island, from its impulses and stakes."""
    for k in range(slots_begin, slots_end):
        r.slot_stake[r.island_slots[k]] = 0.0
    for k in range(begin, end):
        i = r.order[k]
        l = get3(r.lam, i)
        stake = max(r.stake[i], r.scale[i] * dot(l, l))
        for side in range(2):
            s = r.slot[2 * i + side]
            r.slot_stake[s] = max(r.slot_stake[s], stake)
    for k in range(begin, end):
        i = r.order[k]
        a, b = r.slot[2 * i], r.slot[2 * i + 1]
        r.unit[i] = min(r.slot_stake[a if a else b], r.slot_stake[b if b else a])


@kernel
def measured(r, i, F):
    """g |F|^2 / unit of row i: the square of its relative residual."""
    square = r.scale[i] * dot(F, F)
    if square == 0.0:
        return 0.0
    return square / r.unit[i] if r.unit[i] > 0.0 else math.inf


@kernel
def residual(r, begin, end):
    """The square of the largest relative residual of an island; u and unit must be up to date."""
    worst = 0.0
    for k in range(begin, end):
        i = r.order[k]
        l = get3(r.lam, i)
        worst = max(worst, measured(r, i, sub(l, row_target(r, i, l, get3(r.u, i)))))
    return worst


@kernel
def report(r, begin, end):
    """The largest residuals of an island into number: relative, as an impulse [N s], as a velocity [m/s]."""
    for k in range(begin, end):
        i = r.order[k]
        l = get3(r.lam, i)
        F = sub(l, row_target(r, i, l, get3(r.u, i)))
        size = math.sqrt(dot(F, F))
        r.number[RELATIVE] = max(r.number[RELATIVE], math.sqrt(measured(r, i, F)))
        r.number[RESIDUAL] = max(r.number[RESIDUAL], size)
        r.number[SPEED] = max(r.number[SPEED], r.scale[i] * size)
