"""Poses, motions and Jacobians of bodies, read from what `kinematics` wrote."""

from palpate.conventions import WORLD
from palpate.jit import kernel
from palpate.spatial.vectors import add, compose, cross, get3, get6, get9, rotate


@kernel
def body_frame(m, w, body):
    """(R, p) of a body: R to world axes, p from the tree's reference point."""
    i = m.body_link[body]
    R = get9(w.R, i)
    return compose(R, get9(m.body_R, body)), add(get3(w.p, i), rotate(R, get3(m.body_p, body)))


@kernel
def point_motion(m, w, body, at_body):
    """(lever, p, point, velocity, spin) of a point of a body, given in its axes; from what `velocities` wrote too.

    lever  from the body's origin;  p  from the tree's reference point;  point, velocity  in the world
    """
    link = m.body_link[body]
    root = m.root[link]
    R, origin = body_frame(m, w, body)
    lever = rotate(R, at_body)
    p = add(origin, lever)
    spin, u = get6(w.V, link)
    velocity = add(get3(w.drift, root), add(u, cross(spin, p)))
    return lever, p, add(get3(w.origin, root), p), velocity, spin


@kernel
def body_pose(m, w, body, X):
    """X[body] (4, 4): the body in the world."""
    R, p = body_frame(m, w, body)
    origin = get3(w.origin, m.root[m.body_link[body]])
    for r in range(3):
        for c in range(3):
            X[body, r, c] = R[3 * r + c]
        X[body, r, 3] = origin[r] + p[r]
        X[body, 3, r] = 0.0
    X[body, 3, 3] = 1.0


@kernel
def point_jacobian(m, w, i, p, J):
    """J (6, nv): (angular, linear) velocity, world axes, of the point p [from the reference point] moving with link i.

    Column of axis k: (S_w, S_v + S_w x p)
    """
    J[:, :] = 0.0
    while i != WORLD:
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            sw, sv = get6(w.S, k)
            u = add(sv, cross(sw, p))
            j = m.axis_v[k]
            for r in range(3):
                J[r, j] += sw[r]
                J[3 + r, j] += u[r]
        i = m.parent[i]
