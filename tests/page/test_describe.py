"""What a page is told of a scene: coordinates that can be plotted, and where everything begins."""

import json

import numpy as np

import palpate as pp
from palpate.haptics.devices.pointer import Pointer
from palpate.model.description import Body, Joint, MultiBody
from palpate.runtime.describe import describe
from palpate.runtime.state import Engine
from palpate.scenes.arm import arm
from palpate.scenes.scene import Scene
from palpate.world.world import World


def hello(scene: Scene) -> dict:
    engine = Engine(scene.world, scene.plan, Pointer().spec)
    try:
        return json.loads(json.dumps(describe(scene, engine), allow_nan=False))
    finally:
        engine.close()


def mixed() -> World:
    """Free, spherical, universal, prismatic and revolute joints in one chain, only the last one held."""
    kinds = ["free", "spherical", "universal", "prismatic", "revolute"]
    bodies = tuple(Body(kind, 1.0, inertia=(0.1, 0.1, 0.1)) for kind in kinds)
    joints = tuple(Joint(kind, kind, parent, kind) for parent, kind in zip(["world", *kinds], kinds, strict=False))
    world = World([MultiBody("chain", bodies, joints)], dt=1e-3)
    world.hold(100.0, 1.0, joints=["revolute"])
    return world


def test_only_angles_and_lengths_are_axes_and_their_index_is_that_of_q() -> None:
    world = mixed()
    axes = hello(Scene("mixed", "all kinds", world))["axes"]
    assert [(a["name"], a["unit"]) for a in axes] == [
        ("universal.1", "rad"), ("universal.2", "rad"), ("prismatic", "m"), ("revolute", "rad"),
    ]  # fmt: skip
    assert [a["index"] for a in axes] == [11, 12, 13, 14]
    assert [a["held"] for a in axes] == [False, False, False, True]


def test_an_axis_on_a_plan_is_held_and_the_start_is_that_of_the_plan() -> None:
    scene = arm()
    said = hello(scene)
    assert scene.plan is not None
    assert [a["held"] for a in said["axes"]] == [True] * 6
    X = pp.forward_kinematics(scene.model, scene.plan.q[0])
    start = np.array(said["start"])
    assert start.shape == (scene.model.n_bodies, 7)
    assert np.abs(start[:, :3] - X[:, :3, 3]).max() < 1e-5
    assert np.abs(np.linalg.norm(start[:, 3:], axis=1) - 1.0).max() < 1e-5
