"""Contact takes energy or keeps it; it never makes any."""

import numpy as np
import pytest
from motions import penetration, random_world, total

import palpate as pp


@pytest.mark.parametrize("seed", range(12))
def test_contact_never_creates_energy(seed):
    """Random solids falling on a floor and each other, e = 0: total energy does not grow, but for lifting overlap."""
    world = random_world(np.random.default_rng(seed), 6)
    energy = total(world.energy)
    weight = 9.81 * sum(b.mass for b in world.model.description.bodies)
    grown = 0.0
    for _ in range(800):
        world.step()
        now = total(world.energy)
        # what overlaps is lifted out of each other, at most by how deep it is
        grown = max(grown, now - energy - weight * penetration(world))
        energy = now
    assert grown <= 1e-6 * weight


@pytest.mark.parametrize("seed", range(6))
def test_bounces_never_create_energy(seed):
    """The same with restitution 0.7."""
    world = random_world(np.random.default_rng(100 + seed), 5, restitution=0.7)
    start = energy = total(world.energy)
    for _ in range(800):
        world.step()
        energy = max(energy, total(world.energy))
    assert energy <= start * (1 + 1e-3)
    assert total(world.energy) < start


def test_bodies_that_start_in_overlap_part_without_being_shot_away():
    """Half inside each other: they come apart no faster than the stated 1 m/s, and lie still afterwards."""
    boxes = [pp.models.box((0.1,) * 3, at=(0.05 * i, 0.02 * i, 0.05), name=f"b{i}") for i in range(3)]
    world = pp.World([pp.models.plane(), *boxes])
    fastest = 0.0
    for _ in range(1500):
        before = world.q.reshape(3, 7)[:, :3].copy()
        world.step()
        fastest = max(fastest, np.linalg.norm(world.q.reshape(3, 7)[:, :3] - before, axis=1).max() / world.dt)
    assert fastest < 2.0
    assert penetration(world) < 1.2e-4
    assert np.abs(world.v).max() < 1e-3
    assert world.q.reshape(3, 7)[:, 2].max() < 0.2


def test_a_ball_pressed_into_the_floor_comes_out_and_stays():
    world = pp.World([pp.models.plane(), pp.models.ball(0.1, at=(0, 0, 0.06))])
    highest = 0.0
    for _ in range(500):
        world.step()
        highest = max(highest, world.q[2])
    assert highest < 0.1 + 1e-3
    assert world.q[2] == pytest.approx(0.1, abs=2e-4)
