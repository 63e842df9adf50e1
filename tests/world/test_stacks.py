"""Boxes on each other, cards against each other, tiles in a row."""

import math
from itertools import pairwise

import numpy as np
import pytest
from motions import G, force_between, penetration, velocity

from palpate.scenes.blocks import cards, dominoes, stack


def test_a_stack_of_five_stands_still_on_its_weight():
    """Acceptance 23."""
    world = stack(5).world
    start = world.q.copy()
    world.step(2000)
    for i in range(5):
        drift = world.pose(f"box{i}")[:3, 3] - start[world.model.q_index[f"box{i}"]][:3]
        assert np.linalg.norm(drift[:2]) < 1e-6
        assert abs(drift[2]) < 1e-4
    assert force_between(world, "floor", "box0") == pytest.approx((0, 0, 49.05), abs=0.01)


@pytest.mark.parametrize("ratio", [1e-4, 1e-2, 1.0, 1e2, 1e3, 1e4])
def test_each_box_carries_the_weight_above_it(ratio):
    """Stack forces with mass ratios up to 1e4, heavy on top and light on top."""
    n = 5
    world = stack(n, ratio).world
    masses = [ratio ** (i / (n - 1)) for i in range(n)]
    names = ["floor", *(f"box{i}" for i in range(n))]
    world.step(300)
    carried = np.zeros((200, n))  # single steps are within the solver's tolerance times the ratio, their mean is exact
    for k in range(200):
        world.step()
        carried[k] = [force_between(world, a, b)[2] for a, b in pairwise(names)]
    assert carried.mean(axis=0) == pytest.approx([G * sum(masses[i:]) for i in range(n)], rel=1e-6)
    assert penetration(world) < 2e-4
    assert max(np.linalg.norm(velocity(world, f"box{i}")) for i in range(n)) < 1e-4
    assert world.report.ran_out == 0
    assert world.report.relative_residual <= 1e-6


def test_a_tall_stack_stands():
    world = stack(15).world
    world.step(1000)
    assert force_between(world, "floor", "box0")[2] == pytest.approx(15 * G, rel=1e-3)
    assert abs(world.pose("box14")[2, 3] - 1.45) < 1e-4


LENGTH, RADIUS = 0.09, 0.001


def needed_friction(half_angle_deg):
    """H / N of a leaning card: H (L cos + r) = m g (L / 2) sin, N = m g."""
    t = math.radians(half_angle_deg)
    return 0.5 * LENGTH * math.sin(t) / (LENGTH * math.cos(t) + RADIUS)


@pytest.mark.parametrize("half_angle_deg", [10.0, 20.0, 30.0, 45.0])
def test_cards_stand_while_friction_carries_their_thrust_and_slide_apart_above(half_angle_deg):
    """The A-frame's limit, mu = tan(half angle) / 2 for thin edges: within 1 % on both sides of it."""
    mu = needed_friction(half_angle_deg)
    for share, stands in ((1.01, True), (0.99, False)):
        world = cards(half_angle_deg, share * mu, LENGTH, RADIUS).world
        start = world.pose("left")[:3, 3]
        world.step(500)
        moved = np.linalg.norm(world.pose("left")[:3, 3] - start)
        if stands:
            assert moved < 1e-6
            m = 0.002
            thrust, _, weight = force_between(world, "floor", "left")  # across, a stress may remain, within the 1 %
            assert (thrust, weight) == pytest.approx((mu * m * G, m * G), rel=1e-3)
        else:
            assert moved > 1e-3


def test_dominoes_fall_in_a_wave():
    """Each tile falls after the one before it, and all of them fall."""
    n = 12
    world = dominoes(n).world
    fell = [math.inf] * n
    for _ in range(300):
        world.step(5)
        for i in range(n):
            if fell[i] == math.inf and world.pose(f"tile{i}")[2, 2] < math.cos(math.radians(15)):
                fell[i] = world.time
    assert fell[-1] < math.inf
    assert fell == sorted(fell)
    assert len(set(fell)) == n
    later = np.diff(fell[2:])
    assert later.std() < 0.25 * later.mean()  # the wave runs steadily
    assert all(world.pose(f"tile{i}")[2, 2] < 0.5 for i in range(n))


def test_dominoes_that_nobody_pushes_stand():
    world = dominoes(5, push=0.0).world
    world.step(500)
    assert all(world.pose(f"tile{i}")[2, 2] > 1 - 1e-9 for i in range(5))


def test_a_stack_at_rest_is_left_alone():
    """Its impulses serve again in most steps: none brings a velocity that the next steps would have to take out."""
    world = stack(10).world
    world.step(500)
    needed = 0
    for _ in range(300):
        world.step()
        needed += world.report.newton > 0
        assert world.report.relative_residual <= 1e-6
    assert needed < 0.4 * 300
