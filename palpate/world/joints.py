"""What joints do by themselves: springs and dampers, implicitly; their ends and their dry friction, as rows.

Implicit (backward Euler in the joint's own coordinate): tau = kp (q_hold - q - dt v) + kv (v_hold - v), and
dt kv + dt^2 kp on the diagonal of the inertia.  Stable for any gains; explicit damping at 1 ms is not, on light links.
"""

import math

from palpate.contact.assemble import begin_row, put_axis
from palpate.contact.rows import DRY, LIMIT
from palpate.contact.warm import joint_key, recall
from palpate.dynamics.coordinates import quaternion_at
from palpate.jit import kernel, shared
from palpate.model.model import CHAIN, FREE, REVOLUTE, SPHERICAL
from palpate.spatial.quaternions import quaternion_log, quaternion_product
from palpate.spatial.vectors import get3, get6, scale
from palpate.world.gaps import closing, parting
from palpate.world.state import AT_START, load

ZERO = (0.0, 0.0, 0.0)
LOWER, UPPER, RUBBING = 0, 1, 2  # what a row of a joint is for
SLOP, SLOP_PART = 1e-4, 1e-3  # penetration of a limit that is left alone: this [rad or m], or this part of its way
AHEAD = 4.0  # a limit wakes when this many steps at the present speed would reach it


@kernel
def joint_torques(m, s, q, v, dt):
    """torque and armature at (q, v): tau with springs and dampers, and what makes them implicit; dt = 0: explicit."""
    for k in range(m.axis_v.shape[0]):
        j, n, kp, kv = m.axis_v[k], m.axis_q[k], s.kp[k], s.kv[k]
        s.armature[k], s.torque[j] = m.armature[k], s.tau[j]
        if kp != 0.0 or kv != 0.0:
            s.armature[k] += dt * kv + dt * dt * kp
            away = s.chain[k] * (s.q_hold[n] - q[n]) - dt * v[j]
            s.torque[j] += kv * (s.v_hold[j] - v[j]) + kp * away
    for i in range(1, m.parent.shape[0]):
        k = m.axis_begin[i]
        if m.kind[i] == SPHERICAL and s.kp[k] > 0.0:
            n, j = m.q_begin[i], m.axis_v[k]
            w, x, y, z = quaternion_at(q, n)
            e = quaternion_log(quaternion_product((w, -x, -y, -z), quaternion_at(s.q_hold, n)))
            for c in range(3):
                s.torque[j + c] += s.kp[k + c] * e[c]


@kernel
def dual_axis(m, w, s, i, k):
    """(n, t) that reads the rate of axis k from the relative twist of link i, and that its torque acts along.

    With several axes the others must read nothing: k's axis less its part in their span (Gram-Schmidt).
    """
    sw, sv = get6(w.S, k)
    if m.kind[i] != CHAIN:
        return sw, ZERO  # three axes of the link itself
    if m.axis_count[i] == 1:
        return (sw, ZERO) if m.axis_kind[k] == REVOLUTE else (ZERO, sv)
    rows = 0
    for turn in range(m.axis_count[i]):  # the others first, k last
        at = m.axis_begin[i] + turn
        at = m.axis_begin[i] + m.axis_count[i] - 1 if at == k else at
        at = k if turn == m.axis_count[i] - 1 else at
        for c in range(6):
            s.dual[rows, c] = w.S[at, c]
        for before in range(rows):
            f = 0.0
            for c in range(6):
                f += s.dual[before, c] * s.dual[rows, c]
            for c in range(6):
                s.dual[rows, c] -= f * s.dual[before, c]
        square = 0.0
        for c in range(6):
            square += s.dual[rows, c] * s.dual[rows, c]
        f = 1.0 / math.sqrt(square) if turn < m.axis_count[i] - 1 else 1.0 / square
        for c in range(6):
            s.dual[rows, c] *= f
        rows += 1
    last = rows - 1
    return get3(s.dual, last), (s.dual[last, 3], s.dual[last, 4], s.dual[last, 5])


@shared("int64(intp, int64, int64, int64, int64)")
def add_joint_row(address, kind, i, k, what):
    """A row on axis k of link i, what as in `joint_key`; at its upper end the rate is read backwards."""
    m, w, _, _, r, s = load(address)
    sign = -1.0 if what == UPPER else 1.0
    row = begin_row(r, kind, m.parent[i], i)
    if row >= 0:
        n, t = dual_axis(m, w, s, i, k)
        n, t = scale(sign, n), scale(sign, t)
        put_axis(r, row, 0, m.parent[i], n, t)
        put_axis(r, row, 1, i, n, t)
        recall(r, row, joint_key(k, what))
    return row


@kernel
def slop_of(s, k):
    """Penetration of the ends of axis k that is left alone."""
    return min(SLOP, SLOP_PART * (s.upper[k] - s.lower[k]))


@kernel
def near_end(rate, dt, slop):
    """How near to an end a joint has a row there."""
    return AHEAD * dt * abs(rate) + 10.0 * slop


@kernel
def has_rows(m, s, k, dt):
    """Whether axis k has rows of its own: it rubs, or is near an end (which only those of a CHAIN have)."""
    q, near = s.q[m.axis_q[k]], near_end(s.v[m.axis_v[k]], dt, slop_of(s, k))
    return s.dry[k] > 0.0 or q - s.lower[k] < near or s.upper[k] - q < near


@kernel
def joint_rows(address, m, s, r):
    """Rows of joints near or beyond their ends, and of joints with dry friction."""
    dt = s.dt
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == FREE or s.way[m.root[i]] != AT_START:
            continue
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            if s.dry[k] > 0.0:
                row = add_joint_row(address, DRY, i, k, RUBBING)
                if row >= 0:
                    r.bound[row] = dt * s.dry[k]
            if m.kind[i] != CHAIN:
                continue
            q, rate = s.q[m.axis_q[k]], s.v[m.axis_v[k]]
            slop = slop_of(s, k)
            near = near_end(rate, dt, slop)
            for side in range(2):
                gap = q - s.lower[k] if side == LOWER else s.upper[k] - q
                if gap < near:
                    row = add_joint_row(address, LIMIT, i, k, side)
                    if row >= 0:
                        r.offset[row, 0] = closing(gap, slop, dt)
                        r.push[row, 0] = parting(gap, slop, dt)
