"""Two hands of a page, balls that press, gravity and friction that are set, and contacts that are shown: the laws.

In simulated time, through the tick that a session runs.
"""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate import frame, jit
from palpate.haptics.devices.messages import SURFACE_N_M
from palpate.haptics.rendering.surface import Surface
from palpate.runtime.world.simulation import SURFACE_NS_M, WorldSimulation
from palpate.scenes.arm import arm_line
from palpate.scenes.blocks import stack
from palpate.scenes.scene import Scene
from palpate.servo.ring import Follower

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
G, MASS_KG = 9.81, 2.0
UP = (0.0, 0.0, 1.0)
BATCH = 500  # the ring holds more


class Run:
    """A world ticking, and everything its frames said; hands are messages, one each tick."""

    def __init__(self, world: pp.World, touches: bool = True) -> None:
        self.world, self.model = world, world.model
        self.simulation = WorldSimulation(Scene("world", "A world", world))
        if touches:
            self.simulation.learn_to_touch()
        self.simulation.restart()
        self._follower, self._words = Follower(self.simulation.frames), []

    def go(self, ticks: int, *hands: dict) -> "Run":
        """So many ticks; several hands speak in turn, as a hand that is not heard of for less than 100 ms holds on."""
        rows = np.array([self.simulation.hand_layout.pack(**hand) for hand in hands or [{}]])
        table = np.resize(rows, (ticks, self.simulation.hand_layout.words))
        for begin in range(0, ticks, BATCH):
            n = min(BATCH, ticks - begin)
            assert self.simulation.simulate(n, table[begin : begin + n]) == n
            self._words += self._follower.read()
        assert self._follower.lost == 0
        return self

    def event(self, kind: int, value: float = 0.0) -> "Run":
        self.simulation.events.write(self.simulation.event_layout.pack(kind=kind, value=value))
        return self

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array([self.simulation.layout.read(words, name) for words in self._words])

    def pull(self, hand: int, at_body, target, body: str = "box", **more) -> dict:
        return {"hand": hand, "body": self.model.body(body), "at_body": at_body, "target": target,
                "stiffness_N_m": 2000.0, **more}  # fmt: skip

    def press(self, tip, stiffness: float = 800.0, radius: float = 0.005, hand: int = 0) -> dict:
        return {"hand": hand, "hold": frame.PRESS, "target": tip, "radius_m": radius, "stiffness_N_m": stiffness}


def floating(gravity: float = 0.0, **more) -> pp.World:
    """A box of 20 cm in the air."""
    return pp.World(pp.models.box((0.2, 0.2, 0.2), mass=MASS_KG, **more), gravity=(0, 0, -gravity))


# ---- two hands


@pytest.mark.parametrize(("left", "right"), [(0.1, 0.1), (0.1, 0.05), (0.02, 0.08)])
def test_two_hands_on_one_body_share_its_weight_by_the_lever_rule(left, right):
    run = Run(floating(G))
    run.go(6000, run.pull(0, (-left, 0, 0), (-left, 0, 0)), run.pull(1, (right, 0, 0), (right, 0, 0)))
    force = run["hand_force"][-1]
    assert force.sum(axis=0) == pytest.approx((0, 0, MASS_KG * G), abs=1e-3)
    assert force[0, 2] * left == pytest.approx(force[1, 2] * right, abs=2e-3)
    assert run["hand_body"][-1].tolist() == [run.model.body("box")] * 2


def test_a_hand_that_lets_go_leaves_the_weight_to_the_other():
    run = Run(floating(G))
    middle = run.pull(1, (0, 0, 0), (0, 0, 0))
    run.go(1500, run.pull(0, (0, 0, 0), (0, 0, 0)), middle)
    assert run["hand_force"][-1, :, 2] == pytest.approx([0.5 * MASS_KG * G] * 2, abs=1e-3)
    run.go(1500, {"hand": 0}, middle)
    assert run["hand_body"][-1].tolist() == [0, run.model.body("box")]
    assert run["hand_force"][-1, :, 2] == pytest.approx([0.0, MASS_KG * G], abs=1e-3)


def test_two_hands_hold_two_bodies():
    parts = [pp.models.box(mass=1.0, at=(x, 0, 0), name=name) for x, name in ((0, "a"), (1, "b"))]
    run = Run(pp.World(parts))
    run.go(1500, run.pull(0, (0, 0, 0), (0, 0, 0), "a"), run.pull(1, (0, 0, 0), (1, 0, 0.1), "b"))
    assert run["hand_body"][-1].tolist() == [run.model.body("a"), run.model.body("b")]
    assert run["pose"][-1, run.model.body("b"), 2] == pytest.approx(0.1 - G / 2000.0, abs=1e-4)


@pytest.mark.parametrize("hand", [2, -1, 10**9])
def test_a_hand_of_another_index_is_ignored(hand):
    run, alone = Run(floating(G)), Run(floating(G))
    run.go(50, run.pull(hand, (0, 0, 0), (0, 0, 1)))
    alone.go(50)
    assert not run["hand_body"].any()
    for name in ("q", "v", "energy", "hand_force"):
        assert np.array_equal(run[name], alone[name]), name


# ---- balls that press


TIPS = st.lists(st.tuples(*[st.floats(-0.13, 0.13)] * 3), min_size=2, max_size=6)


@settings(max_examples=25, deadline=None)
@given(TIPS, st.floats(100.0, 3000.0), st.tuples(*[st.floats(-2.0, 2.0)] * 3), st.sampled_from([0.0, 0.005, 0.02]))
def test_a_press_pushes_within_the_friction_cone_of_what_is_there_and_never_pulls(tips, stiffness, turned, radius):
    """articulated-haptics.md 3.1: into the surface, from wherever the ball comes; and nothing outside."""
    run = Run(floating(R=pp.Rotation.exp(turned)))
    proxy, mu = run.simulation.page_hands[0].rendering.state, Surface().static_friction
    for tip in tips:
        for _ in range(15):
            run.go(1, run.press(tip, stiffness, radius))
            n = proxy.n_contacts
            force, normal = proxy.contact_force[:n], proxy.contact_normal[:n]
            into = -(force * normal).sum(axis=1)
            assert (into >= 0.0).all()
            assert (np.linalg.norm(force + into[:, None] * normal, axis=1) <= mu * into + 1e-9).all()
            assert run["hand_force"][-1, 0] == pytest.approx(force.sum(axis=0), abs=1e-12)
            assert run["hand_body"][-1, 0] == (run.model.body("box") if n else 0)


@settings(max_examples=40, deadline=None)
@given(
    speed=st.floats(0.05, 3.0),
    spin=st.tuples(*[st.floats(-3.0, 3.0)] * 3),
    across=st.tuples(*[st.floats(-0.08, 0.08)] * 2),
    stiffness=st.floats(100.0, 1e5),
    sway=st.tuples(st.floats(0.0, 0.01), st.floats(1.0, 30.0)),
    turned=st.tuples(*[st.floats(-2.0, 2.0)] * 3),
)
def test_a_press_gives_a_body_no_more_than_the_hand_put_in(speed, spin, across, stiffness, sway, turned):
    """A box flies into a stiff ball that is limited in force and rise, off its centre and spinning, and off it again.

    Its kinetic energy is never above what it had, what the hand did on the ball, and the reserve of half a millijoule.
    """
    R = pp.Rotation.exp(turned)
    run = Run(floating(R=R))
    run.world.v[:] = (*spin, 0.0, 0.0, speed)
    run.simulation.arrays.v_start[:] = run.world.v
    run.simulation.restart()
    wide, rate = sway
    tips = [R.apply((*across, 0.11 + wide * np.sin(rate * 1e-3 * k))) for k in range(120)]
    run.go(120, *(run.press(tip, stiffness) for tip in tips))
    force, tip = run["hand_force"][:, 0], run["hand_target"][:, 0]
    put_in = np.concatenate([[0.0], np.cumsum((force[:-1] * np.diff(tip, axis=0)).sum(axis=1))])
    kinetic = run["energy"][:, 0]
    assert (kinetic - kinetic[0] - put_in).max() < 0.5e-3 + 1e-6


def test_without_its_account_a_limited_press_would_give_more_than_it_took():
    """The force rises late on the way in and is whole on the way out: the law needs the account."""
    dt, rise, k, mass, depth, v, last = 1e-3, 2.0, 2e4, MASS_KG, 0.0, 1.0, 0.0
    while depth >= 0.0:
        last = min(k * depth, last + rise)
        v -= dt * last / mass
        depth += dt * v
    assert abs(v) > 1.1  # as the law alone has it


@pytest.mark.parametrize("radius", [0.0, 0.005])
def test_a_still_ball_presses_as_its_spring_says_at_the_end_of_the_step(radius):
    """F = k d / (1 + (k dt^2 + b dt) / m): touch_kernels.py."""
    run = Run(floating())
    depth, k, dt = 0.002, 800.0, run.world.dt
    run.go(200, run.press((0, 0, 0.101 + radius), k, radius))  # outside
    run.go(1, run.press((0, 0, 0.1 + radius - depth), k, radius))
    soft = 1.0 + (k * dt + SURFACE_NS_M * k / SURFACE_N_M) * dt / MASS_KG
    moving = SURFACE_NS_M * k / SURFACE_N_M * (0.001 + depth) / dt  # it came in one tick
    assert run["hand_force"][-1, 0] == pytest.approx((0, 0, -min((k * depth + moving) / soft, 2.0)), rel=0.01)
    run.go(1, run.press((0, 0, 0.1 + radius - depth), k, radius))
    assert run["hand_force"][-1, 0] == pytest.approx((0, 0, -k * depth / soft), rel=0.02)


def test_a_ball_that_is_lifted_takes_nothing_along():
    """Never sticky: a box on the floor, pressed down and let free again, stays where it is."""
    run = Run(pp.World([pp.models.box((0.2, 0.2, 0.2), mass=MASS_KG, at=(0, 0, 0.1)), pp.models.plane()]))
    run.go(200)
    rest = run["pose"][-1, run.model.body("box"), 2]
    for z in np.concatenate([np.linspace(0.21, 0.19, 100), np.linspace(0.19, 0.4, 30)]):
        run.go(1, run.press((0, 0, z)))
    pressed = run["hand_force"][:, 0, 2]
    assert pressed.min() < -5.0
    assert pressed[-5:].tolist() == [0.0] * 5
    assert run["pose"][:, run.model.body("box"), 2].max() <= rest + 1e-6


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0.05, 0.12), st.booleans()), min_size=2, max_size=8), st.floats(100.0, 3000.0))
def test_pressing_and_letting_go_creates_no_energy(way, stiffness):
    """What the body has is what the hand's force did, tick by tick; a free body that is let go keeps what it has."""
    run = Run(floating())
    for depth, pressing in way:
        run.go(30, run.press((0, 0, depth), stiffness) if pressing else {"hand": 0})
    energy = run["energy"]
    kinetic, work = energy[:, 0], energy[:, 2]
    force, v = run["hand_force"][:, 0], run["v"]
    dt = run.world.dt
    # the ledger counts F v dt with v at the tick's beginning: half of F^2 dt^2 / m is the step's own
    own = 0.5 * np.cumsum((force**2).sum(axis=1)) * dt**2 / MASS_KG
    assert np.abs(kinetic[1:] - (work[1:] - (force[1:] * v[1:, 3:]).sum(axis=1) * dt) - own[:-1]).max() < 1e-9
    let_go = ~force.any(axis=1)
    assert np.abs(np.diff(kinetic)[let_go[:-1]]).max(initial=0.0) < 1e-12


@settings(max_examples=25, deadline=None)
@given(st.floats(0.02, 0.5), st.floats(100.0, 3000.0))
def test_a_body_that_runs_into_a_still_ball_leaves_no_faster_than_it_came(speed, stiffness):
    """articulated-haptics.md 3.1, "damped on the way in": contact with a tip takes energy and gives none.

    As long as the pointer's limits let the spring be one: k v below its rise of 2000 N/s.
    """
    world = floating()
    world.v[5] = speed
    run = Run(world)
    run.go(3000, run.press((0, 0, 0.1055), stiffness))
    assert run["v"][-1, 5] < 0.0  # it came back
    assert run["energy"][:, 0].max() <= 0.5 * MASS_KG * speed**2 * (1.0 + 1e-9)


def test_a_ball_slides_from_one_body_to_the_next_and_does_not_sink_between_them():
    """What is there is looked for in every tick, on the shapes that collide: no message names it."""
    parts = [pp.models.box((0.2, 0.2, 0.1), mass=50.0, at=(x, 0, 0), name=name) for x, name in ((0, "a"), (0.21, "b"))]
    run = Run(pp.World(parts, gravity=(0, 0, 0)))
    for x in np.linspace(0.0, 0.2, 300):
        run.go(1, run.press((x, 0, 0.05), radius=0.01))
    touched = run["hand_body"][:, 0]
    assert {run.model.body("a"), run.model.body("b")} <= set(touched.tolist())
    assert run["hand_point"][:, 0, 2].min() > 0.055  # the ball's centre: the gap is narrower than it


def test_before_it_has_learnt_to_touch_a_hand_holds_and_a_press_does_nothing():
    run = Run(floating(), touches=False)
    run.go(20, run.press((0, 0, 0.09)))
    assert not run["hand_force"].any()
    assert not run["hand_kind"].any()
    run.go(50, run.pull(0, (0, 0, 0), (0, 0, 0.1)))
    assert run["hand_force"][-1, 0, 2] > 1.0
    run.simulation.learn_to_touch()
    run.go(50, run.press((0, 0, 0.09)))
    assert run["hand_kind"][-1, 0] == frame.PRESS
    assert run["hand_force"][-50:, 0].any()


def test_a_page_does_not_wait_for_what_touches():
    """A world that ticks, and can be pulled, has not loaded any of it."""
    program = """
import sys
import palpate as pp
session = pp.touch(pp.World(pp.models.box(mass=1.0)), page=False)
session.simulate(0.01)
assert not {"palpate.haptics.touch_kernels", "palpate.haptics.rendering.proxy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_press_of_an_older_recording_touches_at_its_target():
    """It named a body and a normal, which are left alone, and had no radius; as it begins inside, its force rises."""
    run = Run(floating())
    run.go(20, {"body": run.model.body("box"), "hold": frame.PRESS, "normal": UP, "at_body": (0, 0, 0.1),
                "target": (0, 0, 0.099), "stiffness_N_m": 800.0})  # fmt: skip
    assert np.diff(run["hand_force"][:, 0, 2]).max() < 0.0
    assert run["hand_body"][0, 0] == run.model.body("box")


# ---- gravity and friction


def test_gravity_is_times_the_scenes_own_and_a_reset_keeps_it():
    for times in (0.0, 0.5, 2.0):
        run = Run(floating(G)).event(frame.GRAVITY, times).go(100)
        assert run["v"][-1, 5] == pytest.approx(-times * G * 0.099, abs=1e-9)
        assert run["energy"][-1, :2].sum() == pytest.approx(0.0, abs=0.01)  # potential energy is of that gravity
        run.event(frame.RESET).go(100)
        assert run["v"][-1, 5] == pytest.approx(-times * G * 0.099, abs=1e-9)


def test_friction_is_times_the_scenes_own_and_a_reset_keeps_it():
    """A box that slides on a floor slows down by mu g."""

    def slowing(times: float | None) -> list[float]:
        world = pp.World([pp.models.box((0.2, 0.2, 0.05), mass=MASS_KG, at=(0, 0, 0.025)), pp.models.plane()])
        world.v[3] = 2.0
        run = Run(world)
        if times is not None:
            run.event(frame.FRICTION, times)
        run.go(200)
        run.event(frame.RESET).go(200)
        v = run["v"][:, 3]
        return [float((v[b] - v[a]) / (0.001 * (a - b))) for a, b in ((50, 150), (250, 350))]

    own, _ = slowing(None)
    assert own == pytest.approx(0.5 * G, rel=1e-3)
    for times in (0.0, 0.5, 1.5):
        assert slowing(times) == pytest.approx([times * own] * 2, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", [frame.GRAVITY, frame.FRICTION])
@pytest.mark.parametrize("value", [-1.0, 11.0, np.nan, np.inf])
def test_an_impossible_setting_is_ignored(kind, value):
    run, alone = Run(stack(2).world), Run(stack(2).world)
    run.event(kind, value).go(100)
    alone.go(100)
    assert np.array_equal(run["q"], alone["q"])


def test_a_frame_tells_the_settings_and_what_each_hand_does():
    run = Run(floating(G))
    run.go(2, run.pull(0, (0, 0, 0), (0, 0, 0)), run.press((0, 0, 0.2), hand=1))
    assert run["hand_kind"][-1].tolist() == [frame.PULL, frame.PRESS]
    assert (run["speed"][-1], run["gravity"][-1], run["friction"][-1]) == (1.0, 1.0, 1.0)
    for kind, name in ((frame.SPEED, "speed"), (frame.GRAVITY, "gravity"), (frame.FRICTION, "friction")):
        run.event(kind, 0.25).event(kind, -1.0).go(1)  # the second makes no sense
        assert run[name][-1] == 0.25


def test_the_end_of_a_session_gives_the_world_its_gravity_and_friction_back():
    world = pp.World([pp.models.box(mass=1.0, at=(0, 0, 1.0)), pp.models.plane()])
    before = world.arrays.state.mu_static.copy()
    session = pp.touch(world, page=False)
    session._event(frame.GRAVITY, 0.0)
    session._event(frame.FRICTION, 3.0)
    session.simulate(0.05)
    assert np.array_equal(world.arrays.state.mu_static, 3.0 * before)
    assert not world.v.any()
    session.stop()
    assert np.array_equal(world.arrays.state.mu_static, before)
    world.step(100)
    assert world.v[5] == pytest.approx(-G * 0.1)


# ---- contacts in the frame


def test_contacts_of_a_frame_are_those_of_the_world():
    run = Run(stack(3).world)
    run.go(400)
    seen, world = run.world.contacts, run.world
    names = [(c.body_a, c.body_b) for c in seen]
    run.go(1)  # a frame shows what the tick before it solved
    count = run["contacts"][-1]
    assert count == len(seen) == 12
    shown = run["contact_body"][-1][:count]
    assert [(world.model.body_names[a], world.model.body_names[b]) for a, b in shown] == names
    assert run["contact_point"][-1][:count] == pytest.approx(np.array([c.point for c in seen]), abs=1e-6)
    assert run["contact_force"][-1][:count] == pytest.approx(np.array([c.force for c in seen]), abs=1e-6)
    assert not run["contact_force"][-1][count:].any()


def test_contact_forces_of_a_frame_carry_the_weight():
    run = Run(stack(3, mass=1.0).world)
    run.go(600)
    body, force = run["contact_body"][-1], run["contact_force"][-1]
    floor = run.model.body("floor")
    on_floor = np.sign((body[:, 0] == floor).astype(int) - (body[:, 1] == floor)) @ force
    assert on_floor == pytest.approx((0, 0, 3.0 * G), abs=1e-3)


def test_a_frame_has_room_for_as_many_contacts_as_it_says_and_none_is_left_over():
    run = Run(pp.World([pp.models.box(mass=1.0, at=(0, 0, 0.05)), pp.models.plane()]))
    run.go(100)
    assert run["contacts"][-1] == 4
    lifted = run.pull(0, (0, 0, 0), (0, 0, 0.3))
    run.go(1500, lifted)
    assert run["contacts"][-1] == 0
    assert not run["contact_body"][-1].any()
    assert not run["contact_force"][-1].any()


def test_an_arm_on_its_line_touches_the_obstacle_and_says_so():
    scene = arm_line()
    session = pp.touch(scene, page=False)
    follower = Follower(session.simulation.frames)
    session.simulate(1.2)
    layout = session.simulation.layout
    rows = [words for words in follower.read() if layout.read(words, "contacts")]
    assert rows
    bodies = {scene.model.body_names[b] for b in layout.read(rows[-1], "contact_body").ravel() if b}
    assert "obstacle" in bodies
    session.stop()
