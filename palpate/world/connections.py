"""Connections: two points of two links held together, or two links welded, as rows of the same solve."""

from palpate.contact.assemble import begin_row, put_point
from palpate.contact.project import SHARE
from palpate.contact.rows import POINT, TURN
from palpate.contact.warm import connection_key, recall
from palpate.conventions import WORLD
from palpate.jit import kernel
from palpate.spatial.quaternions import matrix_quaternion, quaternion_log
from palpate.spatial.vectors import add, compose, get3, get9, put3, rotate, scale, sub, transpose

FREE, TIED, WELDED = 0, 1, 2
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@kernel
def put_turn(r, row, side, link):
    """Three angular velocities."""
    for c in range(18):
        r.J[row, 18 * side + c] = 0.0
    if link != WORLD:
        for c in range(3):
            r.J[row, 18 * side + 7 * c] = 1.0 if side else -1.0


@kernel
def connection_rows(m, w, c, s, r):
    """One row of three directions for each point, another of three axes for each weld."""
    share = SHARE / s.dt
    for k in range(s.joined_kind.shape[0]):
        if s.joined_kind[k] == FREE:
            continue
        a, b = s.joined[2 * k], s.joined[2 * k + 1]
        pa = add(get3(c.link_p, a), rotate(get9(c.link_R, a), get3(s.joined_at, 2 * k)))
        pb = add(get3(c.link_p, b), rotate(get9(c.link_R, b), get3(s.joined_at, 2 * k + 1)))
        row = begin_row(r, POINT, a, b)
        if row < 0:
            return
        for side in range(2):
            put_point(m, w, r, row, side, b if side else a, pb if side else pa, X, Y, Z)
        put3(r.push, row, scale(share, sub(pa, pb)))
        recall(r, row, connection_key(k, 0))
        if s.joined_kind[k] != WELDED:
            continue
        row = begin_row(r, TURN, a, b)
        if row < 0:
            return
        put_turn(r, row, 0, a)
        put_turn(r, row, 1, b)
        goal = compose(get9(c.link_R, a), get9(s.joined_R, k))
        error = quaternion_log(matrix_quaternion(compose(goal, transpose(get9(c.link_R, b)))))
        put3(r.push, row, scale(share, error))
        recall(r, row, connection_key(k, 1))
