"""Positions: the velocities that take out penetration and drift, by frictionless sweeps; used for positions only.

Every row must part at least as fast as its push; one that is still open may close by as much as its gap.
"""

from palpate.contact.rows import CONTACT, DRY, IDLE, LIMIT, N_ROWS, N_SLOTS, load_rows
from palpate.contact.sweeps import add_wrench, apply_row, local_solve, relative, symmetric3
from palpate.jit import kernel, shared
from palpate.spatial.vectors import get3, put3, sub

SHARE = 0.2  # of a penetration or drift is taken out in one step
SWEEPS_OF_POSITIONS = 12
NEGLIGIBLE_M_S = 1e-7
# Part of the gross mobility that is added to G_nn.  A contact that its joints can hardly open (a lever of d where
# lengths are L) would turn them by push / d; so by no more than push / (2 sqrt(SOFT) L), slower where d is less.
SOFT = 1e-4


@kernel
def wanted(r):
    """Whether any row has something to take out."""
    for i in range(r.integer[N_ROWS]):
        if abs(r.push[i, 0]) + abs(r.push[i, 1]) + abs(r.push[i, 2]) > NEGLIGIBLE_M_S:
            return True
    return False


@shared("int64(intp)")
def project_positions(address):
    """P <- impulses of the push, for `spread`; False if there is nothing to take out.  Uses dlam and dW as its own."""
    (r,) = load_rows(address)
    if not wanted(r):
        return False
    for k in range(6 * r.integer[N_SLOTS]):
        r.dW[k], r.P[k] = 0.0, 0.0
    for i in range(r.integer[N_ROWS]):
        put3(r.dlam, i, (0.0, 0.0, 0.0))
    for _ in range(SWEEPS_OF_POSITIONS):
        for i in range(r.integer[N_ROWS]):
            kind = r.kind[i]
            if kind in (DRY, IDLE):
                continue
            old, u = get3(r.dlam, i), relative(r, i, r.dW)
            if kind in (CONTACT, LIMIT):
                open_by, soft = max(r.offset[i, 0], 0.0), SOFT * r.gross[i]
                lacks = r.push[i, 0] - open_by - u[0] - soft * old[0]
                new = (max(0.0, old[0] + lacks / (r.G[i, 0] + soft)), 0.0, 0.0)
            else:
                own = symmetric3(r.G, i, old)
                p = get3(r.push, i)
                new = local_solve(r, i, (u[0] - p[0] - own[0], u[1] - p[1] - own[1], u[2] - p[2] - own[2]), old)
            d = sub(new, old)
            if d[0] != 0.0 or d[1] != 0.0 or d[2] != 0.0:
                put3(r.dlam, i, new)
                apply_row(r, i, d, r.dW)
    for i in range(r.integer[N_ROWS]):
        add_wrench(r, i, get3(r.dlam, i), r.P)
    return True
