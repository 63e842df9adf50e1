"""Positions: the velocities that take out penetration and drift, by frictionless sweeps; used for positions only.

Every row must part at least as fast as its push; one that is still open may close by as much as its gap.
"""

import math

from palpate.contact.assemble import times_block
from palpate.contact.islands import find_islands
from palpate.contact.rows import CONTACT, DRY, IDLE, LIMIT, load_rows
from palpate.contact.sweeps import add_wrench, apply_normal, apply_row, normal_velocity, relative
from palpate.contact.watched import watch_none
from palpate.jit import kernel, shared
from palpate.jit.six import lane, no_six, plus
from palpate.spatial.vectors import add, dot, get3, inverse_symmetric, put3, rotate, sub

SHARE = 0.2  # of a penetration or drift is taken out in one step
SWEEPS_OF_POSITIONS = 12
NEGLIGIBLE_M_S = 1e-7
# A contact that its joints can hardly open (a small lever) is opened more slowly, so that no link turns faster for it
# than FASTEST_RAD_S, nor slides more than AMPLIFIED times as fast as the contact opens.
FASTEST_RAD_S, AMPLIFIED = 20.0, 50.0
DAMPED = 1e-3  # part of the mean diagonal that is added to G of connections, for directions that cannot move


@kernel
def pushes(r, i):
    """Whether row i has something to take out."""
    return abs(r.push[i, 0]) + abs(r.push[i, 1]) + abs(r.push[i, 2]) > NEGLIGIBLE_M_S


@kernel
def any_wanted(r):
    """Whether any row has."""
    for i in range(r.n_kept, r.n_rows):
        if r.kind[i] < IDLE and pushes(r, i):
            return True
    return False


@kernel
def wanted(r, begin, end):
    """Whether any row of an island has."""
    for k in range(begin, end):
        if pushes(r, r.order[k]):
            return True
    return False


@kernel
def turning(r, i):
    """How fast a unit normal impulse of row i turns its links, the faster of the two [rad/s]."""
    fastest = 0.0
    for side in range(2):
        t = r.slot[2 * i + side]
        y = no_six()
        for other in range(2):
            s = r.slot[2 * i + other]
            if s and t and r.slot_first[s] == r.slot_first[t]:
                y = plus(y, times_block(r, i, 18 * other, s, t))
        fastest = max(fastest, math.sqrt(lane(y, 0) ** 2 + lane(y, 1) ** 2 + lane(y, 2) ** 2))
    return fastest


@kernel
def softness(r, i):
    """What must be added to G_nn of row i so that its push stays within the limits above."""
    if not r.push[i, 0] > 0.0:
        return 0.0
    sliding = math.sqrt(r.G[i, 3] ** 2 + r.G[i, 4] ** 2) / AMPLIFIED
    return max(0.0, max(sliding, turning(r, i) * r.push[i, 0] / FASTEST_RAD_S) - r.G[i, 0])


@kernel
def push_apart(r, i):
    """A contact or a joint's end by itself; how much faster it then parts [m/s, rad/s]."""
    soft, old = r.soft[i], r.dlam[i, 0]
    lacks = r.push[i, 0] - max(r.offset[i, 0], 0.0) - normal_velocity(r, i, r.dW) - soft * old
    new = max(0.0, old + lacks / (r.G[i, 0] + soft))
    if new != old:
        r.dlam[i, 0] = new
        apply_normal(r, i, new - old, r.dW)
    return abs(new - old) * r.G[i, 0]


@kernel
def push_together(r, i):
    """A connection by itself; how much faster it then closes [m/s, rad/s]."""
    p, u, damp = get3(r.push, i), relative(r, i, r.dW), DAMPED * r.scale[i]
    G = (r.G[i, 0] + damp, r.G[i, 1] + damp, r.G[i, 2] + damp, r.G[i, 3], r.G[i, 4], r.G[i, 5])
    d = rotate(inverse_symmetric(G), sub(p, u))
    put3(r.dlam, i, add(get3(r.dlam, i), d))
    apply_row(r, i, d, r.dW)
    return r.scale[i] * math.sqrt(dot(d, d))


@kernel
def push_island(r, begin, end):
    """Sweeps until nothing changes that matters."""
    for k in range(begin, end):
        i = r.order[k]
        r.soft[i] = softness(r, i) if r.kind[i] in (CONTACT, LIMIT) else 0.0
    for _ in range(SWEEPS_OF_POSITIONS):
        changed = 0.0
        for k in range(begin, end):
            i = r.order[k]
            if r.kind[i] in (CONTACT, LIMIT):
                changed = max(changed, push_apart(r, i))
            elif r.kind[i] != DRY:
                changed = max(changed, push_together(r, i))
        if changed < NEGLIGIBLE_M_S:
            break


@shared("int64(intp)")
def project_positions(address):
    """P <- impulses of the push, for `spread`; False if there is nothing to take out.  Uses dlam and dW as its own."""
    (r,) = load_rows(address)
    if not any_wanted(r):
        return False
    solved = r.n_islands
    if r.n_watched:  # to these, too, positions may not be pushed
        watch_none(r)
        find_islands(r)
    for j in range(6 * r.n_slots):
        r.dW[j], r.P[j] = 0.0, 0.0
    for k in range(r.n_islands):
        begin, end = r.rows_begin[k], r.rows_begin[k + 1]
        if not wanted(r, begin, end):
            continue
        for j in range(begin, end):
            put3(r.dlam, r.order[j], (0.0, 0.0, 0.0))
        push_island(r, begin, end)
        for j in range(begin, end):
            add_wrench(r, r.order[j], get3(r.dlam, r.order[j]), r.P)
    r.n_islands = solved  # as it is reported
    return True
