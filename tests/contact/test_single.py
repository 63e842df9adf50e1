"""One contact is solved exactly, whatever its matrix; several solutions are noticed, and the nearest is taken."""

import numpy as np
import pytest
from contact_doors import packed, residuals, single_solves

from palpate import jit

pytestmark = pytest.mark.nojit
N = 60 if jit.DISABLED else 20_000


def problems(rng, n, condition):
    """G (n, 3, 3) with eigenvalues spread down to 1 / condition, c, mu."""
    Q = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    eigenvalues = condition ** -rng.uniform(0, 1, size=(n, 3))
    return np.einsum("nij,nj,nkj->nik", Q, eigenvalues, Q), rng.normal(size=(n, 3)), rng.uniform(0, 1.5, size=n)


def solved(G, c, mu, warm=None):
    l, several = np.zeros_like(c), np.zeros(len(c), dtype=np.int64)
    single_solves(packed(G), c, mu, np.zeros_like(c) if warm is None else warm, l, several)
    return l, several


def worst(G, c, mu, l):
    """Natural map over all problems, relative to impulses above 1."""
    return max(residuals(*x).max() / max(1.0, np.abs(x[3]).max()) for x in zip(G, c, mu, l, strict=True))


@pytest.mark.repeated
def test_20000_random_problems_are_solved_to_rounding():
    """Acceptance 24: natural-map residual < 1e-12."""
    G, c, mu = problems(np.random.default_rng(24), N, 10.0)
    l, _ = solved(G, c, mu)
    assert max(residuals(*x).max() for x in zip(G, c, mu, l, strict=True)) < 1e-12
    sliding = np.hypot(l[:, 1], l[:, 2]) > 0.999 * mu * l[:, 0]
    assert 0.2 < sliding[l[:, 0] > 0].mean() < 0.9  # all kinds occur


@pytest.mark.parametrize(("condition", "bound"), [(1.0, 1e-14), (1e3, 1e-12), (1e6, 1e-11), (1e10, 1e-10)])
def test_badly_conditioned_matrices(condition, bound):
    G, c, mu = problems(np.random.default_rng(1), max(N // 4, 20), condition)
    l, _ = solved(G, c, mu)
    assert worst(G, c, mu, l) < bound
    assert (np.hypot(l[:, 1], l[:, 2]) <= mu * l[:, 0] * (1 + 1e-14)).all()


def test_a_warm_start_does_not_change_the_solution():
    rng = np.random.default_rng(2)
    G, c, mu = problems(rng, max(N // 4, 20), 100.0)
    cold, several = solved(G, c, mu)
    for warm in (cold, rng.normal(size=c.shape), 1e3 * rng.normal(size=c.shape)):
        l, _ = solved(G, c, mu, warm)
        assert np.abs(l - cold)[several == 0].max() < 1e-9


def test_without_friction_and_with_endless_friction():
    G, c, _ = problems(np.random.default_rng(3), max(N // 10, 20), 10.0)
    smooth, _ = solved(G, c, np.zeros(len(c)))
    assert np.allclose(smooth[:, 0], np.maximum(0, -c[:, 0] / G[:, 0, 0]), rtol=1e-14)
    assert not smooth[:, 1:].any()
    mu = np.full(len(c), 1e6)
    rough, _ = solved(G, c, mu)
    assert worst(G, c, mu, rough) < 1e-7  # the natural map holds mu |u_t|, rounding times a million


def test_matrices_with_directions_that_cannot_move():
    """Planar problems (no motion along t2), a zero matrix, and rank one."""
    rng = np.random.default_rng(4)
    n = max(N // 100, 20)
    G, c, mu = problems(rng, n, 10.0)
    G[:, 2] = G[:, :, 2] = c[:, 2] = 0.0
    l, _ = solved(G, c, mu)
    assert worst(G, c, mu, l) < 1e-10
    assert not l[:, 2].any()
    nothing, _ = solved(np.zeros((n, 3, 3)), c, mu)
    assert not nothing.any()
    a = rng.normal(size=(n, 3))
    l, _ = solved(a[:, :, None] * a[:, None, :], a * rng.normal(size=(n, 1)), mu)
    assert np.isfinite(l).all()
    assert (np.hypot(l[:, 1], l[:, 2]) <= mu * l[:, 0] * (1 + 1e-14)).all()


def test_nothing_to_do_and_numbers_near_the_end_of_floats():
    G = np.tile(np.eye(3), (4, 1, 1))
    c = np.array([[0.0, 0.0, 0.0], [-1e-300, 1.0, 0.0], [-1.0, 1e-300, 0.0], [-1e100, 1e100, 0.0]])
    l, _ = solved(G, c, np.full(4, 0.5))
    assert np.isfinite(l).all()
    assert l[0].tolist() == [0.0, 0.0, 0.0]
    assert l[2, 0] == 1.0


def slip_roots(G, c, mu):
    """All sliding solutions, from the quartic in the slip factor s (oracle)."""
    r = G[1:, 0] / G[0, 0]
    sigma, Q = np.linalg.eigh(G[1:, 1:] - np.outer(G[1:, 0], r))
    y, r, a = (float(x) for x in Q.T @ (c[1:] - r * c[0])), Q.T @ r, float(-c[0] / G[0, 0])
    (y1, y2), (r1, r2), (s1, s2) = y, map(float, r), map(float, sigma)
    A, B = np.poly1d([1.0, s1]), np.poly1d([1.0, s2])
    normal = a * A * B + r1 * y1 * B + r2 * y2 * A
    roots = (float(mu) ** 2 * normal * normal - (y1**2 * B * B + y2**2 * A * A)).roots
    found = []
    for s in roots[(np.abs(roots.imag) < 1e-9) & (roots.real > 0)].real:
        t = -np.array([y1 / (s1 + s), y2 / (s2 + s)])
        n = a - r1 * t[0] - r2 * t[1]
        if n > 0.0:
            found.append(np.r_[n, Q @ t])
    return found


def test_several_solutions_are_noticed_and_the_one_at_the_warm_start_is_kept():
    """A nearly rigid direction that couples normal and tangent: three ways to slide."""
    G = np.array([[0.3088, -0.2143, 0.4092], [-0.2143, 0.1538, -0.2858], [0.4092, -0.2858, 0.543]])
    c, mu = np.array([-0.685, -0.108, -0.642]), 0.682
    roots = slip_roots(G, c, mu)
    assert len(roots) == 3
    for root in roots:
        l, several = solved(G[None], c[None], np.array([mu]), root[None] * 1.001)
        assert several[0] == 1
        assert np.allclose(l[0], root, rtol=1e-6)


def test_one_solution_is_not_taken_for_several():
    rng = np.random.default_rng(7)
    G, c, mu = problems(rng, 30 if jit.DISABLED else 1000, 1e3)
    c[:, 0] = -np.abs(c[:, 0])
    l, several = solved(G, c, mu)
    for i in np.flatnonzero(np.hypot(l[:, 1], l[:, 2]) > 0.999999 * mu * l[:, 0]):
        assert (len(slip_roots(G[i], c[i], mu[i])) > 1) == several[i]
