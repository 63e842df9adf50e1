"""ADMM on the same problem: slower near the solution than Newton, but it gets near from anywhere.

Fixed points of  x = (G + rho)^-1 (rho z - y - c - mu |u_t| e_n),  z = P_K(x + y / rho),  y <- y + rho (x - z)
obey the law; -y is u + mu |u_t| e_n, so |u_t| = |y_t|.
(G + rho)^-1 = (1 - J (rho + J^T J)^-1 J^T) / rho.  rho balances the two residuals |x - z| and rho |z - z_before|.
Twin of admm.py.
"""

import math

from palpate.contact.cone import lift, project
from palpate.contact.dense_linear import factor_positive, solve_factored
from palpate.contact.dense_problem import copy_rows, evaluate, load, to_columns, to_rows
from palpate.jit import kernel, stage
from palpate.spatial.vectors import add_scaled, get3, put3, scale, sub

RHO_START, RHO_MIN, RHO_MAX = 0.1, 1e-9, 1e4
BALANCE = 5  # iterations between changes of rho
UNBALANCED = 1.3  # ratio from which a change of rho is worth a factorisation


@kernel
def columns_squared(p):
    """K = J^T J."""
    r = p.rank
    for k in range(r):
        for j in range(r):
            p.K[k, j] = 0.0
    for row in range(p.J.shape[0]):
        for k in range(r):
            f = p.J[row, k]
            for j in range(k + 1):
                p.K[k, j] += f * p.J[row, j]


@kernel
def factor(p, rho):
    r = p.rank
    for k in range(r):
        for j in range(k + 1):
            p.A[k, j] = p.K[k, j]
        p.A[k, k] += rho
    factor_positive(p.A, r)


@kernel
def begin(p):
    """From p.l and p.u: multipliers y = -(u + mu |u_t| e_n), pushed into the polar cone, where they live."""
    columns_squared(p)
    p.rho = RHO_START
    for i in range(p.mu.shape[0]):
        u = get3(p.u, i)
        y = (-u[0] - lift(u, p.mu[i]), -u[1], -u[2])
        put3(p.y, i, sub(y, project(y, p.mu[i])))
        put3(p.z, i, get3(p.l, i))


@kernel
def iterate(p, rho):
    """One iteration; returns the primal and the dual residual."""
    m = p.mu.shape[0]
    for i in range(m):
        y, z = get3(p.y, i), get3(p.z, i)
        c = (p.c[3 * i] + lift(y, p.mu[i]), p.c[3 * i + 1], p.c[3 * i + 2])
        put3(p.start, i, sub(sub(scale(rho, z), y), c))
    to_columns(p, p.start, p.x)
    solve_factored(p.A, p.rank, p.x)
    apart, moved = 0.0, 0.0
    for i in range(m):
        x = scale(1.0 / rho, sub(get3(p.start, i), to_rows(p, p.x, i)))
        z = project(add_scaled(x, 1.0 / rho, get3(p.y, i)), p.mu[i])
        primal, dual = sub(x, z), sub(z, get3(p.z, i))
        for a in range(3):
            apart, moved = max(apart, abs(primal[a])), max(moved, rho * abs(dual[a]))
        put3(p.y, i, add_scaled(get3(p.y, i), rho, primal))
        put3(p.z, i, z)
    return apart, moved


@stage
def admm(address, iterations, tolerance):
    """Go on from where the last round ended, at first from p.l, into p.l.  Returns whether it converged."""
    (p,) = load(address)
    relative = math.inf
    if p.rho == 0.0:
        begin(p)
    factor(p, p.rho)
    for iteration in range(1, iterations + 1):
        if relative <= tolerance or p.budget <= 0:
            break
        p.admm += 1
        p.budget -= 1
        apart, moved = iterate(p, p.rho)
        if iteration % BALANCE == 0:
            copy_rows(p.z, p.l)
            relative, _ = evaluate(address, 1.0, 0.0)
            ratio = math.sqrt(apart / moved) if moved > 0.0 and apart > 0.0 else 1.0
            if ratio > UNBALANCED or ratio < 1.0 / UNBALANCED:
                p.rho = min(max(p.rho * min(max(ratio, 0.1), 10.0), RHO_MIN), RHO_MAX)
                factor(p, p.rho)
    return relative <= tolerance
