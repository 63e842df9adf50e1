"""The solver in stages: warm start, exact sweeps, Newton; ADMM where Newton stalls.  Island by island, within a budget.

What the report says is measured on the impulses that are used: every one inside its cone, W recomputed from them.
"""

from palpate.contact.admm import admm
from palpate.contact.cone import project
from palpate.contact.factor import analyse
from palpate.contact.newton import TINY, newton
from palpate.contact.rows import (
    CONTACT,
    LARGEST,
    N_ISLANDS,
    RAN_OUT,
    RELATIVE,
    RESIDUAL,
    SWEEPS,
    TOLERANCE,
    load_rows,
)  # fmt: skip
from palpate.contact.sweeps import gather, residual, sweep, velocities_of_rows
from palpate.jit import kernel, shared
from palpate.spatial.vectors import get3, put3

FIRST_SWEEPS = 3
NEWTON_STEPS = 15
ROUNDS = 3  # of ADMM and Newton, 40 iterations longer each
PILE_SWEEPS = 60  # a budget, for islands too large for Newton


@kernel
def settle(r, begin, end, slots_begin, slots_end):
    """Impulses into their cones, twists from them; (residual, largest impulse)."""
    for k in range(begin, end):
        i = r.order[k]
        if r.kind[i] == CONTACT:
            put3(r.lam, i, project(get3(r.lam, i), r.mu[i]))
    gather(r, begin, end, slots_begin, slots_end)
    velocities_of_rows(r, begin, end)
    return residual(r, begin, end)


@kernel
def keep_best(r, begin, end, worst, best):
    """Remember the impulses if they are better than the best so far."""
    if worst < best:
        for k in range(begin, end):
            put3(r.best, r.order[k], get3(r.lam, r.order[k]))
        return worst
    return best


@kernel
def recall_best(r, begin, end):
    for k in range(begin, end):
        put3(r.lam, r.order[k], get3(r.best, r.order[k]))


@kernel
def solve_island(address, r, begin, end, slots_begin, slots_end, warm):
    """(residual, largest impulse) of an island after the stages it needed.

    A small state machine, so that each stage is compiled once: 0 sweeps, then Newton and ADMM by turns.
    """
    tolerance = r.number[TOLERANCE]
    worst, largest = settle(r, begin, end, slots_begin, slots_end)
    best = keep_best(r, begin, end, worst, 1e300)
    if worst <= tolerance * largest + TINY:
        return worst, largest
    small = analyse(address, begin, end, slots_begin, slots_end) != 0
    sweeps = (0 if warm else FIRST_SWEEPS) if small else PILE_SWEEPS
    used = 0
    turn = 0
    while worst > tolerance * largest + TINY and turn <= 2 * ROUNDS + 1:
        if turn == 0:
            while used < sweeps and worst > tolerance * largest + TINY:
                sweep(r, begin, end, (not small) and used % 2 == 1)
                used += 1
                if small or used % 4 == 0 or used == sweeps:
                    velocities_of_rows(r, begin, end)
                    worst, largest = residual(r, begin, end)
        elif not small:
            break
        elif turn % 2 == 1:
            newton(address, begin, end, slots_begin, slots_end, NEWTON_STEPS)
        else:
            recall_best(r, begin, end)
            admm(address, begin, end, slots_begin, slots_end, 20 * turn)
        if turn > 0 or used > 0:
            worst, largest = settle(r, begin, end, slots_begin, slots_end)
            best = keep_best(r, begin, end, worst, best)
        turn += 1
    r.effort[SWEEPS] += used
    if worst > best:
        recall_best(r, begin, end)
        worst, largest = settle(r, begin, end, slots_begin, slots_end)
    r.effort[RAN_OUT] += worst > tolerance * largest + TINY
    return worst, largest


@shared("void(intp, intp)")
def solve(address, warm):
    """All islands; the worst of them in number[RESIDUAL], number[RELATIVE]."""
    (r,) = load_rows(address)
    r.number[RESIDUAL], r.number[RELATIVE], r.number[LARGEST] = 0.0, 0.0, 0.0
    for k in range(r.integer[N_ISLANDS]):
        worst, largest = solve_island(
            address, r, r.rows_begin[k], r.rows_begin[k + 1], r.slots_begin[k], r.slots_begin[k + 1], warm
        )
        r.number[RESIDUAL] = max(r.number[RESIDUAL], worst)
        r.number[LARGEST] = max(r.number[LARGEST], largest)
        if worst > TINY:
            r.number[RELATIVE] = max(r.number[RELATIVE], worst / largest)
