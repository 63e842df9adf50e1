"""The articulated-body algorithm as AMELIF prints it: world coordinates, 1987 notation, branched (reference 6.1b).

Motions (w; v_O) and forces (f; n_O) are line vectors at the world's origin; one cross operator; spatial transpose
[A_up; A_dn]^S = [A_dn^T, A_up^T].  Gravity is one of the external forces.
"""

import numpy as np
from oracles.trees import Link, skew


def cross(a):
    return np.block([[skew(a[:3]), np.zeros((3, 3))], [skew(a[3:]), skew(a[:3])]])


def spatial_transpose(A):
    return np.hstack([A[3:].T, A[:3].T])


def aba_printed(tree: list[Link], gravity, q, v, tau, f_world):
    """f_world[i] (6,): (torque, force), world axes, at body i's origin; a free root, no armature; returns a."""
    n, a = len(tree), np.zeros(len(v))
    R, p, S, vel, c, pv, IA = ([None] * n for _ in range(7))
    for i, b in enumerate(tree):
        Rj, pj = b.joint(q)
        R[i], p[i] = (R[b.parent] @ Rj, p[b.parent] + R[b.parent] @ pj) if b.parent >= 0 else (Rj, pj)
        X = np.block([[R[i], np.zeros((3, 3))], [skew(p[i]) @ R[i], R[i]]])
        S[i] = X @ b.S
        before = vel[b.parent] if b.parent >= 0 else np.zeros(6)
        vel[i] = before + S[i] @ v[b.v]
        c[i] = cross(before) @ S[i] @ v[b.v]
        com, I = p[i] + R[i] @ b.com, R[i] @ b.inertia @ R[i].T
        K = skew(com)
        IA[i] = np.block([[b.mass * K.T, b.mass * np.eye(3)], [I + b.mass * K @ K.T, b.mass * K]])
        torque, force = f_world[i][:3], f_world[i][3:]
        fE = np.r_[force + b.mass * gravity, torque + np.cross(p[i], force) + np.cross(com, b.mass * gravity)]
        pv[i] = cross(vel[i]) @ IA[i] @ vel[i] - fE
    h, d, u = [None] * n, [None] * n, [None] * n
    for i in range(n - 1, -1, -1):
        b = tree[i]
        h[i] = IA[i] @ S[i]
        SS = spatial_transpose(S[i])
        d[i] = SS @ h[i]
        # S^S F Q = Q: the joint's force map is dual to its motion map
        u[i] = tau[b.v] - spatial_transpose(h[i]) @ c[i] - SS @ pv[i]
        if b.parent >= 0:
            IA[b.parent] = IA[b.parent] + IA[i] - h[i] @ np.linalg.solve(d[i], spatial_transpose(h[i]))
            pv[b.parent] = pv[b.parent] + pv[i] + IA[i] @ c[i] + h[i] @ np.linalg.solve(d[i], u[i])
    acc = [None] * n
    for i, b in enumerate(tree):
        before = acc[b.parent] if b.parent >= 0 else np.zeros(6)
        a[b.v] = np.linalg.solve(d[i], u[i] - spatial_transpose(h[i]) @ before)
        acc[i] = before + c[i] + S[i] @ a[b.v]
    # the free root's coordinates are in its own axes at its origin, with w x v between the two accelerations:
    # S moves with the body here (c = v_parent x S v = 0 at the root), so a is already that of the body axes
    return a
