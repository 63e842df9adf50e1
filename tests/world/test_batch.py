"""A copy in a Batch goes on as a single World would, to the last bit, whoever steps it and whatever the others do."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import palpate as pp
from palpate.contact.laws import friction_law
from palpate.control.part import ControlPart
from palpate.jit import DISABLED, Block, Struct, block_loader
from palpate.jit.routines import routine
from palpate.model.model import Floats1
from palpate.scenes.blocks import dominoes, stack
from palpate.scenes.bridge import bridge
from palpate.scenes.standing import hrp2_standing

THREADS = (1,) if DISABLED else (1, 2, 3)


def standing():
    return hrp2_standing().world


def arm():
    world = pp.World([pp.models.puma560(), pp.models.ball(0.07, at=(0.44, 0.34, 0.2), fixed=True)])
    world.q = [0.0, -0.6, 2.8, 0.0, 0.5, 0.0]
    return world


def tumbling():
    rubber = pp.Material("rubber", friction=0.6, friction_sliding=0.4, restitution=0.5)
    parts = [pp.models.ball(0.05, at=(0.0, 0.0, 0.2), material=rubber), pp.models.plane(material=rubber)]
    parts += [pp.models.box((0.1, 0.15, 0.2), at=(0.3 * k, 0.2, 0.3), name=f"box{k}") for k in range(3)]
    return pp.World(parts, ledger=True)


SCENES = {
    "hrp2": standing, "arm": arm, "tumbling": tumbling, "dominoes": lambda: dominoes(5).world,
    "bridge": lambda: bridge(4).world, "stack": lambda: stack(4, 100.0).world,
}  # fmt: skip


def stirred(world, n, seed):
    """Velocities (n, nv) and torques (n, nv) that differ from copy to copy."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.0, 0.3, (n, world.model.nv)), rng.normal(0.0, 2.0, (n, world.model.nv))


def alike(batch, worlds):
    for i, world in enumerate(worlds):
        np.testing.assert_array_equal(batch.q[i], world.q, err_msg=f"q of copy {i}")
        np.testing.assert_array_equal(batch.v[i], world.v, err_msg=f"v of copy {i}")
        assert batch.time[i] == world.time


# ---- the same bits


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("scene", SCENES)
def test_copies_have_the_bits_of_single_worlds(scene, threads):
    n, worlds = 5, [SCENES[scene]() for _ in range(5)]
    v, tau = stirred(worlds[0], n, 1)
    with pp.Batch(SCENES[scene](), n, threads=threads) as batch:
        batch.v = v
        batch.step(40, tau=tau)
        for _ in range(10):
            batch.step()
        for i, world in enumerate(worlds):
            world.v, world.tau = v[i], tau[i]
            world.step(50)
        alike(batch, worlds)


@pytest.mark.parametrize("threads", THREADS)
def test_a_pushed_robot_has_the_bits_of_a_single_one(threads):
    n, steps, body = 4, 60, "CHEST_JOINT1"
    rng, settled = np.random.default_rng(2), standing()
    settled.step(100)
    pushes = np.zeros((n, steps, 6))
    pushes[:, :40] = rng.normal(0.0, (5.0, 5.0, 5.0, 60.0, 60.0, 20.0), (n, 1, 6))
    with pp.Batch(settled, n, threads=threads) as batch:
        out = batch.rollout(pushes={body: pushes})
        snapshot = settled.snapshot()
        for i in range(n):
            settled.restore(snapshot)
            for k in range(steps):
                settled.apply(body, torque=pushes[i, k, :3], force=pushes[i, k, 3:])
                settled.step()
                np.testing.assert_array_equal(out.q[i, k], settled.q)
                np.testing.assert_array_equal(out.v[i, k], settled.v)
            np.testing.assert_array_equal(batch.q[i], settled.q)
        assert out.faults == {}


@pytest.mark.nojit
def test_torques_of_a_rollout_are_those_of_single_steps():
    n, steps, world = 3, 30, arm()
    tau = np.random.default_rng(3).normal(0.0, 10.0, (n, steps, world.model.nv))
    out = pp.Batch(world, n).rollout(tau)
    for i in range(n):
        single = arm()
        for k in range(steps):
            single.tau = tau[i, k]
            single.step()
            np.testing.assert_array_equal(out.q[i, k], single.q)
            np.testing.assert_array_equal(out.v[i, k], single.v)


def test_applied_wrenches_act_in_one_step_alone():
    batch, worlds = pp.Batch(tumbling(), 3), [tumbling() for _ in range(3)]
    force = np.random.default_rng(4).normal(0.0, 30.0, (3, 3))
    batch.apply("box1", force=force, torque=(0.1, 0.0, 0.0))
    batch.step(80)
    for world, f in zip(worlds, force, strict=True):
        world.apply("box1", force=f, torque=(0.1, 0.0, 0.0))
        world.step(80)
    alike(batch, worlds)


def test_laws_of_ones_own_keep_their_state_for_each_copy():
    @friction_law
    def tired(static, sliding, speed, normal, state):
        state[0] += speed
        return static / (1.0 + state[0])

    def sliding():
        world = pp.World([pp.models.box(at=(0.0, 0.0, 0.05)), pp.models.plane()], friction_law=tired)
        return world

    batch, worlds = pp.Batch(sliding(), 4), [sliding() for _ in range(4)]
    for i, world in enumerate(worlds):
        batch.v[i, 3] = world.v[3] = 0.5 * i
    for _ in range(60):
        batch.step()
    for world in worlds:
        world.step(60)
    alike(batch, worlds)
    assert len({*batch.q[:, 0]}) == 4


def test_the_world_that_was_copied_stays_as_it_is_and_goes_on_alone():
    world, twin = tumbling(), tumbling()
    with pp.Batch(world, 4) as batch:
        batch.step(30)
        batch.set_friction(0.1)
        batch.set_mass("ball", 3.0)
        assert world.time == 0.0
        world.step(100)
        twin.step(100)
        np.testing.assert_array_equal(world.q, twin.q)
        assert batch.time == pytest.approx(np.full(4, 0.03))


def test_copies_begin_where_the_world_is_with_its_springs_ties_and_warm_start():
    world = bridge(4).world
    world.step(120)
    world.connect("world", "plank1", (0.0, 0.0, 1.0))
    batch = pp.Batch(world, 3)
    batch.step(50)
    world.step(50)
    alike(batch, [world] * 3)


def test_residuals_and_lost_contacts_are_those_of_single_steps():
    def cramped():
        boxes = [pp.models.box((0.1,) * 3, at=(0.2 * k, 0.0, 0.05), name=f"box{k}") for k in range(3)]
        return pp.World([*boxes, pp.models.plane()], capacity=7, budget=20)

    batch, worlds = pp.Batch(cramped(), 3), [cramped() for _ in range(3)]
    batch.step(5)  # of which the next call knows nothing
    speeds = (0.0, 1.0, 3.0)
    batch.v[:, 3] = speeds
    batch.step(30)
    for i, (world, speed) in enumerate(zip(worlds, speeds, strict=True)):
        world.step(5)
        lost, residual = world.report.lost, 0.0
        world.v[3] = speed
        for _ in range(30):
            world.step()
            residual = max(residual, world.report.relative_residual)
        assert batch.residual[i] == residual
        assert batch.lost[i] == world.report.lost - lost
    assert batch.lost.all()
    assert batch.residual.max() > 0.0


# ---- parameters


@pytest.mark.parametrize("threads", THREADS)
def test_friction_of_a_copy_is_that_of_a_world_with_such_a_pair(threads):
    ice, wood = pp.Material("ice", friction=0.1), pp.Material("wood", friction=0.6)
    frictions = (0.0, 0.05, 0.3, 0.9)

    def slope(**options):
        parts = [pp.models.plane(normal=(0.3, 0.0, 1.0), material=ice)]
        parts += [
            pp.models.box(at=(0.0, 0.5 * k, 0.052), material=m, name=f"box{k}") for k, m in enumerate((wood, ice))
        ]
        return pp.World(parts, **options)

    batch = pp.Batch(slope(), 4, threads=threads)
    batch.set_friction(frictions, ("wood", "ice"))
    batch.step(100)
    worlds = [slope(pairs={("ice", "wood"): pp.Material("both", friction=mu)}) for mu in frictions]
    for world in worlds:
        world.step(100)
    alike(batch, worlds)
    assert len({*batch.q[:, 0]}) == 4
    assert np.ptp(batch.q[:, 7]) < 1e-9  # ice on ice is what it was, to the tolerance of the solver


def heavier(part, body, mass):
    """A description with another mass of a body, of the same shape and density everywhere."""

    def of(b):
        return replace(b, mass=mass, inertia=np.asarray(b.inertia) * (mass / b.mass)) if b.name == body else b

    return replace(part, bodies=tuple(map(of, part.bodies)))


@pytest.mark.parametrize("body", ["CHEST_JOINT1", "WAIST", "RARM_JOINT3"])
def test_mass_of_a_robots_body_is_that_of_a_world_made_so(body):
    robot = pp.models.hrp2(sole="spheres")
    was = next(b.mass for b in robot.bodies if b.name == body)
    masses = was * np.array([0.5, 1.0, 2.5])

    def made(part):
        world = pp.World([part, pp.models.plane()])
        world.hold()
        return world

    batch = pp.Batch(made(robot), 3, threads=THREADS[-1])
    batch.set_mass(body, masses)
    batch.step(60)
    worlds = [made(heavier(robot, body, m)) for m in masses]
    for world in worlds:
        world.step(60)
    alike(batch, worlds)
    assert len({*batch.q[:, 2]}) == 3


def test_masses_of_lone_and_welded_bodies_are_those_of_worlds_made_so():
    off = pp.Shape("sphere", (0.05,), pp.Transform(p=(0.05, 0.0, 0.0)))
    hammer = pp.MultiBody(
        "hammer", [pp.Body("shaft", 1.0, (0.0, 0.0, 0.1), (0.02, 0.01, 0.01)),
                   pp.Body("head", 2.0, (0.02, 0.0, 0.0), (0.01, 0.02, 0.01), [off])],
        [pp.Joint("fly", "free", "world", "shaft"),
         pp.Joint("weld", "fixed", "shaft", "head", pp.Transform(pp.Rotation.about((1, 1, 0), 0.7), (0.1, 0.0, 0.3)))],
        postures={"start": {"fly": (0.0, 0.0, 0.6, 1.0, 0.0, 0.0, 0.0)}},
    )  # fmt: skip
    bell = pp.MultiBody(
        "bell", [pp.Body("clapper", 1.0, (0.0, 0.05, -0.3), (0.02, 0.01, 0.01))],
        [pp.Joint("eye", "spherical", "world", "clapper", pp.Transform(p=(2.0, 0.0, 2.0)))],
    )  # fmt: skip
    lure = replace(hammer.prefixed("lure/"), name="lure", postures={"start": {"lure/fly": (1, 0, 1, 1, 0, 0, 0)}})
    lure = replace(lure, bodies=tuple(replace(body, shapes=()) for body in lure.bodies))  # nothing touches it

    def tied(*parts):
        world = pp.World([*parts, pp.models.plane()])
        world.connect("world", "lure/shaft", (1.2, 0.0, 1.1))
        return world

    batch = pp.Batch(tied(hammer, bell, lure), 3)
    heads, shafts, clappers = (0.5, 2.0, 7.0), (1.0, 3.0, 0.2), (0.1, 1.0, 4.0)
    for body, masses in (("head", heads), ("shaft", shafts), ("clapper", clappers), ("lure/head", heads)):
        batch.set_mass(body, masses)
    batch.v[:, :3] = (1.0, 20.0, 3.0)
    batch.v[:, 6:9] = (1.0, 2.0, 3.0)
    batch.step(300)
    worlds = []
    for head, shaft, clapper in zip(heads, shafts, clappers, strict=True):
        whole = heavier(heavier(hammer, "head", head), "shaft", shaft)
        worlds.append(tied(whole, heavier(bell, "clapper", clapper), heavier(lure, "lure/head", head)))
        worlds[-1].v[:3], worlds[-1].v[6:9] = (1.0, 20.0, 3.0), (1.0, 2.0, 3.0)
        worlds[-1].step(300)
    alike(batch, worlds)


def test_gains_of_a_copy_are_those_of_a_world_held_so():
    stiffness, target = np.array([[50.0], [500.0], [5000.0]]), np.array([0.1, -0.5, 2.6, 0.0, 0.4, 0.0])
    batch, worlds = pp.Batch(arm(), 3), [arm() for _ in range(3)]
    batch.hold(stiffness, 0.1 * stiffness, q=target)
    batch.step(100)
    for world, k in zip(worlds, stiffness[:, 0], strict=True):
        world.hold(k, 0.1 * k, q=target)
        world.step(100)
    alike(batch, worlds)
    assert len({*batch.q[:, 1]}) == 3


# ---- compiled controllers


class Leaning(Struct):
    """PD towards a target that moves on by itself, with a memory of its own."""

    gain: float  # [N m/rad]
    ticks: int
    q: Floats1
    v: Floats1
    tau: Floats1
    summed: Floats1  # (nv,) of errors


load_leaning = block_loader((Leaning, False))


@routine
def lean(address):
    (c,) = load_leaning(address)
    c.ticks += 1
    for j in range(c.tau.shape[0]):
        error = 1e-3 * c.ticks - c.q[j]
        c.summed[j] += error
        c.tau[j] = c.gain * error + 0.1 * c.summed[j] - 2.0 * c.v[j]
    return 0


def leaning(world, every=1, phase=0):
    s = world.arrays.state
    c = Leaning(gain=40.0, q=s.q, v=s.v, tau=s.tau, summed=np.zeros(world.model.nv))
    remembers = {name: c.array(name) for name in ("gain", "ticks", "summed")}
    return ControlPart("lean", lean, Block(c), every=every, phase=phase, keeps=c, remembers=remembers)


@pytest.mark.nojit
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(("every", "phase"), [(1, 0), (5, 2)])
def test_a_compiled_controller_does_in_each_copy_what_it_does_in_a_single_world(threads, every, phase):
    gains, steps = (10.0, 40.0, 80.0, 5.0), 60
    batch = pp.Batch(arm(), 4, threads=threads, control=lambda world: leaning(world, every, phase))
    batch.remembered("lean.gain")[:] = gains
    first = batch.rollout(steps=steps // 2)
    batch.step(steps // 2)
    worlds = [arm() for _ in gains]
    for i, (world, gain) in enumerate(zip(worlds, gains, strict=True)):
        part = leaning(world, every, phase)
        part.keeps.gain = gain
        for k in range(steps):
            if k % every == phase:
                part.tick(part.block.address)
            world.step()
            if k < steps // 2:
                np.testing.assert_array_equal(first.q[i, k], world.q)
        np.testing.assert_array_equal(batch.remembered("lean.summed")[i], part.keeps.summed)
    alike(batch, worlds)


def test_a_reset_brings_back_what_a_controller_remembered():
    batch = pp.Batch(arm(), 3, control=leaning)
    once = batch.rollout(steps=20)
    batch.reset()
    again = batch.rollout(steps=20)
    np.testing.assert_array_equal(once.q, again.q)
    assert (batch.remembered("lean.ticks") == 20).all()


def test_a_controller_that_does_not_say_what_it_remembers_is_refused():
    with pytest.raises(ValueError, match=r"'lean' does not say what it remembers"):
        pp.Batch(arm(), 2, control=lambda world: replace(leaning(world), remembers=None))
    with pytest.raises(ValueError, match=r"lean.gain must be a contiguous array"):
        pp.Batch(arm(), 2, control=lambda world: replace(leaning(world), remembers={"gain": 3.0}))
    with pytest.raises(ValueError, match=r"no control remembers 'lean.nothing'; known: lean.gain, lean.ticks"):
        pp.Batch(arm(), 2, control=leaning).remembered("lean.nothing")


# ---- back and forth


def test_a_reset_of_some_leaves_the_others_and_all_parameters():
    batch, fresh = pp.Batch(tumbling(), 4), tumbling()
    batch.set_friction((0.2, 0.3, 0.4, 0.5))
    batch.hold(0.0, 0.0)
    batch.step(60)
    q = batch.q.copy()
    batch.reset([1, 3])
    np.testing.assert_array_equal(batch.q[[0, 2]], q[[0, 2]])
    np.testing.assert_array_equal(batch.q[[1, 3]], [fresh.q] * 2)
    assert (batch.time == [0.06, 0.0, 0.06, 0.0]).all()
    batch.step(60)
    np.testing.assert_array_equal(batch.q[[1, 3]], q[[1, 3]])


def test_snapshots_go_from_worlds_to_copies_and_back():
    world, other = tumbling(), tumbling()
    world.step(70)
    batch = pp.Batch(other, 3)
    batch.step(20)
    batch.restore(world.snapshot(), [2])
    batch.step(30)
    world.step(30)
    np.testing.assert_array_equal(batch.q[2], world.q)
    other.restore(batch.snapshot(0))
    other.step(40)
    batch.step(40)
    np.testing.assert_array_equal(batch.q[0], other.q)
    with pytest.raises(ValueError, match="the snapshot is of a world with"):
        batch.restore(arm().snapshot())


@pytest.mark.nojit
def test_a_push_of_nobody_is_no_push():
    world, pushed = arm(), arm()
    pushed.apply("link2")
    batch = pp.Batch(world, 1)
    out = batch.rollout(pushes={"link2": np.zeros(6), "link3": np.zeros(6)}, steps=5)
    pushed.step(5)
    np.testing.assert_array_equal(out.q[0, -1], pushed.q)


def test_a_copy_in_hand_is_a_world_whose_changes_stay():
    batch, single = pp.Batch(tumbling(), 3), tumbling()
    with batch.world(1) as world:
        assert world.contacts == []
        for each in (world, single):
            each.place("box0", pp.Transform(p=(0.5, 0.5, 0.5)))
            each.connect("box1", "box2")
            each.apply("ball", force=(3.0, 0.0, 0.0), at_world=(0.0, 0.0, 0.25))
            each.step(5)
        with pytest.raises(ValueError, match="copy 1 is in hand"):
            batch.step()
        with pytest.raises(ValueError, match="make another batch"):
            world.add(pp.models.ball())
        with pytest.raises(ValueError, match="make another batch"):
            world.remove("ball")
    batch.step(40)
    single.step(40)
    np.testing.assert_array_equal(batch.q[1], single.q)
    assert not np.array_equal(batch.q[0], single.q)


# ---- what goes wrong


@pytest.mark.parametrize("threads", THREADS)
def test_a_copy_that_stops_is_named_and_the_others_go_on(threads):
    batch, single = pp.Batch(tumbling(), 6, threads=threads), tumbling()
    batch.step(10)
    good = batch.q[4].copy()
    batch.v[4, 3] = batch.v[1, 0] = np.inf
    with pytest.raises(pp.WorldError, match=r"^copy 1 stopped: the velocity of joint .* so did 1 more, see faults"):
        batch.step(20)
    assert list(batch.faults) == [1, 4]
    assert "joint 'ball'" in batch.faults[1]
    assert "is no longer finite after 0.01 s" in batch.faults[4]
    np.testing.assert_array_equal(batch.q[4], good)
    single.step(30)
    for i in (0, 2, 3, 5):
        np.testing.assert_array_equal(batch.q[i], single.q)
    batch.step(5)  # those that stopped wait
    single.step(5)
    np.testing.assert_array_equal(batch.q[0], single.q)
    batch.reset([1])
    assert list(batch.faults) == [4]
    batch.step(35)
    np.testing.assert_array_equal(batch.q[1], single.q)


@pytest.mark.nojit
def test_a_rollout_says_where_a_copy_stopped_and_loses_no_other():
    world = arm()
    tau = np.zeros((3, 10, world.model.nv))
    tau[1, 4, 2] = np.nan
    out = pp.Batch(world, 3).rollout(tau)
    assert list(out.faults) == [1]
    assert "is no longer finite after 0.004 s" in out.faults[1]
    assert np.isfinite(out.q[1, :4]).all()
    assert np.isnan(out.q[1, 4:]).all()
    assert np.isnan(out.v[1, 4:]).all()
    assert np.isfinite(out.q[[0, 2]]).all()


@pytest.mark.nojit
def test_a_law_that_gives_nonsense_in_one_copy_is_named_with_the_bodies():
    @friction_law
    def brittle(static, sliding, speed, normal):
        return static if speed < 1.0 else -1.0

    world = pp.World([pp.models.box(at=(0.0, 0.0, 0.05)), pp.models.plane()], friction_law=brittle)
    batch = pp.Batch(world, 3)
    batch.v[2, 3] = 2.0
    with pytest.raises(pp.WorldError, match=r"copy 2 .*friction law 'brittle' .* where 'plane' and 'box' touch"):
        batch.step(20)


def test_when_all_have_stopped_it_says_so():
    batch = pp.Batch(arm(), 2)
    batch.v = np.nan
    with pytest.raises(pp.WorldError):
        batch.step()
    with pytest.raises(ValueError, match="all copies have stopped: reset them first"):
        batch.step()
    batch.reset()
    batch.step()


WRONG = {
    "q": (lambda b: setattr(b, "q", np.zeros((3, 6))), r"q has shape \(3, 6\), the batch needs \(2, 6\)"),
    "v": (lambda b: setattr(b, "v", np.zeros(7)), r"v has shape \(7,\), the batch needs \(2, 6\)"),
    "tau": (lambda b: b.step(tau=np.zeros((2, 5))), r"tau has shape \(2, 5\), the batch needs \(2, 6\)"),
    "steps": (lambda b: b.step(0), r"steps is a whole number of steps, at least 1, got 0"),
    "half": (lambda b: b.step(1.5), r"steps is a whole number of steps, at least 1, got 1.5"),
    "endless": (lambda b: b.rollout(), r"how many steps\?"),
    "flat": (lambda b: b.rollout(np.zeros(6)), r"how many steps\?"),
    "torques": (lambda b: b.rollout(np.zeros((3, 4, 6))), r"tau has shape \(3, 4, 6\), the batch needs \(2, 4, 6\)"),
    "longer": (lambda b: b.rollout(np.zeros((2, 4, 6)), steps=5), r"the batch needs \(2, 5, 6\)"),
    "pushes": (lambda b: b.rollout(pushes={"link2": np.zeros((2, 4, 3))}), r"pushes\['link2'\] has shape \(2, 4, 3\)"),
    "nobody": (lambda b: b.rollout(pushes={"tail": np.zeros((2, 4, 6))}), r"tail"),
    "force": (lambda b: b.apply("link2", force=np.zeros((3, 3))), r"force has shape \(3, 3\)"),
    "friction": (lambda b: b.set_friction(-0.1), r"friction must be finite and not negative"),
    "material": (lambda b: b.set_friction(0.1, ("wool", "wool")), r"no shape has the material 'wool'; known: "),
    "mass": (lambda b: b.set_mass("link2", [1.0, 0.0]), r"masses must be finite and above 0"),
    "fixed": (lambda b: b.set_mass("ball", 1.0), r"'ball' has no mass that could change"),
    "gains": (lambda b: b.hold(np.ones((2, 5))), r"stiffness has shape \(2, 5\), the batch needs \(2, 6\)"),
    "copy": (lambda b: b.reset([2]), r"there is no copy 2: the batch has 2, numbered from 0"),
    "last": (lambda b: b.reset([-1]), r"there is no copy -1"),
    "number": (lambda b: b.reset(1), r"copies are a list of whole numbers, got 1"),
    "name": (lambda b: b.snapshot("one"), r"copies are a list of whole numbers"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_mistake_is_one_line_and_changes_nothing(what):
    call, words = WRONG[what]
    batch, single = pp.Batch(arm(), 2), arm()
    with pytest.raises(ValueError, match=words) as error:
        call(batch)
    assert "\n" not in str(error.value)
    batch.step(10)
    single.step(10)
    alike(batch, [single] * 2)


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(ValueError, match="a batch is made of a World, got Model"):
        pp.Batch(arm().model, 2)
    with pytest.raises(ValueError, match=r"n is a whole number of copies, at least 1, got 0"):
        pp.Batch(arm(), 0)
    with pytest.raises(ValueError, match=r"threads is a whole number of threads, at least 1, got -1"):
        pp.Batch(arm(), 2, threads=-1)
    own = pp.World(pp.models.puma560(), simulator=type("Mine", (), {"step": lambda self, world, dt: None})())
    with pytest.raises(ValueError, match="a batch needs the compiled step"):
        pp.Batch(own, 2)
    busy = arm()
    busy.in_session = True
    with pytest.raises(ValueError, match="a session runs on this world"):
        pp.Batch(busy, 2)


def test_a_batch_at_work_is_not_given_to_another_thread():
    batch = pp.Batch(arm(), 2)
    with batch._crew.alone(), pytest.raises(ValueError, match="another thread has it at work"):
        batch.step()
    batch.step()
    assert (batch.time == 0.001).all()


def test_a_closed_batch_can_be_read_and_not_stepped():
    with pp.Batch(arm(), 3) as batch:
        batch.step(5)
    batch.close()
    assert (batch.time == 0.005).all()
    with pytest.raises(ValueError, match="the batch is closed: make another"):
        batch.step()
    with pytest.raises(TypeError, match="a batch cannot be pickled"):
        pickle.dumps(batch)


def test_memory_is_a_row_for_each_copy_and_arrays_of_a_step_for_each_thread():
    world = standing()
    few, many = pp.Batch(world, 2, threads=1), pp.Batch(world, 20, threads=1)
    assert many.nbytes == 10 * few.nbytes
    whole = sum(x.nbytes for x in world.arrays.rows.arrays().values())
    assert few.nbytes / 2 < 0.05 * whole
