"""The cone's projection and the natural map keep the laws of convex geometry; derivatives are those of the maps."""

import numpy as np
import pytest
from contact_doors import natural_maps, nearest, newton_maps, projections, smooth_maps

from palpate import jit

pytestmark = pytest.mark.nojit
N = 50 if jit.DISABLED else 5000


@pytest.fixture
def rng():
    return np.random.default_rng(6)


def projected(x, mu):
    out = np.zeros_like(x)
    projections(x, mu, out)
    return out


def friction(rng, n=N):
    """From none to a lot, some exactly zero."""
    return np.where(rng.random(n) < 0.1, 0.0, 10.0 ** rng.uniform(-3, 2, size=n))


def test_projection_lies_in_the_cone_and_is_idempotent(rng):
    x, mu = rng.normal(size=(N, 3)), friction(rng)
    p = projected(x, mu)
    assert (np.hypot(p[:, 1], p[:, 2]) <= mu * p[:, 0] * (1 + 1e-14) + 1e-300).all()
    assert np.abs(projected(p, mu) - p).max() < 1e-14


def test_projection_is_nearer_than_any_other_point_of_the_cone(rng):
    x, mu = rng.normal(size=(N, 3)), friction(rng)
    distance = np.linalg.norm(x - projected(x, mu), axis=1)
    for _ in range(20):
        n, angle, part = rng.exponential(size=N), rng.uniform(0, 2 * np.pi, N), np.sqrt(rng.random(N))
        other = np.column_stack([n, mu * n * part * np.cos(angle), mu * n * part * np.sin(angle)])
        assert (distance <= np.linalg.norm(x - other, axis=1) + 1e-13).all()


def test_moreau_splits_a_vector_into_orthogonal_parts_of_cone_and_polar_cone(rng):
    x, mu = rng.normal(size=(N, 3)), friction(rng)
    p = projected(x, mu)
    polar = x - p  # in {n <= -mu |t|}
    assert np.abs((p * polar).sum(axis=1)).max() < 1e-13
    assert (polar[:, 0] <= -mu * np.hypot(polar[:, 1], polar[:, 2]) + 1e-12).all()


def test_projection_equals_the_plain_one(rng):
    x, mu = rng.normal(size=(N, 3)), friction(rng)
    assert np.abs(projected(x, mu) - nearest(x, mu)).max() < 1e-14


def test_special_points():
    x = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [-1.0, 3.0, 0.0], [2.0, 3.0, 4.0]])
    assert projected(x, np.zeros(5)).tolist() == [[0, 0, 0], [0, 0, 0], [2, 0, 0], [0, 0, 0], [2, 0, 0]]
    assert projected(x[:3], np.ones(3)).tolist() == [[0, 0, 0], [0, 0, 0], [2, 0, 0]]


def lawful(rng, n):
    """l, u, mu of n open, n sticking and n sliding contacts, made by hand."""
    mu = 10.0 ** rng.uniform(-2, 1, size=3 * n)
    l, u = np.zeros((3 * n, 3)), np.zeros((3 * n, 3))
    angle = rng.uniform(0, 2 * np.pi, 3 * n)
    e = np.column_stack([np.zeros(3 * n), np.cos(angle), np.sin(angle)])
    u[:n] = rng.normal(size=(n, 3))
    u[:n, 0] = np.abs(u[:n, 0])  # open: parting, no impulse
    l[n:, 0] = rng.exponential(size=2 * n) + 0.1
    l[n : 2 * n] += (mu[n : 2 * n] * l[n : 2 * n, 0] * rng.random(n))[:, None] * e[n : 2 * n]  # stick: no velocity
    l[2 * n :] += (mu[2 * n :] * l[2 * n :, 0])[:, None] * e[2 * n :]  # slide: against the velocity
    u[2 * n :] = -rng.exponential(size=n)[:, None] * e[2 * n :]
    return l, u, mu


def newtons(l, u, mu, g):
    """F (n, 3), C and N (n, 3, 3) of the map that Newton follows."""
    F, C, N = np.zeros((len(l), 3)), np.zeros((len(l), 9)), np.zeros((len(l), 9))
    newton_maps(l, u, mu, g, F, C, N)
    return F, C.reshape(-1, 3, 3), N.reshape(-1, 3, 3)


def naturals(l, u, mu, g):
    F = np.zeros((len(l), 3))
    natural_maps(l, u, mu, g, F)
    return F


@pytest.mark.parametrize("of", [naturals, lambda *x: newtons(*x)[0]], ids=["natural map", "Newton's map"])
def test_maps_vanish_where_coulombs_law_holds_and_nowhere_else(of, rng):
    l, u, mu = lawful(rng, N // 3)
    g = 10.0 ** rng.uniform(-2, 2, size=len(l))
    scale = np.linalg.norm(l, axis=1) + np.linalg.norm(u, axis=1) * (1 + mu) / g
    assert (np.linalg.norm(of(l, u, mu, g), axis=1) < 1e-14 * scale).all()
    off = l + 0.1 * rng.normal(size=l.shape)
    assert np.median(np.linalg.norm(of(off, u, mu, g), axis=1)) > 1e-3


def differences(F_of, x, h=1e-6):
    """Columns dF/dx (n, 3, 3) by central differences."""
    columns = []
    for k in range(3):
        step = np.zeros(3)
        step[k] = h
        columns.append((F_of(x + step) - F_of(x - step)) / (2 * h))
    return np.stack(columns, axis=2)


def test_newtons_map_has_its_derivative(rng):
    """dF = C dl + N du, away from the kinks."""
    l, u, mu, g = rng.normal(size=(N, 3)), rng.normal(size=(N, 3)), friction(rng), rng.uniform(0.5, 2, N)
    _, C, M = newtons(l, u, mu, g)
    by_l = differences(lambda x: newtons(x, u, mu, g)[0], l)
    by_u = differences(lambda x: newtons(l, x, mu, g)[0], u)
    right = (np.abs(by_l - C).max(axis=(1, 2)) < 1e-5 * (1 + mu)) & (
        np.abs(by_u - M).max(axis=(1, 2)) < 1e-5 * (1 + mu)
    )
    assert right.mean() > 0.998  # a few differences straddle a kink


def test_derivative_is_finite_at_the_kinks():
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    for mu in (0.0, 1.0):
        for found in newtons(x, np.zeros((4, 3)), np.full(4, mu), np.ones(4)):
            assert np.isfinite(found).all()


def test_rounded_map_has_its_derivative_and_tends_to_the_natural_one(rng):
    l, u, mu = (
        rng.normal(size=(N, 3)),
        rng.normal(size=(N, 3)),
        np.where(rng.random(N) < 0.1, 0, rng.uniform(0.1, 2, N)),
    )

    def at(l, u, tau=0.3):
        F, C, M = np.zeros((N, 3)), np.zeros((N, 9)), np.zeros((N, 9))
        smooth_maps(l, u, mu, np.array([0.7, tau]), F, C, M)
        return F, C.reshape(N, 3, 3), M.reshape(N, 3, 3)

    _, C, M = at(l, u)
    assert np.abs(differences(lambda x: at(x, u)[0], l) - C).max() < 1e-7
    assert np.abs(differences(lambda x: at(l, x)[0], u) - M).max() < 1e-7
    # where l = 1, u = 0 sticks, and u_n = 1 is open
    for l0, u0 in (((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))):
        F, _, _ = at(np.tile(l0, (N, 1)), np.tile(u0, (N, 1)), 1e-9)
        assert np.abs(F).max() < 1e-8
