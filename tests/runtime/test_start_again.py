"""A session's world has one gravity, one integrator, one start and one way to put a body elsewhere.

In simulated time, through the tick that a session runs.
"""

from __future__ import annotations

import contextlib
import os

import numpy as np
import pytest

import palpate as pp
from palpate import frame, jit
from palpate.model.description import Body, Joint, MultiBody
from palpate.model.shapes import Shape
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.arm import arm_line
from palpate.scenes.blocks import stack
from palpate.scenes.bridge import bridge
from palpate.scenes.loose import with_loose
from palpate.scenes.scene import Scene
from palpate.scenes.spinning import spinning_top, tippe_top

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
DT = 1e-3
EVERYTHING = ("q", "v", "tau", "plan_q", "pose", "hand_force", "contact_force", "energy", "time_s", "tick", "contacts")


class Run:
    """A scene ticking, and its frames."""

    def __init__(self, scene: Scene) -> None:
        self.world, self.model = scene.world, scene.model
        self.simulation = WorldSimulation(scene)
        self.run = pp.Run(self.simulation)

    def go(self, ticks: int, hand: dict | None = None) -> Run:
        rows = np.array([self.simulation.hand_layout.pack(**(hand or {}))] * ticks)
        with contextlib.suppress(RuntimeError):  # fewer if the world stops
            self.run.ticks(ticks, rows)
        return self

    def event(self, kind: int, value: float = 0.0, **fields) -> Run:
        self.simulation.events.write(self.simulation.event_layout.pack(kind=kind, value=value, **fields))
        return self

    def last(self, n: int) -> list[list[bytes]]:
        layout = self.simulation.layout
        return [
            [np.asarray(layout.read(words, name)).tobytes() for name in EVERYTHING] for words in self.run.frames[-n:]
        ]


# ---- gravity


def swings(seed: int, gravity) -> Scene:
    """Bodies of any centre and inertia on every kind of root, alone and with a child, turning."""
    rng, parts = np.random.default_rng(seed), []
    for k, kind in enumerate(("spherical", "free", "revolute", "universal")):
        for child in (False, True):
            name = f"{kind}{child}"
            bodies = [Body(name, rng.uniform(0.2, 2.0), tuple(rng.uniform(-0.2, 0.2, 3)), (0.02, 0.03, 0.04))]
            joints = [Joint(name, kind, "world", name, pp.Transform(p=(k, float(child), 1.0)))]
            if child:
                bodies.append(Body(f"{name} child", 0.5, (0.1, 0.0, 0.0), (0.01, 0.01, 0.01)))
                joints.append(Joint(f"{name} child", "spherical", name, f"{name} child", pp.Transform(p=(0, 0, -0.3))))
            parts.append(MultiBody(name, tuple(bodies), tuple(joints)))
    world = pp.World(parts, gravity=gravity, dt=DT)
    world.v[:] = rng.normal(size=world.model.nv)
    return Scene("swings", "Swings", world)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("times", [0.0, 0.5, 3.0])
def test_gravity_that_is_set_is_the_gravity_of_a_world_made_with_it(seed, times):
    """To the last bit, whatever the roots: so nothing of the scene's own remains."""
    down = np.array([1.0, -2.0, -9.0])
    setting = Run(swings(seed, tuple(down))).event(frame.GRAVITY, times).go(200)
    made = Run(swings(seed, tuple(times * down))).go(200)
    for name in ("q", "v"):
        assert np.array_equal(getattr(setting.world, name), getattr(made.world, name)), name
    assert setting.last(1)[0][EVERYTHING.index("energy")] == made.last(1)[0][EVERYTHING.index("energy")]


def test_gravity_that_is_set_is_everywhere_and_the_end_of_a_session_gives_the_worlds_own_back():
    world = pp.World([pp.models.box(mass=1.0, at=(0, 0, 1.0))])
    session, own = pp.touch(world, page=False), pp.bias(world.model, world.q, world.v)
    session._event(frame.GRAVITY, 0.0)
    session.simulate(0.01)
    assert world.energy.potential == 0.0
    assert not pp.bias(world.model, world.q, world.v).any()
    session.stop()
    assert np.array_equal(pp.bias(world.model, world.q, world.v), own)
    assert world.energy.potential > 9.0


# ---- the integrator


@pytest.mark.parametrize("seed", range(2))
def test_a_session_steps_by_the_worlds_own_integrator(seed):
    def made() -> pp.World:
        rng, world = np.random.default_rng(seed), swings(seed, (0, 0, -9.81)).world
        parts = [world._parts[name] for name in world.parts]
        world = pp.World(parts, dt=DT, integrator="runge-kutta")
        world.v[:] = 3.0 * rng.normal(size=world.model.nv)
        return world

    alone, in_session = made(), made()
    alone.step(300)
    Run(Scene("swings", "Swings", in_session)).go(300)
    assert np.array_equal(in_session.q, alone.q)
    assert np.array_equal(in_session.v, alone.v)


# ---- the start


def held() -> Scene:
    """A world with a ledger, held joints and a connection, begun before the session."""
    world = pp.World([pp.models.puma560(), pp.models.box((0.1, 0.1, 0.1), mass=1.0, at=(0.6, 0, 0.5)),
                      pp.models.plane(at=(0, 0, -1))], dt=DT, ledger=True)  # fmt: skip
    world.hold(200.0, 5.0)
    world.connect("world", "box", weld=True)
    world.step(20)
    return Scene("held", "Held", world)


SCENES = {"arm-line": arm_line, "stack": lambda: stack(3), "top": spinning_top, "tippe-top": tippe_top,
          "bridge": bridge, "held": held, "loose": lambda: with_loose(stack(2))}  # fmt: skip


def disturb(run: Run, rng: np.random.Generator) -> None:
    """Anything that a page, a hand or a program does to a world in a session; not where bodies are put, nor plans."""
    world, model = run.world, run.model
    touchable = [b for b in range(1, model.n_bodies) if model.arrays.body_link[b] != 0]
    for _ in range(6):
        what, body = int(rng.integers(8)), int(rng.choice(touchable))
        if what < 3:
            normal = rng.normal(size=3)
            run.go(30, {"body": body, "hand": what % 2, "hold": what, "target": rng.uniform(-0.5, 1, 3),
                        "stiffness_N_m": 500.0, "force": rng.normal(size=3),
                        "normal": normal / np.linalg.norm(normal)})  # fmt: skip
        elif what == 3:
            run.event(frame.MODE, rng.integers(5)).go(5)
        elif what == 4:
            world.apply(model.body_names[body], force=tuple(rng.normal(size=3)))
        elif what == 5:
            joints = [j.name for j in model.description.joints if j.kind not in ("free", "fixed")]
            if joints:
                world.hold(50.0, 1.0, joints=[str(rng.choice(joints))])
        elif what == 6:
            world.tau[:] = 0.01 * rng.normal(size=model.nv)
        else:
            other = model.body_names[int(rng.choice(touchable))]
            links = model.arrays.body_link[[body, model.body(other)]]
            if links[0] != links[1] and world.arrays.state.pushed[links].any():
                world.connect(model.body_names[body], other)
        run.go(int(rng.integers(1, 40)))
    run.go(1, {"hand": 1})  # a hand that holds on takes hold again: it is no part of the world


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scene", SCENES)
def test_a_reset_is_a_restore_of_the_start(scene, seed):
    """All that the next step depends on is as it was, to the last bit, and so is all that comes of it."""
    rng, run = np.random.default_rng(seed), Run(SCENES[scene]())
    start = run.world.snapshot()
    run.go(50)
    first = run.last(50)
    disturb(run, rng)
    run.event(frame.RESET).event(frame.MODE, frame_mode(run)).event(frame.RESET).go(1)  # a fault takes no other event
    run.simulation.restart()
    again = run.world.snapshot()
    assert again.time == start.time
    for name, x in start.arrays.items():
        assert np.array_equal(again.arrays[name], x), name
    run.go(7).event(frame.RESET).go(50)
    assert run.last(50) == first


def frame_mode(run: Run) -> int:
    """The mode that the scene began with: a setting, which a reset keeps."""
    return 0 if run.simulation.guiding is None else ("wait", "hold", "resume", "blend", "teach").index(
        run.simulation.guiding.editing.mode
    )  # fmt: skip


def test_a_ledger_begins_again_with_a_reset():
    world = pp.World([pp.models.box(mass=1.0, at=(0, 0, 1.0)), pp.models.plane()], dt=DT, ledger=True)
    run = Run(Scene("falls", "Falls", world))
    run.go(700)
    assert abs(world.ledger.contacts) > 1.0
    run.event(frame.RESET).go(1)
    assert world.ledger.contacts == 0.0
    assert world.ledger.step == pytest.approx(0.0, abs=1e-2)


@pytest.mark.parametrize("back", ["reset", "restore"])
def test_after_a_way_back_the_connections_are_those_of_then(back):
    """Those made since are gone for good, those undone since are there, and both can be undone and joined by others."""
    parts = [pp.models.box(mass=1.0, at=(0.3 * k, 0, 1), name=name) for k, name in enumerate("abc")]
    world = pp.World(parts, gravity=(0, 0, 0), dt=DT)
    model = world.model

    def joined() -> list[set[str]]:
        state, link = world.arrays.state, {int(world.model.arrays.body_link[world.model.body(x)]): x for x in "abc"}
        return [{link[int(x)] for x in state.joined[2 * k : 2 * k + 2]} for k in np.flatnonzero(state.joined_kind)]

    first = world.connect("a", "b")
    run, snapshot = Run(Scene("three", "Three", world)), world.snapshot()
    world.disconnect(first)
    world.connect("b", "c", weld=True)
    run.go(10)
    assert joined() == [{"b", "c"}]
    run.event(frame.RESET).go(1) if back == "reset" else world.restore(snapshot)
    assert joined() == [{"a", "b"}]
    second = world.connect("a", "c")
    assert joined() == [{"a", "b"}, {"a", "c"}]
    world.disconnect(first)
    assert joined() == [{"a", "c"}]
    with pytest.raises(ValueError, match="no connection"):
        world.disconnect(first)
    at = world.arrays.state.joined_at[2 * second : 2 * second + 2].copy()
    world.add(pp.models.ball(0.1, at=(0, 2, 1), name="other"))
    assert world.model is not model
    assert joined() == [{"a", "c"}]
    assert np.array_equal(world.arrays.state.joined_at[2 * second : 2 * second + 2], at)
    world.remove("c")
    assert not world.arrays.state.joined_kind.any()


# ---- one way to put a body elsewhere


def things(seed: int) -> pp.World:
    """Free bodies on any joint placements, alone and with children; placed, fixed and jointed ones."""
    rng = np.random.default_rng(seed)

    def somewhere() -> pp.Transform:
        return pp.Transform(R=pp.Rotation.exp(tuple(rng.normal(size=3))), p=tuple(rng.normal(size=3)))

    def one(name: str) -> Body:
        return Body(name, 1.0, (0.1, 0.0, 0.05), (0.01, 0.02, 0.02), (Shape("sphere", (0.01,)),))

    lone = MultiBody("lone", (one("lone"),), (Joint("lone", "free", "world", "lone", somewhere()),))
    carrying = MultiBody("walker", (one("trunk"), one("limb")), (
        Joint("trunk", "free", "world", "trunk", pp.Transform(p=(9, 0, 0))),
        Joint("limb", "revolute", "trunk", "limb", somewhere()),
    ))  # fmt: skip
    laden = MultiBody("tray", (one("tray"), one("cup")), (
        Joint("tray", "free", "world", "tray", pp.Transform(p=(0, 9, 0))),
        Joint("cup", "fixed", "tray", "cup", somewhere()),
    ))  # fmt: skip
    return pp.World([lone, carrying, laden, pp.models.ball(0.05, at=(1, 1, 1), placed=True, name="mark"),
                     pp.models.ball(0.05, at=(2, 1, 1), fixed=True, name="stone"), pp.models.puma560()],
                    gravity=(0, 0, 0), dt=DT)  # fmt: skip


@pytest.mark.parametrize("parked", [False, True])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_body_is_placed_alike_by_a_world_a_session_and_a_page_and_refused_alike(seed, parked):
    rng = np.random.default_rng(100 + seed)
    for body in things(seed).model.body_names[1:]:
        X = pp.Transform(R=pp.Rotation.exp(tuple(rng.normal(size=3))), p=tuple(rng.normal(size=3)))
        by_world, by_session, by_page = (things(seed) for _ in range(3))
        said, session = [], pp.touch(by_session, page=False)
        for place in (by_world.place, session.edit.place):
            try:
                place(body, X, parked=parked)
                said.append("")
            except ValueError as error:
                said.append(str(error))
        assert said[0] == said[1], body
        session.simulate(0.002)
        session.stop()
        Run(Scene("things", "Things", by_page)).event(
            frame.PLACE, float(parked), event_body=by_page.model.body(body), placement=[*X.p, *X.R.wxyz]
        ).go(2)
        assert np.array_equal(by_page.q, by_session.q), body
        assert np.array_equal(by_page.arrays.state.pushed, by_session.arrays.state.pushed), body
        assert by_page.pose(body) == pytest.approx(by_world.pose(body), abs=1e-9), body
        assert np.array_equal(by_world.arrays.state.pushed, by_session.arrays.state.pushed), body
        if said[0]:
            assert np.array_equal(by_page.q, things(seed).q), body  # not a bit of it moved
        else:
            assert by_page.pose(body) == pytest.approx(np.array(X.matrix()), abs=1e-9), body


# ---- bodies that come and go


@pytest.mark.parametrize("change", ["add", "remove"])
def test_the_bodies_of_a_world_stay_while_a_session_runs_and_nothing_is_lost(change):
    world = pp.World([pp.models.box(mass=1.0, at=(0, 0, 1.0)), pp.models.ball(0.05, at=(1, 0, 1), name="ball")])
    session = pp.touch(world, page=False, fifo=False)

    def do() -> None:
        world.add(pp.models.ball(0.1, name="other")) if change == "add" else world.remove("ball")

    with session:
        with pytest.raises(ValueError, match="session"):
            do()
        for other in (world.step, lambda: world.place("ball", pp.Transform())):  # the arrays are the servo's
            with pytest.raises(ValueError, match="a session runs on this world"):
                other()
        assert world.parts == ("box", "ball")
        assert session.simulation.world.arrays.state.q is session.simulation.arrays.q
        session.wait(0.01)
    do()
    assert len(world.parts) == (3 if change == "add" else 1)
    world.step()


@pytest.mark.parametrize("how", ["simulate", "start"])
def test_a_session_whose_worlds_bodies_changed_says_so(how):
    world = pp.World([pp.models.box(mass=1.0, at=(0, 0, 1.0))])
    session = pp.touch(world, page=False, fifo=False)
    session.simulate(0.01)
    world.add(pp.models.ball(0.1, name="other"))
    q = world.q.copy()
    with pytest.raises(ValueError, match="another session"):
        session.simulate(0.01) if how == "simulate" else session.start()
    assert np.array_equal(world.q, q)
    pp.touch(world, page=False).simulate(0.01)
    assert world.q[2] < q[2]


# ---- simulated time goes on, and leaves nothing behind


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counted by /proc")
def test_simulated_time_leaves_no_descriptor_open():
    scene = stack(2)
    pp.touch(scene, page=False).simulate(0.002)
    before = count_descriptors()
    sessions = [pp.touch(scene, page=False) for _ in range(5)]
    for session in sessions:
        session.simulate(0.002)
        assert count_descriptors() == before
        session.stop()
    assert count_descriptors() == before


@pytest.mark.parametrize("pieces", [(0.3,), (0.1, 0.2), (0.05, 0.001, 0.249)])
def test_simulated_time_goes_on_where_it_ended(pieces):
    whole, parts = pp.touch(stack(2), page=False), pp.touch(stack(2), page=False)
    whole.simulate(0.3)
    for seconds in pieces:
        report = parts.simulate(seconds)
    assert report.periods == 300
    assert report.seconds == pytest.approx(0.3)
    assert np.array_equal(parts.scene.world.q, whole.scene.world.q)
    assert parts.frame()["tick"] == whole.frame()["tick"] == 299
    parts.reset()
    parts.simulate(0.3)
    assert np.array_equal(parts.scene.world.q, whole.scene.world.q)
