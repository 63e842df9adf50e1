"""Rigid links in world axes: where their mass is, and the force their motion needs.

c  centre of mass from the reference point;  I  inertia about it, world axes;  (w, v), (al, a)  twist and acceleration
"""

from palpate.jit import kernel
from palpate.spatial.vectors import (
    add,
    add6,
    cross,
    get3,
    get6,
    get9,
    rotate,
    rotate_symmetric,
    scale,
    symmetric_times,
)


@kernel
def link_mass(m, w, i):
    """(mass, c, I) of link i."""
    R = get9(w.R, i)
    a, b = get6(m.inertia, i)
    I = rotate_symmetric(R, (a[0], a[1], a[2], b[0], b[1], b[2]))
    return m.mass[i], add(get3(w.p, i), rotate(R, get3(m.com, i))), I


@kernel
def about_reference(mass, c, I):
    """Inertia about the reference point: I + m (c.c 1 - c c^T), and m c."""
    x, y, z = scale(mass, c)
    return (I[0] + y * c[1] + z * c[2], I[1] + x * c[0] + z * c[2], I[2] + x * c[0] + y * c[1],
            I[3] - x * c[1], I[4] - x * c[2], I[5] - y * c[2]), (x, y, z)  # fmt: skip


@kernel
def inertial_force(mass, c, I, omega, v, alpha, a):
    """(torque, force) about the reference point that gives a link this motion: Newton and Euler.

    f = m (a + al x c + w x (v + w x c));   n = I al + w x I w + c x f
    """
    f = scale(mass, add(add(a, cross(alpha, c)), cross(omega, add(v, cross(omega, c)))))
    n = add(symmetric_times(I, alpha), cross(omega, symmetric_times(I, omega)))
    return add(n, cross(c, f)), f


@kernel
def apply_wrenches(m, wrenches, w):
    """F -= the outside's wrenches (B, 6): (torque, force), world axes, at each body's origin; none when empty."""
    for b in range(1, wrenches.shape[0]):
        i = m.body_link[b]
        n, f = get6(wrenches, b)
        r = add(get3(w.p, i), rotate(get9(w.R, i), get3(m.body_p, b)))
        add6(w.F, i, scale(-1.0, add(n, cross(r, f))), scale(-1.0, f))


@kernel
def push_link(w, link, p, f):
    """F -= a force f from outside on a link at p, from the reference point."""
    add6(w.F, link, scale(-1.0, cross(p, f)), scale(-1.0, f))
