"""Any contact problem as one dense matrix, in stages: exact sweeps, Newton, ADMM, Newton again, patient sweeps.

Ends by its budget of iterations, and the best impulses found are feasible; their residual says how good they are.
Strongly coupled problems (friction that pulls a contact into itself) may not be solved to the tolerance.
Twin of solve.py and sweeps.py, which never form the matrix.
"""

import math

from palpate.contact.cone import natural_map, project
from palpate.contact.dense_admm import admm
from palpate.contact.dense_linear import pivoted_cholesky
from palpate.contact.dense_newton import follow, newton
from palpate.contact.dense_problem import copy_rows, evaluate, load
from palpate.contact.single import own_velocity, prepare, solve_prepared
from palpate.jit import entry, kernel, stage
from palpate.spatial.vectors import get3, put3

RANK_FLOOR = 1e-13  # of the scaled matrix, whose diagonals are about 1: what is smaller is rounding
SWEEPS_AT_MOST = 30
WORTH_SWEEPING = 0.5  # sweeps go on while each leaves at most this part of the residual; the first two are free
NEWTON_STEPS = 20
FOLLOW_STEPS = 50
ADMM_STEPS = 40  # in the first round, as many more in each further one
PATIENT_SWEEPS = 300  # from nothing, once, where all else has failed


@kernel
def own_block(G, i):
    """Block i of the diagonal, symmetric."""
    k = 3 * i
    return (G[k, k], G[k + 1, k + 1], G[k + 2, k + 2], G[k, k + 1], G[k, k + 2], G[k + 1, k + 2])


@kernel
def sweep(p):
    """Solve each contact exactly in turn, the others held (Gauss-Seidel); needs p.u of p.l and keeps it so."""
    for i in range(p.mu.shape[0]):
        l, u, own = get3(p.l, i), get3(p.u, i), own_velocity(own_block(p.G, i), get3(p.l, i))
        q = (p.own[i, 0], p.own[i, 1], p.own[i, 2], p.own[i, 3], p.own[i, 4], p.own[i, 5], p.own[i, 6])
        new, several = solve_prepared(q, (u[0] - own[0], u[1] - own[1], u[2] - own[2]), p.mu[i], l)
        p.multi_roots += several
        put3(p.l, i, new)
        d0, d1, d2 = new[0] - l[0], new[1] - l[1], new[2] - l[2]
        if d0 != 0.0 or d1 != 0.0 or d2 != 0.0:
            for j in range(p.mu.shape[0]):
                for a in range(3):
                    k = 3 * j + a
                    p.u[j, a] += p.G[3 * i, k] * d0 + p.G[3 * i + 1, k] * d1 + p.G[3 * i + 2, k] * d2


@stage
def sweeps(address, tolerance, most, worth):
    """Sweep while each leaves at most the part `worth` of the residual; returns whether that was enough."""
    (p,) = load(address)
    relative, _ = evaluate(address, 1.0, 0.0)
    for done in range(most):
        if relative <= tolerance or p.budget <= 0:
            break
        p.sweeps += 1
        p.budget -= 1
        before = relative
        sweep(p)
        relative, _ = evaluate(address, 1.0, 0.0)
        if done >= 2 and relative > worth * before:
            break
    return relative <= tolerance


@entry("intp")
def factor_entry(address):
    """G = J J^T, and each contact's own block.  Returns what is left of G - J J^T: rounding, or G is not positive."""
    (p,) = load(address)
    p.rank, left = pivoted_cholesky(p.G, p.w, p.J, RANK_FLOOR)
    for i in range(p.mu.shape[0]):
        q = prepare(own_block(p.G, i))
        for k in range(7):
            p.own[i, k] = q[k]
    return left


@entry("intp, float64, intp")
def solve_entry(address, tolerance, budget):
    """From p.l to p.best."""
    (p,) = load(address)
    p.budget = budget
    for i in range(p.mu.shape[0]):
        put3(p.l, i, project(get3(p.l, i), p.mu[i]))
    done = sweeps(address, tolerance, SWEEPS_AT_MOST, WORTH_SWEEPING)
    rho, stage = 1.0, 0
    while not done and p.budget > 0:
        if stage == 0:
            copy_rows(p.best, p.l)
        elif stage % 2 == 1:
            if stage == 1:
                p.l[:] = 0.0
            else:
                copy_rows(p.best, p.l)
            follow(address, FOLLOW_STEPS, rho)
        elif stage == 4:
            p.l[:] = 0.0
            done = sweeps(address, tolerance, PATIENT_SWEEPS, math.inf)
        else:
            done = admm(address, stage * ADMM_STEPS, tolerance)
            rho = min(p.rho, 1.0)
        if not done:
            done = newton(address, NEWTON_STEPS, tolerance, rho)
        stage += 1


@entry("float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1]")
def residual_entry(l, u, mu, g, out):
    """out (m,): length of each contact's natural map, in the units of l."""
    for i in range(l.shape[0]):
        F = natural_map(get3(l, i), get3(u, i), mu[i], g[i])
        out[i] = (F[0] * F[0] + F[1] * F[1] + F[2] * F[2]) ** 0.5
