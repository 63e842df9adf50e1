"""A free body by itself: what a wrench does to it, in closed form, with no axis to eliminate after another.

In its own axes, c its centre of mass and I the inertia about it, a wrench (n, f) at its origin makes
    al = I^-1 (n - c x f),   a = f / m - al x c
at rest.  Turning at w it feels n - w x I w instead of n, and a of its coordinates is less by w x (w x c) and w x u, u
the velocity of its origin.
"""

from palpate.conventions import WORLD
from palpate.jit import kernel
from palpate.model.model import FREE
from palpate.spatial.vectors import (
    add,
    cross,
    get3,
    get6,
    get9,
    part3,
    put_part,
    rotate,
    rotate_back,
    scale,
    solve_symmetric,
    sub,
    symmetric_times,
)  # fmt: skip


@kernel
def floats_alone(m, armature, i):
    """Whether link i is a free body by itself, with nothing on its axes but its own inertia."""
    if m.kind[i] != FREE or m.parent[i] != WORLD or (i + 1 < m.parent.shape[0] and m.parent[i + 1] == i):
        return False
    for k in range(m.axis_begin[i], m.axis_begin[i] + 6):
        if armature[k] != 0.0:
            return False
    return True


@kernel
def link_inertia(m, i):
    a, b = get6(m.inertia, i)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def free_response(m, i, n, f):
    """(angular, linear) acceleration of link i, which floats alone, under a wrench; all in its axes at its origin."""
    c = get3(m.com, i)
    alpha = solve_symmetric(link_inertia(m, i), sub(n, cross(c, f)))
    return alpha, add(scale(1.0 / m.mass[i], f), cross(c, alpha))


@kernel
def free_response_in_world(m, w, i, n, f):
    """The same in world axes."""
    R = get9(w.R, i)
    alpha, a = free_response(m, i, rotate_back(R, n), rotate_back(R, f))
    return rotate(R, alpha), rotate(R, a)


@kernel
def accelerate_free(m, tau, w, i, a):
    """a of link i, which floats alone: under tau, what pushes it (-F), gravity and its own turning."""
    R, (n, f), (_, up), j = get9(w.R, i), get6(w.F, i), get6(w.A, i), m.axis_v[m.axis_begin[i]]
    omega, c, I = rotate_back(R, get3(w.V, i)), get3(m.com, i), link_inertia(m, i)
    n = sub(sub(part3(tau, j), rotate_back(R, n)), cross(omega, symmetric_times(I, omega)))
    f = sub(part3(tau, j + 3), rotate_back(R, f))
    alpha, acc = free_response(m, i, n, f)
    turning = cross(omega, add(cross(omega, c), rotate_back(R, get3(w.drift, i))))
    put_part(a, j, alpha)
    put_part(a, j + 3, sub(sub(acc, rotate_back(R, up)), turning))


@kernel
def free_bodies_response(m, tau, w, a):
    """a = H^-1 tau of all that float alone."""
    for i in range(1, m.parent.shape[0]):
        if w.alone[i] != 0 and w.awake[i] != 0:
            j = m.axis_v[m.axis_begin[i]]
            alpha, acc = free_response(m, i, part3(tau, j), part3(tau, j + 3))
            put_part(a, j, alpha)
            put_part(a, j + 3, acc)
