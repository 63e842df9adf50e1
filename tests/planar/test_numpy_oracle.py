"""The compiled servo step does what the reference says, written a second time in numpy by somebody who did not read it.

No code is shared: half-planes instead of polygons, all active sets instead of pivots, complex steps instead of
derivatives by hand.
"""

import numpy as np
import pytest

from palpate import jit
from palpate.bench.peers.planar_numpy import NumpyLane, NumpyRoom
from palpate.bench.planar_loops import timed_lane
from palpate.planar.bodies.rooms import BLOCK_M, ROOM_M
from palpate.planar.scenes import planar_block

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="laws are called by address")


def both(impedance, seed):
    """(simulation, its twin), the block somewhere in the room."""
    simulation = planar_block(impedance=impedance, seed=seed, spread=(0.02, 0.02, 0.5), shared=False)
    simulation.restart()
    lane, settings = simulation.lanes[0], simulation.configuration
    room = NumpyRoom(BLOCK_M, ROOM_M, 1.0 / lane.world.polygons.inverse_mass[1], settings)
    room.X = lane.world.X[1].copy()
    channels = lane.channels
    return simulation, NumpyLane(
        settings, room, np.array(channels.stiffness), np.array(channels.damping), 1.0 / settings.servo_hz
    )


def wishes(seed, steps, dt):
    """Where a hand wants the handle: sums of slow waves that lead into walls and corners, and its velocity."""
    rng = np.random.default_rng(seed)
    t = dt * np.arange(steps)
    w, phase = rng.uniform(2.0, 8.0, (3, 2)), rng.uniform(-np.pi, np.pi, (3, 2))
    size = np.array([0.08, 0.065, 0.4])[:, None] * [[1.0, 0.4]]
    target = np.einsum("ck,ckt->tc", size, np.sin(w[..., None] * t + phase[..., None]))
    velocity = np.einsum("ck,ckt->tc", size * w, np.cos(w[..., None] * t + phase[..., None]))
    return np.ascontiguousarray(target), np.ascontiguousarray(velocity)


@pytest.mark.parametrize("impedance", ["natural", "shaped"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_servo_step_is_the_references(impedance, seed):
    steps = 400
    simulation, twin = both(impedance, seed)
    target, velocity = wishes(seed, steps, twin.dt)
    trace, none = np.zeros((steps, 12)), np.zeros(steps, dtype=np.int64)
    address = simulation.lanes[0].block.address
    assert timed_lane(address, twin.dt, target, velocity, np.zeros(2, dtype=np.int64), none, trace) == 0
    touched, struck = 0, 0
    for i in range(steps):
        twin.step(target[i], velocity[i])
        touched += len(twin.room.touches) > 0
        struck += twin.room.struck.any()
        mine = np.concatenate([twin.X, twin.V, twin.room.X, twin.room.v])
        assert np.abs(trace[i] - mine).max() < 1e-9, i
    assert touched > 20
    assert struck > 0
    simulation.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_thrown_block_is_the_references(seed):
    """Impacts, springs and friction alone, for 2 s; what differs is rounding, which bounces make larger."""
    simulation, twin = both("natural", seed)
    world, room = simulation.lanes[0].world, twin.room
    v = np.random.default_rng(seed).normal(size=3) * [0.6, 0.6, 4.0]
    world.place(1, v=v)
    room.v = v.copy()
    apart = 0.0
    for _ in range(1000):
        world.step()
        room.touch(2e-3)
        room.move(np.zeros(3), 2e-3)
        apart = max(apart, np.abs(world.X[1] - room.X).max(), np.abs(world.v[1] - room.v).max())
    assert apart < 1e-8
    assert world.audit.kinetic < 0.8 * world.audit.kinetic_start  # it hit something
    simulation.close()
