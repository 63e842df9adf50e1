"""Inverse dynamics: recursive Newton-Euler.  Featherstone 2008, section 5.3; world-aligned, see kinematics.py.

F_i    force that the motion of link i, and of all it carries, needs
tau_k  = S_k . F_i + armature_k a_k
"""

from palpate.conventions import WORLD
from palpate.dynamics.inertia import apply_wrenches, inertial_force, link_mass
from palpate.dynamics.kinematics import joint_motion, kinematics
from palpate.jit import kernel
from palpate.model.model import FREE
from palpate.spatial.vectors import add, add6, cross, dot, get3, get6, put6


@kernel
def motion_forces(m, a, w):
    """F of every link by itself, at acceleration A + S a."""
    tree_motion_forces(m, a, w, 1, m.parent.shape[0])


@kernel
def tree_motion_forces(m, a, w, first, end):
    """The same of links first .. end, one tree or several."""
    for i in range(first, end):
        dalpha, da = get6(w.dA, m.parent[i])
        jw, jv = joint_motion(m, w, i, a)
        dalpha, da = add(dalpha, jw), add(da, jv)
        omega, v = get6(w.V, i)
        if m.parent[i] == WORLD and m.kind[i] == FREE:
            da = add(da, cross(omega, get3(w.drift, i)))
        put6(w.dA, i, dalpha, da)
        alpha, acc = get6(w.A, i)
        mass, c, I = link_mass(m, w, i)
        n, f = inertial_force(mass, c, I, omega, v, add(alpha, dalpha), add(acc, da))
        put6(w.F, i, n, f)


@kernel
def project_forces(m, a, w, tau):
    """Inward: carry F to the parents, and take from it each joint's share tau."""
    tau[:] = 0.0
    add_projected(m, a, w, 1, m.parent.shape[0], tau)


@kernel
def add_projected(m, a, w, first, end, tau):
    """The same of links first .. end, added to tau."""
    for i in range(end - 1, first - 1, -1):
        n, f = get6(w.F, i)
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            sw, sv = get6(w.S, k)
            j = m.axis_v[k]
            tau[j] += dot(sw, n) + dot(sv, f) + m.axis_ratio[k] * m.axis_ratio[k] * m.armature[k] * a[j]
        add6(w.F, m.parent[i], n, f)


@kernel
def rnea(m, q, v, a, wrenches, w, tau):
    """tau = H a + C v + G - J^T wrenches."""
    kinematics(m, q, v, w)
    motion_forces(m, a, w)
    apply_wrenches(m, wrenches, w)
    project_forces(m, a, w, tau)
