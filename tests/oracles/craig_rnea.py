"""Inverse dynamics as I-GMS states it: Craig's recursion, floating, branched, external forces (reference 2.1, 2.2).

Revolute and prismatic joints about z of their frame, DH-like: each body is (parent, R0, P0, kind); body 0 the base.
"""

import numpy as np

Z = np.array([0.0, 0.0, 1.0])


def turn(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def craig_rnea(chain, masses, coms, inertias, base, th, thd, thdd, g, externals):
    """chain[i] = (parent, R0, P0, kind) for i > 0; base = (R_B, w_B, wd_B, vd_B); externals[i] = (pE, fE, nE).

    Returns (tau[1:], f_B, n_B), the base wrench in world axes at the base origin.
    """
    n = len(masses)
    R_B, w_B, wd_B, vd_B = base
    w, wd, vd = [R_B.T @ w_B], [R_B.T @ wd_B], [R_B.T @ (vd_B - g)]
    R, P = [R_B], [None]
    for i in range(1, n):
        parent, R0, P0, kind = chain[i]
        if kind == "revolute":
            Ri, Pi = R0 @ turn(th[i]), P0
            T = Ri.T
            w.append(T @ w[parent] + thd[i] * Z)
            wd.append(T @ wd[parent] + np.cross(T @ w[parent], thd[i] * Z) + thdd[i] * Z)
            extra = 0.0
        else:
            Ri, Pi = R0, P0 + R0 @ (th[i] * Z)
            T = Ri.T
            w.append(T @ w[parent])
            wd.append(T @ wd[parent])
            extra = 2.0 * np.cross(w[i], thd[i] * Z) + thdd[i] * Z
        carried = np.cross(wd[parent], Pi) + np.cross(w[parent], np.cross(w[parent], Pi)) + vd[parent]
        vd.append(T @ carried + extra)
        R.append(Ri)
        P.append(Pi)
    f, m = [None] * n, [None] * n
    for i in range(n - 1, -1, -1):
        vc = np.cross(wd[i], coms[i]) + np.cross(w[i], np.cross(w[i], coms[i])) + vd[i]
        F, N = masses[i] * vc, inertias[i] @ wd[i] + np.cross(w[i], inertias[i] @ w[i])
        f[i], m[i] = F, N + np.cross(coms[i], F)
        for j in range(1, n):
            if chain[j][0] == i:
                f[i] = f[i] + R[j] @ f[j]
                m[i] = m[i] + R[j] @ m[j] + np.cross(P[j], R[j] @ f[j])
        pE, fE, nE = externals[i]
        f[i] = f[i] - fE
        m[i] = m[i] - np.cross(pE, fE) - nE
    tau = np.array([(m if chain[i][3] == "revolute" else f)[i] @ Z for i in range(1, n)])
    return tau, R_B @ f[0], R_B @ m[0]
