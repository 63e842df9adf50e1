"""The contract that every law keeps; a new law is tested by being in the registry."""

import numpy as np
import pytest

import palpate as pp
from palpate.contact.laws import ARGUMENTS, FRICTION, LAWS, RESTITUTION
from palpate.jit.laws import Law
from palpate.registry import find

MATERIALS = ((0.0, 0.0), (0.5, 0.5), (0.6, 0.3), (1.2, 0.1))  # static, sliding
SPEEDS = np.concatenate([[0.0], np.logspace(-9, 2, 111)])
IMPULSES = (0.0, 1e-6, 1e-2, 10.0)
# A law may jump where it says so: Coulomb's does, from static to sliding.
JUMPS = {"coulomb": 1e-4}


def laws(kind):
    return [name for name in LAWS if len(find(LAWS, "laws", name).takes) == len(ARGUMENTS[kind])]


def test_every_law_is_of_one_kind_and_says_what_it_does():
    assert sorted(laws(FRICTION) + laws(RESTITUTION)) == sorted(LAWS)
    for name in LAWS:
        found = find(LAWS, "laws", name)
        assert isinstance(found, Law)
        assert found.name == name
        assert found.__doc__


@pytest.mark.nojit
@pytest.mark.parametrize("name", laws(FRICTION))
def test_friction_lies_between_sliding_and_static(name):
    law = find(LAWS, "laws", name)
    for static, sliding in MATERIALS:
        for slip in SPEEDS:
            for impulse in IMPULSES:
                mu = law(static, sliding, slip, impulse)
                assert np.isfinite(mu)
                assert sliding - 1e-12 <= mu <= static + 1e-12
        assert law(static, sliding, 0.0, 1.0) == pytest.approx(static)
        assert law(static, sliding, 10.0, 1.0) == pytest.approx(sliding, abs=1e-6)


@pytest.mark.nojit
@pytest.mark.parametrize("name", laws(RESTITUTION))
def test_restitution_lies_between_0_and_that_of_the_materials(name):
    law = find(LAWS, "laws", name)
    for e in (0.0, 0.3, 1.0):
        for speed in SPEEDS:
            assert 0.0 <= law(e, speed) <= e
        assert law(e, 0.0) == pytest.approx(e)


@pytest.mark.nojit
@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_continuous_but_where_it_says(name):
    law = find(LAWS, "laws", name)
    for speed in np.concatenate([SPEEDS, [JUMPS.get(name, 1.0)]]):
        step = 1e-9 * max(speed, 1e-3)
        near = [(speed, speed + step)]
        if len(law.takes) == len(ARGUMENTS[FRICTION]):
            values = [[law(0.6, 0.3, s, 1.0) for s in pair] for pair in near]
        else:
            values = [[law(0.8, s) for s in pair] for pair in near]
        for a, b in values:
            if name not in JUMPS or abs(speed - JUMPS[name]) > step:
                assert abs(a - b) < 1e-6


@pytest.mark.parametrize("name", laws(FRICTION))
def test_a_sliding_scene_only_loses_energy(name):
    material = pp.Material("wood", friction=0.6, friction_sliding=0.3)
    bodies = [pp.models.plane(material=material), pp.models.box((0.2, 0.1, 0.1), at=(0, 0, 0.05), material=material),
              pp.models.ball(0.05, at=(0.3, 0.0, 0.05), material=material)]  # fmt: skip
    world = pp.World(bodies, friction_law=name)
    world.v[:] = (0, 0, 2.0, 0.8, 0.3, 0, 0, -10.0, 0, -0.5, 0.2, 0)
    energy = [world.energy.total]
    for _ in range(600):
        world.step()
        energy.append(world.energy.total)
    assert np.diff(energy).max() < 1e-6 * energy[0]
    assert np.abs(world.v[:6]).max() < 1e-5  # the box has come to rest


@pytest.mark.parametrize("name", laws(RESTITUTION))
def test_a_bouncing_scene_only_loses_energy(name):
    material = pp.Material("rubber", friction=0.3, restitution=0.9)
    balls = [pp.models.ball(0.05, at=(0.09 * k, 0.0, 0.2 + 0.15 * k), material=material) for k in range(3)]
    world = pp.World([pp.models.plane(material=material), *balls], restitution_law=name)
    world.v[3] = 0.3
    energy = [world.energy.total]
    for _ in range(1500):
        world.step()
        energy.append(world.energy.total)
    assert np.diff(energy).max() < 1e-4 * energy[0]
    assert energy[-1] < 0.9 * energy[0]
