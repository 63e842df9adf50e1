"""Forward dynamics: the articulated-body algorithm.  Featherstone 2008, section 7.3; world-aligned, see kinematics.py.

With every acceleration split into what it is at zero qdd (A, known outward) and what qdd adds (dA), the forces pA are
those of inverse dynamics at zero qdd and the inward pass carries no velocity products.  Axes of one joint are
eliminated one after another, last first, which is the LDL^T factor of the joint's own block D.

IA  articulated inertia [[A, B], [B^T, C]], A and C symmetric;  pA  its bias force;  U = IA S;  D = S.U + armature
u = tau - S.pA;  IA' = IA - U U^T / D;  pA' = pA + U u / D;  qdd = (u - U.dA) / D
"""

from palpate.conventions import WORLD
from palpate.dynamics.inertia import about_reference, apply_wrenches, inertial_force, link_mass
from palpate.dynamics.kinematics import kinematics
from palpate.jit import kernel
from palpate.model.model import FREE
from palpate.spatial.vectors import add6, add_scaled, cross, dot, get3, get6, get9, put6, rotate_back


@kernel
def articulated_times(A, B, C, w, v):
    """IA (w, v)."""
    return (A[0] * w[0] + A[3] * w[1] + A[4] * w[2] + B[0] * v[0] + B[1] * v[1] + B[2] * v[2],
            A[3] * w[0] + A[1] * w[1] + A[5] * w[2] + B[3] * v[0] + B[4] * v[1] + B[5] * v[2],
            A[4] * w[0] + A[5] * w[1] + A[2] * w[2] + B[6] * v[0] + B[7] * v[1] + B[8] * v[2]), (
            B[0] * w[0] + B[3] * w[1] + B[6] * w[2] + C[0] * v[0] + C[3] * v[1] + C[4] * v[2],
            B[1] * w[0] + B[4] * w[1] + B[7] * w[2] + C[3] * v[0] + C[1] * v[1] + C[5] * v[2],
            B[2] * w[0] + B[5] * w[1] + B[8] * w[2] + C[4] * v[0] + C[5] * v[1] + C[2] * v[2])  # fmt: skip


@kernel
def less_square(A, B, C, n, f, d):
    """IA - d (n, f) (n, f)^T."""
    x, y, z = d * n[0], d * n[1], d * n[2]
    r, s, t = d * f[0], d * f[1], d * f[2]
    return (
        (A[0] - x * n[0], A[1] - y * n[1], A[2] - z * n[2], A[3] - x * n[1], A[4] - x * n[2], A[5] - y * n[2]),
        (B[0] - x * f[0], B[1] - x * f[1], B[2] - x * f[2],
         B[3] - y * f[0], B[4] - y * f[1], B[5] - y * f[2],
         B[6] - z * f[0], B[7] - z * f[1], B[8] - z * f[2]),
        (C[0] - r * f[0], C[1] - s * f[1], C[2] - t * f[2], C[3] - r * f[1], C[4] - r * f[2], C[5] - s * f[2]),
    )  # fmt: skip


@kernel
def get_articulated(IA, i):
    return (
        (IA[i, 0], IA[i, 1], IA[i, 2], IA[i, 3], IA[i, 4], IA[i, 5]),
        (IA[i, 6], IA[i, 7], IA[i, 8], IA[i, 9], IA[i, 10], IA[i, 11], IA[i, 12], IA[i, 13], IA[i, 14]),
        (IA[i, 15], IA[i, 16], IA[i, 17], IA[i, 18], IA[i, 19], IA[i, 20]),
    )


@kernel
def put_articulated(IA, i, A, B, C):
    for j in range(6):
        IA[i, j] = A[j]
        IA[i, 15 + j] = C[j]
    for j in range(9):
        IA[i, 6 + j] = B[j]


@kernel
def add_articulated(IA, i, A, B, C):
    for j in range(6):
        IA[i, j] += A[j]
        IA[i, 15 + j] += C[j]
    for j in range(9):
        IA[i, 6 + j] += B[j]


@kernel
def start(m, w):
    """Each link by itself: its rigid inertia as IA, the force it needs at zero qdd as pA (kept in F)."""
    for i in range(1, m.parent.shape[0]):
        alpha, a = get6(w.A, i)
        omega, v = get6(w.V, i)
        mass, c, I = link_mass(m, w, i)
        n, f = inertial_force(mass, c, I, omega, v, alpha, a)
        put6(w.F, i, n, f)
        A, mc = about_reference(mass, c, I)  # with B = m [c]x and C = m 1
        B = (0.0, -mc[2], mc[1], mc[2], 0.0, -mc[0], -mc[1], mc[0], 0.0)
        put_articulated(w.IA, i, A, B, (mass, mass, mass, 0.0, 0.0, 0.0))


@kernel
def eliminate(m, tau, armature, w):
    """Inward: take each axis out of IA and pA and hand the rest to the parent.

    armature  (A,) the model's, or with what implicit springs and dampers add: dt kv + dt^2 kp
    """
    for i in range(m.parent.shape[0] - 1, 0, -1):
        A, B, C = get_articulated(w.IA, i)
        n, f = get6(w.F, i)
        for k in range(m.axis_begin[i] + m.axis_count[i] - 1, m.axis_begin[i] - 1, -1):
            sw, sv = get6(w.S, k)
            Un, Uf = articulated_times(A, B, C, sw, sv)
            D_inv = 1.0 / (dot(sw, Un) + dot(sv, Uf) + armature[k])
            u = tau[m.axis_v[k]] - dot(sw, n) - dot(sv, f)
            put6(w.U, k, Un, Uf)
            w.D_inv[k] = D_inv
            w.u[k] = u
            A, B, C = less_square(A, B, C, Un, Uf, D_inv)
            n, f = add_scaled(n, u * D_inv, Un), add_scaled(f, u * D_inv, Uf)
        parent = m.parent[i]
        if parent != WORLD:
            add_articulated(w.IA, parent, A, B, C)
            add6(w.F, parent, n, f)


@kernel
def accelerate(m, w, a):
    """Outward: the accelerations."""
    for i in range(1, m.parent.shape[0]):
        dalpha, da = get6(w.dA, m.parent[i])
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            Un, Uf = get6(w.U, k)
            qdd = (w.u[k] - dot(Un, dalpha) - dot(Uf, da)) * w.D_inv[k]
            sw, sv = get6(w.S, k)
            dalpha, da = add_scaled(dalpha, qdd, sw), add_scaled(da, qdd, sv)
            a[m.axis_v[k]] = qdd
        put6(w.dA, i, dalpha, da)
        if m.parent[i] == WORLD and m.kind[i] == FREE:  # back to coordinates: less w x drift, in body axes
            x, y, z = rotate_back(get9(w.R, i), cross(get3(w.V, i), get3(w.drift, i)))
            j = m.axis_v[m.axis_begin[i] + 3]
            a[j] -= x
            a[j + 1] -= y
            a[j + 2] -= z


@kernel
def articulated(m, tau, armature, wrenches, w, a):
    """The algorithm itself, after `kinematics`."""
    start(m, w)
    apply_wrenches(m, wrenches, w)
    eliminate(m, tau, armature, w)
    accelerate(m, w, a)


@kernel
def aba(m, q, v, tau, wrenches, w, a):
    """a = H^-1 (tau + J^T wrenches - C v - G), for models without mimic joints."""
    kinematics(m, q, v, w)
    articulated(m, tau, m.armature, wrenches, w, a)
