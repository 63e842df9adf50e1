"""Coordinates as a manifold: q (+) v dt, the velocity between two q, and what q may not be.

Chains add; a quaternion turns by the exponential; a free joint follows its body twist along a screw (SE(3)).
"""

from palpate.jit import kernel
from palpate.model.model import CHAIN, FREE
from palpate.spatial.placement import UNIT_TOLERANCE
from palpate.spatial.quaternions import (
    conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
    quaternion_unit,
)
from palpate.spatial.se3 import motion_exp, motion_log
from palpate.spatial.vectors import is_finite, rotate, rotate_back, scale

FINE, BAD_SIZE = -1, -2


@kernel
def quaternion_at(q, n):
    return (q[n], q[n + 1], q[n + 2], q[n + 3])


@kernel
def put_quaternion(q, n, x):
    q[n], q[n + 1], q[n + 2], q[n + 3] = quaternion_unit(x)


@kernel
def integrate(m, q, v, dt, out):
    """out = q (+) v dt."""
    for i in range(1, m.parent.shape[0]):
        k = m.axis_begin[i]
        j = m.axis_v[k]
        n = m.q_begin[i]
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                out[m.axis_q[k]] = q[m.axis_q[k]] + v[m.axis_v[k]] * dt
        elif m.kind[i] == FREE:
            w, u = scale(dt, (v[j], v[j + 1], v[j + 2])), scale(dt, (v[j + 3], v[j + 4], v[j + 5]))
            turn, p = motion_exp(w, u)
            here = quaternion_at(q, n + 3)
            x, y, z = rotate(quaternion_matrix(here[0], here[1], here[2], here[3]), p)
            out[n], out[n + 1], out[n + 2] = q[n] + x, q[n + 1] + y, q[n + 2] + z
            put_quaternion(out, n + 3, quaternion_product(here, turn))
        else:
            turn = quaternion_exp(v[j] * dt, v[j + 1] * dt, v[j + 2] * dt)
            put_quaternion(out, n, quaternion_product(quaternion_at(q, n), turn))


@kernel
def difference(m, q0, q1, out):
    """out = the v that takes q0 to q1 in unit time, the shorter way round."""
    for i in range(1, m.parent.shape[0]):
        k = m.axis_begin[i]
        j = m.axis_v[k]
        n = m.q_begin[i]
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                out[m.axis_v[k]] = q1[m.axis_q[k]] - q0[m.axis_q[k]]
            continue
        at = n + 3 if m.kind[i] == FREE else n
        a, b = quaternion_unit(quaternion_at(q0, at)), quaternion_unit(quaternion_at(q1, at))
        turn = quaternion_product(conjugate(a), b)
        if m.kind[i] == FREE:
            R = quaternion_matrix(a[0], a[1], a[2], a[3])
            p = rotate_back(R, (q1[n] - q0[n], q1[n + 1] - q0[n + 1], q1[n + 2] - q0[n + 2]))
            w, u = motion_log(turn, p)
            out[j + 3], out[j + 4], out[j + 5] = u
        else:
            w = quaternion_log(turn)
        out[j], out[j + 1], out[j + 2] = w


@kernel
def links_difference(m, links, q0, q1, out):
    """The same of some links that turn or slide, none of them free, one axis after the other in out."""
    n = 0
    for i in links:
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                out[n] = q1[m.axis_q[k]] - q0[m.axis_q[k]]
                n += 1
        else:
            at = m.q_begin[i]
            turn = quaternion_log(quaternion_product(conjugate(quaternion_at(q0, at)), quaternion_at(q1, at)))
            for r in range(3):
                out[n + r] = turn[r]
            n += 3


@kernel
def finite(x):
    """No NaN and no infinity in a vector."""
    bad = 0
    for i in range(x.shape[0]):
        bad += not is_finite(x[i])
    return bad == 0


@kernel
def finite_rows(x):
    """No NaN and no infinity in a matrix."""
    bad = 0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            bad += not is_finite(x[i, j])
    return bad == 0


@kernel
def bad_coordinate(m, q):
    """Index of the first coordinate that is not finite or starts a quaternion far from unit length; FINE if none."""
    if q.shape[0] != m.nq:
        return BAD_SIZE
    if not finite(q):
        for n in range(q.shape[0]):
            if not is_finite(q[n]):
                return n
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] != CHAIN:
            n = m.q_begin[i] + 3 if m.kind[i] == FREE else m.q_begin[i]
            square = q[n] * q[n] + q[n + 1] * q[n + 1] + q[n + 2] * q[n + 2] + q[n + 3] * q[n + 3]
            if abs(square - 1.0) > 2.0 * UNIT_TOLERANCE:
                return n
    return FINE
