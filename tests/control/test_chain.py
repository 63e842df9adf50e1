"""A limb's targets: kinematics at q_hold, steps towards a goal (avatars.md 4.2), on turning and spherical joints."""

from __future__ import annotations

import numpy as np
import pytest

import palpate as pp
from palpate.control.avatar import Actor
from palpate.control.gestures.chain import (
    Chain,
    chain_frames,
    chain_jacobian,
    chain_of,
    load_chain,
    move_targets,
    solve_step,
)  # fmt: skip
from palpate.jit import entry
from palpate.scenes.pushed import standing_world
from palpate.world.step import begin_step


@entry("intp, intp")
def frames_of(world, chain):
    begin_step(world)
    chain_frames(world, chain)


@entry("intp, intp, float64, float64[::1]")
def step_to(world, chain, turning, e):
    """One step of dt = 1 with the twist e."""
    c = load_chain(chain)[0]
    chain_frames(world, chain)
    chain_jacobian(c, turning)
    for r in range(6):
        c.e[r] = e[r]
    c.dq0[:] = 0.0
    solve_step(world, chain)
    for n in range(c.axes.shape[0]):
        c.rate[n] = c.dq[n] / 1e-3
    move_targets(world, chain)
    chain_frames(world, chain)


def arm(kind: str, rng: np.random.Generator):
    """(world, chain, its Block) with targets away from where the joints are."""
    world = standing_world(kind)
    actor = Actor(world)
    a, model = actor.avatar, world.model
    chain, block = chain_of(model, a.chest, int(a.hand[0]), tuple(a.palm_at[0]), world.q.copy(), int(a.elbow[0]))
    state = world.arrays.state
    v = np.zeros(model.nv)
    v[model.arrays.axis_v[chain.axes]] = rng.uniform(-0.5, 0.5, len(chain.axes))
    state.q_hold[:] = pp.integrate(model, world.q, v, 1.0)
    low, high = model.lower, model.upper
    state.q_hold[:] = np.clip(state.q_hold, np.where(np.isfinite(low), low, -np.inf), high)
    return world, actor, chain, block


def end_of(world, actor, q) -> tuple[np.ndarray, np.ndarray]:
    """(R, x) of the palm at q: the oracle's."""
    a = actor.avatar
    X = pp.forward_kinematics(world.model, q)[int(a.hand[0])]
    return X[:3, :3], X[:3, :3] @ a.palm_at[0] + X[:3, 3]


def mixed(world, chain: Chain) -> np.ndarray:
    """q of the World with the chain's joints at their targets."""
    q, m, state = world.q.copy(), world.model.arrays, world.arrays.state
    for name, where in world.model.q_index.items():
        if set(range(*world.model.v_index[name].indices(world.model.nv))) & set(m.axis_v[chain.axes].tolist()):
            q[where] = state.q_hold[where]
    return q


@pytest.mark.parametrize("kind", ["hrp2", "human"])
@pytest.mark.parametrize("seed", range(4))
def test_the_end_of_a_chain_is_where_forward_kinematics_has_it_at_the_targets(kind, seed):
    world, actor, chain, block = arm(kind, np.random.default_rng(seed))
    frames_of(world.arrays.block.address, block.address)
    R, x = end_of(world, actor, mixed(world, chain))
    root = pp.forward_kinematics(world.model, world.q)[actor.avatar.waist][:3, 3]
    assert np.abs(np.array(chain.x) + root - x).max() < 1e-12
    assert np.abs(chain.R.reshape(3, 3) - R).max() < 1e-12


@pytest.mark.parametrize("kind", ["hrp2", "human"])
@pytest.mark.parametrize("seed", range(6))
def test_a_small_step_moves_the_end_as_asked_and_a_thousand_keep_quaternions_of_length_one(kind, seed):
    rng = np.random.default_rng(seed)
    world, _, chain, block = arm(kind, rng)
    address = world.arrays.block.address
    frames_of(address, block.address)
    for _ in range(1000):
        way = rng.normal(size=3)
        way *= 1e-4 / np.linalg.norm(way)
        before = np.array(chain.x)
        step_to(address, block.address, 0.0, np.r_[0.0, 0.0, 0.0, way])
        if chain.free.all():
            moved = np.array(chain.x) - before
            assert moved @ way > 0.0  # where it is nearly stretched, less of it
            assert np.linalg.norm(moved) < 1.1e-4
    q, m = world.arrays.state.q_hold, world.model.arrays
    for i in chain.links:
        if m.axis_count[i] == 3:
            assert abs(np.linalg.norm(q[m.q_begin[i] : m.q_begin[i] + 4]) - 1.0) < 1e-12
    inside = (q >= world.model.lower - 1e-12) & (q <= world.model.upper + 1e-12)
    assert inside.all()


def test_a_body_that_does_not_hang_on_the_other_is_refused():
    world = standing_world("hrp2")
    a = Actor(world).avatar
    with pytest.raises(ValueError, match="does not hang on"):
        chain_of(world.model, a.head, int(a.hand[0]), (0.0, 0.0, 0.0), world.q.copy())
