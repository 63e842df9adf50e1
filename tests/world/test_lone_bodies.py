"""Worlds of free bodies: what is quick about them (closed forms, few Newton steps, a small table) changes nothing.

A body whose joint has an armature that no sum feels goes the way of all trees, and must move the same.
"""

from dataclasses import replace

import numpy as np
import pytest
from motions import random_world
from reference import odd_body
from world_doors import spins

import palpate as pp
from palpate import jit
from palpate.world.defaults import DefaultDynamics

pytestmark = pytest.mark.nojit
SEEDS = range(1 if jit.DISABLED else 5)
NOTHING = 1e-300  # an armature [kg m^2, kg]
DT = 1e-3


def twin(part):
    return replace(part, joints=tuple(replace(j, armature=NOTHING) for j in part.joints))


def odd_bodies(rng, n=4):
    """Needles, plates and lumps, their centres of mass off their origins, without shapes."""
    bodies = [odd_body(rng, f"b{k}", rng.choice([0.0, 0.3])) for k in range(n)]
    return [pp.MultiBody(f"m{b.name}", [b], [pp.Joint(f"j{b.name}", "free", "world", b.name)]) for b in bodies]


@pytest.mark.parametrize("integrator", ["semi-implicit", "runge-kutta"])
@pytest.mark.parametrize("acting", ["gravity", "tau", "wrenches", "both", "dampers"])
@pytest.mark.parametrize("seed", SEEDS)
def test_odd_bodies_fly_as_trees_do(seed, acting, integrator):
    """Slow and fast spin, forces that turn with a body and such that do not, and dampers on its axes."""
    rng = np.random.default_rng(seed)
    parts = odd_bodies(rng)
    worlds = [pp.World(some, dt=DT, integrator=integrator) for some in (parts, [twin(p) for p in parts])]
    nv = worlds[0].model.nv
    v = rng.normal(size=(nv // 6, 6)) * np.array([0.0, 1.0, 10.0, 100.0])[:, None]
    tau, force, torque = rng.normal(size=nv), rng.normal(size=3), rng.normal(size=3)
    for world in worlds:
        world.v[:] = v.ravel()
        if acting in ("tau", "both"):
            world.tau[:] = tau
        if acting == "dampers":
            world.arrays.state.kv[::2] = 0.2
        for _ in range(5 if jit.DISABLED else 50):
            if acting in ("wrenches", "both"):
                world.apply("b1", force, torque, at_world=(0.1, 0.2, 0.3))
            world.step()
    a, b = worlds
    assert np.abs(a.q - b.q).max() < 1e-10 * max(1.0, np.abs(b.q).max())
    assert np.abs(a.v - b.v).max() < 1e-9 * max(1.0, np.abs(b.v).max())
    assert np.abs(a.arrays.state.a - b.arrays.state.a).max() < 1e-9 * max(1.0, np.abs(b.arrays.state.a).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_push_on_one_body_leaves_the_others_falling(seed):
    """Who is pushed and who falls freely is asked body by body: the flights beside are those of a world without."""
    rng = np.random.default_rng(50 + seed)
    parts, v = odd_bodies(rng), rng.normal(scale=5.0, size=24)
    alone, beside = pp.World(parts, dt=DT), pp.World(parts, dt=DT)
    for world in (alone, beside):
        world.v[:] = v
    for _ in range(20):
        beside.apply("b2", (3.0, -1.0, 2.0), (0.1, 0.2, 0.3))
        alone.step()
        beside.step()
    others = np.r_[0:12, 18:24]
    assert np.abs(alone.v[others] - beside.v[others]).max() < 1e-11
    assert np.abs(alone.v[12:18] - beside.v[12:18]).max() > 1e-3


class Wind(DefaultDynamics):
    """A user's dynamics: something turns the first body of which no wrench or torque of the World knows."""

    def acceleration(self, world, torque, armature, wrenches):
        a = super().acceleration(world, torque, armature, wrenches)
        a[:3] += (0.5, 0.0, 0.0)
        return a


def test_a_torque_that_only_a_users_dynamics_knows_turns_a_falling_body():
    world = pp.World(pp.models.box((0.1, 0.2, 0.3), at=(0, 0, 1)), dt=DT, dynamics=Wind())
    world.step(100)
    assert world.v[0] == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("turn", [1e-9, 1e-6, 1e-3, 0.03])  # [rad a step]
def test_spin_solves_the_equation_of_the_midpoint_rule(seed, turn):
    """I (w+ - w) = dt (t - wm x I wm), checked with more digits, to rounding of its angular momentum."""
    rng, n, x = np.random.default_rng(seed), 40, np.longdouble
    Q = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0] * np.sign(rng.normal(size=(n, 1, 1)))
    moments = np.stack([np.ones(n), rng.uniform(0.5, 1.0, size=n), rng.choice([1.0, 0.5, 0.1, 1e-2], size=n)], axis=1)
    I = (Q * moments[:, None, :]) @ Q.transpose(0, 2, 1)
    six = np.ascontiguousarray(I[:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)])
    exact = np.array([[[r[0], r[3], r[4]], [r[3], r[1], r[5]], [r[4], r[5], r[2]]] for r in six.astype(x)])
    w = rng.normal(size=(n, 3)) * turn / DT
    torque = rng.normal(size=(n, 3)) * rng.choice([0.0, 1.0, 10.0], size=(n, 1)) * turn / DT
    out = np.empty((n, 3))
    spins(six, w, torque, DT, out)
    mean = 0.5 * (w.astype(x) + out)
    L = np.einsum("nij,nj->ni", exact, mean)
    left = np.einsum("nij,nj->ni", exact, out - w.astype(x)) - x(DT) * (torque - np.cross(mean, L))
    whole = np.linalg.norm(np.einsum("nij,nj->ni", exact, w.astype(x)).astype(float), axis=1)
    assert (np.linalg.norm(left.astype(float), axis=1) / whole).max() < 3e-14


@pytest.mark.skipif(jit.DISABLED, reason="too slow to see them land")
@pytest.mark.parametrize("seed", SEEDS)
def test_impulses_on_uneven_bodies_are_what_changes_their_momentum(seed):
    """Solids with their weight off the middle, as they land: m dv of each is what contacts and its weight gave it."""
    rng = np.random.default_rng(80 + seed)
    even = random_world(rng, 4, dt=DT)
    bodies = tuple(
        replace(b, com=tuple(np.add(b.com, rng.normal(scale=0.01, size=3)))) if b.mass > 0.0 else b
        for b in even.model.description.bodies
    )
    world = pp.World(replace(even.model.description, bodies=bodies), dt=DT)
    world.q[:], world.v[:] = even.q, even.v
    names = [b.name for b in bodies]
    gravity, touched = np.array(world.model.arrays.gravity), 0

    def momenta():
        model = world.model
        twists = [pp.jacobian(model, world.q, b.name, b.com) @ world.v for b in bodies]
        return np.array([b.mass * twist[3:] for b, twist in zip(bodies, twists, strict=True)])

    for _ in range(300):
        before = momenta()
        world.step()
        change = momenta() - before - DT * np.outer([b.mass for b in bodies], gravity)
        for c in world.contacts:
            for name, sign in ((c.body_a, -1.0), (c.body_b, 1.0)):
                change[names.index(name)] -= sign * DT * np.asarray(c.force)
            touched += 1
        assert np.abs(change[[name.startswith("solid") for name in names]]).max() < 1e-9
    assert touched


@pytest.mark.parametrize("seed", SEEDS)
def test_every_contact_that_was_there_begins_with_its_last_impulse(seed):
    """Rows are known again whatever their order: only keys that the step before did not have are new."""
    rng = np.random.default_rng(90 + seed)
    world = random_world(rng, 3 if jit.DISABLED else 12, dt=DT)
    before, moved = set(), 0
    for _ in range(3 if jit.DISABLED else 400):
        world.step()
        r = world.arrays.rows
        keys = r.key[: r.n_rows].tolist()
        assert r.fresh[: r.n_rows].tolist() == [key not in before for key in keys]
        moved += r.hashed > 0
        before = set(keys)
    assert moved or jit.DISABLED  # they were not always where they had been
