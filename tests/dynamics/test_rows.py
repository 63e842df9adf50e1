"""Inverse dynamics of many rows with loaded hands: against one row at a time with wrenches, and against differences."""

import numpy as np
import pytest
from mechanisms import all_kinds_forest, random_state, relative

import palpate as pp
from palpate import jit
from palpate.dynamics.rows import carrying

SEEDS = range(1 if jit.DISABLED else 5)
ROWS = 4
pytestmark = pytest.mark.nojit


def motion(seed: int):
    """(model, q, v, a, hands, mass, squeeze) of a forest with every joint kind; hands are points of two bodies."""
    model, rng = all_kinds_forest(seed), np.random.default_rng(seed + 100)
    states = [random_state(rng, model) for _ in range(ROWS)]
    q, v = np.array([s[0] for s in states]), np.array([s[1] for s in states])
    bodies = rng.choice(np.arange(1, model.n_bodies), size=2, replace=False)
    hands = np.column_stack([bodies, rng.normal(scale=0.2, size=(2, 3))])
    return model, q, v, rng.normal(size=v.shape), hands, rng.uniform(0.5, 3.0, ROWS), rng.uniform(-20.0, 40.0, ROWS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_loaded_row_is_inverse_dynamics_with_the_loads_as_wrenches(seed):
    model, q, v, a, hands, mass, squeeze = motion(seed)
    found = carrying(model, q, v, a, hands, mass, squeeze)
    for n in range(ROWS):
        X = pp.forward_kinematics(model, q[n])
        wrenches = np.zeros((model.n_bodies, 6))
        apart = found.point[n, 1] - found.point[n, 0]
        for k, (row, *point) in enumerate(hands):
            at = X[int(row)] @ (*point, 1.0)
            assert np.abs(at[:3] - found.point[n, k]).max() < 1e-12
            force = -0.5 * mass[n] * found.acceleration[n, k] + (2 * k - 1) * squeeze[n] * apart / np.linalg.norm(apart)
            wrenches[int(row), 3:] += force
            wrenches[int(row), :3] += np.cross(at[:3] - X[int(row), :3, 3], force)
        assert relative(found.tau[n], pp.inverse_dynamics(model, q[n], v[n], a[n], wrenches)) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hands_acceleration_is_the_second_difference_of_where_it_is_less_gravity(seed):
    model, q, v, a, hands, mass, squeeze = motion(seed)
    found, h = carrying(model, q, v, a, hands, mass, squeeze), 1e-4

    def speeds(n: int, t: float) -> np.ndarray:
        """Of both points at this time: q and v followed for t, to second order."""
        at = pp.integrate(model, q[n], v[n] + 0.5 * t * a[n], t)
        return np.array([pp.jacobian(model, at, int(row), point)[3:] @ (v[n] + t * a[n]) for row, *point in hands])

    for n in range(ROWS):
        assert relative(found.velocity[n], speeds(n, 0.0)) < 1e-12
        difference = (speeds(n, h) - speeds(n, -h)) / (2 * h)
        assert relative(found.acceleration[n], difference + (0.0, 0.0, 9.81)) < 1e-5


def test_shapes_and_numbers_are_looked_at():
    model, q, v, a, hands, mass, squeeze = motion(0)
    with pytest.raises(ValueError, match="mass has shape"):
        carrying(model, q, v, a, hands, mass[:-1], squeeze)
    with pytest.raises(ValueError, match="v has shape"):
        carrying(model, q, v[:, :-1], a, hands, mass, squeeze)
    q[2] = np.nan
    with pytest.raises(ValueError, match="row 2 of q"):
        carrying(model, q, v, a, hands, mass, squeeze)
