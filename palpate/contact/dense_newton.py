"""Semismooth Newton on the map of Alart and Curnier (cone.py) of all contacts, in the space of J's columns.

F(l, u), u = J J^T l + c, has dF = C dl + N du for each contact.  With M = (C + eps)^-1:
(1 + J^T M N J) dw = -J^T M F,  dl = -M (F + N J dw).  eps makes redundant contacts harmless.

`newton` ends exactly but needs a start nearby.  `follow` comes from far away: it rounds the kinks (smoothing.py) and
sharpens them while it goes.  Twin of newton.py, which has one for both.
"""

from palpate.contact.cone import project
from palpate.contact.dense_linear import solve_general
from palpate.contact.dense_problem import copy_rows, evaluate, load, to_rows
from palpate.contact.smoothing import CLOSE, TAU_DOWN, TAU_END, TAU_START, damped_inverse, linearised
from palpate.jit import stage
from palpate.spatial.vectors import add, add_scaled, compose, get3, get9, put3, put9, rotate, scale

EPS, EPS_MIN, EPS_MAX = 1e-6, 1e-10, 1e-1
EPS_DOWN, EPS_UP = 0.1, 30.0  # after a step that worked, and after one that did not
HALVINGS = 10
ENOUGH = 1e-4  # a step must lower the sum of squares by this part of what its length promises


@stage
def newton_step(address, eps, rho, tau):
    """p.step from p.l, p.u.  False if the system is singular."""
    (p,) = load(address)
    m, r = p.mu.shape[0], p.rank
    for k in range(r):
        p.x[k] = 0.0
        for j in range(r):
            p.A[k, j] = 0.0
        p.A[k, k] = 1.0
    for i in range(m):
        F, C, N = linearised(get3(p.l, i), get3(p.u, i), p.mu[i], rho, tau)
        M = damped_inverse(C, eps)
        X, y = compose(M, N), rotate(M, F)
        put9(p.X, i, X)
        put3(p.step, i, scale(-1.0, y))
        for k in range(r):
            j0, j1, j2 = p.J[3 * i, k], p.J[3 * i + 1, k], p.J[3 * i + 2, k]
            p.x[k] -= j0 * y[0] + j1 * y[1] + j2 * y[2]
            p.B[3 * i, k] = X[0] * j0 + X[1] * j1 + X[2] * j2
            p.B[3 * i + 1, k] = X[3] * j0 + X[4] * j1 + X[5] * j2
            p.B[3 * i + 2, k] = X[6] * j0 + X[7] * j1 + X[8] * j2
        if N[0] > 0.0:  # open contacts add nothing
            for k in range(r):
                j0, j1, j2 = p.J[3 * i, k], p.J[3 * i + 1, k], p.J[3 * i + 2, k]
                for j in range(r):
                    p.A[k, j] += j0 * p.B[3 * i, j] + j1 * p.B[3 * i + 1, j] + j2 * p.B[3 * i + 2, j]
    if not solve_general(p.A, r, p.x):
        return False
    for i in range(m):
        put3(p.step, i, add(get3(p.step, i), scale(-1.0, rotate(get9(p.X, i), to_rows(p, p.x, i)))))
    return True


@stage
def line_search(address, eps, rho, tau, merit):
    """One step from p.l, halved until it lowers the sum of squares; p.l stays if none does.

    Returns the relative residual and the sum of squares where p.l is then.
    """
    (p,) = load(address)
    before, length = merit, 1.0
    copy_rows(p.l, p.start)
    if newton_step(address, eps, rho, tau):
        for _ in range(HALVINGS):
            for i in range(p.mu.shape[0]):
                l = add_scaled(get3(p.start, i), length, get3(p.step, i))
                if tau == 0.0:  # the solution lies in the cones: projecting never leads away from it
                    l = project(l, p.mu[i])
                put3(p.l, i, l)
            relative, merit = evaluate(address, rho, tau)
            if merit <= (1.0 - ENOUGH * length) * before:
                return relative, merit
            length *= 0.5
    copy_rows(p.start, p.l)
    return evaluate(address, rho, tau)


@stage
def newton(address, iterations, tolerance, rho):
    """Improve p.l; returns whether it converged.  Stops when no step length and no eps lowers the sum of squares."""
    (p,) = load(address)
    relative, merit = evaluate(address, rho, 0.0)
    eps = EPS
    for _ in range(iterations):
        if relative <= tolerance or p.budget <= 0 or eps > EPS_MAX:
            break
        p.newton += 1
        p.budget -= 1
        before = merit
        relative, merit = line_search(address, eps, rho, 0.0, merit)
        eps = max(EPS_DOWN * eps, EPS_MIN) if merit < before else EPS_UP * eps
    return relative <= tolerance


@stage
def follow(address, iterations, rho):
    """Follow the rounded problem from p.l towards the exact one, and leave the nearest point of the cones in p.l."""
    (p,) = load(address)
    m, largest = p.mu.shape[0], 0.0
    for row in range(p.c.shape[0]):
        largest = max(largest, abs(p.c[row]))
    tau, eps = TAU_START * largest, EPS
    _, merit = evaluate(address, rho, tau)
    for _ in range(iterations):
        if tau < TAU_END * largest or p.budget <= 0 or eps > EPS_MAX:
            break
        p.newton += 1
        p.budget -= 1
        before = merit
        _, merit = line_search(address, eps, rho, tau, merit)
        eps = max(EPS_DOWN * eps, EPS_MIN) if merit < before else EPS_UP * eps
        if merit <= m * (CLOSE * tau) ** 2:
            tau *= TAU_DOWN
            _, merit = evaluate(address, rho, tau)
    for i in range(m):
        put3(p.l, i, project(get3(p.l, i), p.mu[i]))
