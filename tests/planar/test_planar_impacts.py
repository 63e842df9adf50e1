"""Simultaneous impacts without friction: Poisson's hypothesis, energy, impenetrability, at any number of contacts."""

import numpy as np
import pytest
from impact_doors import FAMILIES, bound, impacts, poissons

from palpate import jit
from palpate.bench.peers.planar_numpy import complementary
from palpate.planar.bodies.impacts.frictional import impact_work

pytestmark = pytest.mark.nojit
N = 8 if jit.DISABLED else 600


def collided(cases):
    """(impulses, velocities after) of many."""
    W = cases.W
    G, g = cases.delassus(W), np.einsum("kid,kd->ki", W, cases.v)
    impulse = np.full_like(g, np.nan)
    poissons(G, g, cases.e, impulse, impact_work(g.shape[1]))
    return impulse, cases.after(W, impulse)


def holds(cases):
    """No energy, nothing approaches, nothing pulls: to 1e-9, and where masses differ by 1e6 to rounding of the sums.

    A light body wedged between faces of a heavy one gets impulses of 1e9 N s that cancel.
    """
    impulse, after = collided(cases)
    G = np.abs(cases.delassus(cases.W))
    sums = np.einsum("kij,kj->ki", G, impulse) * (np.ptp(np.log10(cases.mass[0])) > 4)
    before = cases.energy(cases.v)
    created = cases.energy(after) - before
    return (
        (created <= 1e-9 * before + 4e-15 * (impulse * sums).sum(axis=1)).all()
        and (np.einsum("kid,kd->ki", cases.W, after) >= -1e-9 - 4e-15 * sums).all()
        and impulse.min() >= 0.0
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_energy_never_rises_and_nothing_approaches(family, n):
    """Planar haptics, acceptance 18: 32 families, 19 200 cases, e mixed per contact."""
    assert holds(impacts(family, N, n, 18))


@pytest.mark.parametrize("n", [8, 24, 64])
@pytest.mark.parametrize("family", ["any", "parallel", "doubled", "wall"])
def test_so_it_is_for_more_contacts_than_bodies_have_freedoms(family, n):
    assert holds(impacts(family, 2 if jit.DISABLED else 40, n, 19))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_phase_is_the_solution_that_trying_all_active_sets_finds(family):
    """One e for all, so that velocities are unique even where impulses are not."""
    cases = impacts(family, 25, 4, 20)
    cases = cases._replace(e=np.repeat(cases.e[:, :1], 4, axis=1))
    W = cases.W
    G, g = cases.delassus(W), np.einsum("kid,kd->ki", W, cases.v)
    _, after = collided(cases)
    for k in range(len(g)):
        compression = complementary(G[k], g[k])
        L = (1.0 + cases.e[k]) * compression
        L = L + complementary(G[k], g[k] + G[k] @ L)
        expected = cases.v[k] + W[k].T @ L / cases.mass[k]
        size = np.sqrt(cases.mass[k])  # in units in which energy is a length
        assert np.linalg.norm(size * (after[k] - expected)) <= 1e-7 * np.linalg.norm(size * cases.v[k])


def test_a_single_contact_leaves_with_e_times_its_speed():
    """And with e = 1 it keeps its energy."""
    cases = impacts("any", N, 1, 21)
    g = np.einsum("kid,kd->ki", cases.W, cases.v)
    _, after = collided(cases)
    left = np.einsum("kid,kd->ki", cases.W, after)
    assert np.allclose(left, np.where(g < 0.0, -cases.e * g, g), rtol=0.0, atol=1e-12)
    elastic = cases._replace(e=np.ones_like(cases.e))
    assert np.allclose(cases.energy(collided(elastic)[1]), cases.energy(cases.v), rtol=1e-12)


def flat_drop(e, speed=0.4, width=0.10, height=0.06):
    """(velocity after, impulses) of a block that comes down flat, on both ends of its lower edge."""
    x = np.array([-width / 2, width / 2])
    W = np.stack([np.zeros(2), np.ones(2), x], axis=1)
    mass = np.array([1.0, 1.0, (width**2 + height**2) / 12])
    v, impulse = np.array([0.0, -speed, 0.0]), np.zeros((1, 2))
    poissons(W[None] / mass @ W.T, (W @ v)[None], np.full((1, 2), float(e)), impulse, impact_work(2))
    return v + W.T @ impulse[0] / mass, impulse[0]


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_flat_drop_leaves_flat(e):
    """Planar haptics, acceptance 18: -0.4 m/s with e = 0.5 leaves at +0.2 m/s, spin < 1e-9."""
    v, impulse = flat_drop(e)
    assert np.allclose(v, [0.0, 0.4 * e, 0.0], rtol=0.0, atol=1e-9)
    assert impulse[0] == pytest.approx(impulse[1])


def test_with_all_contacts_active_it_is_newtons_rule():
    """g+ = -e g where every contact compresses and G can be inverted."""
    W = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    v, e, impulse = np.array([-1.0, -2.0, 0.0]), np.array([[0.3, 0.8]]), np.zeros((1, 2))
    poissons((W @ W.T)[None], (W @ v)[None], e, impulse, impact_work(2))
    assert np.allclose(v + W.T @ impulse[0], [0.3, 1.6, 0.0], rtol=0.0, atol=1e-15)


def test_a_contact_that_cannot_move_takes_no_impulse():
    """Between two bodies that cannot: its row of G is zero."""
    impulse = np.full((1, 2), np.nan)
    G = np.array([[[0.0, 0.0], [0.0, 2.0]]])
    poissons(G, np.array([[0.0, -1.0]]), np.array([[0.5, 0.5]]), impulse, impact_work(2))
    assert np.allclose(impulse, [[0.0, 0.75]])


def test_the_bound_on_restitution_is_the_one_of_the_reference():
    """Planar haptics, 3.3: 0.976, 0.941, 0.882, 0.770 for the corner of 0.25 kg, 0.97 for the flat drop."""
    found = [bound(K, 0.002, 0.25) for K in (1e3, 2.5e3, 5e3, 1e4)]
    assert np.allclose(found, [0.976, 0.941, 0.882, 0.770], atol=5e-4)
    assert bound(5000.0, 0.002, 1.0) == pytest.approx(0.97, abs=5e-3)
    for kappa in np.linspace(0.0, 0.99, 40):
        e = bound(kappa, 1.0, 1.0)
        assert 1.0 - e * e == pytest.approx((1.0 + 2.0 * e) * kappa, abs=1e-12)
    assert bound(1e9, 0.002, 0.25) == 0.0  # too stiff for this rate: no restitution pays for it
