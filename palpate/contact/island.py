"""An island in stages: warm start, Newton where it is in trouble, sweeps and Newton on all of it; where that fails more
sweeps, the rounded problem, ADMM.

Whatever the budget or the time, impulses lie in their cones, are the best there were, and create no energy.  What the
report says is measured on those that are used, W recomputed from them.
"""

import math

from palpate.contact.admm import admm
from palpate.contact.cone import project
from palpate.contact.conjugate import sweeps
from palpate.contact.deadline import out_of_time
from palpate.contact.newton import STIFF_EPS, first_eps, newton
from palpate.contact.ordering import analyse
from palpate.contact.residual import find_units, residual
from palpate.contact.rows import (
    CONTACT,
)  # fmt: skip
from palpate.contact.sweeps import gather, relative, velocities_of_rows
from palpate.contact.troubled import FEWEST_SLOTS, choose_part
from palpate.jit import kernel
from palpate.spatial.vectors import add, dot, get3, put3, scale, sub

FIRST_SWEEPS, SWEEPS_AT_ONCE = 3, 12
FIRST_STEPS, NEWTON_STEPS, SWEEPS_AGAIN, ROUNDED_STEPS, ADMM_STEPS = 30, 60, 12, 50, 80
REFINEMENTS = 3
FEW_ROWS = 1  # a sweep solves them
FIRST_PART = 0.4  # of the budget that Newton may take before another start is tried
AFFORDED = 14.0  # steps of Newton: where the budget has fewer, sweeps get nearer
# Rounds of Newton after other starts: led sweeps, the rounded problem (in turn 5), ADMM, which goes longer each time.
ROUNDS, ROUNDED, FIRST_ADMM = 5, 5, 7
MOST_SWEEPS = 60  # of islands for which Newton is too dear
GOOD_ENOUGH, STALLS = 1e-3, 0.5  # below this residual a dozen that leaves so much of it is the last: warm starts go on
# What other starts may take after Newton has failed: visits (about 15 ms) or steps of Newton, whichever is more.
RETRIES, RETRY_STEPS = 250_000.0, 40.0
# What stages cost, in visits of a row by a sweep
LED_ROW, NEWTON_ROW, ADMM_ROW, PRODUCT = 1.4, 1.8, 2.0, 1.1
AS_IT_IS = 1e-8  # square of the part of the tolerance up to which a warm start of Newton's is used (any_stepped)
FINISHED, ALL = 99, -1  # turn; rings


@kernel
def settle(r, begin, end, slots_begin, slots_end):
    """Impulses into their cones, twists from them; squares of the relative residual and of the natural map [N s]."""
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
def forget(r, begin, end, slots_begin, slots_end):
    """No impulses, whose relative residual is at most one, and what moves without them."""
    for k in range(begin, end):
        put3(r.lam, r.order[k], (0.0, 0.0, 0.0))
    gather(r, begin, end, slots_begin, slots_end)
    velocities_of_rows(r, begin, end)


@kernel
def dissipating_share(r, begin, end):
    """The part of an island's impulses that may be used: all if they take out energy, else where they take out most.

    Their work beyond what offsets ask for is Q(t) = t l.c + t^2 l.(u - c) / 2 for a part t of them, with
    c = J W_free + offset and u = c + G l.  Impulses that obey the law have l.u <= 0, hence Q(1) = l.(u + c) / 2 <= 0.
    """
    given, made = 0.0, 0.0
    for k in range(begin, end):
        i = r.order[k]
        l, free = get3(r.lam, i), relative(r, i, r.W_free)
        c = add(free, get3(r.offset, i))
        given += dot(l, c)
        made += dot(l, sub(get3(r.u, i), c))
    if given + 0.5 * made <= 0.0:
        return 1.0
    return max(0.0, -given / made)


@kernel
def any_stepped(r, begin, end):
    """Whether Newton was needed for an island's warm start.

    Then it has impulses in it that took out a velocity, and once more they would bring one, just below the tolerance,
    that asks for Newton in the next two steps: what rests would go round in circles.
    """
    for k in range(begin, end):
        if r.stepped[r.order[k]]:
            return True
    return False


@kernel
def put_left_over(r, slots_begin, slots_end, impulse, relative_residual, fastest):
    """What is left of an island's equations, with its first slot: it may be solved again as part of another."""
    for k in range(slots_begin, slots_end):
        put3(r.left_over, r.island_slots[k], (0.0, 0.0, 0.0))
    speed = relative_residual * fastest if fastest > 0.0 else 0.0
    put3(r.left_over, r.island_slots[slots_begin], (impulse, relative_residual, speed))


@kernel
def solve_part(address, r, rows, slots, worst, budget):
    """Newton on a part of an island (troubled.py); what it took of the budget, 0: nothing was done."""
    if rows == 0 or out_of_time(r):
        return 0.0
    begin, slots_begin = r.rows_begin[r.n_islands], r.slots_begin[r.n_islands]
    end, slots_end = begin + rows, slots_begin + slots
    work = analyse(address, begin, end, slots_begin, slots_end)
    cost = NEWTON_ROW * rows + PRODUCT * work
    if work == 0 or AFFORDED * cost > budget:
        return 0.0
    before, most = r.newton, min(FIRST_STEPS, int(FIRST_PART * budget / cost))
    newton(address, begin, end, slots_begin, slots_end, most, first_eps(rows, slots, worst), False)
    return (r.newton - before) * cost


@kernel
def solve_island(address, r, begin, end, slots_begin, slots_end, warm, budget):
    """Impulses of an island after the stages it needed; returns what is left of the budget.

    A small state machine, so that each stage is compiled once: Newton on what is in trouble, then on the whole, after a
    few sweeps; then other starts and Newton by turns while the budget lasts, at the end the best impulses there were.
    Where Newton is too dear there are only sweeps, and a few of them in any case.
    """
    enough, n = r.tolerance**2, end - begin
    fastest = find_units(r, begin, end)
    if fastest == 0.0:  # nothing moves: the last impulses would be measured beside nothing
        forget(r, begin, end, slots_begin, slots_end)
    best, turn, work, refined, spared, swept, dear = 1e300, 0, 0, 0, 0.0, 0, False
    rings = 1 if slots_end - slots_begin >= FEWEST_SLOTS else ALL
    worked, polish, whole = False, False, False
    while True:
        worst, impulse = settle(r, begin, end, slots_begin, slots_end)
        stalls = dear and best <= GOOD_ENOUGH**2 and worst > STALLS**2 * best
        best = keep_best(r, begin, end, worst, best)
        if turn == FINISHED:
            break
        if best <= enough:
            if not worked:
                polish = best > AS_IT_IS * enough and any_stepped(r, begin, end)
            if worked or not polish:
                if worst <= best:
                    break
                recall_best(r, begin, end)
                turn = FINISHED
                continue
        worked = True
        if rings != ALL and not polish:
            rows, slots = choose_part(r, begin, end, slots_begin, slots_end, rings)
            spent = solve_part(address, r, rows, slots, worst, budget)
            rings = 2 * rings + 1 if spent > 0.0 else ALL
            budget -= spent
            if spent > 0.0:
                continue
            if worst > best:
                recall_best(r, begin, end)
                continue
        turn += 1
        if turn == 1:
            work = 0 if out_of_time(r) else analyse(address, begin, end, slots_begin, slots_end)
            newton_cost = NEWTON_ROW * n + PRODUCT * work
            dear = work == 0 or AFFORDED * newton_cost > budget
            if dear and worst > 1.0:  # a blow's impulses, a hundred times those of the step after it: worse than none
                forget(r, begin, end, slots_begin, slots_end)
        elif out_of_time(r):
            budget = 0.0
        if turn == 1 or dear:
            most = min(SWEEPS_AT_ONCE, MOST_SWEEPS - swept) if dear else 0 if warm and n > FEW_ROWS else FIRST_SWEEPS
            cost = (LED_ROW if dear else 1.0) * n
            most = 0 if stalls or polish else min(most, int(budget / cost))
            if most:
                done = sweeps(address, begin, end, slots_begin, slots_end, most, dear)
                budget -= done * cost
                swept += done
                continue
            turn = max(turn, 2)
        if turn == 3 and not dear:
            spared = max(0.0, budget - max(RETRIES, RETRY_STEPS * newton_cost))
            budget -= spared
        iterations = 0
        if dear:
            pass
        elif (turn % 2 == 0 and turn <= 2 * ROUNDS + 2) or turn == ROUNDED:
            may = FIRST_PART * budget if turn == 2 else budget
            iterations = (
                1 if polish else FIRST_STEPS if turn == 2 else ROUNDED_STEPS if turn == ROUNDED else NEWTON_STEPS
            )
            iterations = min(iterations, int(may / newton_cost))
            budget -= iterations * newton_cost
            if iterations:
                before, whole = r.newton, True
                if turn == ROUNDED:
                    forget(r, begin, end, slots_begin, slots_end)
                # the stiff start is for light things below heavy ones, where soft steps get nowhere
                eps = first_eps(n, slots_end - slots_begin, worst) if turn == 2 else STIFF_EPS
                done = newton(address, begin, end, slots_begin, slots_end, iterations, eps, turn == ROUNDED)
                if done and refined < REFINEMENTS:  # what rounding left of it: once more
                    refined += 1
                    turn -= 1
                budget += (iterations - (r.newton - before)) * newton_cost
        elif turn <= 2 * ROUNDS + 1:
            cost = LED_ROW * n if turn == 3 else ADMM_ROW * n + 0.3 * PRODUCT * work
            iterations = SWEEPS_AGAIN if turn == 3 else (turn - FIRST_ADMM + 1) * ADMM_STEPS
            iterations = min(iterations, int(budget / cost))
            budget -= iterations * cost
            if iterations:
                recall_best(r, begin, end)
                if turn == 3:
                    gather(r, begin, end, slots_begin, slots_end)
                    swept += sweeps(address, begin, end, slots_begin, slots_end, iterations, True)
                else:
                    admm(address, begin, end, slots_begin, slots_end, iterations)
        if iterations == 0:  # nothing left to try, or to try it with
            if worst <= min(best, 1.0):
                break
            recall_best(r, begin, end)
            if best > 1.0:
                forget(r, begin, end, slots_begin, slots_end)
            turn = FINISHED
    if worst > enough:
        share = dissipating_share(r, begin, end)
        if share < 1.0:
            for k in range(begin, end):
                put3(r.lam, r.order[k], scale(share, get3(r.lam, r.order[k])))
            worst, impulse = settle(r, begin, end, slots_begin, slots_end)
    for k in range(begin, end):
        r.stepped[r.order[k]] = whole and not polish
    r.sweeps += swept
    put_left_over(r, slots_begin, slots_end, math.sqrt(impulse), math.sqrt(worst), fastest)
    return budget + spared
