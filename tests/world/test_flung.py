"""What is flung: limbs at up to 15 rad/s, undamped, in every kind of tree: energy neither grows nor vanishes."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import ALL_JOINTS, random_tree

import palpate as pp

SPEED = 15.0  # rad/s, m/s


def bare(part):
    """Without shapes, ends, dampers and dry friction."""
    endless = {"lower": -np.inf, "upper": np.inf}
    joints = [
        replace(j, damping=0.0, friction=0.0, **({} if j.kind in ("free", "spherical", "fixed") else endless))
        for j in part.joints
    ]
    return replace(part, joints=tuple(joints), bodies=tuple(replace(b, shapes=()) for b in part.bodies))


def any_tree(seed):
    """A random tree of every joint kind; every other one on a fixed base, without free joints.

    A composite's axes can fall in line: then its coordinates, not the body, are infinitely fast.  So they have rotors.
    """
    rng, fixed, rotors = np.random.default_rng([9, seed]), seed % 2 == 1, seed % 4 > 1
    kinds = [k for k in ALL_JOINTS if (rotors or k != "composite") and not (fixed and k == "free")]
    return random_tree(rng, kinds, 10, armature=rotors, root=str(rng.choice(kinds)) if fixed else "free")


def flung(world, rng):
    """Any posture, any velocities of the joints; a free root turns at a third of them."""
    model = world.model
    world.q[:] = pp.integrate(model, model.neutral(), rng.normal(size=model.nv), 1.0)
    world.v[:] = rng.uniform(-SPEED, SPEED, model.nv)
    for where in (x for x in model.v_index.values() if x.stop - x.start == 6):
        world.v[where] *= np.repeat((0.3, 0.1), 3)


def worst_change(part, seed, flings, seconds=0.4, **options):
    """Largest gain and loss of energy, by the kinetic energy of the start."""
    world = pp.World(part, **options)
    rng, gain, loss = np.random.default_rng(seed), 0.0, 0.0
    for _ in range(flings):
        flung(world, rng)
        start, size = world.energy.total, world.energy.kinetic
        for _ in range(round(seconds / 0.02)):
            world.step(round(0.02 / world.dt))
            change = (world.energy.total - start) / size
            gain, loss = max(gain, change), max(loss, -change)
    return gain, loss


@pytest.mark.parametrize("integrator", ["semi-implicit", "runge-kutta"])
@pytest.mark.parametrize("name", ["human", "hrp2", "puma560"])
def test_a_flung_limb_keeps_the_energy_of_a_robot(name, integrator):
    gain, loss = worst_change(bare(getattr(pp.models, name)()), 1, 12, integrator=integrator)
    assert gain < 0.02
    assert loss < 0.05


@pytest.mark.parametrize("seed", range(12))
def test_a_flung_limb_keeps_the_energy_of_any_tree(seed):
    gain, loss = worst_change(any_tree(seed), seed, 6)
    assert gain < 0.05
    assert loss < 0.2


@pytest.mark.parametrize("stiffness", [0.0, 50.0, 1e4])
def test_a_flung_limb_that_is_held_only_loses_energy(stiffness):
    """Springs and dampers of any stiffness: what they store counts, and none is made."""
    world = pp.World(bare(pp.models.human()), gravity=(0, 0, 0), ledger=True)
    flung(world, np.random.default_rng(3))
    world.v[:] *= 0.5
    world.hold(stiffness, 2.0 + 0.05 * stiffness)
    start = world.energy.kinetic
    for _ in range(30):
        world.step(10)
        assert abs(world.ledger.step) < 0.05 * start
    assert world.energy.kinetic < start


@pytest.mark.parametrize("name", ["human", "hrp2"])
def test_a_limb_flung_while_the_robot_stands_does_not_explode(name):
    """Arms whirl while the soles are on the floor: contacts and the step make no energy to speak of."""
    robot = getattr(pp.models, name)()
    world = pp.World([robot, pp.models.plane()], ledger=True)
    rng = np.random.default_rng(5)
    world.v[6:] = rng.uniform(-SPEED, SPEED, world.model.nv - 6)
    start = world.energy.kinetic
    for _ in range(20):
        world.step(10)
        account = world.ledger
        assert np.isfinite(world.q).all()
        assert account.contacts + account.joints < 0.02 * start
        assert account.step < 0.05 * start


def test_trees_do_not_feel_each_others_speed():
    """Each goes its own way, to the last bit, whatever another does."""
    slow, fast = bare(pp.models.hrp2()), replace(any_tree(1), name="other")
    alone, both = pp.World(slow), pp.World([slow, fast])
    rng, nq, nv = np.random.default_rng(2), alone.model.nq, alone.model.nv
    alone.v[:] = both.v[:nv] = rng.normal(scale=0.3, size=nv)
    both.v[nv:] = rng.uniform(-SPEED, SPEED, both.model.nv - nv)
    for _ in range(20):
        alone.step(10)
        both.step(10)
        assert (both.q[:nq] == alone.q).all()


def test_a_snapshot_of_what_flies_goes_on_the_same():
    world = pp.World(bare(pp.models.human()))
    flung(world, np.random.default_rng(1))
    world.step(7)
    snapshot = world.snapshot()
    world.step(50)
    after = world.q.copy()
    world.restore(snapshot)
    world.step(50)
    assert (world.q == after).all()
