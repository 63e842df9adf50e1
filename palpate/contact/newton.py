"""Semismooth Newton on the natural map, on the twists of the touching links: 6 numbers per link, whatever the rows.

F_i = l_i - P(l_i - u~_i / g_i) = 0 for every row;  D = P',  E = (du~/du) / g,  M = (1 - D + eps)^-1 per row
    (1 + Om K) dW = -Om sum J^T M F,    K = sum J^T (M D E) J
    dl_i = -M (F + D E J dW),           and u changes by J dW
eps makes redundant rows harmless; the step is halved until sum g F^2 falls.
"""

from palpate.contact.cone import natural_map_derivative
from palpate.contact.factor import clear_impulses, factor, respond
from palpate.contact.residual import measured
from palpate.contact.rows import CONTACT, DRY, LIMIT, NEWTON, TOLERANCE, load_rows
from palpate.contact.sweeps import add_wrench, relative
from palpate.jit import kernel, shared
from palpate.spatial.vectors import add_scaled, compose, dot, get3, get9, inverse_symmetric, put3, put9, rotate

FIRST_EPS, LEAST_EPS, MOST_EPS = 1e-6, 1e-9, 1e-1
HALVINGS = 8
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ONE9 = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
NORMAL9 = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def row_derivative(r, i, l, u):
    """F, D, E of a row of any kind."""
    kind, g = r.kind[i], r.scale[i]
    if kind == CONTACT:
        return natural_map_derivative(l, u, r.mu[i], g)
    x = (l[0] - u[0] / g, l[1] - u[1] / g, l[2] - u[2] / g)
    E = (1.0 / g, 0.0, 0.0, 0.0, 1.0 / g, 0.0, 0.0, 0.0, 1.0 / g)
    if kind == LIMIT:
        inside = x[0] > 0.0
        return (l[0] - max(x[0], 0.0), 0.0, 0.0), NORMAL9 if inside else ZERO9, E
    if kind == DRY:
        inside = abs(x[0]) < r.bound[i]
        return (l[0] - min(max(x[0], -r.bound[i]), r.bound[i]), 0.0, 0.0), NORMAL9 if inside else ZERO9, E
    return (u[0] / g, u[1] / g, u[2] / g), ONE9, E


@kernel
def inverse_shifted(D, eps):
    """(1 - D + eps)^-1, D symmetric."""
    return inverse_symmetric((1.0 - D[0] + eps, 1.0 - D[4] + eps, 1.0 - D[8] + eps, -D[1], -D[2], -D[5]))


@kernel
def evaluate(r, begin, end, t, eps):
    """At l + t dl, u + t du: MF, MDE of every row; returns sum g F^2 and the square of the relative residual."""
    merit, worst = 0.0, 0.0
    for k in range(begin, end):
        i = r.order[k]
        l = add_scaled(get3(r.lam, i), t, get3(r.dlam, i))
        u = add_scaled(get3(r.u, i), t, get3(r.du, i))
        F, D, E = row_derivative(r, i, l, u)
        M = inverse_shifted(D, eps)
        put3(r.MF, i, rotate(M, F))
        put9(r.MDE, i, compose(M, compose(D, E)))
        merit += r.scale[i] * dot(F, F)
        worst = max(worst, measured(r, i, F))
    return merit, worst


@kernel
def newton_step(address, r, begin, end, slots_begin, slots_end):
    """dW, du, dlam from what `evaluate` left; False if the system is singular."""
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
        y, MF = rotate(get9(r.MDE, i), du), get3(r.MF, i)
        put3(r.dlam, i, (-MF[0] - y[0], -MF[1] - y[1], -MF[2] - y[2]))
    return True


@shared("int64(intp, intp, intp, intp, intp, intp)")
def newton(address, begin, end, slots_begin, slots_end, most):
    """Improve lam, W and u of an island until the tolerance or `most` steps; True if the tolerance is met."""
    (r,) = load_rows(address)
    eps, tolerance = FIRST_EPS, r.number[TOLERANCE]
    for k in range(begin, end):
        put3(r.dlam, r.order[k], (0.0, 0.0, 0.0))
        put3(r.du, r.order[k], (0.0, 0.0, 0.0))
    # t > 0: the step of length t is on trial; t = 0: where we stand, evaluated for a step from here
    t, merit, halvings, used = 0.0, 0.0, 0, 0
    while True:
        new, worst = evaluate(r, begin, end, t, eps)
        if t > 0.0 and not new < (1.0 - 1e-4 * t) * merit:
            if halvings < HALVINGS:
                t *= 0.5
                halvings += 1
                continue
            eps *= 30.0  # no way down from here: a more cautious step
            if eps > MOST_EPS:
                return False
            t = 0.0
            continue
        if t > 0.0:
            for k in range(begin, end):
                i = r.order[k]
                put3(r.lam, i, add_scaled(get3(r.lam, i), t, get3(r.dlam, i)))
                put3(r.u, i, add_scaled(get3(r.u, i), t, get3(r.du, i)))
            for k in range(slots_begin, slots_end):
                for c in range(6 * r.island_slots[k], 6 * r.island_slots[k] + 6):
                    r.W[c] += t * r.dW[c]
        if worst <= tolerance * tolerance:
            return True
        if used == most or not newton_step(address, r, begin, end, slots_begin, slots_end):
            return False
        if t > 0.0 and halvings == 0:
            eps = max(0.1 * eps, LEAST_EPS)
        merit, t, halvings = new, 1.0, 0
        used += 1
        r.effort[NEWTON] += 1
