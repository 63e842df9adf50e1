"""ADMM in the space of twists, for where Newton stalls: slow at the end, but it gets near from anywhere.

Rows are scaled by 1 / sqrt(g), so that every own block has a mean diagonal of one: l^ = sqrt(g) l, J^ = J / sqrt(g).
    l <- (G^ + rho)^-1 (rho z - y - c - s),   s the De Saxce shift mu |u_t| e_n of the last u
    z <- P(l + y / rho),   y <- y + rho (l - z)
and with B = (rho + Om J^T J)^-1 Om:  (G^ + rho)^-1 x = (x - J B J^T x) / rho: one factor of 6 numbers per link.
"""

import math

from palpate.contact.cone import lift
from palpate.contact.deadline import out_of_time
from palpate.contact.factor import clear_impulses, factor, respond
from palpate.contact.rows import load_rows
from palpate.contact.sweeps import add_wrench, allowed, relative
from palpate.jit import kernel, shared
from palpate.spatial.vectors import get3, put3, put9

FIRST_RHO = 0.1
BALANCE_EVERY = 5


@kernel
def scaled_identity(r, begin, end, rho):
    """MN = 1 / (g rho), for `factor`."""
    for k in range(begin, end):
        i = r.order[k]
        d = 1.0 / (r.scale[i] * rho)
        put9(r.MN, i, (d, 0.0, 0.0, 0.0, d, 0.0, 0.0, 0.0, d))


@shared("void(intp, intp, intp, intp, intp, intp)")
def admm(address, begin, end, slots_begin, slots_end, iterations):
    """Some iterations from lam and its u; leaves lam inside the cones.  dlam keeps y, du keeps z, MF the right side."""
    (r,) = load_rows(address)
    rho, factored = FIRST_RHO, 0.0
    for k in range(begin, end):
        i = r.order[k]
        root = math.sqrt(r.scale[i])
        l, u = get3(r.lam, i), get3(r.u, i)
        shift = lift(u, r.mu[i])  # mu is 0 but of contacts
        put3(r.du, i, (root * l[0], root * l[1], root * l[2]))
        put3(r.dlam, i, (-(u[0] + shift) / root, -u[1] / root, -u[2] / root))
    for iteration in range(iterations):
        if out_of_time(r):
            break
        if factored != rho:
            scaled_identity(r, begin, end, rho)
            if not factor(address, begin, end, slots_begin, slots_end):
                return
            factored = rho
        r.admm += 1
        clear_impulses(r, slots_begin, slots_end)
        for k in range(begin, end):  # x = rho z - y - c - s, and P = sum J^ x / rho
            i = r.order[k]
            g = r.scale[i]
            root = math.sqrt(g)
            z, y, u = get3(r.du, i), get3(r.dlam, i), get3(r.u, i)
            free = relative(r, i, r.W_free)
            shift = lift(u, r.mu[i])
            x = (
                rho * z[0] - y[0] - (free[0] + r.offset[i, 0] + shift) / root,
                rho * z[1] - y[1] - (free[1] + r.offset[i, 1]) / root,
                rho * z[2] - y[2] - (free[2] + r.offset[i, 2]) / root,
            )
            put3(r.MF, i, x)
            f = 1.0 / (root * rho)
            add_wrench(r, i, (f * x[0], f * x[1], f * x[2]), r.P)
        respond(r, slots_begin, slots_end)  # dW = Om J^T l: the twist that l makes
        primal, dual = 0.0, 0.0
        for k in range(begin, end):
            i = r.order[k]
            root = math.sqrt(r.scale[i])
            made, free, x = relative(r, i, r.dW), relative(r, i, r.W_free), get3(r.MF, i)
            l = (
                (x[0] - made[0] / root) / rho,
                (x[1] - made[1] / root) / rho,
                (x[2] - made[2] / root) / rho,
            )
            put3(r.u, i, (free[0] + made[0] + r.offset[i, 0], free[1] + made[1] + r.offset[i, 1],
                          free[2] + made[2] + r.offset[i, 2]))  # fmt: skip
            y, old = get3(r.dlam, i), get3(r.du, i)
            z = allowed(r, i, (l[0] + y[0] / rho, l[1] + y[1] / rho, l[2] + y[2] / rho), root)
            for c in range(3):
                r.dlam[i, c] = y[c] + rho * (l[c] - z[c])
                r.du[i, c] = z[c]
                primal = max(primal, abs(l[c] - z[c]))
                dual = max(dual, rho * abs(z[c] - old[c]))
        if iteration % BALANCE_EVERY == BALANCE_EVERY - 1 and primal > 0.0 and dual > 0.0:
            ratio = math.sqrt(primal / dual)
            if ratio > 2.0 or ratio < 0.5:
                rho = min(max(rho * ratio, 1e-6), 1e6)
    for k in range(begin, end):
        i = r.order[k]
        root = math.sqrt(r.scale[i])
        put3(r.lam, i, (r.du[i, 0] / root, r.du[i, 1] / root, r.du[i, 2] / root))
