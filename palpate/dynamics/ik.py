"""Inverse kinematics: damped least squares on the SE(3) logarithm, inside the joint limits.

e       log(X^-1 X_target), the twist in body axes that would close the gap in unit time (position only: R (p_t - p))
J       body Jacobian of the point;  columns of coordinates that would leave their limits are dropped
step    dq = J^T (J J^T + damping 1)^-1 e, kept when |e| falls: damping a tenth after success, ten times after failure
"""

import math

from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.coordinates import integrate
from palpate.dynamics.jacobian import body_frame, point_jacobian
from palpate.dynamics.kinematics import positions
from palpate.jit import kernel
from palpate.model.model import CHAIN
from palpate.spatial.quaternions import conjugate, matrix_quaternion, quaternion_product
from palpate.spatial.se3 import motion_log
from palpate.spatial.vectors import add, get3, rotate, rotate_back, sub

FIRST_DAMPING, SMALLEST_DAMPING, LARGEST_DAMPING = 1e-3, 1e-12, 1e8  # added to J J^T
AT_LIMIT = 1e-12  # [rad or m]


@kernel
def pose_error(m, w, body, at_body, goal, position_only):
    """Writes e (6) in body axes; returns |e|."""
    R, p = body_frame(m, w, body)
    p = add(p, rotate(R, at_body))
    target_q, target_p = goal
    gap = rotate_back(R, sub(target_p, add(get3(w.origin, m.root[m.body_link[body]]), p)))
    turn = (0.0, 0.0, 0.0)
    if not position_only:
        x = matrix_quaternion(R)
        turn, gap = motion_log(quaternion_product(conjugate(x), target_q), gap)
    total = 0.0
    for r in range(3):
        w.e[r], w.e[3 + r] = turn[r], gap[r]
        total += turn[r] * turn[r] + gap[r] * gap[r]
    return math.sqrt(total)


@kernel
def body_jacobian(m, w, body, at_body, position_only):
    """J (6, nv) of the point in body axes; its angular rows zero when only the position counts."""
    J = w.J
    R, p = body_frame(m, w, body)
    point_jacobian(m, w, m.body_link[body], add(p, rotate(R, at_body)), J)
    for j in range(m.nv):
        a = rotate_back(R, (J[0, j], J[1, j], J[2, j]))
        b = rotate_back(R, (J[3, j], J[4, j], J[5, j]))
        for r in range(3):
            J[r, j] = 0.0 if position_only else a[r]
            J[3 + r, j] = b[r]


@kernel
def drop_limited(m, w, q, lower, upper):
    """Zero the columns of coordinates that are at a limit and would go on."""
    J, e = w.J, w.e
    for i in range(1, m.parent.shape[0]):
        if m.kind[i] != CHAIN:
            continue
        for k in range(m.axis_begin[i], m.axis_begin[i] + m.axis_count[i]):
            n, j = m.axis_q[k], m.axis_v[k]
            push = 0.0
            for r in range(6):
                push += J[r, j] * e[r]
            if (q[n] <= lower[n] + AT_LIMIT and push < 0.0) or (q[n] >= upper[n] - AT_LIMIT and push > 0.0):
                for r in range(6):
                    J[r, j] = 0.0


@kernel
def damped_step(w, damping):
    """dq = J^T (J J^T + damping 1)^-1 e."""
    J, JJ, y = w.J, w.JJ, w.y
    for r in range(6):
        for c in range(6):
            total = damping if r == c else 0.0
            for j in range(J.shape[1]):
                total += J[r, j] * J[c, j]
            JJ[r, c] = total
        y[r] = w.e[r]
    cholesky_solve(JJ, y)
    for j in range(J.shape[1]):
        total = 0.0
        for r in range(6):
            total += J[r, j] * y[r]
        w.dq[j] = total


@kernel
def inverse_kinematics(m, w, body, at_body, goal, position_only, lower, upper, tolerance, iterations, q):
    """goal: (quaternion, position).  Improves q in place; returns (|e|, iterations used)."""
    trial, error, damping, e = w.trial, math.inf, 10.0 * FIRST_DAMPING, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for n in range(m.nq):
        trial[n] = q[n]
    for iteration in range(iterations + 1):  # the first looks at q itself
        positions(m, trial, w)
        new = pose_error(m, w, body, at_body, goal, position_only)
        better = new < error
        if better:
            error, damping = new, max(0.1 * damping, SMALLEST_DAMPING)
            e = (w.e[0], w.e[1], w.e[2], w.e[3], w.e[4], w.e[5])
            for n in range(m.nq):
                q[n] = trial[n]
        else:  # from where it was, with a shorter step
            damping *= 10.0
            for r in range(6):
                w.e[r] = e[r]
        if error <= tolerance or damping > LARGEST_DAMPING or iteration == iterations:
            return error, iteration
        if better:
            body_jacobian(m, w, body, at_body, position_only)
            drop_limited(m, w, q, lower, upper)
        damped_step(w, damping)
        integrate(m, q, w.dq, 1.0, trial)
        for n in range(m.nq):
            trial[n] = min(max(trial[n], lower[n]), upper[n])
    return error, iterations
