"""Every root, alone and with limbs, its centre of mass anywhere: the step converges to the motion at its order."""

import numpy as np
import pytest
from mechanisms import ALL_JOINTS, random_state
from reference import odd_body, odd_root, reference, whole

import palpate as pp

NO_WEIGHT = (0.0, 0.0, 0.0)
FAR_M = (0.0, 0.01, 0.1, 1.0, 5.0)  # centre of mass from the body's origin


def floating(body):
    return pp.MultiBody("one", [body], [pp.Joint("one", "free", "world", body.name)])


@pytest.mark.parametrize("far", FAR_M)
@pytest.mark.parametrize("seed", range(6))
def test_a_lone_body_keeps_its_momentum_and_its_centre_goes_straight(seed, far):
    """Nothing acts: linear momentum and path to rounding, energy and size of the spin too, its axis to dt^2."""
    rng = np.random.default_rng([seed, round(100 * far)])
    body = odd_body(rng, "odd", far)
    turned = []
    for dt in (2e-3, 1e-3):
        world = pp.World(floating(body), dt=dt, gravity=NO_WEIGHT)
        state = np.random.default_rng(seed)
        world.q[:], world.v[:], _ = random_state(state, world.model, 3.0)
        size = np.abs(world.v).max() * (1.0 + far)
        c0, h0, e0 = whole(world.model, world.q, world.v)[:3], pp.momentum(world.model, world.q, world.v), world.energy
        world.step(round(1.0 / dt))
        h = pp.momentum(world.model, world.q, world.v)
        assert h[3:] == pytest.approx(h0[3:], abs=1e-10 * body.mass * size)
        path = c0 + h0[3:] / body.mass * world.time
        assert pp.center_of_mass(world.model, world.q) == pytest.approx(path, abs=1e-10 * size)
        assert world.energy.kinetic == pytest.approx(e0.kinetic, rel=1e-9)
        assert np.linalg.norm(h[:3]) == pytest.approx(np.linalg.norm(h0[:3]), rel=1e-8)
        turned.append(np.linalg.norm(h[:3] - h0[:3]) / np.linalg.norm(h0[:3]))
    assert turned[1] < 1e-4
    assert turned[1] < 0.3 * turned[0] + 1e-8


def error_after(part, seed, dt, seconds, limit):
    world = pp.World(part, dt=dt)
    world.q[:], world.v[:], _ = random_state(np.random.default_rng(seed), world.model)
    truth = whole(world.model, *limit(world))
    world.step(round(seconds / dt))
    now = whole(world.model, world.q, world.v)
    return np.abs(now - truth) / (1.0 + np.abs(truth))


@pytest.mark.parametrize("children", [0, 1, 3])
@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_momentum_path_and_energy_converge_at_the_order_of_the_step(kind, children):
    """Against an integration by other means, under gravity."""
    for far in (0.0, 0.1, 3.0):
        rng = np.random.default_rng([children, round(100 * far), ALL_JOINTS.index(kind)])
        part = odd_root(rng, kind, far, children)
        seconds, known = 0.1, []

        def limit(world, known=known, seconds=seconds):
            if not known:
                known.append(reference(world.model, world.q, world.v, seconds))
            return known[0]

        coarse, fine = (error_after(part, 7, dt, seconds, limit) for dt in (2e-3, 1e-3))
        order = 2 if children == 0 and kind in ("free", "spherical") else 1
        assert fine.max() < 0.05
        assert fine.max() < 1.25 * 0.5**order * coarse.max() + 1e-9, (far, coarse, fine)
