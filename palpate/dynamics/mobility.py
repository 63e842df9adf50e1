"""What a push at a point feels: the inverse inertia W = J H^-1 J^T there, from the factors that `aba` left behind.

Test forces, one per direction: inward along the links that carry the point, outward back to it; O(depth) each.
Khatib 1987 calls W^-1 the operational-space inertia; W itself stays finite in singular poses.
"""

from palpate.conventions import WORLD
from palpate.dynamics.free_body import free_response_in_world
from palpate.jit import kernel
from palpate.spatial.vectors import add, add_scaled, cross, dot, get6, scale

ZERO, ZERO6 = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def acceleration_per_wrench(m, w, link, torque, force):
    """(angular, linear) acceleration of a link under a wrench on it, both about the reference point.

    U, D_inv are those of the last `aba`; overwrites u and path.
    """
    if w.alone[link]:
        return free_response_in_world(m, w, link, torque, force)
    n, f = scale(-1.0, torque), scale(-1.0, force)  # pA of a wrench from the outside
    depth, i = 0, link
    while i != WORLD:
        w.path[depth] = i
        depth += 1
        for k in range(m.axis_begin[i] + m.axis_count[i] - 1, m.axis_begin[i] - 1, -1):
            sw, sv = get6(w.S, k)
            u = -dot(sw, n) - dot(sv, f)
            Un, Uf = get6(w.U, k)
            n, f = add_scaled(n, u * w.D_inv[k], Un), add_scaled(f, u * w.D_inv[k], Uf)
            w.u[k] = u
        i = m.parent[i]
    alpha, a = ZERO, ZERO
    for step in range(depth - 1, -1, -1):
        i = w.path[step]
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            Un, Uf = get6(w.U, k)
            qdd = (w.u[k] - dot(Un, alpha) - dot(Uf, a)) * w.D_inv[k]
            sw, sv = get6(w.S, k)
            alpha, a = add_scaled(alpha, qdd, sw), add_scaled(a, qdd, sv)
    return alpha, a


@kernel
def push_response(m, w, link, p, direction):
    """Linear acceleration of point p [from the reference point] of a link under a unit force there."""
    alpha, a = acceleration_per_wrench(m, w, link, cross(p, direction), direction)
    return add(a, cross(alpha, p))


@kernel
def twist_response(m, w, link, direction):
    """Angular acceleration of a link under a unit torque."""
    alpha, _ = acceleration_per_wrench(m, w, link, direction, ZERO)
    return alpha


@kernel
def put_column(W, k, x):
    """W with column k of the matrix taken from x."""
    if k == 0:
        return (x[0], W[1], W[2], x[1], x[2], W[5])
    if k == 1:
        return (W[0], x[1], W[2], W[3], W[4], x[2])
    return (W[0], W[1], x[2], W[3], W[4], W[5])


@kernel
def unit(k):
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def point_mobility(m, w, link, p):
    """W (3x3, symmetric: xx, yy, zz, xy, xz, yz) [1/kg] of point p of a link."""
    W = ZERO6
    for k in range(3):  # a loop, so that the response is compiled once
        W = put_column(W, k, push_response(m, w, link, p, unit(k)))
    return W


@kernel
def turn_mobility(m, w, link):
    """The same for turning [1/(kg m^2)]."""
    W = ZERO6
    for k in range(3):
        W = put_column(W, k, twist_response(m, w, link, unit(k)))
    return W
