"""Contacts that are only watched obey the law like all others: what would close is taken in (contact/watched.py)."""

import math

import numpy as np
import pytest
from motions import dense_problem, force_between, natural_maps, random_world, set_velocity

import palpate as pp
from palpate import jit

pytestmark = pytest.mark.nojit

SEEDS = range(2) if jit.DISABLED else range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_contact_closes_faster_than_its_gap_whether_watched_or_not(seed):
    """In heaps that land, by plain products of all rows: u_n >= 0 up to the tolerance, no impulse where it opens."""
    rng = np.random.default_rng(seed)
    world = random_world(rng, 3 if jit.DISABLED else int(rng.integers(5, 14)))
    r, watched = world.arrays.rows, 0
    for _ in range(8 if jit.DISABLED else 250):
        world.step()
        if r.n_rows == 0:
            continue
        watched += r.n_watched
        W, c = dense_problem(world)
        u, fastest = (W @ r.lam[: r.n_rows].ravel() + c)[::3], max(-c[::3].min(), 1e-6)
        assert world.report.ran_out == 0
        assert u.min() >= -2e-6 * fastest
        assert natural_maps(world)[2] <= 1.01e-6
        assert not r.lam[: r.n_rows][r.watched[: r.n_rows] != 0].any()
    assert watched > 0 or jit.DISABLED


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("amplified", [3.0, 5.0, 20.0])
def test_what_is_squeezed_out_between_two_is_stopped_by_a_bump_that_nothing_approached(amplified, part):
    """Two heavy balls close in on a light one beside their line, which leaves many times faster than they come.

    Their gaps leave 0.1 m/s of 1 m/s, the light ball would leave with `amplified` times that, and the bump is nearer
    than it would come in the step but farther than anything at the ball approaches.
    """
    smooth, radius, small, dt, speed = pp.Material("smooth", 0.0), 0.05, 0.01, 1e-3, 1.0
    sine = 1.0 / amplified
    reach = (radius + small) + dt * (math.sqrt(1.0 - sine**2) * speed - 0.1)  # from centre to centre
    x, y = reach * math.sqrt(1.0 - sine**2), reach * sine
    wide = dt * 0.1 * (1.0 + part * (amplified - 1.0))  # of the bump's gap
    world = pp.World(
        [
            pp.models.ball(radius, mass=100.0, at=(-x, 0.0, 0.0), material=smooth, name="left"),
            pp.models.ball(radius, mass=100.0, at=(x, 0.0, 0.0), material=smooth, name="right"),
            pp.models.ball(small, mass=0.01, at=(0.0, y, 0.0), material=smooth, name="light"),
            pp.models.ball(small, at=(0.0, y + 2.0 * small + wide, 0.0), material=smooth, name="bump", fixed=True),
        ],
        dt=dt,
        gravity=(0.0, 0.0, 0.0),
    )
    set_velocity(world, "left", (speed, 0.0, 0.0))
    set_velocity(world, "right", (-speed, 0.0, 0.0))
    world.step()
    assert np.linalg.norm(force_between(world, "bump", "light")) > 0.0
    assert world.report.relative_residual <= 1e-6
    assert natural_maps(world)[2] <= 1.01e-6
    assert world.pose("light")[1, 3] + small <= y + small + wide + 1e-9
