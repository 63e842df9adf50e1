"""Sole forces against the non-negative least squares of Lawson and Hanson (avatars.md 2.4, 10.13)."""

import numpy as np
import pytest

from palpate.control.balance.distribution import EDGES, SoleForces, distribute, sole_forces
from palpate.jit import Block, block_loader, entry

pytestmark = pytest.mark.nojit
load = block_loader((SoleForces, False))
SOLE = np.array([(0.13, -0.075), (0.13, 0.055), (-0.10, 0.055), (-0.10, -0.075)])
COM, MASS, W2, MU = np.array([0.017, 0.0, 0.80]), 58.0, 12.3, 0.6


@entry("intp, float64[::1], float64[::1]")
def distribute_entry(address, centre, wanted):
    f = load(address)[0]
    c = (centre[0], centre[1], centre[2])
    distribute(f, c, (wanted[0], wanted[1], wanted[2]), (wanted[3], wanted[4], wanted[5]))


def corners(rng):
    """Two soles somewhere beside each other."""
    right = np.column_stack([SOLE + (rng.uniform(-0.2, 0.2), -0.1), np.zeros(4)])
    left = np.column_stack([SOLE * (1, -1) + (0.0, 0.1), np.zeros(4)])
    return np.vstack([right, left])


def rows(f, centre):
    """a_j as the law has them, written again."""
    edges = np.array([(MU, 0, 1), (-MU, 0, 1), (0, MU, 1), (0, -MU, 1)])
    return np.array([s * np.concatenate([f.moment_weight * np.cross(x - centre, e), e])
                     for x, s in zip(f.corner, f.bears, strict=True) for e in edges])  # fmt: skip


def lawson_hanson(A, b):
    """min |A x - b|, x >= 0 (Lawson and Hanson 1974, chapter 23)."""
    n = A.shape[1]
    x, passive = np.zeros(n), np.zeros(n, dtype=bool)
    for _ in range(10 * n):
        w = A.T @ (b - A @ x)
        w[passive] = -np.inf
        if w.max() <= 1e-9:
            break
        passive[w.argmax()] = True
        while True:
            z = np.zeros(n)
            z[passive] = np.linalg.lstsq(A[:, passive], b, rcond=None)[0]
            if z[passive].min() > 0.0:
                break
            falling = passive & (z <= 0.0)
            t = (x[falling] / (x[falling] - z[falling])).min()
            x = x + t * (z - x)
            passive &= x > 1e-12
            x[~passive] = 0.0
        x = z
    return x


def least(f, centre, wanted):
    """(residual, l) of the optimum."""
    A, b = rows(f, centre).T, wanted * ([f.moment_weight] * 3 + [1.0] * 3)
    l = lawson_hanson(np.vstack([A, np.sqrt(f.eps) * np.eye(A.shape[1])]), np.append(b, np.zeros(A.shape[1])))
    return np.linalg.norm(A @ l - b), np.linalg.norm(A @ f.l - b), l


def wanted_at(p, rng, up=1.0, turn=10.0):
    """What balance asks for with the pressure at p: it may be anywhere."""
    return np.array([*rng.normal(0, turn, 3), *(MASS * W2 * (COM[:2] - p)), up * MASS * 9.81])


@pytest.mark.parametrize("moment_weight", [0.017, 0.1, 0.3])
def test_residual_is_within_a_tenth_of_a_newton_of_the_least(moment_weight):
    """10.13: random wrenches, the pressure inside and far outside the soles."""
    rng = np.random.default_rng(3)
    f = sole_forces(moment_weight=moment_weight)
    block = Block(f)
    for _ in range(30):
        f.corner[:] = corners(rng)
        wanted = wanted_at(rng.uniform(-0.4, 0.4, 2), rng, rng.uniform(0.0, 2.0), 40.0)
        distribute_entry(block.address, COM, wanted)
        best, found, l = least(f, COM, wanted)
        assert found < best + 1e-6  # 0.1 N were asked for
        assert f.l == pytest.approx(l, abs=1e-2)


def test_the_pressure_may_cross_the_edge_and_a_tick_takes_few_rounds():
    """10.13 as it runs: from tick to tick, the start is the y of the tick before."""
    rng = np.random.default_rng(5)
    f = sole_forces()
    block = Block(f)
    f.corner[:] = corners(rng)
    rounds = []
    for way in range(6):
        begin, end = rng.uniform(-0.05, 0.05, 2), rng.uniform(-0.4, 0.4, 2)
        for u in np.linspace(0.0, 1.0, 40):
            wanted = wanted_at(begin + u * (end - begin), rng, turn=0.2)
            distribute_entry(block.address, COM, wanted)
            rounds.append(f.rounds)
            if round(40 * u) % 8 == way:
                best, found, _ = least(f, COM, wanted)
                assert found < best + 1e-6
    assert np.mean(rounds) < 3.0
    assert max(rounds) < 15


@pytest.mark.parametrize("side", [0, 1])
def test_a_foot_that_does_not_bear_is_given_nothing_and_the_other_stays_optimal(side):
    rng = np.random.default_rng(side)
    f = sole_forces()
    f.bears[4 * side : 4 * side + 4] = 0.0
    block = Block(f)
    for _ in range(10):
        f.corner[:] = corners(rng)
        wanted = wanted_at(rng.uniform(-0.2, 0.2, 2), rng)
        distribute_entry(block.address, COM, wanted)
        assert not f.force[4 * side : 4 * side + 4].any()
        best, found, _ = least(f, COM, wanted)
        assert found < best + 1e-6


def test_forces_lie_in_the_pyramids_and_push_only():
    rng = np.random.default_rng(11)
    f = sole_forces()
    block = Block(f)
    for _ in range(40):
        f.corner[:] = corners(rng)
        distribute_entry(block.address, COM, rng.normal(0, 300.0, 6))
        assert (f.force[:, 2] >= 0.0).all()
        assert (np.abs(f.force[:, :2]).sum(axis=1) <= MU * f.force[:, 2] + 1e-9).all()


def test_what_can_be_done_is_done():
    """Wrenches made of forces well within the pyramids come back, to what eps lets go."""
    rng = np.random.default_rng(13)
    f = sole_forces(moment_weight=0.1)
    block = Block(f)
    for _ in range(20):
        f.corner[:] = corners(rng)
        force = np.column_stack([rng.uniform(-5, 5, (8, 2)), rng.uniform(30, 90, 8)])
        wanted = np.append(np.cross(f.corner - COM, force).sum(axis=0), force.sum(axis=0))
        distribute_entry(block.address, COM, wanted)
        made = np.append(np.cross(f.corner - COM, f.force).sum(axis=0), f.force.sum(axis=0))
        assert made == pytest.approx(wanted, abs=0.05)


def test_corners_with_half_the_weight_bear_less():
    rng = np.random.default_rng(17)
    f = sole_forces()
    block = Block(f)
    f.corner[:] = corners(rng)
    f.corner[:4, 0] = f.corner[4:, 0]
    still = np.array([0, 0, 0, 0, 0, MASS * 9.81])
    distribute_entry(block.address, np.array([f.corner[:, 0].mean(), 0.0, 0.8]), still)
    half = f.force[:4, 2].sum()
    f.bears[:4] = 0.5
    distribute_entry(block.address, np.array([f.corner[:, 0].mean(), 0.0, 0.8]), still)
    assert f.force[:4, 2].sum() < half
    assert f.l.shape == (EDGES * 8,)
