"""Lemke's algorithm, the comparison: complementary, and as near to the exact cone as its polygon allows."""

import numpy as np
import pytest

import palpate as pp
from palpate.contact.lemke import lemke, lemke_contacts

pytestmark = pytest.mark.nojit


@pytest.fixture
def rng():
    return np.random.default_rng(25)


def test_solutions_are_complementary(rng):
    for n in (1, 3, 10, 30):
        A = rng.normal(size=(n, n))
        M, q = A @ A.T + 0.1 * np.eye(n), rng.normal(size=n)
        z, _, ok = lemke(M, q, 1000)
        w = M @ z + q
        assert ok
        assert z.min() >= 0.0
        assert w.min() > -1e-9
        assert abs(w @ z) < 1e-8


def test_no_solution_is_said(rng):
    z, _, ok = lemke(-np.eye(3), -np.ones(3), 100)
    assert not ok
    assert not z.any()
    assert not lemke_contacts(np.eye(3), np.array([-1.0, 1.0, 0.0]), 0.5, 8, most=1).ok


def test_degenerate_problems_do_not_cycle():
    """A box on its four corners: ties everywhere."""
    corners = np.array([[x, y, -0.5] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    J = np.vstack([np.hstack([np.cross(r, axes), axes]) for r in corners])
    v = np.array([0.0, 0.0, 0.0, 0.1, 0.0, -0.01])
    for edges in (4, 8, 16):
        found = lemke_contacts(J @ J.T, J @ v, 0.5, edges)
        assert found.ok
        assert found.lam[::3].sum() == pytest.approx(0.01)
        assert found.lam[1::3].sum() == pytest.approx(-0.005)  # x is a direction of every polygon: no loss


@pytest.mark.oracle_heavy
@pytest.mark.parametrize(("edges", "median", "largest"), [(16, 0.015, 0.06), (32, 0.005, 0.03)])
def test_normal_impulses_agree_with_the_exact_cone(edges, median, largest, rng):
    """Acceptance 25: 50 problems, m <= 4, mu 0.4, G = J J^T / n + 0.2; with 32 edges median < 0.5 %, max < 3 %."""
    apart = []
    for _ in range(50):
        n = 3 * int(rng.integers(1, 5))
        J, c = rng.normal(size=(n, n)), rng.normal(size=n)
        G = J @ J.T / n + 0.2 * np.eye(n)
        lam, report = pp.solve_contacts(G, c, 0.4, tolerance=1e-12)
        polygon = lemke_contacts(G, c, 0.4, edges)
        assert report.converged
        assert polygon.ok
        if lam.any():
            apart.append(np.abs(polygon.lam - lam)[::3] / lam[::3].max())
    apart = np.concatenate(apart)
    assert np.median(apart) < median
    assert apart.max() < largest


@pytest.mark.parametrize("edges", [4, 8, 16, 32])
def test_friction_of_a_sliding_particle_is_off_by_at_most_half_a_corner(edges):
    """Acceptance 25: within 180 / k degrees, and the exact cone at rounding."""
    worst = 0.0
    for angle in np.linspace(0.01, 2 * np.pi, 301):
        direction = np.array([np.cos(angle), np.sin(angle)])
        c = np.r_[-0.01, direction]
        f = lemke_contacts(np.eye(3), c, 0.5, edges).lam[1:]
        worst = max(worst, np.degrees(np.arccos(np.clip(-f @ direction / np.linalg.norm(f), -1, 1))))
        exact, _ = pp.solve_contacts(np.eye(3), c, 0.5)
        assert exact[1:] == pytest.approx(-0.005 * direction, abs=1e-15)
    assert 0.8 * 180 / edges < worst <= 180 / edges + 1e-6


def test_too_few_edges_are_refused():
    with pytest.raises(ValueError, match="at least 3 edges"):
        lemke_contacts(np.eye(3), np.ones(3), 0.5, 2)
