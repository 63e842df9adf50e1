"""Fourth order for trees that nothing touches: Runge and Kutta's rule on (q, v), springs and dampers explicit.

Quaternions are integrated as four numbers, q' = q o (0, w) / 2, and made unit at the end, which keeps the order.
Explicit springs and dampers explode where they are stiff: a tree for which sum_k (dt kv_k + dt^2 kp_k) (H^-1)_kk, a
bound of what the rule must follow in a step, exceeds STIFF is left to the implicit ones of the other ways.
"""

from palpate.dynamics.aba import articulated
from palpate.dynamics.coordinates import put_quaternion, quaternion_at
from palpate.dynamics.kinematics import kinematics
from palpate.dynamics.mobility import axis_mobility
from palpate.jit import kernel, shared
from palpate.model.model import CHAIN, FREE
from palpate.spatial.quaternions import quaternion_matrix, quaternion_product
from palpate.spatial.vectors import rotate
from palpate.world.account import work_of_joints, work_of_wrench
from palpate.world.joints import joint_torques
from palpate.world.state import AT_START, DT_S, FLUNG, LEDGER, MIDWAY, WRENCHES, load

STIFF = 1.0  # the rule is stable up to 2.8


@kernel
def rates(m, q, v, out):
    """q' (nq,): how the coordinates change under velocities v."""
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                out[m.axis_q[k]] = v[m.axis_v[k]]
            continue
        n, j = m.q_begin[i], m.axis_v[m.axis_begin[i]]
        at = n + 3 if m.kind[i] == FREE else n
        here = quaternion_at(q, at)
        if m.kind[i] == FREE:
            out[n], out[n + 1], out[n + 2] = rotate(
                quaternion_matrix(here[0], here[1], here[2], here[3]), (v[j + 3], v[j + 4], v[j + 5])
            )
        turn = quaternion_product(here, (0.0, 0.5 * v[j], 0.5 * v[j + 1], 0.5 * v[j + 2]))
        for c in range(4):
            out[at + c] = turn[c]


@kernel
def leave_stiff(m, w, s, dt):
    """Trees that are too stiff go another way; w as `articulated` left it with explicit springs."""
    stiff = 0.0
    for i in range(1, m.parent.shape[0]):
        root = m.root[i]
        if root == i:
            stiff = 0.0
        if s.way[root] != FLUNG:
            continue
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            if s.kv[k] > 0.0 or s.kp[k] > 0.0:
                stiff += dt * (s.kv[k] + dt * s.kp[k]) * axis_mobility(m, w, i, k)
        if not stiff <= STIFF:
            s.way[root] = MIDWAY if s.lone[root] == 0 else AT_START


@kernel
def count_works(m, w, s, weight):
    """The works of a stage, for the ledger."""
    for i in range(1, m.parent.shape[0]):
        if s.way[m.root[i]] == FLUNG:
            work_of_joints(m, s, i, s.shift, weight)
    for b in range(1, s.integer[WRENCHES]):
        if s.way[m.root[m.body_link[b]]] == FLUNG:
            work_of_wrench(m, w, s, b, s.shift, weight)


@shared("void(intp)")
def runge_kutta(address):
    """q_next, v_next of what is FLUNG one step on, v_next also in shift."""
    m, w, _, _, _, s = load(address)
    dt = s.number[DT_S]
    for n in range(m.nq):
        s.q_stage[n], s.q_next[n] = s.q[n], s.q[n]
    for j in range(m.nv):
        s.shift[j], s.v_next[j] = s.v[j], s.v[j]  # shift: velocities of the stage; mean: its accelerations
    for stage in range(4):
        kinematics(m, s.q_stage, s.shift, w)
        joint_torques(m, s, s.q_stage, s.shift, 0.0)
        articulated(m, s.torque, s.armature, s.wrenches[: s.integer[WRENCHES]], w, s.mean)
        if stage == 0:
            leave_stiff(m, w, s, dt)
        weight = dt / 3.0 if stage == 1 or stage == 2 else dt / 6.0
        ahead = dt if stage == 2 else 0.5 * dt
        if s.integer[LEDGER]:
            count_works(m, w, s, weight)
        rates(m, s.q_stage, s.shift, s.q_rate)
        for n in range(m.nq):
            s.q_next[n] += weight * s.q_rate[n]
            s.q_stage[n] = s.q[n] + ahead * s.q_rate[n]
        for j in range(m.nv):
            s.v_next[j] += weight * s.mean[j]
            s.shift[j] = s.v[j] + ahead * s.mean[j]
    for j in range(m.nv):
        s.shift[j] = s.v_next[j]
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] != CHAIN:
            at = m.q_begin[i] + 3 if m.kind[i] == FREE else m.q_begin[i]
            put_quaternion(s.q_next, at, quaternion_at(s.q_next, at))
