"""How the corners of a face share a load that does not change: in many ways by the law, in one from step to step."""

import math

import numpy as np
import pytest

import palpate as pp

G = 9.81


def box_on_slope(seed):
    """A box of random size, turned at random on a slope of random friction: it stays, or slides from the first step."""
    rng = np.random.default_rng(seed)
    angle = math.radians(rng.uniform(5.0, 25.0))
    slides = bool(seed % 2)
    material = pp.Material("rough", math.tan(angle) * (rng.uniform(0.5, 0.95) if slides else rng.uniform(1.1, 2.0)))
    size = tuple(float(x) for x in (rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.4), rng.uniform(0.02, 0.1)))
    up = (math.sin(angle), 0.0, math.cos(angle))
    R = pp.Rotation.about((0.0, 1.0, 0.0), angle) @ pp.Rotation.about((0.0, 0.0, 1.0), rng.uniform(0.0, 2.0 * math.pi))
    at = tuple(0.5 * size[2] * x for x in up)
    box = pp.models.box(size, mass=float(10.0 ** rng.uniform(-2, 2)), at=at, R=R, material=material)
    return pp.World([pp.models.plane(normal=up, material=material), box]), slides


def shares(world):
    """Of the load along the normal, by the corner's place in the box (4,)."""
    X = np.linalg.inv(world.pose("box"))
    corners = sorted((tuple(np.sign(X[:2, :3] @ c.point + X[:2, 3])), c.normal_force) for c in world.contacts)
    loads = np.array([load for _, load in corners])
    return loads / loads.sum()


@pytest.mark.parametrize("seed", range(12))
def test_corners_go_on_sharing_a_load_as_they_began(seed):
    world, slides = box_on_slope(seed)
    world.step(20)
    first = shares(world)
    for _ in range(30):
        world.step(10)
        assert shares(world) == pytest.approx(first, abs=1e-2)
    assert {c.mode for c in world.contacts} == ({"slide"} if slides else {"stick"})
