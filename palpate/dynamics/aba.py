"""Forward dynamics: the articulated-body algorithm.  Featherstone 2008, section 7.3; world-aligned, see kinematics.py.

With every acceleration split into what it is at zero qdd (A, known outward) and what qdd adds (dA), the forces pA are
those of inverse dynamics at zero qdd and the inward pass carries no velocity products.  Axes of one joint are
eliminated one after another, last first, which is the LDL^T factor of the joint's own block D.

IA  articulated inertia, 6 x 6, symmetric;  pA  its bias force;  U = IA S;  D = S.U + armature
u = tau - S.pA;  IA' = IA - U U^T / D;  pA' = pA + U u / D;  qdd = (u - U.dA) / D
"""

from palpate.conventions import WORLD
from palpate.dynamics.free_body import accelerate_free, floats_alone, free_bodies_response
from palpate.dynamics.inertia import about_reference, apply_wrenches, inertial_force, link_mass
from palpate.dynamics.kinematics import ZERO, kinematics
from palpate.jit import kernel
from palpate.jit.six import inner, lane, no_six, plus, plus_times, put_six, six, times
from palpate.model.model import FREE
from palpate.spatial.vectors import (
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    part3,
    put6,
    put_part,
    rotate_back,
    sub,
)  # fmt: skip


@kernel
def put_rigid(IA, i, A, mc, mass):
    """IA_i of a rigid link: [[A, m [c]x], [-m [c]x, m 1]], A symmetric."""
    x, y, z = mc
    rows = (
        (A[0], A[3], A[4], 0.0, -z, y),
        (A[3], A[1], A[5], z, 0.0, -x),
        (A[4], A[5], A[2], -y, x, 0.0),
        (0.0, z, -y, mass, 0.0, 0.0),
        (-z, 0.0, x, 0.0, mass, 0.0),
        (y, -x, 0.0, 0.0, 0.0, mass),
    )
    for r in range(6):
        for c in range(6):
            IA[i, 6 * r + c] = rows[r][c]


@kernel
def times_axis(IA, i, S, k):
    """IA_i S_k, by rows since IA is symmetric."""
    U, V = times(S[k, 0], six(IA, i, 0)), times(S[k, 1], six(IA, i, 6))  # two sums, that do not wait for each other
    for r in range(2, 6, 2):
        U, V = plus_times(U, S[k, r], six(IA, i, 6 * r)), plus_times(V, S[k, r + 1], six(IA, i, 6 * r + 6))
    return plus(U, V)


@kernel
def start(m, armature, w):
    """Each link by itself: its rigid inertia as IA, the force it needs at zero qdd as pA (kept in F).

    What floats alone needs neither (free_body.py): its F begins at zero.
    """
    for i in range(1, m.parent.shape[0]):
        if w.awake[i] == 0:
            continue
        w.alone[i] = floats_alone(m, armature, i)
        if w.alone[i]:
            put6(w.F, i, ZERO, ZERO)
            continue
        alpha, a = get6(w.A, i)
        omega, v = get6(w.V, i)
        mass, c, I = link_mass(m, w, i)
        n, f = inertial_force(mass, c, I, omega, v, alpha, a)
        put6(w.F, i, n, f)
        A, mc = about_reference(mass, c, I)
        put_rigid(w.IA, i, A, mc, mass)


@kernel
def eliminate(m, tau, armature, w):
    """Inward: take each axis out of IA and pA and hand the rest to the parent.

    armature  (A,) the model's, or with what implicit springs and dampers add: dt kv + dt^2 kp
    """
    for n in range(w.inward.shape[0]):
        i = w.inward[n]
        if w.awake[i] == 0 or w.alone[i] != 0:
            continue
        F, first, parent = six(w.F, i, 0), m.axis_begin[i], m.parent[i]
        for k in range(first + m.axis_count[i] - 1, first - 1, -1):
            S, U = six(w.S, k, 0), times_axis(w.IA, i, w.S, k)
            D_inv = 1.0 / (inner(S, U) + armature[k])
            u = tau[m.axis_v[k]] - inner(S, F)
            put_six(w.U, k, 0, U)
            w.D_inv[k] = D_inv
            w.u[k] = u
            d, F = times(-D_inv, U), plus_times(F, u * D_inv, U)
            if k > first:
                for r in range(6):
                    put_six(w.IA, i, 6 * r, plus_times(six(w.IA, i, 6 * r), lane(d, r), U))
            elif parent != WORLD:  # the last: straight to the parent
                for r in range(6):
                    rest = plus_times(six(w.IA, i, 6 * r), lane(d, r), U)
                    put_six(w.IA, parent, 6 * r, plus(six(w.IA, parent, 6 * r), rest))
                put_six(w.F, parent, 0, plus(six(w.F, parent, 0), F))


@kernel
def accelerate(m, w, a):
    """Outward: the accelerations, of a free root before `accelerate_free_roots`."""
    for n in range(w.inward.shape[0] - 1, -1, -1):
        i = w.inward[n]
        if w.awake[i] == 0 or w.alone[i] != 0:
            continue
        dalpha, da = get6(w.dA, m.parent[i])
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            Un, Uf = get6(w.U, k)
            qdd = (w.u[k] - dot(Un, dalpha) - dot(Uf, da)) * w.D_inv[k]
            sw, sv = get6(w.S, k)
            dalpha, da = add_scaled(dalpha, qdd, sw), add_scaled(da, qdd, sv)
            a[m.axis_v[k]] = qdd
        put6(w.dA, i, dalpha, da)


@kernel
def accelerate_free_roots(m, tau, w, a):
    """a of links that float alone; other free roots' back to coordinates: less w x drift, in their axes."""
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] != FREE or m.parent[i] != WORLD or w.awake[i] == 0:
            continue
        if w.alone[i]:
            accelerate_free(m, tau, w, i, a)
        else:
            j = m.axis_v[m.axis_begin[i] + 3]
            drifting = rotate_back(get9(w.R, i), cross(get3(w.V, i), get3(w.drift, i)))
            put_part(a, j, sub(part3(a, j), drifting))


@kernel
def articulated(m, tau, armature, wrenches, w, a):
    """The algorithm itself, after `kinematics`."""
    start(m, armature, w)
    apply_wrenches(m, wrenches, w)
    eliminate(m, tau, armature, w)
    accelerate(m, w, a)
    accelerate_free_roots(m, tau, w, a)


@kernel
def eliminate_again(m, tau, w):
    """Inward, forces only: pA in F, with the factors that `eliminate` left."""
    for n in range(w.inward.shape[0]):
        i = w.inward[n]
        if w.awake[i] == 0 or w.alone[i] != 0:
            continue
        F, first, parent = six(w.F, i, 0), m.axis_begin[i], m.parent[i]
        for k in range(first + m.axis_count[i] - 1, first - 1, -1):
            u = tau[m.axis_v[k]] - inner(six(w.S, k, 0), F)
            w.u[k] = u
            F = plus_times(F, u * w.D_inv[k], six(w.U, k, 0))
        if parent != WORLD:
            put_six(w.F, parent, 0, plus(six(w.F, parent, 0), F))


@kernel
def articulated_again(m, tau, wrenches, w, a):
    """The same with the inertias of the last `articulated` and the V, A that `velocities` wrote since: forces only."""
    for i in range(1, m.parent.shape[0]):
        if w.awake[i] == 0:
            continue
        if w.alone[i]:
            put6(w.F, i, ZERO, ZERO)
            continue
        alpha, acc = get6(w.A, i)
        omega, v = get6(w.V, i)
        mass, c, I = link_mass(m, w, i)
        n, f = inertial_force(mass, c, I, omega, v, alpha, acc)
        put6(w.F, i, n, f)
    apply_wrenches(m, wrenches, w)
    eliminate_again(m, tau, w)
    accelerate(m, w, a)
    accelerate_free_roots(m, tau, w, a)


@kernel
def response(m, tau, w, a):
    """a = H^-1 tau with the inertias of the last `articulated`."""
    for i in range(1, m.parent.shape[0]):
        if w.awake[i] == 0:
            continue
        put_six(w.F, i, 0, no_six())
    eliminate_again(m, tau, w)
    accelerate(m, w, a)
    free_bodies_response(m, tau, w, a)


@kernel
def aba(m, q, v, tau, wrenches, w, a):
    """a = H^-1 (tau + J^T wrenches - C v - G), for models without mimic joints."""
    kinematics(m, q, v, w)
    articulated(m, tau, m.armature, wrenches, w, a)
