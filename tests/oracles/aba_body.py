"""The articulated-body algorithm in body coordinates, as in Featherstone 2008 (reference 6.1a)."""

import numpy as np
from oracles.trees import Link, skew


def crm(v):
    return np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])


def spatial_inertia(m, c, I):
    C = skew(c)
    return np.block([[I + m * C @ C.T, m * C], [m * C.T, m * np.eye(3)]])


def aba_body(tree: list[Link], gravity, q, v, tau, f_ext, armature):
    """f_ext[i] (6,): (torque, force) on body i in its own axes at its origin; returns a."""
    n, a = len(tree), np.zeros(len(v))
    X, vel, c, IA, pA, U, D, u = ([None] * n for _ in range(8))
    for i, b in enumerate(tree):
        R, p = b.joint(q)
        E = R.T
        X[i] = np.block([[E, np.zeros((3, 3))], [-E @ skew(p), E]])
        joint = b.S @ v[b.v]
        vel[i] = joint + (X[i] @ vel[b.parent] if b.parent >= 0 else 0.0)
        c[i] = crm(vel[i]) @ joint
        IA[i] = spatial_inertia(b.mass, b.com, b.inertia)
        pA[i] = -crm(vel[i]).T @ IA[i] @ vel[i] - f_ext[i]
    for i in range(n - 1, -1, -1):
        b = tree[i]
        U[i] = IA[i] @ b.S
        D[i] = b.S.T @ U[i] + np.diag(armature[b.v])
        u[i] = tau[b.v] - b.S.T @ pA[i]
        if b.parent >= 0:
            Ia = IA[i] - U[i] @ np.linalg.solve(D[i], U[i].T)
            pa = pA[i] + Ia @ c[i] + U[i] @ np.linalg.solve(D[i], u[i])
            IA[b.parent] = IA[b.parent] + X[i].T @ Ia @ X[i]
            pA[b.parent] = pA[b.parent] + X[i].T @ pa
    acc = [None] * n
    for i, b in enumerate(tree):
        before = X[i] @ (acc[b.parent] if b.parent >= 0 else np.r_[0, 0, 0, -gravity]) + c[i]
        a[b.v] = np.linalg.solve(D[i], u[i] - U[i].T @ before)
        acc[i] = before + b.S @ a[b.v]
    return a
