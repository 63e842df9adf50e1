"""solve_contacts: checks a dense contact problem, explains what is wrong with it, and hands it to the staged solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from palpate.contact import dense, dense_problem
from palpate.contact.laws.calls import MU_LARGEST
from palpate.jit import Block
from palpate.model.model import Floats

ASYMMETRY = 1e-8  # relative to the largest entry: more is a mistake, less is rounding
IMMOBILE = 1e-14  # a contact whose G_nn is below this part of its mean diagonal cannot be moved along its normal,
NOTHING = 1e-20  # nor one whose mean diagonal is below this part of the largest diagonal
INDEFINITE = 1e-7  # what G - J J^T may have left, scaled; more is a matrix with a negative eigenvalue
MU_LEAST = 1e-12  # less is solved as none: such friction is far below any tolerance
SAFETY = 0.5  # the part of the tolerance that iterations aim at; the last evaluation may differ by rounding


@dataclass(frozen=True)
class SolveReport:
    """How a contact solve went.

    `residual` is the natural map of what was returned, the largest over all contacts [N s]; `residual_m_s` the same as
    a velocity; `relative_residual` compares that with the fastest approach, without impulses, of any contact that the
    contact is coupled with, or is zero if it is no more than rounding;
    `converged` says that it is within the tolerance.
    Then the work: `sweeps`, `newton` and `admm` iterations; how often a contact had several solutions (`multi_roots`);
    and whether the budget `ran_out`.
    """

    converged: bool
    residual: float
    residual_m_s: float
    relative_residual: float
    sweeps: int
    newton: int
    admm: int
    multi_roots: int
    ran_out: bool


def solve_contacts(
    G: ArrayLike,
    c: ArrayLike,
    mu: ArrayLike,
    tolerance: float = 1e-8,
    warm: ArrayLike | None = None,
    budget: int = 1000,
) -> tuple[Floats, SolveReport]:
    """Impulses `lam` (3m,) [N s] of m contacts: u = G lam + c with hard contact and Coulomb's exact friction cone.

    G (3m, 3m) is symmetric and positive semidefinite [1/kg], c (3m,) the relative velocity without impulses [m/s], rows
    (normal, tangent 1, tangent 2); mu a number or (m,).  `tolerance` bounds the relative residual (see
    SolveReport); `warm` is a first guess; `budget` the most iterations of all kinds together.

    It always ends, `lam` lies in the cones, and the report says how good it is; read `converged`.  Redundant contacts
    have many solutions `lam` of the same velocities: one of them is returned.  A contact that nothing can move along
    its normal (G_nn = 0) gets no impulse; if it approaches, no impulse is right, and the residual is infinite.
    """
    G, c, mu = _checked(G, c, mu)
    m = len(mu)
    lam = np.zeros(3 * m) if warm is None else _vector(warm, 3 * m, "warm")
    if not tolerance > 0.0:
        raise ValueError(f"tolerance is {tolerance}, it must be positive")
    if budget < 1:
        raise ValueError(f"budget is {budget}, it must be at least one iteration")
    size, speed = _power_of_two(np.diag(G)), _power_of_two(np.abs(c))  # exact, and nothing under- or overflows
    G, c, lam = G / size, c / speed, lam * (size / speed)
    diagonal = np.diag(G).reshape(m, 3)
    g = diagonal.mean(axis=1)
    fixed = (diagonal[:, 0] <= IMMOBILE * g) | (g <= NOTHING)
    g = np.where(fixed, 1.0, g)
    lam[np.repeat(fixed, 3)] = 0.0
    moving, sliding = np.flatnonzero(~fixed), np.where(mu < MU_LEAST, 0.0, mu)
    rows = (3 * moving[:, None] + np.arange(3)).ravel()
    problem = dense_problem.scaled(G[np.ix_(rows, rows)], c[rows], sliding[moving], g[moving])
    if len(moving):
        lam[rows] = _solve(problem, lam[rows], SAFETY * tolerance, budget)
    maps = _natural_maps(G, c, mu, g, lam, fixed)
    relative = _relative(G, c, mu, g, lam, maps)
    residual, slip = float(maps.max(initial=0.0)), float((g * maps).max(initial=0.0))
    lam, residual, slip = lam * (speed / size), residual * (speed / size), slip * speed
    converged = bool(relative <= tolerance)
    report = SolveReport(
        converged, residual, slip, relative, problem.sweeps, problem.newton, problem.admm, problem.multi_roots,
        not converged and len(moving) > 0 and problem.budget <= 0,
    )  # fmt: skip
    return lam, report


def _solve(problem: dense_problem.Problem, lam: Floats, tolerance: float, budget: int) -> Floats:
    """Impulses in the cones, of contacts that can all move."""
    block = Block(problem)
    if dense.factor_entry(block.address) > INDEFINITE:
        raise ValueError("G is not positive semidefinite: it has a negative eigenvalue")
    np.copyto(problem.l, lam.reshape(-1, 3) / problem.unit[:, None])
    dense.solve_entry(block.address, tolerance, budget)
    lam = problem.best * problem.unit[:, None]
    mu = problem.mu
    # the last bit: rounding must not leave the cone
    length = np.hypot(lam[:, 1], lam[:, 2])
    outside = length > mu * lam[:, 0]
    lam[outside, 1:] *= ((1.0 - 1e-15) * mu[outside] * lam[outside, 0] / length[outside])[:, None]
    return lam.ravel()


def _power_of_two(x: Floats) -> float:
    """At most twice, and above, the largest of x >= 0; 1 if there is none."""
    return float(np.ldexp(1.0, np.frexp(x.max(initial=0.0) or 1.0)[1]))


def _natural_maps(G: Floats, c: Floats, mu: Floats, g: Floats, lam: Floats, fixed: np.ndarray) -> Floats:
    """Of each contact [N s], with the matrix as it was given; infinite where what cannot be moved approaches."""
    u = G @ lam + c
    out = np.zeros(len(mu))
    dense.residual_entry(np.ascontiguousarray(lam.reshape(-1, 3)), np.ascontiguousarray(u.reshape(-1, 3)), mu, g, out)
    return np.where(fixed, np.where(u[::3] < 0.0, np.inf, 0.0), out)


def _relative(G: Floats, c: Floats, mu: Floats, g: Floats, lam: Floats, maps: Floats) -> float:
    """The largest relative residual, as `dense_problem.evaluate` has it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = g * maps / dense_problem.speeds(G, c)
    largest = (np.sqrt(g) * lam[::3]).max(initial=0.0)
    terms = dense_problem.grazing(c, mu) + np.sqrt(g) * (1.0 + mu) * largest
    return float(relative[g * maps > dense_problem.ROUNDING * terms].max(initial=0.0))


def _vector(x: ArrayLike, size: int, name: str) -> Floats:
    array = np.array(x, dtype=np.float64).ravel()
    if array.shape != (size,):
        raise ValueError(f"{name} has {array.size} numbers, {size // 3} contacts need {size}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds a NaN or an infinity")
    return array


def _checked(G: ArrayLike, c: ArrayLike, mu: ArrayLike) -> tuple[Floats, Floats, Floats]:
    G = np.array(G, dtype=np.float64)
    if G.ndim != 2 or G.shape[0] != G.shape[1] or G.shape[0] % 3:
        raise ValueError(f"G has shape {G.shape}, m contacts need (3m, 3m)")
    n = len(G)
    c = _vector(c, n, "c")
    friction = np.array(mu, dtype=np.float64)
    if friction.shape not in ((), (n // 3,)):
        raise ValueError(f"mu has shape {friction.shape}, it must be a number or ({n // 3},)")
    if not np.isfinite(G).all():
        raise ValueError("G holds a NaN or an infinity")
    if not (friction >= 0.0).all() or not (friction <= MU_LARGEST).all():
        raise ValueError(f"mu must lie between 0 and {MU_LARGEST:g}, it holds {friction.min()} .. {friction.max()}")
    if np.abs(G - G.T).max(initial=0.0) > ASYMMETRY * np.abs(G).max(initial=0.0):
        i, j = np.unravel_index(np.abs(G - G.T).argmax(), G.shape)
        raise ValueError(f"G is not symmetric: G[{i}, {j}] = {G[i, j]:g} but G[{j}, {i}] = {G[j, i]:g}")
    if (np.diag(G) < 0.0).any():
        raise ValueError(f"G[{np.diag(G).argmin()}, {np.diag(G).argmin()}] is negative: G is not positive semidefinite")
    return 0.5 * (G + G.T), c, np.array(np.broadcast_to(friction, n // 3))
