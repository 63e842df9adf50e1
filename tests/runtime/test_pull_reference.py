"""The force of a page's hand, tick by tick, beside the same law in plain numpy: coupling.py, safety.py, and how
messages of 60 a second become a motion.  Each tick is judged from the state that its own frame shows.

What mass a body that turns shows is the dynamics' to say: such a body is held with a damping that is given."""

from __future__ import annotations

import math

import numpy as np
import pytest

import palpate as pp
from palpate import frame, jit
from palpate.haptics.devices.pointer import Pointer
from palpate.haptics.reach_kernels import SHARPEST
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.scene import Scene
from palpate.servo.ring import Follower

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
DT, STALE_TICKS, LEVER_M = 1e-3, 100, 0.2
MOST_N, RISE_N_S = Pointer().spec.force_limit_N, Pointer().spec.force_rise_N_s
SIDE = 0.2


def cube(mass: float) -> pp.World:
    """In the air, without weight."""
    return pp.World(pp.models.box((SIDE,) * 3, mass=mass), gravity=(0, 0, 0), dt=DT)


def limited(force: np.ndarray, most: float) -> np.ndarray:
    size = np.linalg.norm(force)
    return force if size <= most else force * most / size


class Reference:
    """One hand."""

    def __init__(self, model: pp.Model, mass: float, smooth_s: float, stiffest: float) -> None:
        self.stiffest = stiffest
        self.model, self.mass, self.share = model, mass, 1.0 - math.exp(-DT / smooth_s) if smooth_s else 1.0
        self.said, self.silent, self.held = {}, 0, 0
        self.target, self.force, self.torque = np.zeros(3), np.zeros(3), np.zeros(3)

    def tick(self, said: dict | None, shown: dict) -> None:
        self.silent = 0 if said is not None else self.silent + 1
        self.said = self.said if said is None else said
        if self.silent > STALE_TICKS:
            self.said = {}
        x, body = self.said, self.said.get("body", 0)
        if not body:
            self.held, self.force, self.torque = 0, np.zeros(3), np.zeros(3)
            return
        at = np.asarray(x.get("at_body", (0, 0, 0)), dtype=float)
        pose = shown["pose"][body]
        R = np.array(pp.Rotation(tuple(pose[3:])).matrix())
        point = pose[:3] + R @ at
        omega, velocity = np.split(pp.jacobian(self.model, shown["q"], body, at) @ shown["v"], 2)
        if body != self.held:
            self.target, self.force = point, np.zeros(3)
        self.held, before = body, self.target
        self.target = before + self.share * (np.asarray(x["target"], dtype=float) - before)
        mass, K = self.mass, np.broadcast_to(x["stiffness_N_m"] + np.asarray(x.get("stiffer_N_m", 0.0)), 3)
        K = np.minimum(K, self.stiffest)
        given, ratio = np.broadcast_to(x.get("damping_Ns_m", 0.0), 3), x.get("damping", 0.0) or 1.0
        B = np.where(given > 0.0, np.minimum(given, 0.5 * mass / DT), 2.0 * ratio * np.sqrt(K * mass))
        force = limited(K * (self.target - point), MOST_N) + B * ((self.target - before) / DT - velocity)
        if x.get("hold") == frame.PUSH:
            force, self.target = np.array(x["force"], dtype=float), point
        force, had = limited(force, MOST_N), np.linalg.norm(self.force)
        if np.linalg.norm(force) > had + RISE_N_S * DT:
            step = force - self.force
            force = self.force + step * min(1.0, RISE_N_S * DT / np.linalg.norm(step))
        self.force, self.torque = force, np.zeros(3)
        if stiffness := x.get("stiffness_Nm_rad", 0.0):
            gap = np.array((pp.Rotation(tuple(x["orientation"])) @ pp.Rotation(tuple(pose[3:])).inv()).log())
            self.torque = limited(stiffness * gap - x["damping_Nms_rad"] * omega, LEVER_M * MOST_N)


def compare(world: pp.World, script: list[dict | None], mass: float, smooth_s: float = 0.0, stiffest=math.inf):
    """Forces (ticks, HANDS, 3), which are those of the reference; script: what is said in each tick, None: nothing."""
    engine = WorldSimulation(Scene("world", "A world", world), smooth_s=smooth_s)
    layout, follower = engine.hand_layout, Follower(engine.frames)
    engine.restart()
    references = [Reference(world.model, mass, smooth_s, stiffest) for _ in range(frame.HANDS)]
    forces = []
    for said in script:
        table = np.zeros((0, layout.words), dtype=np.int64) if said is None else layout.pack(**said)[None]
        assert engine.simulate(1, table) == 1
        shown = engine.layout.unpack(follower.read()[-1])
        for k, reference in enumerate(references):
            spoken = said if said is not None and said.get("hand", 0) == k else None
            reference.tick(spoken, shown)
            assert shown["hand_body"][k] == reference.held
            assert shown["hand_force"][k] == pytest.approx(reference.force, rel=1e-9, abs=1e-9)
            assert shown["hand_torque"][k] == pytest.approx(reference.torque, rel=1e-9, abs=1e-9)
            if reference.held:
                assert shown["hand_target"][k] == pytest.approx(reference.target, rel=1e-9, abs=1e-12)
        forces.append(shown["hand_force"])
    engine.close()
    return np.array(forces)


CENTRE, OFF_CENTRE = (0.0, 0.0, 0.0), (0.05, 0.02, -0.03)
GIVEN = {"damping_Ns_m": (5.0, 4.0, 3.0)}


def pulled(ticks: int, body: int = 1, to=(0.02, -0.01, 0.03), at=CENTRE, every: int = 1, **more) -> list:
    """A hand that goes to and fro; `every`: ticks between two messages."""
    way = np.asarray(to)
    return [{"body": body, "at_body": at, "target": at + way * math.sin(0.03 * k), "stiffness_N_m": 800.0, **more}
            if k % every == 0 else None for k in range(ticks)]  # fmt: skip


@pytest.mark.parametrize("smooth_s", [0.0, 0.02])
@pytest.mark.parametrize("mass", [0.05, 2.0, 40.0])
def test_a_free_body_is_pulled_as_the_coupling_says(mass, smooth_s):
    """At its centre, and off it, so that it turns; with messages in every tick, or one in sixteen."""
    for every in (1, 16):
        script = pulled(150, every=every) + [{}] * 5 + pulled(60, every=every, damping=0.3)
        script += pulled(150, at=OFF_CENTRE, every=every, **GIVEN)
        forces = compare(cube(mass), script, mass, smooth_s)
        assert np.linalg.norm(forces, axis=2).max() > 1.0


def test_a_spinning_body_is_pulled_as_the_coupling_says():
    world = cube(2.0)
    world.v[:] = (3.0, -5.0, 4.0, 0.5, -0.2, 0.3)
    compare(world, pulled(300, at=OFF_CENTRE, stiffer_N_m=(0.0, 300.0, 900.0), **GIVEN), 2.0, 0.02)


def test_a_pull_that_is_capped_or_rises_late_is_so_as_the_limits_say():
    script = pulled(60) + pulled(100, to=(0.5, 0.4, -0.3)) + pulled(60, to=(-3.0, 0.0, 0.0))  # the target leaps
    size = np.linalg.norm(compare(cube(2.0), script, 2.0)[:, 0], axis=1)
    assert size.max() == pytest.approx(MOST_N)
    assert np.diff(size).max() == pytest.approx(RISE_N_S * DT)


def test_a_very_light_body_is_held_as_stiffly_as_the_step_allows_and_not_blown_up():
    """reach_kernels.py: K <= m (SHARPEST / dt)^2."""
    mass, stiffest = 0.001, 0.001 * (SHARPEST / DT) ** 2
    script = pulled(300, to=(0.002, 0.001, 0.0))
    assert script[0]["stiffness_N_m"] > 10.0 * stiffest
    assert np.abs(compare(cube(mass), script, mass, 0.02, stiffest)).max() < 1.0


def test_a_body_is_turned_as_the_coupling_says():
    how = {"orientation": pp.Rotation.exp((0.5, -0.4, 0.9)).wxyz, "stiffness_Nm_rad": 30.0, "damping_Nms_rad": 0.7}
    script = pulled(200, **GIVEN, **how)
    script += pulled(50, **GIVEN, **how | {"orientation": (0.0, 0.0, 0.0, 0.0), "stiffness_Nm_rad": 0.0})
    compare(cube(2.0), script, 2.0)


def test_two_hands_on_one_body_pull_each_as_the_coupling_says():
    left = pulled(400, at=(0.1, 0, 0), **GIVEN)
    right = pulled(400, at=(-0.1, 0.02, 0), to=(0, 0.05, 0), hand=1, **GIVEN)
    script = [(left if k % 2 else right)[k] for k in range(400)]
    forces = compare(cube(2.0), script, 2.0, 0.02)
    assert (np.linalg.norm(forces, axis=2).max(axis=0) > 1.0).all()


def test_a_silent_hand_lets_go_after_a_tenth_of_a_second_and_begins_anew_without_a_jerk():
    script = pulled(50) + [None] * 130 + pulled(50, to=(0.1, 0, 0))
    forces = compare(cube(2.0), script, 2.0, 0.02)[:, 0]
    assert forces[49 + STALE_TICKS].any()
    assert not forces[51 + STALE_TICKS : 180].any()
    assert np.linalg.norm(forces[180]) <= RISE_N_S * DT * (1 + 1e-9)


def test_a_written_force_is_there_as_far_as_the_limits_go():
    """PUSH: what a script, or a device across a link, says."""
    script = pulled(40, hold=frame.PUSH, force=(0.0, 30.0, 0.0)) + pulled(40, hold=frame.PUSH, force=(90.0, 0.0, -20.0))
    compare(cube(2.0), script + pulled(40), 2.0)


def test_an_arm_is_pulled_and_turned_as_the_coupling_says():
    world = pp.World(pp.models.puma560(), dt=DT, gravity=(0, 0, 0))
    world.q = world.model.posture("line_start")
    body, X = world.model.body("tool"), world.pose("tool")
    turned = pp.Rotation.exp((0.2, 0.1, -0.3)) @ pp.Rotation.from_matrix(X[:3, :3])
    script = [{"body": body, "target": X[:3, 3] + (0.001 * k, 0.02 * math.sin(0.05 * k), 0), "stiffness_N_m": 500.0,
               "damping_Ns_m": (20.0, 30.0, 10.0), "orientation": turned.wxyz, "stiffness_Nm_rad": 1.0,
               "damping_Nms_rad": 1e-3} for k in range(250)]  # fmt: skip
    compare(world, script, 1.0, 0.02)
