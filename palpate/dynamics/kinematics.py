"""Where everything is and how it moves: the outward pass that every algorithm here starts from.

All spatial quantities of a tree are in world axes about one *reference point*, the origin of the tree's root link, in
an inertial frame that moves with it at this instant.  A parent's inertia is then the plain sum of its children's, and a
tree far away or fast loses no digits.  Two consequences:
  - the root's linear velocity is zero here; `drift` keeps it;
  - the root's acceleration in this frame is that of its coordinates plus (0, w x drift).  A free root's is added where
    coordinates are read or written (rnea, aba), so that at 7.8 km/s it never meets, and rounds, the small forces.

S_k     axis k: (z, p x z) turning, (0, z) sliding; times the ratio of a mimic joint
V_i     = V_parent + sum_k S_k v_k                                   Featherstone 2008, section 4.4
A_i     = A_parent + sum_k V_(k-1) x S_k v_k, V_(k-1) before axis k  (the velocity-product acceleration)
"""

from palpate.conventions import WORLD
from palpate.jit import kernel
from palpate.model.model import CHAIN, FREE, REVOLUTE
from palpate.spatial.quaternions import quaternion_matrix
from palpate.spatial.sincos import sincos
from palpate.spatial.vectors import (
    add,
    add_scaled,
    column,
    compose,
    cross,
    get3,
    get6,
    get9,
    put3,
    put6,
    put9,
    rotate,
    scale,
    turn_z,
)  # fmt: skip

ZERO = (0.0, 0.0, 0.0)


@kernel
def angles(m, q, w):
    """q -> x, cos, sin: the value of every axis of a CHAIN; by itself, so that it runs on several axes at once."""
    for n in range(0, w.chains.shape[0], 2):
        begin, end = w.chains[n], w.chains[n + 1]
        for k in range(begin, end):
            w.x[k] = m.axis_ratio[k] * q[m.axis_q[k]] + m.axis_offset[k]
        sincos(w.x[begin:end], w.sin[begin:end], w.cos[begin:end])


@kernel
def chain_frames(m, i, w, R, p):
    """Frame of a CHAIN link after all its axes, starting from its parent's (R, p); writes the rows of S."""
    for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
        p = add(p, rotate(R, get3(m.axis_p, k)))
        R = compose(R, get9(m.axis_R, k))
        z = column(R, 2)
        ratio = m.axis_ratio[k]
        if m.axis_kind[k] == REVOLUTE:
            put6(w.S, k, scale(ratio, z), scale(ratio, cross(p, z)))
            R = turn_z(R, w.cos[k], w.sin[k])
        else:
            put6(w.S, k, ZERO, scale(ratio, z))
            p = add_scaled(p, w.x[k], z)
    return R, p


@kernel
def frames(m, i, q, w, R, p):
    """Frame of link i on its parent's (R, p); writes S of a CHAIN.  The one chain over kinds of joints."""
    if m.kind[i] == CHAIN:
        return chain_frames(m, i, w, R, p)
    k = m.axis_begin[i]
    p = add(p, rotate(R, get3(m.axis_p, k)))
    R = compose(R, get9(m.axis_R, k))
    n = m.q_begin[i]
    if m.kind[i] == FREE:
        p = add(p, rotate(R, (q[n], q[n + 1], q[n + 2])))
        n += 3
    return compose(R, quaternion_matrix(q[n], q[n + 1], q[n + 2], q[n + 3])), p


@kernel
def turning_axes(m, i, w, R, p):
    """The rows of S of a SPHERICAL or FREE link: its own axes."""
    k = m.axis_begin[i]
    x, y, z = column(R, 0), column(R, 1), column(R, 2)
    put6(w.S, k, x, cross(p, x))
    put6(w.S, k + 1, y, cross(p, y))
    put6(w.S, k + 2, z, cross(p, z))
    if m.kind[i] == FREE:
        put6(w.S, k + 3, ZERO, x)
        put6(w.S, k + 4, ZERO, y)
        put6(w.S, k + 5, ZERO, z)


@kernel
def put_frame(m, i, q, w):
    """R, p, S of link i, after its parent's and `angles`; of a root also its origin."""
    parent = m.parent[i]
    R_parent = get9(w.R, parent)
    R, p = frames(m, i, q, w, R_parent, get3(w.p, parent))
    if parent == WORLD:  # now that it is known where a root is: everything from there
        put3(w.origin, i, p)
        if m.kind[i] == CHAIN:
            R, p = chain_frames(m, i, w, R_parent, scale(-1.0, p))
        else:
            p = ZERO  # exactly: how far away it is rounds nothing
    if m.kind[i] != CHAIN:
        turning_axes(m, i, w, R, p)
    put9(w.R, i, R)
    put3(w.p, i, p)


@kernel
def positions(m, q, w):
    """q -> R, p, origin, S."""
    angles(m, q, w)
    for n in range(w.inward.shape[0] - 1, -1, -1):
        i = w.inward[n]
        if w.awake[i]:
            put_frame(m, i, q, w)


@kernel
def joint_motion(m, w, i, x):
    """S x of link i, x (nv,) velocities or accelerations: (angular, linear)."""
    k = m.axis_begin[i]
    if m.kind[i] == CHAIN:
        jw, jv = ZERO, ZERO
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            sw, sv = get6(w.S, k)
            rate = x[m.axis_v[k]]
            jw, jv = add_scaled(jw, rate, sw), add_scaled(jv, rate, sv)
        return jw, jv
    j = m.axis_v[k]
    R = get9(w.R, i)
    jw = rotate(R, (x[j], x[j + 1], x[j + 2]))
    jv = cross(get3(w.p, i), jw)
    if m.kind[i] == FREE:
        jv = add(jv, rotate(R, (x[j + 3], x[j + 4], x[j + 5])))
    return jw, jv


@kernel
def link_twist(m, w, i, v):
    """Twist of link i under velocities v (nv,), about its tree's reference point; zero for the world."""
    omega, u = ZERO, ZERO
    while i != WORLD:
        jw, jv = joint_motion(m, w, i, v)
        omega, u = add(omega, jw), add(u, jv)
        i = m.parent[i]
    return omega, u


@kernel
def velocities(m, v, w):
    """v and what `positions` wrote -> V, A, drift; gravity is an upward acceleration of the world."""
    for r in range(3):  # every time: a session may change it
        w.A[WORLD, 3 + r] = -m.gravity[r]
    for n in range(w.inward.shape[0] - 1, -1, -1):
        i = w.inward[n]
        if w.awake[i] == 0:
            continue
        parent = m.parent[i]
        omega, u = get6(w.V, parent)
        alpha, a = get6(w.A, parent)
        if m.kind[i] == CHAIN:  # each axis is carried by those before it
            for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
                sw, sv = get6(w.S, k)
                rate = v[m.axis_v[k]]
                jw, jv = scale(rate, sw), scale(rate, sv)
                alpha = add(alpha, cross(omega, jw))
                a = add(a, add(cross(u, jw), cross(omega, jv)))
                omega, u = add(omega, jw), add(u, jv)
        else:  # S is fixed in the child: one block
            jw, jv = joint_motion(m, w, i, v)
            alpha = add(alpha, cross(omega, jw))
            a = add(a, add(cross(u, jw), cross(omega, jv)))
            omega, u = add(omega, jw), add(u, jv)
        if parent == WORLD:  # from here on relative to the moving reference point
            put3(w.drift, i, u)
            if m.kind[i] != FREE:
                a = add(a, cross(omega, u))
            u = ZERO
        put6(w.V, i, omega, u)
        put6(w.A, i, alpha, a)


@kernel
def kinematics(m, q, v, w):
    """q, v -> R, p, origin, drift, S, V, A."""
    positions(m, q, w)
    velocities(m, v, w)
