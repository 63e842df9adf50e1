"""The device's equations of motion in its pose.  Reference on planar haptics, 1.6.

M X'' + C X' + A^T b_q A X' = A^T tau + f_h

Every body's velocity is linear in V = X', so with J_k of body k and its inertia I_k
    M = sum J^T I J            C V = sum J^T I (J' V)           C^T V = sum J'^T I (J V)
exactly, C that of the Christoffel symbols: J' V is the body's acceleration at X'' = 0, and J'(V) W is symmetric in V
and W.  No derivative of M is taken.  Of one leg, with q' = A_i V:
    elbow E' = t q',  E'' = t q'' - e q'^2        end point P' = J_P V,  P'' = -sy r theta'^2 u
    from |P - E| = l2:  q''(V, W) = (w.P''(V, W) + (w.e) q'(V) q'(W) + w'(V).w'(W)) / (w.t)
    distal link: middle (E + P)/2, turning at (w x w')/l2^2, w' = P' - E'
Symmetric matrices are (xx, xy, xt, yy, yt, tt).
"""

import math

from palpate.jit import kernel, stage
from palpate.planar.pantograph.kinematics import elbows, elbows_of, jacobian_of, row
from palpate.planar.pantograph.statics import gram, joint_rates, wrench_of
from palpate.spatial.vectors import add, dot, scale

ZERO = (0.0, 0.0, 0.0)


@kernel
def plus_square(M, k, a):
    """M + k a a^T."""
    x, y, t = a
    return (M[0] + k * x * x, M[1] + k * x * y, M[2] + k * x * t, M[3] + k * y * y, M[4] + k * y * t, M[5] + k * t * t)


@kernel
def times(M, v):
    """M v."""
    return (
        M[0] * v[0] + M[1] * v[1] + M[2] * v[2], M[1] * v[0] + M[3] * v[1] + M[4] * v[2],
        M[2] * v[0] + M[4] * v[1] + M[5] * v[2],
    )  # fmt: skip


@kernel
def solve(M, f):
    """M^-1 f of a positive definite M, by its factors."""
    l1, l2 = M[1] / M[0], M[2] / M[0]
    d = M[3] - l1 * M[1]
    k = M[4] - l1 * M[2]
    l3 = k / d
    y = f[1] - l1 * f[0]
    t = (f[2] - l2 * f[0] - l3 * y) / (M[5] - l2 * M[2] - l3 * k)
    y = y / d - l3 * t
    return (f[0] / M[0] - l1 * y - l2 * t, y, t)


@kernel
def distal(m, c, s, e, a, w, sy):
    """(rows of the middle's Jacobian J_c in x, y; that of the angular rate J_phi) of one leg's distal link."""
    ex = (-e[1] * a[0], -e[1] * a[1], -e[1] * a[2])  # J_E = t A_i
    ey = (e[0] * a[0], e[0] * a[1], e[0] * a[2])
    ux, uy = -sy * m.r * s, sy * m.r * c
    k = 1.0 / (m.l2 * m.l2)
    turn = (
        k * (-w[0] * ey[0] - w[1] * (1.0 - ex[0])), k * (w[0] * (1.0 - ey[1]) + w[1] * ex[1]),
        k * (w[0] * (uy - ey[2]) - w[1] * (ux - ex[2])),
    )  # fmt: skip
    cx = (0.5 * (ex[0] + 1.0), 0.5 * ex[1], 0.5 * (ex[2] + ux))
    cy = (0.5 * ey[0], 0.5 * (ey[1] + 1.0), 0.5 * (ey[2] + uy))
    return cx, cy, turn


@kernel
def plus_leg(M, m, X, c, s, e, sx, sy):
    a, w = row(m, X, c, s, e, sx, sy)
    cx, cy, turn = distal(m, c, s, e, a, w, sy)
    return plus_square(plus_square(plus_square(plus_square(M, m.J1, a), m.m2, cx), m.m2, cy), m.I2, turn)


@kernel
def mass_of(m, X, e):
    """M from the elbows."""
    c, s = math.cos(X[2]), math.sin(X[2])
    M = (m.mc, 0.0, 0.0, m.mc, 0.0, m.Ic)
    M = plus_leg(M, m, X, c, s, e[0], -1.0, -1.0)
    M = plus_leg(M, m, X, c, s, e[1], 1.0, -1.0)
    M = plus_leg(M, m, X, c, s, e[2], 1.0, 1.0)
    return plus_leg(M, m, X, c, s, e[3], -1.0, 1.0)


@kernel
def mass_matrix(m, X, q, A):
    """M; A is not needed, and taken so that whoever has it says so."""
    return mass_of(m, X, elbows_of(m, q))


@kernel
def leg_second(m, X, c, s, e, sx, sy, V, W):
    """(row a, q''; rows cx, cy and the middle's acceleration; row turn and its rate) of one leg for J'(V) W."""
    a, w = row(m, X, c, s, e, sx, sy)
    cx, cy, turn = distal(m, c, s, e, a, w, sy)
    qv, qw = dot(a, V), dot(a, W)
    ux, uy = -sy * m.r * s, sy * m.r * c
    vx, vy = V[0] + ux * V[2] + e[1] * qv, V[1] + uy * V[2] - e[0] * qv  # w' = P' - E'
    wx, wy = W[0] + ux * W[2] + e[1] * qw, W[1] + uy * W[2] - e[0] * qw
    px, py = -sy * m.r * c * V[2] * W[2], -sy * m.r * s * V[2] * W[2]  # P''
    fast = qv * qw
    q2 = (w[0] * (px + e[0] * fast) + w[1] * (py + e[1] * fast) + vx * wx + vy * wy) / (w[1] * e[0] - w[0] * e[1])
    ex, ey = -e[1] * q2 - e[0] * fast, e[0] * q2 - e[1] * fast  # E''
    spin = (w[0] * (py - ey) - w[1] * (px - ex)) / (m.l2 * m.l2)  # w' x w' is nothing
    return a, q2, cx, cy, (0.5 * (ex + px), 0.5 * (ey + py)), turn, spin


@kernel
def plus_coriolis(f, m, X, c, s, e, sx, sy, V):
    a, q2, cx, cy, middle, turn, spin = leg_second(m, X, c, s, e, sx, sy, V, V)
    f = add(f, scale(m.J1 * q2, a))
    f = add(f, add(scale(m.m2 * middle[0], cx), scale(m.m2 * middle[1], cy)))
    return add(f, scale(m.I2 * spin, turn))


@kernel
def coriolis_of(m, X, e, V):
    """C V from the elbows; the crank's own velocity is V, so it has no part."""
    c, s = math.cos(X[2]), math.sin(X[2])
    f = plus_coriolis(ZERO, m, X, c, s, e[0], -1.0, -1.0, V)
    f = plus_coriolis(f, m, X, c, s, e[1], 1.0, -1.0, V)
    f = plus_coriolis(f, m, X, c, s, e[2], 1.0, 1.0, V)
    return plus_coriolis(f, m, X, c, s, e[3], -1.0, 1.0, V)


@kernel
def coriolis(m, X, V):
    """C V; zero where the mechanism cannot be."""
    e, ok = elbows(m, X)
    return coriolis_of(m, X, e, V) if ok else ZERO


@kernel
def leg_power(m, X, c, s, e, sx, sy, V, W):
    """(J V).I (J'(V) W) of one leg."""
    a, q2, cx, cy, middle, turn, spin = leg_second(m, X, c, s, e, sx, sy, V, W)
    power = m.J1 * q2 * dot(a, V) + m.I2 * spin * dot(turn, V)
    return power + m.m2 * (middle[0] * dot(cx, V) + middle[1] * dot(cy, V))


@kernel
def powers(m, X, e, V, W):
    c, s = math.cos(X[2]), math.sin(X[2])
    return (
        leg_power(m, X, c, s, e[0], -1.0, -1.0, V, W) + leg_power(m, X, c, s, e[1], 1.0, -1.0, V, W)
        + leg_power(m, X, c, s, e[2], 1.0, 1.0, V, W) + leg_power(m, X, c, s, e[3], -1.0, 1.0, V, W)
    )  # fmt: skip


@kernel
def coriolis_back_of(m, X, e, V):
    """C^T V = grad(V^T M V) / 2, from the elbows."""
    return (
        powers(m, X, e, V, (1.0, 0.0, 0.0)), powers(m, X, e, V, (0.0, 1.0, 0.0)), powers(m, X, e, V, (0.0, 0.0, 1.0))
    )  # fmt: skip


@kernel
def drag(m, A, V):
    """A^T b_q A V."""
    return scale(m.bq, wrench_of(A, joint_rates(A, V)))


@stage
def acceleration(m, X, V, tau, f):
    """(X'', whether the mechanism can be at X) under torques of the motors and a wrench f on the handle."""
    e, ok = elbows(m, X)
    if not ok:
        return ZERO, False
    A = jacobian_of(m, X, e)
    C, D, T = coriolis_of(m, X, e, V), drag(m, A, V), wrench_of(A, tau)
    total = (T[0] + f[0] - C[0] - D[0], T[1] + f[1] - C[1] - D[1], T[2] + f[2] - C[2] - D[2])
    return solve(mass_of(m, X, e), total), True


@kernel
def kinetic_energy(m, X, V):
    """[J]; zero where the mechanism cannot be."""
    e, ok = elbows(m, X)
    return 0.5 * dot(V, times(mass_of(m, X, e), V)) if ok else 0.0


@kernel
def damping_matrix(m, A):
    """A^T b_q A as (xx, xy, xt, yy, yt, tt)."""
    G = gram(A)
    return (m.bq * G[0], m.bq * G[3], m.bq * G[4], m.bq * G[1], m.bq * G[5], m.bq * G[2])
