"""What an avatar senses is what the world says of it; a compiled controller shows and sets numbers by their names."""

from __future__ import annotations

import numpy as np
import pytest
from waiting import until

import palpate as pp
from palpate import jit
from palpate.control.avatar import Actor, Avatar, load_avatar
from palpate.control.limbs import LIMBS, limb_of_axes
from palpate.control.part import ControlPart, Setting, Shown
from palpate.frame import PAUSED, PUSH, Field
from palpate.haptics.devices.protocol import DeviceSpec
from palpate.jit import Block
from palpate.jit.routines import routine
from palpate.runtime.world.simulation import running
from palpate.scenes.looks import floor
from palpate.scenes.loose import with_loose
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
BLUNT = DeviceSpec("test", force_limit_N=500.0, force_rise_N_s=1e9)  # a force is there at once
APART = 1.5  # [m]


def alone(kind: str) -> pp.World:
    models = {"hrp2": pp.models.hrp2, "human": pp.models.human, "child": lambda: pp.models.human(height=1.1, mass=20)}
    world = pp.World([models[kind](), floor()])
    world.hold(2000.0, 60.0)
    return world


def scene(world: pp.World, *actors: Actor) -> Scene:
    return Scene("sensed", "Sensed", world, controllers=tuple(part for actor in actors for part in actor.parts))


def anyhow(world: pp.World, rng: np.random.Generator) -> None:
    """In the air, turned, bent and moving, however that may be."""
    q = pp.integrate(world.model, world.q, rng.normal(0.0, 0.3, world.model.nv), 1.0)
    world.q = q
    world.v = rng.normal(0.0, 0.5, world.model.nv)


@pytest.mark.parametrize("kind", ["hrp2", "human", "child"])
def test_centre_of_mass_and_capture_point_are_those_of_the_momentum(kind):
    rng = np.random.default_rng(7)
    world = alone(kind)
    actor = Actor(world)
    for _ in range(4):
        anyhow(world, rng)
        with running(scene(world, actor)) as run:
            run.ticks(1)
            f = run.now
        c = pp.center_of_mass(world.model, f["q"])
        velocity = pp.momentum(world.model, f["q"], f["v"])[3:] / actor.avatar.mass
        w = np.sqrt(9.81 / actor.avatar.height_m)
        assert f["avatar_com"] == pytest.approx(c, abs=1e-12)
        assert actor.avatar.com_velocity == pytest.approx(velocity, abs=1e-12)
        assert f["avatar_capture_point"] == pytest.approx([*(c + velocity / w)[:2], actor.avatar.floor_m], abs=1e-12)


@pytest.mark.parametrize("kind", ["hrp2", "human"])
def test_soles_and_palms_lie_on_the_shapes_of_feet_and_hands(kind):
    world = alone(kind)
    actor = Actor(world)
    a, bodies = actor.avatar, {b.name: b for b in world.model.description.bodies}
    for k in range(8):
        (shape,) = [s for s in bodies[world.model.body_names[a.foot[k // 4]]].shapes if s.role != "visual"]
        corner = np.abs(a.sole_at[k] - shape.placement.p)
        assert corner == pytest.approx(np.array(shape.size) / 2, abs=1e-12)
    for side in range(2):
        shape = bodies[world.model.body_names[a.hand[side]]].shapes[0]
        off = a.palm_at[side] - shape.placement.p
        assert off @ a.palm_normal[side] == pytest.approx(shape.size[1] / 2, abs=1e-12)


def test_every_joint_but_the_root_belongs_to_a_limb():
    for kind in ("hrp2", "human"):
        world = alone(kind)
        limb = limb_of_axes(world.model, Actor(world).limbs)
        assert (limb[:6] == -1).all()
        assert (limb[6:] >= 0).all()
        assert set(limb[6:]) == set(range(len(LIMBS) if kind == "hrp2" else len(LIMBS) - 1))


def test_what_feet_bear_is_what_the_contacts_of_the_step_before_say():
    world = alone("hrp2")
    actor = Actor(world)
    with running(scene(world, actor), device=BLUNT) as run:
        push = run.simulation.hand_layout.pack(body=world.model.body("CHEST_JOINT1"), hold=PUSH, force=(40.0, 25.0, 0))
        run.ticks(300, np.array([push] * 300))
        f = run.now
    total = np.zeros(2)
    for (first, second), force in zip(f["contact_body"], f["contact_force"], strict=True):
        for side in range(2):
            total[side] += force[2] * (second == actor.avatar.foot[side]) - force[2] * (
                first == actor.avatar.foot[side]
            )
    assert f["avatar_foot_load"] == pytest.approx(total, rel=1e-12)
    assert abs(total[0] - total[1]) > 10.0  # it leans


@pytest.mark.parametrize("seed", range(4))
def test_the_push_of_hands_its_moment_and_its_place_are_those_of_the_message(seed):
    rng = np.random.default_rng(seed)
    world = alone("human")
    actor = Actor(world)
    body = int(rng.integers(1, world.model.n_bodies - 1))
    at_body, force = rng.normal(0.0, 0.1, 3), rng.normal(0.0, 30.0, 3)
    with running(scene(world, actor), device=BLUNT) as run:
        pack = run.simulation.hand_layout.pack
        run.ticks(50, np.array([pack(body=body, hold=PUSH, force=force, at_body=at_body)] * 50))
        f, a = run.now, actor.avatar
        point = f["hand_point"][0]
        assert f["avatar_push"] == pytest.approx(f["hand_force"][0], abs=1e-12)
        assert f["avatar_push"] == pytest.approx(force, rel=1e-6)
        assert a.push_moment == pytest.approx(np.cross(point - f["avatar_com"], force), rel=1e-6, abs=1e-9)
        assert f["avatar_touched"] == body
        assert np.cross(np.subtract(a.touch_point, point), force) == pytest.approx(np.zeros(3), abs=1e-6)
        run.ticks(1, np.array([pack()]))  # the hand lets go
        assert run.now["avatar_touched"] == 0
        assert not run.now["avatar_push"].any()


def test_two_avatars_feel_each_for_itself():
    world = pp.World([pp.models.hrp2(), pp.models.hrp2(at=(APART, 0.3, 0.0)), floor()])
    world.hold(2000.0, 60.0)
    actors = [Actor(world), Actor(world, "hrp2.2/", number=1)]
    with running(scene(world, *actors), device=BLUNT) as run:
        push = run.simulation.hand_layout.pack(body=world.model.body("hrp2.2/WAIST"), hold=PUSH, force=(0, 0, -20.0))
        run.ticks(400, np.array([push] * 400))
        f = run.now
    assert f["avatar2_com"] - f["avatar_com"] == pytest.approx([APART, 0.3, 0.0], abs=5e-3)
    assert not f["avatar_push"].any()
    assert f["avatar2_push"] == pytest.approx([0.0, 0.0, -20.0], rel=1e-6)
    assert f["avatar_foot_load"].sum() == pytest.approx(58.0 * 9.81, rel=0.01)
    assert f["avatar2_foot_load"].sum() == pytest.approx(58.0 * 9.81 + 20.0, rel=0.01)


def test_a_waist_that_does_not_move_freely_is_refused():
    with pytest.raises(ValueError, match="no avatar"):
        Actor(pp.World([pp.models.puma560()]))


# ---- a compiled controller, whatever it controls


@routine
def lean_more(address):
    a = load_avatar(address)[0]
    a.lean = (a.lean[0] + a.mass, a.lean[1], a.lean[2])
    return 0


@routine
def lean_back(address):
    a = load_avatar(address)[0]
    a.lean = (0.0, 0.0, 0.0)
    return 0


def counting(actor: Actor, world: int) -> ControlPart:
    a: Avatar = actor.avatar
    return ControlPart(
        "counting", lean_more, Block(a), reset=lean_back, world=world,
        shows=(Shown(Field("lean", "f", (3,), "so far"), a, "lean"),),
        settings=(Setting("by", 0.5, 3.0, a, "mass", label="By", step=0.5),),
    )  # fmt: skip


def test_a_control_part_acts_while_the_world_moves_and_is_set_within_bounds_only():
    world = alone("hrp2")
    actor = Actor(world)
    actor.avatar.mass = 2.0
    actor.parts[:] = [counting(actor, actor.avatar.world)]
    session = pp.touch(scene(world, actor), page=False)
    (slider,) = [s for s in session.hello()["settings"] if s["event"] == "by"]
    assert (slider["label"], slider["low"], slider["high"], slider["value"]) == ("By", 0.5, 3.0, 2.0)
    session.simulate(0.01)
    assert session.frame()[slider["field"]] == 2.0
    assert session.frame()["lean"][0] == pytest.approx(20.0)
    for value, by in ((1.0, 1.0), (3.0, 3.0)):
        before = session.frame()["lean"][0]
        session.send("by", value)
        session.simulate(0.01)
        assert session.frame()["lean"][0] - before == pytest.approx(10 * by)
    for wrong in (9.0, -1.0, np.nan):
        session.send("by", wrong)
        session.simulate(0.01)
        assert actor.avatar.mass == 3.0
    session.reset()
    session.simulate(0.002)
    assert session.frame()["lean"][0] == pytest.approx(6.0)
    session.stop()


def test_a_control_part_rests_while_the_world_is_paused():
    world = alone("hrp2")
    actor = Actor(world)
    actor.parts[:] = [counting(actor, actor.avatar.world)]
    with pp.touch(scene(world, actor), page=False) as session:
        until(lambda: session.frame()["lean"][0] > 0.0)
        session.pause()
        until(lambda: session.frame()["state"] == PAUSED)
        f = session.frame()
        until(lambda: session.frame()["wall_ns"] > f["wall_ns"] + 50_000_000)
        assert session.frame()["lean"][0] == f["lean"][0] == pytest.approx(58.0 * f["tick"])


def test_a_control_part_of_another_world_is_refused():
    actor = Actor(alone("hrp2"))
    with pytest.raises(ValueError, match="make it again"):
        pp.touch(
            Scene("x", "X", alone("hrp2"), controllers=(counting(actor, actor.avatar.world),)), page=False
        ).simulate(0.001)


def test_what_a_function_of_the_world_makes_is_made_for_the_bodies_that_there_are():
    """As `palpate touch` runs a scene: bodies to add are put into its world after the scene was made."""
    world = alone("hrp2")
    made = with_loose(Scene("made", "Made", world, controllers=(lambda world: Actor(world).parts,)))
    with running(made) as run:
        run.ticks(1)
        one = pp.compile(pp.models.hrp2())
        assert run.now["avatar_com"] == pytest.approx(pp.center_of_mass(one, run.now["q"][: one.nq]), abs=1e-12)
