"""What moves farther in a step than it is thick: it neither passes through things nor is stopped by what it flies past.

A free body by itself that is fast is held, at the end of a step, just before what it would have gone through; its
velocity stays.  It loses what was left of the step, and in the next it is within the margin, where contact is as ever.
Before that, contacts whose bodies are near but do not meet on their ways are left out: as planes they would bar a way
that is free.
"""

from palpate.collision.contacts import FRACTION
from palpate.collision.swept import HARMLESS, fly_by, hold_back, part
from palpate.dynamics.coordinates import put_quaternion, quaternion_at
from palpate.jit import kernel, shared
from palpate.model.model import FREE
from palpate.spatial.quaternions import (
    conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_matrix,
    quaternion_product,
)
from palpate.spatial.vectors import (
    add,
    cross,
    dot,
    get3,
    get9,
    length,
    put3,
    rotate,
    rotate_back,
    scale,
    sub,
)  # fmt: skip
from palpate.world.state import load


@kernel
def any_fast(m, s, c, v, dt, harmless):
    """Whether a free body by itself may move farther in the step than the margin and a part of half its thickness.

    v: velocities in its axes; harmless: that part.
    """
    for i in range(1, m.parent.shape[0]):
        if s.lone[i] and m.kind[i] == FREE:
            j = m.axis_v[m.axis_begin[i]]
            w, u = (v[j], v[j + 1], v[j + 2]), (v[j + 3], v[j + 4], v[j + 5])
            # |u + w x com| + |w| (reach + |com|), squared, is no more than 2 u^2 + 16 w^2 (reach^2 + com^2)
            least, reach, com = max(c.margin, harmless * c.link_size[i, 1]) / dt, c.link_size[i, 0], get3(m.com, i)
            if 2.0 * dot(u, u) + 16.0 * dot(w, w) * (reach * reach + dot(com, com)) > least * least:
                return True
    return False


@kernel
def put_move(m, c, i, path, turn, harmless):
    """The motion of link i in the step: path of its centre of mass and turn, in its axes."""
    com, far = get3(m.com, i), length(path) + length(turn) * (c.link_size[i, 0] + length(get3(m.com, i)))
    x = rotate(get9(c.link_R, i), path)
    for k in range(3):
        c.move[i, k], c.move[i, 3 + k], c.move[i, 6 + k] = com[k], x[k], turn[k]
    c.move[i, FRACTION] = 1.0
    c.fast[i] = 1 if far > max(c.margin, harmless * c.link_size[i, 1]) else 0


@kernel
def fly_past(address, m, s, c, dt):
    """Leave out contacts of what is fast, still open, that will not close as it moves without contact."""
    for i in range(1, m.parent.shape[0]):
        if s.lone[i] and m.kind[i] == FREE:
            j = m.axis_v[m.axis_begin[i]]
            w = (s.v_next[j], s.v_next[j + 1], s.v_next[j + 2])
            u = add((s.v_next[j + 3], s.v_next[j + 4], s.v_next[j + 5]), cross(w, get3(m.com, i)))
            put_move(m, c, i, scale(dt, u), scale(dt, w), 0.0)
    kept = c.kept
    for k in range(c.kept, c.count):
        a, b = c.link_a[k], c.link_b[k]
        if c.gap[k] > 0.0 and (c.fast[a] or c.fast[b]) and fly_by(s.collision, c.shape_a[k], c.shape_b[k]):
            continue
        c.link_a[kept], c.link_b[kept], c.shape_a[kept], c.shape_b[kept] = a, b, c.shape_a[k], c.shape_b[k]
        c.feature[kept], c.gap[kept] = c.feature[k], c.gap[k]
        put3(c.point, kept, get3(c.point, k))
        put3(c.normal, kept, get3(c.normal, k))
        kept += 1
    c.count = kept


@shared("void(intp)")
def leave_out_what_flies_past(address):
    """Before the rows: v_next is the motion without contact."""
    m, _, _, c, _, s = load(address)
    if c.count and any_fast(m, s, c, s.v_next, s.dt, 0.0):
        fly_past(address, m, s, c, s.dt)


@kernel
def put_path(m, s, c, i):
    """The motion of link i from q to q_next."""
    n, com = m.q_begin[i], get3(m.com, i)
    here = quaternion_at(s.q, n + 3)
    turn = quaternion_product(conjugate(here), quaternion_at(s.q_next, n + 3))
    step = (s.q_next[n] - s.q[n], s.q_next[n + 1] - s.q[n + 1], s.q_next[n + 2] - s.q[n + 2])
    T = quaternion_matrix(turn[0], turn[1], turn[2], turn[3])
    path = add(rotate_back(quaternion_matrix(here[0], here[1], here[2], here[3]), step), sub(rotate(T, com), com))
    put_move(m, c, i, path, quaternion_log(turn), HARMLESS)


@kernel
def put_end(m, s, c, i):
    """q_next of link i after its FRACTION of the motion, with the same velocity of its centre in the world."""
    n, j, t, com = m.q_begin[i], m.axis_v[m.axis_begin[i]], c.move[i, FRACTION], get3(m.com, i)
    here, there = quaternion_at(s.q, n + 3), quaternion_at(s.q_next, n + 3)
    x, y, z = scale(t, part(c.move, i, 6))
    some = quaternion_product(here, quaternion_exp(x, y, z))
    R, S = quaternion_matrix(here[0], here[1], here[2], here[3]), quaternion_matrix(some[0], some[1], some[2], some[3])
    # of the centre of mass, in the axes of the joint
    path = rotate(R, rotate_back(get9(c.link_R, i), scale(t, part(c.move, i, 3))))
    p = sub(add(add((s.q[n], s.q[n + 1], s.q[n + 2]), rotate(R, com)), path), rotate(S, com))
    s.q_next[n], s.q_next[n + 1], s.q_next[n + 2] = p
    put_quaternion(s.q_next, n + 3, some)
    lever = cross((s.v_next[j], s.v_next[j + 1], s.v_next[j + 2]), com)
    u = add((s.v_next[j + 3], s.v_next[j + 4], s.v_next[j + 5]), lever)
    u = rotate_back(S, rotate(quaternion_matrix(there[0], there[1], there[2], there[3]), u))
    s.v_next[j + 3], s.v_next[j + 4], s.v_next[j + 5] = sub(u, lever)


@shared("void(intp)")
def stay_outside(address):
    """After positions: q_next of what is fast ends before what it would pass through."""
    m, _, _, c, _, s = load(address)
    if not any_fast(m, s, c, s.shift, s.dt, HARMLESS):
        return
    for i in range(1, m.parent.shape[0]):
        if s.lone[i] and m.kind[i] == FREE:
            put_path(m, s, c, i)
    hold_back(s.collision)
    for i in range(1, m.parent.shape[0]):
        if c.fast[i] and c.move[i, FRACTION] < 1.0:
            put_end(m, s, c, i)
