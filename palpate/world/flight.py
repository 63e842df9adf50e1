"""Free motion: the velocities at the end of the step if nothing touched, tree by tree.

AT_START  Something touches, ends, rubs, ties or guides the tree, or it is one link by itself (advance.py): forces as
          they are at the beginning of the step, for which contacts are seen and computed torques are computed.
MIDWAY    Nothing does: half a step along v, forces there, half a step along the new v.  Of second order, and back in
          time it is the same rule, which is why energy does not drift (Verlet's method).
FLUNG     Nothing does, and it is fast: Runge and Kutta's rule (runge_kutta.py), which is exact enough for half a
          radian a step.

Velocity products (C v) explode where they are taken at the velocity before the step, and a thin link is flung: they
belong to the mean of the velocities before and after.  A tree that goes MIDWAY has it from the acceleration of the
step before, at no cost; where there is none, or it is fast and cannot be FLUNG, and where what touches is fast, forces
are taken again at the mean, with the inertias there are.
"""

from palpate.dynamics.aba import articulated, articulated_again
from palpate.dynamics.coordinates import quaternion_at
from palpate.dynamics.kinematics import positions, velocities
from palpate.jit import kernel, shared
from palpate.model.model import CHAIN, FREE
from palpate.spatial.quaternions import quaternion_exp, quaternion_matrix, quaternion_product
from palpate.spatial.vectors import rotate, rotate_back
from palpate.world.advance import accelerations_of_vectors, free_velocities, from_start
from palpate.world.connections import FREE as UNTIED
from palpate.world.joints import has_rows, joint_torques
from palpate.world.runge_kutta import runge_kutta
from palpate.world.state import AT_START, FLUNG, MIDWAY, load

SLOW, FAST = 0.02, 0.03  # [rad or m a step]: above the second a tree is FLUNG, or its velocity products at the mean
TIMES = 2  # that forces are taken again: once gains energy where a link turns by a third of a radian a step


@kernel
def choose_ways(m, c, s, dt):
    """way of every tree, and in `fast` how far its fastest axis goes in a step; True if any is FLUNG."""
    fourth, flung = s.fourth != 0, False
    for i in range(1, m.parent.shape[0]):
        free = s.pushed[i] == i and s.guided[i] == 0 and (s.lone[i] == 0 or (fourth and s.asleep[i] == 0))
        s.way[i] = MIDWAY if free else AT_START
        s.fast[i] = 0.0
    for i in range(c.kept, c.count):
        s.way[m.root[c.link_a[i]]], s.way[m.root[c.link_b[i]]] = AT_START, AT_START
    for k in range(s.joined_kind.shape[0]):
        if s.joined_kind[k] != UNTIED:
            s.way[m.root[s.joined[2 * k]]], s.way[m.root[s.joined[2 * k + 1]]] = AT_START, AT_START
    for k in range(m.axis_v.shape[0]):
        root = s.tree[k]
        if s.lone[root] != 0 and s.way[root] == AT_START:  # whose rule knows no fast and slow
            continue
        if s.way[root] == MIDWAY and has_rows(m, s, k, dt):
            s.way[root] = AT_START
        s.fast[root] = max(s.fast[root], s.turns[k] * dt * abs(s.v[m.axis_v[k]]))
    for i in range(1, m.parent.shape[0]):
        if m.root[i] == i and s.way[i] == MIDWAY and (fourth or s.fast[i] > FAST):
            s.way[i], flung = FLUNG, True
    return flung


@kernel
def weigh_means(m, s):
    """fast becomes the part of the mean in a tree's velocity products; (any goes MIDWAY, any takes some, all FLUNG)."""
    moving, again, gone = False, False, True
    for i in range(1, m.parent.shape[0]):
        if m.root[i] != i:
            continue
        if s.way[i] == MIDWAY:
            s.fast[i] = 0.0 if s.known[i] == s.tick and s.fast[i] < FAST else 1.0
        elif s.way[i] == FLUNG or s.lone[i] != 0 or s.pushed[i] != i:  # they have rules of their own
            s.fast[i] = 0.0
        else:
            s.fast[i] = min(max((s.fast[i] - SLOW) / (FAST - SLOW), 0.0), 1.0)
        moving, again = moving or s.way[i] == MIDWAY, again or s.fast[i] > 0.0
        gone = gone and s.way[i] == FLUNG
    return moving, again, gone


@kernel
def go_midway(m, s, dt):
    """q_stage, v_begin and mean of what goes MIDWAY: half a step on, the mean by the last step's acceleration."""
    h = 0.5 * dt
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == CHAIN or s.way[m.root[i]] != MIDWAY:
            continue
        j, at = m.axis_v[m.axis_begin[i]], m.q_begin[i]
        turn = quaternion_exp(h * s.v[j], h * s.v[j + 1], h * s.v[j + 2])
        if m.kind[i] == FREE:
            at += 3
            here = quaternion_at(s.q, at)
            u = (s.v[j + 3], s.v[j + 4], s.v[j + 5])
            way = rotate(quaternion_matrix(here[0], here[1], here[2], here[3]), u)
            straight = rotate_back(quaternion_matrix(turn[0], turn[1], turn[2], turn[3]), u)
            for c in range(3):
                s.q_stage[at - 3 + c] += h * way[c]
                s.v_begin[j + 3 + c] = straight[c]
        x = quaternion_product(quaternion_at(s.q, at), turn)  # unit up to rounding, and made so at the end
        s.q_stage[at], s.q_stage[at + 1], s.q_stage[at + 2], s.q_stage[at + 3] = x
    for k in range(m.axis_v.shape[0]):
        root, j = s.tree[k], m.axis_v[k]
        if s.way[root] == MIDWAY:
            if s.chain[k]:
                s.q_stage[m.axis_q[k]] += h * s.v[j]
            s.mean[j] = s.v_begin[j] + (h * s.a[j] if s.known[root] == s.tick else 0.0)


@kernel
def take_again(m, w, s, dt):
    """a with the velocity products of what is fast at its mean velocity."""
    for _ in range(TIMES):
        for k in range(m.axis_v.shape[0]):
            part, j = s.fast[s.tree[k]], m.axis_v[k]
            if part > 0.0:
                s.mean[j] = s.v_begin[j] + 0.5 * dt * part * s.a[j]
        velocities(m, s.mean, w)
        articulated_again(m, s.torque, s.wrenches[: s.n_wrenches], w, s.a)
        accelerations_of_vectors(m, s.mean, s.a)
    velocities(m, s.v, w)  # as contacts want them


@shared("void(intp)")
def fly(address):
    """v_next: the velocities at the end of the step if nothing touched; of what is FLUNG also q_next."""
    m, w, _, c, _, s = load(address)
    dt = s.dt
    flung = choose_ways(m, c, s, dt)
    if flung:
        runge_kutta(address)
    moving, again, gone = weigh_means(m, s)
    if gone:
        return
    from_start(m, s)
    if moving:
        go_midway(m, s, dt)
    if moving or flung:
        positions(m, s.q_stage, w)
    velocities(m, s.mean, w)
    joint_torques(m, s, s.q, s.v, dt)
    articulated(m, s.torque, s.armature, s.wrenches[: s.n_wrenches], w, s.a)
    accelerations_of_vectors(m, s.mean, s.a)
    if again:
        take_again(m, w, s, dt)
    free_velocities(m, w, s, dt)
    if flung:
        for k in range(m.axis_v.shape[0]):
            if s.way[s.tree[k]] == FLUNG:
                s.v_next[m.axis_v[k]] = s.shift[m.axis_v[k]]
    for i in range(1, m.parent.shape[0]):
        if m.root[i] == i and s.way[i] != FLUNG:
            s.known[i] = s.tick + 1  # at the beginning of the next step
