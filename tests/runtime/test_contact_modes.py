"""What each contact does is in every frame, as World.contacts says it."""

import numpy as np
import pytest

import palpate as pp
from palpate import jit
from palpate.experiments.simulated import simulated_run
from palpate.frame import CONTACT_MODES, UNKNOWN
from palpate.scenes.balls import ball_on_plane
from palpate.scenes.looks import floor, surface
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


def thrown(speed: float) -> Scene:
    """A box that is set down, one that slides, a ball that rolls, and one that has not arrived."""
    rough = surface(0.4)
    ball = pp.models.ball(0.05, at=(0, 1, 0.05), material=rough, name="ball")
    world = pp.World([
        pp.models.box((0.2, 0.2, 0.1), at=(0, 0, 0.05), material=rough, name="still"),
        pp.models.box((0.2, 0.2, 0.1), at=(0, 2, 0.05), material=rough, name="sliding"), ball,
        pp.models.ball(0.05, at=(0, 3, 0.052), material=rough, name="falling"), floor(rough)])  # fmt: skip
    world.v[world.model.v_index["sliding"]] = (0, 0, 0, speed, 0, 0)
    world.v[world.model.v_index["ball"]] = (0, speed / 0.05, 0, speed, 0, 0)
    return Scene("thrown", "boxes and balls", world)


@pytest.mark.parametrize("speed", [0.1, 0.7, 3.0])
def test_frames_and_the_world_agree_on_what_a_contact_does(speed):
    ticks = 60
    frames, scene = simulated_run(thrown(speed), ticks), thrown(speed)
    names, seen = scene.model.body_names, set()
    for tick in range(ticks - 1):
        scene.world.step()
        there, n = scene.world.contacts, int(frames["contacts"][tick + 1])  # of the step before
        modes = [CONTACT_MODES[mode] for mode in frames["contact_mode"][tick + 1]]
        assert modes[:n] == [contact.mode for contact in there]
        assert set(modes[n:]) <= {CONTACT_MODES[UNKNOWN]}
        pairs = [frozenset(names[b] for b in row) - {"floor"} for row in frames["contact_body"][tick + 1][:n]]
        seen |= {(next(iter(pair)), mode) for pair, mode in zip(pairs, modes[:n], strict=True)}
    assert {("still", "stick"), ("sliding", "slide"), ("ball", "roll"), ("falling", "open")} <= seen
    assert not {("still", "slide"), ("still", "roll"), ("ball", "stick")} & seen


def test_a_released_ball_slides_first_and_then_rolls():
    scene = ball_on_plane()
    scene.world.v[3] = 1.0
    frames = simulated_run(scene, 400)
    modes = np.array([CONTACT_MODES[mode] for mode in frames["contact_mode"][1:, 0]])
    slides, rolls = np.flatnonzero(modes == "slide"), np.flatnonzero(modes == "roll")
    assert len(slides)
    assert len(rolls)
    assert (np.diff(slides) == 1).all()
    assert rolls.min() == slides.max() + 1
    assert rolls.max() == len(modes) - 1
