"""A blow never creates energy: where Newton's law of impact would, only part of the bounce is given.

With friction it may (Kane's paradox): e says how fast normals part, but a body that turns under friction can leave with
more than it came with.  Then an island is solved once more with e = 0, and gets as much of the bounce as keeps its
energy, s of the way from there to the whole:
    l(s) = l0 + s d,  d = l1 - l0               impulses with e = 0 and with e; between them they stay in their cones
    T(s) = l(s).(u_free + u(s)) / 2 - l.forced    energy that they add [J], u(s) = u_free + G l(s)
         = T(0) + s d.(u(0) - forced) + s^2 d.G d / 2
T(0) <= 0 by the law of friction and T is convex, so T(s) = 0 has one root between 0 and 1.
"""

import math

from palpate.contact.rows import CONTACT
from palpate.contact.sweeps import gather, relative
from palpate.jit import kernel
from palpate.spatial.vectors import add, dot, get3, put3, scale, sub

ROUNDING = 1e-9  # of the energy that comes and goes in a blow


@kernel
def without_forces(r, i, u):
    """The velocity of a row that the blow alone would leave: forces of this step come after it."""
    return sub(u, get3(r.forced, i)) if r.elastic[i] else u


@kernel
def energy_added(r, begin, end):
    """Work of an island's impulses [J], and how much they stop of it [J]."""
    work, stopped = 0.0, 0.0
    for k in range(begin, end):
        i = r.order[k]
        l, free = get3(r.lam, i), relative(r, i, r.W_free)
        mean = scale(0.5, add(free, relative(r, i, r.W)))
        work += dot(l, without_forces(r, i, mean))
        stopped += abs(dot(l, free))
    return work, stopped


@kernel
def aim_lower(r):
    """Islands whose blows create energy: their impulses are kept, their contacts aim at no bounce.  How many."""
    lowered = 0
    for island in range(r.n_islands):
        begin, end = r.rows_begin[island], r.rows_begin[island + 1]
        work, stopped = energy_added(r, begin, end)
        r.partly[island] = work > ROUNDING * stopped
        if r.partly[island]:
            lowered += 1
            for k in range(begin, end):
                i = r.order[k]
                put3(r.whole, i, get3(r.lam, i))
                if r.elastic[i] and r.kind[i] == CONTACT:
                    r.offset[i, 0] = -r.forced[i, 0]
    return lowered


@kernel
def bounce_in_part(r):
    """As much of the bounce as creates no energy, in the islands that `aim_lower` chose."""
    for island in range(r.n_islands):
        if not r.partly[island]:
            continue
        begin, end = r.rows_begin[island], r.rows_begin[island + 1]
        slots_begin, slots_end = r.slots_begin[island], r.slots_begin[island + 1]
        at_rest, _ = energy_added(r, begin, end)
        slope, bend = 0.0, 0.0
        for k in range(begin, end):
            i = r.order[k]
            l, d = get3(r.lam, i), sub(get3(r.whole, i), get3(r.lam, i))
            slope += dot(d, without_forces(r, i, relative(r, i, r.W)))
            put3(r.whole, i, l)
            put3(r.lam, i, d)
        gather(r, begin, end, slots_begin, slots_end)  # W = W_free + Om J^T d
        for k in range(begin, end):
            i = r.order[k]
            Gd = sub(relative(r, i, r.W), relative(r, i, r.W_free))
            bend += 0.5 * dot(get3(r.lam, i), Gd)
        s = part_that_keeps_energy(at_rest, slope, bend)
        for k in range(begin, end):
            i = r.order[k]
            put3(r.lam, i, add(get3(r.whole, i), scale(s, get3(r.lam, i))))
        gather(r, begin, end, slots_begin, slots_end)


@kernel
def part_that_keeps_energy(at_rest, slope, bend):
    """The root s in 0 .. 1 of at_rest + slope s + bend s^2, which is <= 0 at 0; 0 where it is not."""
    if at_rest > 0.0 or bend <= 0.0:
        return 0.0
    root = math.sqrt(slope * slope - 4.0 * bend * at_rest)
    s = (root - slope) / (2.0 * bend) if slope < 0.0 else -2.0 * at_rest / (slope + root + 1e-300)
    return min(1.0, max(0.0, s))
