"""Inverse dynamics of one tree of a World, with forces on its links: tau = H a + C v + G - J^T f (dynamics/rnea.py).

F_i  force that the motion of link i needs, world axes, about the tree's reference point;  links first .. end
"""

from palpate.dynamics.inertia import inertial_force, link_mass
from palpate.dynamics.kinematics import joint_motion
from palpate.jit import kernel
from palpate.model.model import FREE
from palpate.spatial.vectors import add, add6, cross, dot, get3, get6, put6, scale, sub


@kernel
def tree_motion_forces(m, w, first, end, a):
    """F of every link of the tree by itself, at joint accelerations a (nv,); a free root as if it stayed."""
    for i in range(first, end):
        dalpha, da = get6(w.dA, m.parent[i])
        jw, jv = joint_motion(m, w, i, a)
        dalpha, da = add(dalpha, jw), add(da, jv)
        omega, v = get6(w.V, i)
        if i == first and m.kind[i] == FREE:
            da = add(da, cross(omega, get3(w.drift, i)))
        put6(w.dA, i, dalpha, da)
        alpha, acc = get6(w.A, i)
        mass, c, I = link_mass(m, w, i)
        n, f = inertial_force(mass, c, I, omega, v, add(alpha, dalpha), add(acc, da))
        put6(w.F, i, n, f)


@kernel
def push_link(m, w, link, point, force):
    """A force from outside on a link at a point of the world: it needs that much less of its joints."""
    p = sub(point, get3(w.origin, m.root[link]))
    add6(w.F, link, scale(-1.0, cross(p, force)), scale(-1.0, force))


@kernel
def tree_torques(m, w, first, end, a, tau):
    """Inward: what each joint of the tree must do, added to tau; the root's own rows stay as they are."""
    for i in range(end - 1, first, -1):
        n, f = get6(w.F, i)
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            sw, sv = get6(w.S, k)
            j = m.axis_v[k]
            tau[j] += dot(sw, n) + dot(sv, f) + m.axis_ratio[k] * m.axis_ratio[k] * m.armature[k] * a[j]
        add6(w.F, m.parent[i], n, f)
