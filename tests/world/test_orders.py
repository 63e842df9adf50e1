"""Every root, alone and with limbs, its centre of mass anywhere: the step converges to the motion at its order."""

import numpy as np
import pytest
from mechanisms import ALL_JOINTS, random_state, random_wrenches
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


def state_error(world, truth):
    """How far coordinates, velocities, centre of mass, momentum and energy are from (q, v), relative to their size."""
    model, (q, v) = world.model, truth
    right = whole(model, q, v)
    return max(
        np.abs(pp.difference(model, q, world.q)).max(),
        np.abs(world.v - v).max() / (1.0 + np.abs(v).max()),
        (np.abs(whole(model, world.q, world.v) - right) / (1.0 + np.abs(right))).max(),
    )


def errors(part, seed, seconds, push=0.0):
    """After `seconds` at two steps, against an integration by other means; push: size of torques and wrenches."""
    known, found = [], []
    for dt in (2e-3, 1e-3):
        world = pp.World(part, dt=dt)
        rng, model = np.random.default_rng(seed), world.model
        world.q[:], world.v[:], _ = random_state(rng, model)
        world.tau[:] = push * rng.normal(size=model.nv)
        wrenches = push * random_wrenches(rng, model)
        if not known:
            tau = world.tau.copy()
            known.append(
                reference(model, world.q, world.v, seconds, lambda q, v, tau=tau: tau, lambda q, v, x=wrenches: x)
            )
        for _ in range(round(seconds / dt)):
            for body, (*torque, fx, fy, fz) in zip(model.body_names[1:], wrenches[1:], strict=True):
                if push:
                    world.apply(body, force=(fx, fy, fz), torque=torque)
            world.step()
        found.append(state_error(world, known[0]))
    return found


@pytest.mark.parametrize("children", [0, 1, 3])
@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_everything_converges_with_the_square_of_the_step(kind, children):
    """Under gravity."""
    for far in (0.0, 0.1, 3.0):
        rng = np.random.default_rng([children, round(100 * far), ALL_JOINTS.index(kind)])
        coarse, fine = errors(odd_root(rng, kind, far, children), 7, 0.1)
        assert fine < 1e-3
        assert fine < 1.25 * 0.5**2 * coarse + 1e-9, (far, coarse, fine)


@pytest.mark.parametrize("children", [0, 2])
@pytest.mark.parametrize("kind", ALL_JOINTS)
def test_and_so_it_does_under_torques_and_pushes(kind, children):
    """Joint torques that turn with the bodies, wrenches that keep their direction in the world."""
    rng = np.random.default_rng([children, ALL_JOINTS.index(kind)])
    coarse, fine = errors(odd_root(rng, kind, 0.3, children), 7, 0.1, push=2.0 if children else 0.1)  # it is a needle
    assert fine < 1e-3
    assert fine < 1.25 * 0.5**2 * coarse + 1e-9, (coarse, fine)
