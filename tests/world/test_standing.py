"""Avatars on soles of many points, held by implicit springs: standing, pushed, recovering."""

import numpy as np
import pytest

import palpate as pp
from palpate.scenes.standing import hrp2_standing, human_standing

G = 9.81


def stand(world, seconds):
    """Step in pieces; (normal force, deepest penetration, largest residual, ran out, lost)."""
    worst, deepest, ran_out = 0.0, 0.0, 0
    for _ in range(round(seconds * 100)):
        world.step(10)
        worst, ran_out = max(worst, world.report.relative_residual), ran_out + world.report.ran_out
        deepest = max(deepest, *(-c.gap for c in world.contacts))
    force = sum(c.force[2] for c in world.contacts if c.body_a == "floor" or c.body_b == "floor")
    return force, deepest, worst, ran_out, world.report.lost


def com(world):
    return pp.center_of_mass(world.model, world.q)


@pytest.mark.slow
@pytest.mark.parametrize("full", [True, False])
def test_hrp2_stands_for_ten_seconds(full):
    """Acceptance 28 (heights: tests/model; all 32 points, and reduced to corners)."""
    world = hrp2_standing(full=full).world
    assert len([j for j in world.model.description.joints if j.kind == "revolute"]) == 32
    assert sum(b.mass for b in world.model.description.bodies) == pytest.approx(58.0, abs=1e-6)
    assert world.pose("WAIST")[2, 3] == pytest.approx(0.6487, abs=0.0005)
    start = com(world)
    force, deepest, worst, ran_out, lost = stand(world, 10.0)
    assert world.report.contacts == (32 if full else 8)
    assert force == pytest.approx(568.98, abs=0.1)
    assert deepest < 1e-3
    assert np.linalg.norm(com(world) - start) < 0.02
    assert (worst <= 1e-6, ran_out, lost) == (True, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("full", [True, False])
def test_the_human_stands_for_ten_seconds(full):
    """Acceptance 29 (all 104 points, and reduced to corners)."""
    world = human_standing(full=full).world
    assert world.model.nv == 47
    assert sum(b.mass for b in world.model.description.bodies) == pytest.approx(75.0, abs=1e-6)
    assert 0.55 <= com(world)[2] / 1.75 <= 0.59
    force, deepest, worst, ran_out, lost = stand(world, 10.0)
    assert world.report.contacts == (104 if full else 8)
    assert force == pytest.approx(735.75, abs=0.1)
    assert deepest < 1e-3
    assert (worst <= 1e-6, ran_out, lost) == (True, 0, 0)


def pushed(full):
    """Where the centre of mass of HRP-2 ends after 60 N at its chest for 0.2 s."""
    world = hrp2_standing(full=full).world
    world.step(3000)
    for _ in range(200):
        world.apply("CHEST_JOINT1", (60, 0, 0))
        world.step()
    farthest = com(world)
    world.step(3000)
    return com(world), farthest, world


@pytest.mark.slow
def test_corners_carry_what_all_points_carry():
    """Acceptance 30: with 8 instead of 32 points, a push of 60 N for 0.2 s ends within 1e-3 m; both recover."""
    (few, far, reduced), (many, _, complete) = pushed(False), pushed(True)
    assert few == pytest.approx(many, abs=1e-3)
    assert (reduced.report.contacts, complete.report.contacts) == (8, 32)
    assert np.linalg.norm(far - few) > 1e-3  # it did give way, and
    assert np.abs(reduced.v).max() < 0.05  # came back to rest
    assert few[2] > 0.75


def mean_effort(warm, steps=1000):
    """Sweeps and Newton and ADMM iterations per step of the standing HRP-2; cold: impulses forgotten every step."""
    world = hrp2_standing(full=True).world
    effort = 0
    for _ in range(steps):
        if not warm:
            world.arrays.rows.n_warm = 0
        world.step()
        report = world.report
        assert report.relative_residual <= 1e-6
        effort += report.sweeps + report.newton + report.admm
    return effort / steps


def test_a_warm_start_saves_effort():
    """Acceptance 27: at most 10 on average, and below 0.75 of the cold start; sweeps and iterations of all stages."""
    warm, cold = mean_effort(True), mean_effort(False)
    assert warm <= 10.0
    assert warm < 0.75 * cold
