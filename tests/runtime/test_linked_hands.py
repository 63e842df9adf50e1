"""What the hands of a page do arrives whole: the same script here and across a link gives the same forces.

In simulated time.  A tick of the far side takes what the near side said D before, so forces come D later, and are
otherwise the same to the last bit; where the scene moves by itself, only without a delay.
"""

from __future__ import annotations

import numpy as np
import pytest

import palpate as pp
from palpate import frame, jit
from palpate.link.impair import Impairments
from palpate.runtime.link.simulated import SimulatedLink
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.arm import arm
from palpate.scenes.scene import Scene
from palpate.servo.ring import Follower

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
DT, BEGIN, TICKS = 1e-3, 100, 700  # the greeting is over long before BEGIN
FIELDS = ("hand_force", "hand_torque", "hand_body", "hand_kind", "hand_point", "hand_target", "q", "v")


def boxes() -> Scene:
    """Two boxes in the air, their centres off their origins."""
    parts = [pp.models.box((0.1, 0.2, 0.06), mass=mass, at=(x, 0, 0.3), name=name)
             for x, name, mass in ((0.0, "a", 0.4), (0.5, "b", 3.0))]  # fmt: skip
    return Scene("boxes", "Two boxes", pp.World(parts, gravity=(0, 0, 0), dt=DT))


def script(scene: Scene, seed: int) -> np.ndarray:
    """(TICKS, HANDS, words) what each hand says: presses, pulls and pushes of any stiffness, damping, direction, on
    two bodies, let go and begun again; nothing before BEGIN.  A press comes from outside, along `normal`."""
    rng, layout, model = np.random.default_rng(seed), frame.Layout(frame.HAND), scene.model
    bodies = [row for row in range(1, model.n_bodies) if model.arrays.body_link[row] != 0]
    poses = pp.forward_kinematics(model, scene.world.q)
    words = np.zeros((TICKS, frame.HANDS, layout.words), dtype=np.int64)
    for hand in range(frame.HANDS):
        at = BEGIN
        while at < TICKS:
            body, ticks = int(rng.choice(bodies)), int(rng.integers(20, 150))
            normal, at_body = rng.normal(size=3), rng.uniform(-0.05, 0.05, 3)
            normal /= np.linalg.norm(normal)
            surface = poses[body] @ np.array([*at_body, 1.0])
            radius = float(rng.choice([0.0, 0.004]))
            deepest, hold = rng.uniform(0.0, 0.03), int(rng.choice([frame.PULL, frame.PUSH, frame.PRESS, frame.PRESS]))
            for k in range(at, min(at + ticks, TICKS)):
                way = deepest * np.sin(np.pi * (k - at) / ticks) - 0.002  # in, and out again
                words[k, hand] = layout.pack(
                    hand=hand, body=body, hold=hold, at_body=at_body, radius_m=radius, damping=rng.uniform(0.2, 3.0),
                    target=surface[:3] - way * (poses[body][:3, :3] @ normal), stiffness_N_m=rng.uniform(100, 3000),
                    force=5.0 * normal, orientation=(1, 0, 0, 0), stiffness_Nm_rad=float(rng.choice([0.0, 5.0])),
                    velocity=rng.normal(size=3),
                )  # fmt: skip
            at += ticks + int(rng.integers(1, 30))
    return words


def say(engine: WorldSimulation, said: np.ndarray, tick: int) -> None:
    """What both hands say in this tick, as messages of this moment."""
    engine.head.hand[:] = said.ravel()
    for hand in range(frame.HANDS):
        engine.head.hand[hand * said.shape[1] + engine.hand_layout.offset["sent_ns"]] = round(1e9 * DT * tick)


def here(scene: Scene, words: np.ndarray) -> dict[str, np.ndarray]:
    """Every tick of the scene under these hands, on this side of any link."""
    engine = WorldSimulation(scene)
    engine.learn_to_touch()
    engine.restart()
    follower, nobody = Follower(engine.frames), np.zeros((0, words.shape[2]), dtype=np.int64)
    frames = []
    for tick, said in enumerate(words):
        say(engine, said, tick)
        assert engine.simulate(1, nobody) == 1
        frames += follower.read()
    return {name: np.array([engine.layout.read(x, name) for x in frames]) for name in FIELDS}


def across(make, words: np.ndarray, delay_s: float) -> SimulatedLink:
    way = Impairments(delay_s=delay_s)
    link = SimulatedLink(make(), make(), there=way, back=way)
    for tick, said in enumerate(words):
        say(link.hand, said, tick)
        link.run(DT)
    return link


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("make", "delay"), [(boxes, 0), (boxes, 7), (arm, 0)])
def test_the_same_hands_do_the_same_here_and_across_a_link(make, delay, seed):
    words = script(make(), seed)
    local, link = here(make(), words), across(make, words, delay * DT)
    assert np.abs(local["hand_force"]).max(axis=(0, 2)).min() > 1.0  # both hands do something
    assert {frame.PULL, frame.PUSH, frame.PRESS} == set(local["hand_kind"][local["hand_body"] != 0])
    for name in FIELDS:
        assert np.array_equal(link.history(name)[delay:], local[name][: TICKS - delay]), name


def test_a_tip_across_a_link_never_pulls():
    """It presses a light box, and goes away faster than the box can follow."""
    layout = frame.Layout(frame.HAND)
    words = np.zeros((TICKS, frame.HANDS, layout.words), dtype=np.int64)
    for k in range(BEGIN, TICKS):
        way = 0.01 if k < 300 else 0.01 - 0.5 * (k - 300) * DT
        words[k, 0] = layout.pack(
            hold=frame.PRESS, radius_m=0.005, target=(0, 0, 0.335 - way), stiffness_N_m=800.0, damping=1.0
        )  # fmt: skip
    link = across(boxes, words, 0.005)
    force = link.history("hand_force")[:, 0, 2]
    assert force.min() < -1.0
    assert force.max() <= 0.0


@pytest.mark.parametrize("seed", range(2))
def test_the_near_side_shows_what_the_far_side_did(seed):
    """Without a delay: whom each hand holds and with what force, as the newest state says."""
    words = script(boxes(), seed)
    link = across(boxes, words, 0.0)
    for name in ("hand_body", "hand_kind", "hand_force"):
        assert np.array_equal(link.history(name, hand=True)[BEGIN:], link.history(name)[BEGIN:]), name
    held = link.history("hand_body")[BEGIN:] != 0
    for name in ("hand_point", "hand_target"):
        shown, done = (link.history(name, hand=end)[BEGIN:] for end in (True, False))
        assert np.abs(shown - done)[held].max() < 0.005, name  # [m] the mirror is a step ahead, and blends
