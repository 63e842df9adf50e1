"""Prioritised tasks as a step of q_d: rows of each task, velocities (priorities.py), q_d integrated on the manifold.

POSE     J of a point of a body, world axes;  e = gain (log(R_d R^T), p_d - p) + rate of the target
CENTER   J of the tree's centre of mass: column of axis k (m_k S_v + S_w x h_k)/m, m_k and h_k mass and moment of all
         that k carries
GAZE     the axis g of a body at direction d to a place at distance L: two axes u across g, rows u.(J_w + d x J_v/L),
         e = gain angle u.(g x d)/|g x d|
POSTURE  one row for each velocity: e = gain log(q^-1 q_d)

From a part of a tick (control/ may not be told by Python while it runs; the part writes into the table):

    m, w, t = load_tasks(tasks)                   tasks: the address of a pp.Tasks, kept in the part's own Struct
    take_q(t, s.q_hold)                           of the World, or leave t.q as the last step left it
    aim(t, k, p, turn); follow(t, k, w, u)        k: tasks.row(task), once, when the part is made
    step_tasks(tasks, dt)
    put_q(t, s.q_hold); put_v(t, s.v_hold)        for the implicit PD (world/joints.py)

m, w  the tree's model and its own workspace: q_d is not where the World is
"""

import math

from palpate.control.prioritised.priorities import solve_levels
from palpate.control.prioritised.task_tables import CENTER, GAZE, POSE, load_tasks
from palpate.conventions import WORLD
from palpate.dynamics.coordinates import difference, finite, finite_rows, integrate
from palpate.dynamics.jacobian import body_frame
from palpate.dynamics.kinematics import positions
from palpate.jit import kernel, shared
from palpate.spatial.quaternions import conjugate, matrix_quaternion, quaternion_log, quaternion_product
from palpate.spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    rotate,
    scale,
    sub,
)  # fmt: skip

ZERO = (0.0, 0.0, 0.0)
NEAREST_M = 0.05  # what is looked at is at least so far away


@kernel
def take_q(t, q):
    """q_d from the World's coordinates."""
    for n in range(t.q.shape[0]):
        t.q[n] = q[t.q_begin + n]


@kernel
def put_q(t, q):
    """q_d into the World's, such as q_hold."""
    for n in range(t.q.shape[0]):
        q[t.q_begin + n] = t.q[n]


@kernel
def put_v(t, v):
    """Its velocity into the World's, such as v_hold."""
    for j in range(t.v_tree.shape[0]):
        v[t.v_begin + j] = t.v_tree[j]


@kernel
def aim(t, k, p, turn):
    """The target of task k: a place, and a quaternion that only a POSE looks at."""
    put3(t.target, k, p)
    for r in range(4):
        t.target[k, 3 + r] = turn[r]


@kernel
def follow(t, k, spin, u):
    """How the target of task k moves, world axes: then nothing lags behind it."""
    put6(t.rate, k, spin, u)


@kernel
def shorter(x, most):
    """A vector, no longer than `most`."""
    length = math.sqrt(dot(x, x))
    return scale(most / length, x) if length > most else x


@kernel
def gain_of(t, k):
    """At most what is done in one step: a part on a slow divider does not overshoot."""
    return min(t.gain[k], 1.0 / t.dt)


@kernel
def put_error(t, k, turn, way):
    """e of the rows of task k: (angular, linear), world axes."""
    t.error[k, 0], t.error[k, 1] = 0.0, 0.0
    for r in range(3):  # what is not asked for is no error
        a, b = t.row_of[6 * k + r] >= 0, t.row_of[6 * k + 3 + r] >= 0
        t.error[k, 0] += turn[r] * turn[r] if a else 0.0
        t.error[k, 1] += way[r] * way[r] if b else 0.0
    t.error[k, 0], t.error[k, 1] = math.sqrt(t.error[k, 0]), math.sqrt(t.error[k, 1])
    spin, u = get6(t.rate, k)
    gain = gain_of(t, k)
    spin = add(spin, shorter(scale(gain, turn), t.turn_speed[k]))
    u = add(u, shorter(scale(gain, way), t.speed[k]))
    for r in range(3):
        a, b = t.row_of[6 * k + r], t.row_of[6 * k + 3 + r]
        if a >= 0:
            t.e[t.first[k] + a] = spin[r]
        if b >= 0:
            t.e[t.first[k] + b] = u[r]


@kernel
def put_column(t, k, c, turn, way):
    """(angular, linear) that column c adds to the rows of task k."""
    first = t.first[k]
    for r in range(3):
        a, b = t.row_of[6 * k + r], t.row_of[6 * k + 3 + r]
        if a >= 0:
            t.J[first + a, c] += turn[r]
        if b >= 0:
            t.J[first + b, c] += way[r]


@kernel
def clear_rows(t, k):
    for r in range(t.first[k], t.first[k] + t.count[k]):
        for c in range(t.v.shape[0]):
            t.J[r, c] = 0.0


@kernel
def target_turn(t, k):
    return (t.target[k, 3], t.target[k, 4], t.target[k, 5], t.target[k, 6])


@kernel
def put_pose(m, w, t, k):
    """A point of a body and its orientation."""
    R, p = body_frame(m, w, t.body[k])
    p = add(p, rotate(R, get3(t.at_body, k)))
    link = m.body_link[t.body[k]]
    turn = quaternion_log(quaternion_product(target_turn(t, k), conjugate(matrix_quaternion(R))))
    put_error(t, k, turn, sub(get3(t.target, k), add(get3(w.origin, m.root[link]), p)))
    clear_rows(t, k)
    while link != WORLD:
        for axis in range(m.axis_begin[link], m.axis_begin[link] + m.axis_count[link]):
            c = t.column[m.axis_v[axis]]
            if c >= 0:
                sw, sv = get6(w.S, axis)
                put_column(t, k, c, sw, add(sv, cross(sw, p)))
        link = m.parent[link]


@kernel
def carried(m, w, t):
    """Mass and moment of every link with all that it carries; returns the centre of mass from the reference point."""
    n = m.parent.shape[0]
    for i in range(1, n):
        t.mass[i] = m.mass[i]
        put3(t.moment, i, scale(m.mass[i], add(get3(w.p, i), rotate(get9(w.R, i), get3(m.com, i)))))
    for i in range(n - 1, 1, -1):
        parent = m.parent[i]
        if parent != WORLD:
            t.mass[parent] += t.mass[i]
            put3(t.moment, parent, add(get3(t.moment, parent), get3(t.moment, i)))
    return scale(1.0 / t.mass[1], get3(t.moment, 1))  # a tree: all hangs on its first link


@kernel
def put_center(m, w, t, k):
    """The centre of mass."""
    c = carried(m, w, t)
    put_error(t, k, ZERO, sub(get3(t.target, k), add(get3(w.origin, 1), c)))
    clear_rows(t, k)
    for i in range(1, m.parent.shape[0]):
        part, h = t.mass[i] / t.mass[1], scale(1.0 / t.mass[1], get3(t.moment, i))
        for axis in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            column = t.column[m.axis_v[axis]]
            if column >= 0:
                sw, sv = get6(w.S, axis)
                put_column(t, k, column, ZERO, add_scaled(cross(sw, h), part, sv))


@kernel
def across(g):
    """Two axes across g and each other."""
    x = (1.0, 0.0, 0.0) if abs(g[0]) < 0.6 else (0.0, 1.0, 0.0)
    u = cross(g, x)
    u = scale(1.0 / math.sqrt(dot(u, u)), u)
    return u, cross(g, u)


@kernel
def put_gaze(m, w, t, k):
    """A direction of a body towards a place."""
    R, p = body_frame(m, w, t.body[k])
    p, g = add(p, rotate(R, get3(t.at_body, k))), rotate(R, get3(t.axis, k))
    link, row = m.body_link[t.body[k]], t.first[k]
    d = sub(get3(t.target, k), add(get3(w.origin, m.root[link]), p))
    far = max(math.sqrt(dot(d, d)), NEAREST_M)
    d = scale(1.0 / far, d)
    u1, u2 = across(g)
    turn = cross(g, d)
    sine = math.sqrt(dot(turn, turn))
    angle = math.atan2(sine, dot(g, d))
    turn = scale(angle / sine, turn) if sine > 1e-9 else (turn if dot(g, d) > 0.0 else scale(angle, u1))
    t.error[k, 0], t.error[k, 1] = angle, 0.0
    turn = shorter(scale(gain_of(t, k), turn), t.turn_speed[k])
    moving = scale(1.0 / far, cross(d, (t.rate[k, 3], t.rate[k, 4], t.rate[k, 5])))  # d turns by itself
    turn = add(turn, moving)
    t.e[row], t.e[row + 1] = dot(u1, turn), dot(u2, turn)
    clear_rows(t, k)
    while link != WORLD:
        for axis in range(m.axis_begin[link], m.axis_begin[link] + m.axis_count[link]):
            c = t.column[m.axis_v[axis]]
            if c >= 0:
                sw, sv = get6(w.S, axis)
                spin = add(sw, scale(1.0 / far, cross(d, add(sv, cross(sw, p)))))
                t.J[row, c] += dot(u1, spin)
                t.J[row + 1, c] += dot(u2, spin)
        link = m.parent[link]


@kernel
def put_posture(t, k):
    """Joints that are a task of their own: a row each."""
    clear_rows(t, k)
    total = 0.0
    for r in range(t.first[k], t.first[k] + t.count[k]):
        c = t.posture_column[r]
        away = t.away[t.v_of[c]]
        t.J[r, c] = 1.0
        t.e[r] = min(max(gain_of(t, k) * away, -t.turn_speed[k]), t.turn_speed[k])
        total += away * away
    t.error[k, 0], t.error[k, 1] = math.sqrt(total), 0.0


@kernel
def put_rows(m, w, t):
    """J and e of all tasks, at t.q."""
    positions(m, t.q, w)
    difference(m, t.q, t.q_posture, t.away)
    for k in range(t.kind.shape[0]):
        kind = t.kind[k]
        if kind == POSE:
            put_pose(m, w, t, k)
        elif kind == CENTER:
            put_center(m, w, t, k)
        elif kind == GAZE:
            put_gaze(m, w, t, k)
        elif t.count[k] > 0:
            put_posture(t, k)
        else:  # of all columns: the last, without rows
            total = 0.0
            for c in range(t.v.shape[0]):
                away = t.away[t.v_of[c]]
                total += away * away if t.gain_posture[c] > 0.0 else 0.0
                t.e_posture[c] = min(max(min(t.gain_posture[c], 1.0 / t.dt) * away, -t.turn_speed[k]), t.turn_speed[k])
            t.error[k, 0], t.error[k, 1] = math.sqrt(total), 0.0


@kernel
def solve_tasks(m, w, t):
    """v_tree: the velocities of q_d that the tasks ask for at t.q.  A target that is no number moves nothing."""
    fine = finite_rows(t.target) and finite_rows(t.rate) and finite(t.q_posture)
    if fine:
        put_rows(m, w, t)
        solve_levels(t)
        fine = finite(t.v)
    if not fine:
        t.refused += 1
    for j in range(t.v_tree.shape[0]):
        c = t.column[j]
        t.v_tree[j] = t.v[c] if c >= 0 and fine else 0.0


@kernel
def advance_tasks(m, t):
    """q_d a step further; exactly within its ranges."""
    integrate(m, t.q, t.v_tree, t.dt, t.q_next)
    for c in range(t.v.shape[0]):
        n = t.q_of[c]
        if n >= 0 and t.lower[c] <= t.q[n] <= t.upper[c]:  # else it comes back as fast as it may
            t.q_next[n] = min(max(t.q_next[n], t.lower[c]), t.upper[c])
    for n in range(t.q.shape[0]):
        t.q[n] = t.q_next[n]


@shared("void(intp, float64)")
def step_tasks(address, dt):
    """q_d of a pp.Tasks, dt [s] further."""
    m, w, t = load_tasks(address)
    t.dt = dt
    solve_tasks(m, w, t)
    advance_tasks(m, t)
