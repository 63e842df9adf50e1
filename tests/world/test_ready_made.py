"""Every scene that can be opened is a world that runs."""

import numpy as np
import pytest
from motions import penetration, total

from palpate.registry import find
from palpate.scenes import SCENES
from palpate.scenes.arm import arm_line
from palpate.scenes.balls import ball_on_plane
from palpate.scenes.blocks import stack

WORLDS = [name for name, (found, _) in SCENES.items() if found.startswith("palpate.scenes.")]  # others are no Worlds


@pytest.mark.parametrize("name", WORLDS)
def test_a_scene_starts_without_overlap_and_runs(name):
    """Under its own name, at the rate it says, with the residual it promises; nothing is lost or thrown about."""
    scene = find(SCENES, "scenes", name)()
    world = scene.world
    assert scene.name == name
    assert scene.title
    assert scene.rate_hz == pytest.approx(1000.0)
    assert scene.model is world.model
    if scene.plan is not None:
        assert np.array_equal(world.q[: scene.plan.q.shape[1]], scene.plan.q[0])
    energy = total(world.energy)
    world.step()
    assert penetration(world) < 1e-6
    for _ in range(20):
        world.step(10)
        assert penetration(world) < 2e-3
    assert np.isfinite(world.q).all()
    assert world.report.lost == 0
    if not world.arrays.state.kp.any():  # springs could give or take some
        assert total(world.energy) <= energy + 1e-3 * abs(energy)


@pytest.mark.parametrize("rate_hz", [500.0, 2000.0])
def test_a_scene_takes_its_rate(rate_hz):
    assert stack(2, rate_hz=rate_hz).world.dt == 1.0 / rate_hz
    assert arm_line(rate_hz).rate_hz == pytest.approx(rate_hz)


def test_wall_and_obstacle_of_the_papers_arm_line_are_seen_and_not_solid():
    """The line goes through the obstacle and reaches the wall; nothing of the arm touches either."""
    scene = arm_line(solid=False)
    world = scene.world
    for q in scene.plan.q[:: len(scene.plan.q) // 20]:
        world.q[:], world.v[:] = q, 0.0
        world.step()
        assert not {"wall", "obstacle"} & {name for c in world.contacts for name in (c.body_a, c.body_b)}


def test_a_ball_has_a_finger_only_when_it_is_pushed():
    assert "finger" not in ball_on_plane().world.parts
    assert "finger" in ball_on_plane(finger_N=1.0).world.parts
