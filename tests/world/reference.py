"""An integration of the same motion by other means: SciPy's DOP853 on forward dynamics and quaternions as four numbers.

Also the bodies that a careful person would not make: centres of mass far from the origin, needles, plates, products of
inertia.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mechanisms import random_joint, random_tree
from scipy.integrate import solve_ivp

import palpate as pp


def product(a, b):
    """Of two quaternions (w, x, y, z)."""
    return np.array([
        a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))
    ])  # fmt: skip


def rates(model, q, v):
    """q' (nq,)."""
    out = np.zeros(model.nq)
    for name, at in model.q_index.items():
        rate = v[model.v_index[name]]
        kind = next(j.kind for j in model.description.joints if j.name == name)
        if kind == "free":
            turn = q[at][3:]
            out[at] = [*(pp.Rotation(turn).matrix() @ rate[3:]), *(0.5 * product(turn, np.r_[0.0, rate[:3]]))]
        elif kind == "spherical":
            out[at] = 0.5 * product(q[at], np.r_[0.0, rate])
        else:
            out[at] = rate
    return out


def unit(model, q):
    """q with its quaternions made unit again."""
    q = q.copy()
    for name, at in model.q_index.items():
        n = at.stop - at.start
        kind = next(j.kind for j in model.description.joints if j.name == name)
        if kind in ("free", "spherical"):
            x = q[at][n - 4 :]
            q[at.stop - 4 : at.stop] = x / np.linalg.norm(x)
    return q


def reference(model, q, v, seconds, torque=None, wrenches=None):
    """(q, v) after `seconds`; torque(q, v) (nv,) and wrenches(q, v) (n_bodies, 6) as World has them."""
    nq = model.nq

    def slope(_, y):
        q, v = unit(model, y[:nq]), y[nq:]
        tau = np.zeros(model.nv) if torque is None else torque(q, v)
        push = None if wrenches is None else wrenches(q, v)
        return np.r_[rates(model, y[:nq], v), pp.forward_dynamics(model, q, v, tau, push)]

    done = solve_ivp(slope, (0.0, seconds), np.r_[q, v], method="DOP853", rtol=1e-12, atol=1e-13)
    assert done.success
    return unit(model, done.y[:nq, -1]), done.y[nq:, -1]


def odd_body(rng, name, far):
    """A needle, plate or lump of any axes, its centre of mass `far` [m] from its origin."""
    shape = np.array([(1.0, 1.0, 1.0), (1.0, 0.03, 0.02), (1.0, 0.7, 0.02)])[rng.integers(3)]
    R = pp.Rotation.exp(rng.normal(size=3)).matrix()
    points = rng.normal(scale=0.2, size=(8, 3)) * shape @ R.T
    masses = rng.uniform(0.1, 1.0, size=8)
    r = points - masses @ points / masses.sum()
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    direction = rng.normal(size=3)
    return pp.Body(name, float(masses.sum()), far * direction / np.linalg.norm(direction), inertia)


def odd_root(rng, kind, far, children):
    """A tree whose root is an odd body on a joint of this kind, with so many random links on it."""
    root = random_joint(rng, "root", kind, "world", "odd")
    bodies, joints = [odd_body(rng, "odd", far)], [root]
    if children:
        branch = random_tree(rng, ["revolute", "prismatic", "spherical", "universal"], children, "limb")
        bodies += branch.bodies
        joints += [j if j.parent != "world" else replace(j, parent="odd") for j in branch.joints]
    return pp.MultiBody("odd", bodies, joints)


def whole(model, q, v):
    """Centre of mass, momentum and energy: what the laws are about (3 + 6 + 1,)."""
    energy = pp.energy(model, q, v)
    return np.r_[pp.center_of_mass(model, q), pp.momentum(model, q, v), energy.total]
