"""Fourth order for motion without contact: Runge and Kutta's rule on (q, v), springs and dampers explicit.

Quaternions are integrated as four numbers, q' = q o (0, w) / 2, and made unit at the end, which keeps the order.  A
step in which anything touches, ends, rubs or is connected is left to the semi-implicit step.
"""

from palpate.collision.contacts import COUNT
from palpate.collision.detect import detect
from palpate.collision.swept import HARMLESS
from palpate.contact.rows import N_ROWS
from palpate.dynamics.aba import articulated
from palpate.dynamics.coordinates import finite, put_quaternion, quaternion_at
from palpate.dynamics.kinematics import kinematics
from palpate.jit import entry, kernel
from palpate.model.model import CHAIN, FREE
from palpate.spatial.quaternions import quaternion_matrix, quaternion_product
from palpate.spatial.vectors import rotate
from palpate.world.connections import connection_rows
from palpate.world.fast import any_fast, stay_outside
from palpate.world.joints import joint_rows, joint_torques
from palpate.world.state import DT_S, FULL, WRENCHES, load
from palpate.world.step import begin_step, clear_rows, commit, end_step


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
def runge_kutta(m, w, s):
    """q_next, v_next one step on."""
    dt = s.number[DT_S]
    for n in range(m.nq):
        s.q_stage[n], s.q_next[n] = s.q[n], s.q[n]
    for j in range(m.nv):
        s.shift[j], s.v_next[j] = s.v[j], s.v[j]  # shift: velocities of the stage
    for stage in range(4):
        kinematics(m, s.q_stage, s.shift, w)
        joint_torques(m, s, s.q_stage, s.shift, 0.0)
        articulated(m, s.torque, s.armature, s.wrenches[: s.integer[WRENCHES]], w, s.a)
        rates(m, s.q_stage, s.shift, s.q_rate)
        weight = dt / 3.0 if stage == 1 or stage == 2 else dt / 6.0
        ahead = dt if stage == 2 else 0.5 * dt
        for n in range(m.nq):
            s.q_next[n] += weight * s.q_rate[n]
            s.q_stage[n] = s.q[n] + ahead * s.q_rate[n]
        for j in range(m.nv):
            s.v_next[j] += weight * s.a[j]
            s.shift[j] = s.v[j] + ahead * s.a[j]
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] != CHAIN:
            at = m.q_begin[i] + 3 if m.kind[i] == FREE else m.q_begin[i]
            put_quaternion(s.q_next, at, quaternion_at(s.q_next, at))


@entry("intp, intp")
def runge_kutta_steps(address, n):
    """n steps, of fourth order where nothing touches; returns how many were done, fewer if the world stopped."""
    m, w, _, c, r, s = load(address)
    for k in range(n):
        begin_step(address)
        detect(s.collision, s.integer[FULL])
        clear_rows(m, r)
        joint_rows(address, m, s, r)
        connection_rows(m, w, c, s, r)
        if c.count[COUNT] or r.integer[N_ROWS]:
            if not end_step(address):
                return k
        else:
            runge_kutta(m, w, s)
            if not (finite(s.v_next) and finite(s.q_next)):
                return k
            if any_fast(m, s, c, s.v_next, s.number[DT_S], HARMLESS):
                begin_step(address)  # the stages moved the links
                stay_outside(address)
            commit(m, s)
    return n
