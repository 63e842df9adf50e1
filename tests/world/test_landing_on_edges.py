"""What lands on an edge or a corner turns about it, and is stopped there too where it strikes in the same step."""

import numpy as np
import pytest

import palpate as pp
from palpate.bench.contact_depth import Solids
from palpate.bench.contact_scenes import BenchScene

STEPS = 60


def landing(seed):
    """A box, tilted by up to 25 degrees, that falls at 2 to 3 m/s on a box that is fixed or lies, over its edge."""
    rng = np.random.default_rng(seed)
    below, above = (tuple(rng.uniform(0.06, 0.14, 3).tolist()) for _ in range(2))
    a, b = rng.uniform(-1.0, 1.0, 2).tolist()
    tilt = pp.Rotation.about((a, b, 0.0), np.radians(rng.uniform(0.5, 25.0)))
    R = tilt @ pp.Rotation.about((0.0, 0.0, 1.0), rng.uniform(0.0, 2.0 * np.pi))
    aside = (0.5 * rng.uniform(-0.1, 0.1, 2)).tolist()
    high = below[2] + 0.5 * np.linalg.norm(above) + 0.005
    floor = pp.models.plane()
    lower = pp.models.box(below, at=(0.0, 0.0, 0.5 * below[2]), name="lower", fixed=bool(seed % 2))
    upper = pp.models.box(above, at=(*aside, float(high)), R=R, name="upper")
    parts = (floor, lower, upper)
    world = pp.World(list(parts))
    v = world.v.copy()
    v[-3:] = rng.uniform(-3.0, -2.0) * R.matrix()[2]  # in its own axes
    world.v = v
    return world, Solids.of(BenchScene("landing", 0, parts, (), ("upper",), moving_touch=True))


@pytest.mark.parametrize("seed", range(24))
def test_a_box_that_lands_on_an_edge_is_stopped_at_every_corner_that_strikes(seed):
    """Less than 1 mm deep, by the fifteen axes of two boxes."""
    world, solids = landing(seed)
    for _ in range(STEPS):
        world.step()
        assert solids.deepest(np.array([world.pose(body) for body in solids.bodies])) < 1e-3
