"""A plan beside the joints as they are: what is missing on the tangent space, whatever kind a joint is.

chain      error = q_plan + d - q
quaternion target = q_plan o exp(d);  error = log(q^-1 o target), child axes, the shorter way round      reference 6.1c
           it turns by R_d^T w_plan + d', in the child's axes as it should be; R_e = exp(error) takes that to those of
           the child as it is

d  the offset of BLEND, zero in all other modes;  g  Guide (guide_tables.py);  p  Plan
"""

from palpate.dynamics.coordinates import put_quaternion, quaternion_at
from palpate.jit import kernel
from palpate.spatial.quaternions import (
    conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
)
from palpate.spatial.vectors import cross, part3, put_part, rotate, rotate_back, sub


@kernel
def turn_of(x, k):
    """exp of a rotation vector in a flat array."""
    return quaternion_exp(x[k], x[k + 1], x[k + 2])


@kernel
def matrix_of(q):
    return quaternion_matrix(q[0], q[1], q[2], q[3])


@kernel
def row4(table, row, n):
    return (table[row, n], table[row, n + 1], table[row, n + 2], table[row, n + 3])


@kernel
def row3(table, row, n):
    return (table[row, n], table[row, n + 1], table[row, n + 2])


@kernel
def joint_turn(g, n):
    """The quaternion of a planned joint as it is, n its first column in a plan."""
    return quaternion_at(g.q, g.q_at[n])


@kernel
def compare(g, p, row):
    """error, v_plan, a_plan (k,) and q_shown: the plan's row with the offset on it, beside the joints as they are."""
    for k in range(g.v_at.shape[0]):
        n = g.q_of[k]
        if n >= 0:
            g.error[k] = p.q[row, n] + g.offset[k] - g.q[g.q_at[n]]
            g.v_plan[k], g.a_plan[k] = p.v[row, k], p.a[row, k]
            g.q_shown[n] = p.q[row, n] + g.offset[k]
    for i in range(g.turn_q.shape[0]):
        n, k = g.turn_q[i], g.turn_v[i]
        offset = turn_of(g.offset, k)
        target = quaternion_product(row4(p.q, row, n), offset)
        e = quaternion_log(quaternion_product(conjugate(joint_turn(g, n)), target))
        R_d, R_e = matrix_of(offset), matrix_of(quaternion_exp(e[0], e[1], e[2]))
        w = rotate_back(R_d, row3(p.v, row, k))
        a = sub(rotate_back(R_d, row3(p.a, row, k)), cross(part3(g.offset_rate, k), w))
        put_part(g.error, k, e)
        put_part(g.v_plan, k, rotate(R_e, w))
        put_part(g.a_plan, k, rotate(R_e, a))
        put_quaternion(g.q_shown, n, target)


@kernel
def show_joints(g):
    """q_shown: where the joints are."""
    for n in range(g.q_at.shape[0]):
        g.q_shown[n] = g.q[g.q_at[n]]


@kernel
def put_offset(g, p, row):
    """The offset, and its rate, that the joints have from the plan now."""
    for k in range(g.v_at.shape[0]):
        n = g.q_of[k]
        if n >= 0:
            g.offset[k] = g.q[g.q_at[n]] - p.q[row, n]
            g.offset_rate[k] = g.v[g.v_at[k]] - p.v[row, k]
    for i in range(g.turn_q.shape[0]):
        n, k = g.turn_q[i], g.turn_v[i]
        offset = quaternion_log(quaternion_product(conjugate(row4(p.q, row, n)), joint_turn(g, n)))
        w = rotate_back(matrix_of(quaternion_exp(offset[0], offset[1], offset[2])), row3(p.v, row, k))
        put_part(g.offset, k, offset)
        put_part(g.offset_rate, k, sub(part3(g.v, g.v_at[k]), w))


@kernel
def go_on(g, dt):
    """The offset a tick further along its rate: a rotation stays one."""
    for k in range(g.v_at.shape[0]):
        if g.q_of[k] >= 0:
            g.offset[k] += dt * g.offset_rate[k]
    for i in range(g.turn_v.shape[0]):
        k = g.turn_v[i]
        d = part3(g.offset_rate, k)
        further = quaternion_exp(dt * d[0], dt * d[1], dt * d[2])
        put_part(g.offset, k, quaternion_log(quaternion_product(turn_of(g.offset, k), further)))
