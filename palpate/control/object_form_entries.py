"""Compliance without a world: what is held, or joints, under given forces; for tables and tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from palpate.control.grasp_tables import load_grasp
from palpate.control.grasping import Grasping
from palpate.control.object_form import ObjectForm, yield_joints, yield_to
from palpate.control.palms import place_palms
from palpate.jit import Block, block_loader, entry
from palpate.spatial.vectors import add, part3, put_part, scale
from palpate.world.state import load as load_world

load_form = block_loader((ObjectForm, False))


@entry("intp, float64[:, ::1], float64[:, ::1]")
def object_form_entry(address, wrenches, out):
    o = load_form(address)[0]
    for n in range(wrenches.shape[0]):
        o.torque, o.force = part3(wrenches[n], 0), part3(wrenches[n], 3)
        yield_to(o)
        o.moved = add(o.moved, scale(o.dt, o.velocity))
        put_part(out[n], 0, o.spin)
        put_part(out[n], 3, o.velocity)
    return 0


@entry("intp, float64[::1], int64")
def joint_form_entry(address, force, ticks):
    a, w, t, o, j, g = load_grasp(address)
    m, _, _, _, _, s = load_world(a.world)
    o.force, o.torque, o.admits = part3(force, 0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
    for _ in range(ticks):
        place_palms(m, s, w, a, t)
        yield_joints(m, w, a, t, o, j, g.p)
    return 0


def yielding(form: ObjectForm, wrenches: ArrayLike) -> np.ndarray:
    """(n, 6) spin and velocity of what is held, tick by tick, under torques and forces (n, 6) on it."""
    given = np.ascontiguousarray(wrenches, dtype=float).reshape(-1, 6)
    out = np.empty_like(given)
    block = Block(form)  # alive as long as it is called with
    object_form_entry(block.address, given, out)
    return out


def joints_yielding(grasping: Grasping, force: ArrayLike, at: ArrayLike, ticks: int) -> np.ndarray:
    """(n,) rates of q_d of the arms after so many ticks of (22) under a constant force at a point."""
    grasping.arrays.p = tuple(np.asarray(at, dtype=float).tolist())
    joint_form_entry(grasping.block.address, np.asarray(force, dtype=float).copy(), ticks)
    return grasping.joints.rate.copy()
