"""Semismooth Newton on the twists of the touching links: 6 numbers per link, whatever the rows.

F_i = 0 for every row: of contacts the map of Alart and Curnier (cone.py), of others the natural one
dF = C dl + N du,  M = (C + eps)^-1 per row
    (1 + Om K) dW = -Om sum J^T M F,    K = sum J^T (M N) J
    dl_i = -M (F + N J dW),             and u changes by J dW
eps makes redundant rows harmless, and steps short (Levenberg and Marquardt): it goes with the residual.  The merit
sum g F^2 need not fall in every step: the way to the right modes of all contacts leads over hills, and who insists on
falling stays in the next kink.  Steps are halved only where it would rise far above where it began.
"""

import math

from palpate.contact.cone import ZERO9
from palpate.contact.deadline import out_of_time
from palpate.contact.factor import clear_impulses, factor, respond
from palpate.contact.residual import measured
from palpate.contact.rows import CONTACT, DRY, LIMIT, load_rows
from palpate.contact.smoothing import CLOSE, TAU_DOWN, TAU_END, TAU_START, damped, linearised
from palpate.contact.sweeps import add_wrench, relative
from palpate.jit import kernel, shared
from palpate.jit.six import plus_times, put_six, six
from palpate.spatial.vectors import add, add_scaled, dot, get3, get9, put3, put9, rotate

STIFF_EPS, SOFT_EPS, MOST_EPS = 1e-6, 1e-2, 1.0  # below the first rounding decides how redundant rows share
EPS_PART = 0.03  # of the relative residual: with more of it the last steps are slow, with less the first are wild
EPS_DOWN, EPS_UP = 0.5, 30.0  # after a whole step, and where even the shortest leads too high
HILL = 3.0  # times the merit at the start: as high as a step may lead
SHORTEST = 1.0 / 16.0  # part of a step


@kernel
def row_derivative(r, i, l, u, tau):
    """F, C, N of a row of any kind, dF = C dl + N du; contacts with their kinks rounded by tau (smoothing.py)."""
    kind, g = r.kind[i], r.scale[i]
    if kind == CONTACT:
        return linearised(l, u, r.mu[i], g, tau / math.sqrt(g) if tau > 0.0 else 0.0)
    n = 1.0 / g
    x = l[0] - n * u[0]
    if kind in (LIMIT, DRY):
        low = 0.0 if kind == LIMIT else -r.bound[i]
        high = math.inf if kind == LIMIT else r.bound[i]
        inside = low < x < high
        C = (0.0 if inside else 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        N = (n if inside else 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        return (l[0] - min(max(x, low), high), 0.0, 0.0), C, N
    return (n * u[0], n * u[1], n * u[2]), ZERO9, (n, 0.0, 0.0, 0.0, n, 0.0, 0.0, 0.0, n)


@kernel
def evaluate(r, begin, end, t, tau):
    """At l + t dl, u + t du: sum g F^2 and the square of the relative residual."""
    merit, worst = 0.0, 0.0
    for k in range(begin, end):
        i = r.order[k]
        l = add_scaled(get3(r.lam, i), t, get3(r.dlam, i))
        u = add_scaled(get3(r.u, i), t, get3(r.du, i))
        F, _, _ = row_derivative(r, i, l, u, tau)
        merit += r.scale[i] * dot(F, F)
        worst = max(worst, measured(r, i, F))
    return merit, worst


@kernel
def linearise(r, begin, end, eps, tau):
    """MF, MN of every row where we stand; returns sum g F^2."""
    merit = 0.0
    for k in range(begin, end):
        i = r.order[k]
        F, C, N = row_derivative(r, i, get3(r.lam, i), get3(r.u, i), tau)
        MF, MN = damped(F, C, N, eps)
        put3(r.MF, i, MF)
        put9(r.MN, i, MN)
        merit += r.scale[i] * dot(F, F)
    return merit


@kernel
def newton_step(address, r, begin, end, slots_begin, slots_end):
    """dW, du, dlam from what `linearise` left; False if the system is singular."""
    if not factor(address, begin, end, slots_begin, slots_end):
        return False
    clear_impulses(r, slots_begin, slots_end)
    for k in range(begin, end):
        MF = get3(r.MF, r.order[k])
        add_wrench(r, r.order[k], (-MF[0], -MF[1], -MF[2]), r.P)
    respond(r, slots_begin, slots_end)
    for k in range(begin, end):
        i = r.order[k]
        du = relative(r, i, r.dW)
        put3(r.du, i, du)
        y, MF = rotate(get9(r.MN, i), du), get3(r.MF, i)
        put3(r.dlam, i, (-MF[0] - y[0], -MF[1] - y[1], -MF[2] - y[2]))
    return True


@kernel
def go(r, begin, end, slots_begin, slots_end, t):
    """The step, or the part t of it."""
    for k in range(begin, end):
        i = r.order[k]
        put3(r.lam, i, add_scaled(get3(r.lam, i), t, get3(r.dlam, i)))
        put3(r.u, i, add_scaled(get3(r.u, i), t, get3(r.du, i)))
    for k in range(slots_begin, slots_end):
        c = 6 * r.island_slots[k]
        put_six(r.W, 0, c, plus_times(six(r.W, 0, c), t, six(r.dW, 0, c)))


@kernel
def largest_velocity(r, begin, end):
    """Of an island's rows without impulses, in units in which every own block is about one."""
    largest = 0.0
    for k in range(begin, end):
        i = r.order[k]
        c = add(relative(r, i, r.W_free), get3(r.offset, i))
        largest = max(largest, dot(c, c) / r.scale[i])
    return math.sqrt(largest)


@kernel
def first_eps(rows, slots, worst):
    """eps to begin with, from the square of the relative residual: rows have 3 velocities each, links 6."""
    return min(SOFT_EPS, max(STIFF_EPS, EPS_PART * math.sqrt(worst))) if rows > 2 * slots else STIFF_EPS


@shared("int64(intp, intp, intp, intp, intp, intp, float64, intp)")
def newton(address, begin, end, slots_begin, slots_end, most, eps, rounded):
    """Lead lam, W and u of an island to the tolerance, or `most` steps on; True if the tolerance is met.

    rounded  from far away: the kinks of the contacts are rounded at first, and sharpened while it goes; the last steps
             are left to a call without
    """
    (r,) = load_rows(address)
    enough = r.tolerance**2
    tau = TAU_START * largest_velocity(r, begin, end) if rounded else 0.0
    least, roof, used = TAU_END / TAU_START * tau, 0.0, 0
    while True:
        merit = linearise(r, begin, end, eps, tau)
        if rounded and merit <= (end - begin) * (CLOSE * tau) ** 2:
            tau *= TAU_DOWN
            if tau <= least:
                return False
            roof = 0.0
            continue
        if roof == 0.0:
            roof = HILL * merit
        if used == most or out_of_time(r) or not newton_step(address, r, begin, end, slots_begin, slots_end):
            return False
        used += 1
        r.newton += 1
        t = 1.0
        while True:
            merit, worst = evaluate(r, begin, end, t, tau)
            if merit < roof or t <= SHORTEST:
                break
            t *= 0.5
        if not merit < roof:  # no way from here: a more cautious step
            eps *= EPS_UP
            if eps > MOST_EPS:
                return False
            continue
        go(r, begin, end, slots_begin, slots_end, t)
        if worst <= enough and not rounded:
            return True
        if t == 1.0:
            eps = max(min(EPS_DOWN * eps, EPS_PART * math.sqrt(worst)), STIFF_EPS)
