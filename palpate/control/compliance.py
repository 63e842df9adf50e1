"""Compliance, the joint form: joints from the touched body to the waist follow a force like masses on dampers.

    (22)  M q''_d + B q'_d = sum J^T (n, f)          M, B diagonal; reference on articulated bodies 6.5
          v <- v + h (tq - B v)/(M + h B)            implicit: any damping, any tick
          q_d <- q_d (+) h v                         on the manifold: spherical joints stay rotations

It turns and shifts palms against each other: with a grasp use the object form (reference on avatars 4.1, 4.4).

From a part of a tick:

    clear_pushes(c)
    push_chain(m, w, c, link, p, n, f)               for every wrench; m, w those of the World, where the arm is
    joint_form(m, c, dt);  then c.q, c.v to q_hold, v_hold of the joints with c.moves

c  JointForm (compliance_tables.py);  m, w  model and workspace of what c.q are the coordinates of
"""

from palpate.conventions import WORLD
from palpate.dynamics.coordinates import integrate
from palpate.jit import kernel
from palpate.model.model import CHAIN
from palpate.spatial.vectors import add, cross, dot, get6


@kernel
def clear_pushes(c):
    for j in range(c.v.shape[0]):
        c.push[j] = 0.0
        if c.moves[j] > 1:
            c.moves[j] = 1


@kernel
def push_chain(m, w, c, link, p, n, f):
    """A wrench (moment n about p, force f; world axes, p from the tree's reference point) on a link: J^T of its chain.

    tq_k = S_w.(n + p x f) + S_v.f
    """
    moment = add(n, cross(p, f))
    while link != WORLD and link != c.waist:
        for k in range(m.axis_begin[link], m.axis_begin[link] + m.axis_count[link]):
            j = m.axis_v[k]
            if c.moves[j] > 0:
                sw, sv = get6(w.S, k)
                c.push[j] += dot(sw, moment) + dot(sv, f)
                c.moves[j] = 2
        link = m.parent[link]


@kernel
def joint_form(m, c, dt):
    """q_d and q'_d a tick further.  A joint at the end of its range stops there."""
    for j in range(c.v.shape[0]):
        if c.moves[j] > 0:
            M, B = c.mass[j], c.damping[j]
            c.v[j] += dt * (c.push[j] - B * c.v[j]) / (M + dt * B)
        else:
            c.v[j] = 0.0
    integrate(m, c.q, c.v, dt, c.q_next)
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] == CHAIN:
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                stop_at_end(c, m.axis_q[k], m.axis_v[k])
    for n in range(c.q.shape[0]):
        c.q[n] = c.q_next[n]


@kernel
def stop_at_end(c, n, j):
    if c.q_next[n] > c.upper[n] and c.v[j] > 0.0:
        c.q_next[n], c.v[j] = max(c.q[n], c.upper[n]), 0.0
    elif c.q_next[n] < c.lower[n] and c.v[j] < 0.0:
        c.q_next[n], c.v[j] = min(c.q[n], c.lower[n]), 0.0
