"""Fourth order for trees that nothing touches: Runge and Kutta's rule on (q, v), springs and dampers explicit.

Quaternions are integrated as four numbers, q' = q o (0, w) / 2, and made unit at the end, which keeps the order.
Explicit springs and dampers explode where they are stiff: a tree for which the largest eigenvalue of H^-1 K, with
K = dt kv + dt^2 kp what the rule must follow in a step, exceeds STIFF is left to the implicit ones of the other ways.

A tree that whips, so that the step is too long to follow it, goes in 4 or 16 steps of a part of its length.
"""

import math

from palpate.dynamics.aba import articulated, response
from palpate.dynamics.coordinates import put_quaternion, quaternion_at
from palpate.dynamics.kinematics import kinematics
from palpate.jit import kernel, shared
from palpate.model.model import CHAIN, FREE
from palpate.spatial.quaternions import quaternion_matrix, quaternion_product
from palpate.spatial.vectors import rotate
from palpate.world.account import power_of_wrench
from palpate.world.joints import joint_torques
from palpate.world.state import ACTUATORS, AT_START, FLUNG, HANDS, MIDWAY, load

STIFF = 1.6  # the rule is stable up to 2.8; the estimate falls short of the eigenvalue by a tenth or so
POWERS = 8  # steps of the power iteration
ROUGH = 0.01  # a step is cut if its middle, looked at again, changes velocities by more than this part of the largest
MOST = 16  # into so many at most


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
def stiffness_of(s, k, dt):
    """What axis k adds to the inertia if its spring and damper are implicit: dt kv + dt^2 kp."""
    return dt * (s.kv[k] + dt * s.kp[k])


@kernel
def weigh(m, s, x, dt):
    """size of every tree that is FLUNG: x . K x; True if any has springs or dampers."""
    for i in range(1, m.parent.shape[0]):
        s.size[i] = 0.0
    any_held = False
    for k in range(m.axis_v.shape[0]):
        K, j = stiffness_of(s, k, dt), m.axis_v[k]
        if K > 0.0 and s.way[s.tree[k]] == FLUNG:
            s.size[s.tree[k]] += K * x[j] * x[j]
            any_held = True
    return any_held


@shared("void(intp, float64)")
def leave_stiff(address, dt):
    """Trees that are too stiff go another way; w as `articulated` left it with explicit springs.

    The largest eigenvalue of H^-1 K by power iteration, in the norm x . K x, in which it is approached from below.
    """
    m, w, _, _, _, s = load(address)
    for k in range(m.axis_v.shape[0]):
        s.v_begin[m.axis_v[k]] = 1.0 + 0.1 * (k % 7) if k % 2 else -1.0 - 0.1 * (k % 5)
    for _ in range(POWERS):
        if not weigh(m, s, s.v_begin, dt):
            return
        for k in range(m.axis_v.shape[0]):
            j, K, size = m.axis_v[k], stiffness_of(s, k, dt), s.size[s.tree[k]]
            s.v_next[j] = K * s.v_begin[j] / math.sqrt(size) if K > 0.0 and size > 0.0 else 0.0
        response(m, s.v_next, w, s.v_begin)
    weigh(m, s, s.v_begin, dt)
    for i in range(1, m.parent.shape[0]):
        if m.root[i] == i and s.way[i] == FLUNG and not s.size[i] <= STIFF * STIFF:
            s.way[i] = MIDWAY if s.lone[i] == 0 else AT_START


@kernel
def count_works(m, w, s, weight):
    """The works of a stage, by joint and by tree."""
    for j in range(m.nv):
        s.worked[j] += weight * s.torque[j] * s.shift[j]
    for b in range(1, s.n_wrenches):
        s.handed[m.root[m.body_link[b]]] += weight * power_of_wrench(m, w, s, b, s.shift)


@kernel
def choose_parts(m, s, dt):
    """parts of every tree: how many steps in one keep what its third stage changed small (before: v_begin)."""
    for i in range(1, m.parent.shape[0]):
        s.size[i], s.off[i] = 0.0, 0.0
    for k in range(m.axis_v.shape[0]):
        root, j = s.tree[k], m.axis_v[k]
        s.size[root] = max(s.size[root], s.turns[k] * abs(s.v[j]))
        s.off[root] = max(s.off[root], s.turns[k] * dt * abs(s.mean[j] - s.v_begin[j]))
    for i in range(1, m.parent.shape[0]):
        s.parts[i] = 1
        while s.parts[i] < MOST and not s.off[i] <= ROUGH * s.size[i]:
            s.parts[i] *= 4
            s.off[i] /= 64.0  # it goes with the third power of the step


@shared("void(intp)")
def accelerate(address):
    """mean, q_rate: how velocities shift and coordinates q_stage change.  Of its own: inlined, it is unrolled."""
    m, w, _, _, _, s = load(address)
    kinematics(m, s.q_stage, s.shift, w)
    joint_torques(m, s, s.q_stage, s.shift, 0.0)
    articulated(m, s.torque, s.armature, s.wrenches[: s.n_wrenches], w, s.mean)
    rates(m, s.q_stage, s.shift, s.q_rate)


@shared("void(intp, float64, int64)")
def one_step(address, dt, first):
    """From q_from, v_from a step on, in place; the first looks how rough it is."""
    m, w, _, _, _, s = load(address)
    for n in range(m.nq):
        s.q_stage[n], s.q_sum[n] = s.q_from[n], s.q_from[n]
    for j in range(m.nv):
        s.shift[j], s.v_sum[j] = s.v_from[j], s.v_from[j]  # shift: velocities of the stage; mean: its accelerations
    for stage in range(4):
        accelerate(address)
        if first:
            if stage == 0:
                leave_stiff(address, dt)
            elif stage == 1:
                for j in range(m.nv):
                    s.v_begin[j] = s.mean[j]
            elif stage == 2:
                choose_parts(m, s, dt)
        weight = dt / 3.0 if stage == 1 or stage == 2 else dt / 6.0
        ahead = dt if stage == 2 else 0.5 * dt
        if s.keeps_ledger:
            count_works(m, w, s, weight)
        for n in range(m.nq):
            s.q_sum[n] += weight * s.q_rate[n]
            s.q_stage[n] = s.q_from[n] + ahead * s.q_rate[n]
        for j in range(m.nv):
            s.v_sum[j] += weight * s.mean[j]
            s.shift[j] = s.v_from[j] + ahead * s.mean[j]
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] != CHAIN:
            at = m.q_begin[i] + 3 if m.kind[i] == FREE else m.q_begin[i]
            put_quaternion(s.q_sum, at, quaternion_at(s.q_sum, at))
    for n in range(m.nq):
        s.q_from[n] = s.q_sum[n]
    for j in range(m.nv):
        s.v_from[j] = s.v_sum[j]


@kernel
def take(m, s, parts):
    """q_next and v_next of the trees that go in so many parts, and their works."""
    for i in range(1, m.parent.shape[0]):
        root = m.root[i]
        if s.way[root] != FLUNG or s.parts[root] != parts:
            continue
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            j = m.axis_v[k]
            s.v_next[j] = s.v_from[j]
            s.work[j] += s.worked[j]
            s.ledger[ACTUATORS] += s.worked[j]
            if m.kind[i] == CHAIN:
                s.q_next[m.axis_q[k]] = s.q_from[m.axis_q[k]]
        if m.kind[i] != CHAIN:
            for n in range(m.q_begin[i], m.q_begin[i] + (7 if m.kind[i] == FREE else 4)):
                s.q_next[n] = s.q_from[n]
        if root == i:
            s.ledger[HANDS] += s.handed[i]


@shared("void(intp)")
def runge_kutta(address):
    """q_next, v_next of what is FLUNG one step on, v_next also in shift."""
    m, _, _, _, _, s = load(address)
    dt = s.dt
    parts = 1
    while parts <= MOST:
        wanted = parts == 1
        for i in range(1, m.parent.shape[0]):
            s.handed[i] = 0.0
            wanted = wanted or (m.root[i] == i and s.way[i] == FLUNG and s.parts[i] == parts)
        if wanted:
            for n in range(m.nq):
                s.q_from[n] = s.q[n]
            for j in range(m.nv):
                s.v_from[j], s.worked[j] = s.v[j], 0.0
            for _ in range(parts):
                one_step(address, dt / parts, parts == 1)
            take(m, s, parts)
        parts *= 4
    for j in range(m.nv):
        s.shift[j] = s.v_next[j]
