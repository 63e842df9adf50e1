"""Inverse dynamics of a whole motion, row by row, with what hands carry: one compiled call for all rows.

A hand's point c has the proper acceleration  a_c = A + alpha x c + w x v_c  (gravity counted as an upward acceleration,
as everywhere in rnea), so a point mass m that it carries loads it with  -m a_c,  its weight included.  Two hands that
squeeze something push each other apart along the line between their points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palpate.dynamics.coordinates import FINE, bad_coordinate
from palpate.dynamics.inertia import push_link
from palpate.dynamics.jacobian import point_motion
from palpate.dynamics.kinematics import kinematics
from palpate.dynamics.rnea import motion_forces, project_forces
from palpate.dynamics.workspace import address_of, load
from palpate.jit import entry, kernel
from palpate.model.model import Floats, Floats2, Model
from palpate.spatial.vectors import add, cross, get6, scale, sub


@kernel
def read_hand(m, w, hands, k, row, out):
    """Of hand k: (link, p from the reference point, point, proper acceleration); writes out[row]."""
    body = int(hands[k, 0])
    _, p, point, velocity, spin = point_motion(m, w, body, (hands[k, 1], hands[k, 2], hands[k, 3]))
    link = m.body_link[body]
    alpha, acc = get6(w.A, link)
    dalpha, da = get6(w.dA, link)
    alpha, acc = add(alpha, dalpha), add(acc, da)
    _, u = get6(w.V, link)
    a = add(add(acc, cross(alpha, p)), cross(spin, add(u, cross(spin, p))))
    for r in range(3):
        out[row, 9 * k + r], out[row, 9 * k + 3 + r], out[row, 9 * k + 6 + r] = point[r], velocity[r], a[r]
    return link, p, point, a


@entry(
    "intp, float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1], float64[::1],"
    " float64[:, ::1], float64[:, ::1]"
)
def carrying_entry(address, q, v, a, hands, mass, squeeze, tau, out):
    """hands (k, 4): body, point in its axes; mass, squeeze (n,); tau (n, nv), out (n, 9 k); the first bad row or -1."""
    m, w = load(address)
    for row in range(q.shape[0]):
        if bad_coordinate(m, q[row]) != FINE:
            return row
        kinematics(m, q[row], v[row], w)
        motion_forces(m, a[row], w)
        share = mass[row] / max(hands.shape[0], 1)
        for k in range(hands.shape[0]):
            link, p, _, acc = read_hand(m, w, hands, k, row, out)
            push_link(w, link, p, scale(-share, acc))
        if hands.shape[0] == 2 and squeeze[row] != 0.0:
            link0, p0, at0, _ = read_hand(m, w, hands, 0, row, out)
            link1, p1, at1, _ = read_hand(m, w, hands, 1, row, out)
            d = sub(at1, at0)
            size = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
            f = scale(squeeze[row] / size, d)
            push_link(w, link0, p0, scale(-1.0, f))
            push_link(w, link1, p1, f)
        project_forces(m, a[row], w, tau[row])
    return -1


class Carried(NamedTuple):
    """tau (n, nv) [N m, N]; point, velocity, acceleration (n, k, 3) of hands, world axes, acceleration less gravity."""

    tau: Floats2
    point: Floats
    velocity: Floats
    acceleration: Floats  # proper: a - g


def carrying(
    model: Model, q: Floats2, v: Floats2, a: Floats2, hands: Floats2, mass: Floats, squeeze: Floats
) -> Carried:
    """Joint forces of a motion q (n, nq), v, a (n, nv) whose hands carry a mass [kg] together and squeeze it [N].

    hands  (k, 4): row of a body, and a point in its axes [m]; each bears an equal part of the mass (n,)
    squeeze  (n,): two hands push towards each other through what is between them
    A free root's six of tau are the (torque, force) it needs in its own axes: what the ground has to give.
    """
    n, k = len(q), len(hands)
    for name, array, shape in (("q", q, (n, model.nq)), ("v", v, (n, model.nv)), ("a", a, (n, model.nv)),
                               ("hands", hands, (k, 4)), ("mass", mass, (n,)), ("squeeze", squeeze, (n,))):  # fmt: skip
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}, {shape} is needed")
    for row in hands[:, 0]:
        model.body(int(row))
    tau, out = np.empty((n, model.nv)), np.empty((n, 9 * k))
    q, v, a, hands, mass, squeeze = (np.ascontiguousarray(x, dtype=np.float64) for x in (q, v, a, hands, mass, squeeze))
    bad = carrying_entry(address_of(model), q, v, a, hands, mass, squeeze, tau, out)
    if bad >= 0:
        raise ValueError(
            f"row {bad} of q holds a quaternion that is not of unit length, or a number that is not finite"
        )
    each = out.reshape(n, k, 3, 3)
    return Carried(tau, each[:, :, 0], each[:, :, 1], each[:, :, 2])
