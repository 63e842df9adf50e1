"""What a page is told of a scene: coordinates that can be plotted, and where everything begins."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import palpate as pp
from palpate.frame import DEVICE_COUNTERS
from palpate.haptics.devices.pointer import Pointer
from palpate.haptics.devices.simulated import Simulated
from palpate.haptics.guard import STATES
from palpate.haptics.reach import Reach, Reaching
from palpate.model.description import Body, Joint, MultiBody
from palpate.runtime.describe import describe
from palpate.runtime.state import Engine
from palpate.scenes.arm import arm
from palpate.scenes.scene import Scene
from palpate.world.world import World

PAGE = Path(__file__).parents[2] / "web" / "src" / "devices.ts"


def hello(scene: Scene, *devices: Reaching) -> dict:
    engine = Engine(scene.world, scene.plan, Pointer().spec, devices=devices)
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


def test_devices_are_named_with_their_limits_in_the_order_of_the_frame() -> None:
    scene = Scene("ball", "a ball", World(pp.models.ball()))
    assert hello(scene)["devices"] == []
    made = [Simulated("phantom-premium-1.5"), Simulated("touch")]
    reaching = [Reaching(scene.world, d.spec, d.in_tick, Reach(), real_time=False) for d in made]
    said = hello(scene, *reaching)
    assert said["devices"] == [{"name": d.spec.name, "force_limit_N": d.spec.force_limit_N} for d in made]
    assert said["sizes"]["n_devices"] == 2


@pytest.mark.parametrize(("table", "names"), [("GUARD_STATES", STATES), ("DEVICE_COUNTER_WORDS", DEVICE_COUNTERS)])
def test_the_page_has_words_for_what_a_guard_does_in_its_order(table: str, names: tuple[str, ...]) -> None:
    written = re.search(rf"{table} = {{(.*?)}} as const", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert written is not None
    assert tuple(re.findall(r"^  (\w+):", written[1], re.MULTILINE)) == names
