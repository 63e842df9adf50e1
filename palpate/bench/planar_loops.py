"""Steps of the planar interface in one compiled loop, each with its time."""

import numpy as np

from palpate.jit import entry
from palpate.jit.atomics import monotonic_ns
from palpate.model.model import Floats
from palpate.planar.bodies.stages import contact_stage, motion_stage
from palpate.planar.bodies.tables import HAND, load_bodies
from palpate.planar.lane import lane_step, load_lane
from palpate.spatial.vectors import get3, put3


@entry("intp, float64, float64[:,::1], float64[:,::1], int64[::1], int64[::1], float64[:,::1]")
def timed_lane(
    address: int, dt: float, target: Floats, velocity: Floats, clock: np.ndarray, ns: np.ndarray, trace: Floats
) -> int:
    """A hand that wants to be at rows of `target`; ns (n,) each servo step's time.  The last fault, 0: none.

    trace   (n, 12) X and V of the device, X and v of the body; or no rows
    """
    a, _, plant, hand, _, _, _, _, _ = load_lane(address)
    _, motion, _, _, _, _ = load_bodies(a.bodies)
    hand.holds = 1
    fault = 0
    for i in range(target.shape[0]):
        hand.target, hand.target_velocity = get3(target, i), get3(velocity, i)
        began = monotonic_ns(clock)
        fault = lane_step(address, dt)
        ns[i] = monotonic_ns(clock) - began
        if i < trace.shape[0]:
            X, V = plant.X, plant.V
            for k in range(3):
                trace[i, k], trace[i, 3 + k] = X[k], V[k]
                trace[i, 6 + k], trace[i, 9 + k] = motion.X[a.body, k], motion.v[a.body, k]
        if fault != 0:
            break
    return fault


@entry("intp, float64, float64[:,:,::1], int64[::1], int64[::1], int64[::1]")
def timed_bodies(
    address: int, dt: float, wrench: Floats, clock: np.ndarray, ns: np.ndarray, touching: np.ndarray
) -> None:
    """Steps of the bodies alone: wrench (n, bodies, 3) on the first of them; each step's time and contacts."""
    _, motion, _, contacts, _, _ = load_bodies(address)
    for i in range(wrench.shape[0]):
        for b in range(wrench.shape[1]):
            put3(motion.applied, HAND * motion.X.shape[0] + 1 + b, get3(wrench[i], b))
        began = monotonic_ns(clock)
        contact_stage(address, dt)
        motion_stage(address, dt)
        ns[i] = monotonic_ns(clock) - began
        touching[i] = 0
        for row in range(contacts.count):
            touching[i] += contacts.state[row] != 0
