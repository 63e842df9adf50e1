"""The doors from Python: each checks the numbers, runs one algorithm and says what was wrong (FINE: nothing).

Codes: FINE, or the index of the first bad coordinate of q, or BAD_* for an argument with a NaN or infinity.
"""

from palpate.dynamics import energy as energies
from palpate.dynamics import ik
from palpate.dynamics.aba import aba
from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.coordinates import FINE, bad_coordinate, difference, finite, integrate
from palpate.dynamics.crba import crba
from palpate.dynamics.jacobian import body_frame, body_pose, point_jacobian
from palpate.dynamics.kinematics import kinematics, positions
from palpate.dynamics.rnea import rnea
from palpate.jit import entry
from palpate.spatial.vectors import add, rotate

BAD_V, BAD_A, BAD_TAU, BAD_WRENCH, SINGULAR = -2, -3, -4, -5, -6


@entry
def forward_dynamics_entry(h, q, v, tau, wrenches, a):
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if not finite(v):
        return BAD_V
    if not finite(tau):
        return BAD_TAU
    if not finite(wrenches.ravel()):
        return BAD_WRENCH
    if m.axis_v.shape[0] == v.shape[0]:
        aba(m, q, v, tau, wrenches, w, a)
        return FINE
    # mimic joints tie axes of different links together: a tree no more, so solve with the dense matrix
    a[:] = 0.0
    rnea(m, q, v, a, wrenches, w, w.h)
    crba(m, w, w.H)
    for j in range(a.shape[0]):
        a[j] = tau[j] - w.h[j]
    return FINE if cholesky_solve(w.H, a) else SINGULAR


@entry
def inverse_dynamics_entry(h, q, v, a, wrenches, tau):
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if not finite(v):
        return BAD_V
    if not finite(a):
        return BAD_A
    if not finite(wrenches.ravel()):
        return BAD_WRENCH
    rnea(m, q, v, a, wrenches, w, tau)
    return FINE


@entry
def mass_matrix_entry(h, q, H):
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        crba(m, w, H)
    return bad


@entry
def forward_kinematics_entry(h, q, X):
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        for body in range(X.shape[0]):
            body_pose(m, w, body, X[body])
    return bad


@entry
def jacobian_entry(h, q, body, at_body, J):
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        R, p = body_frame(m, w, body)
        point = add(p, rotate(R, (at_body[0], at_body[1], at_body[2])))
        point_jacobian(m, w, m.body_link[body], point, J)
    return bad


@entry
def motion_entry(h, q, v, out):
    """out (11,): kinetic, potential, centre of mass (3), momentum (angular, linear)."""
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if not finite(v):
        return BAD_V
    kinematics(m, q, v, w)
    out[0], out[1] = energies.energy(m, v, w)
    c = energies.center_of_mass(m, w)
    angular, linear = energies.momentum(m, w, c)
    for r in range(3):
        out[2 + r], out[5 + r], out[8 + r] = c[r], angular[r], linear[r]
    return FINE


@entry
def integrate_entry(h, q, v, dt, out):
    m = h.model
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if not finite(v):
        return BAD_V
    integrate(m, q, v, dt, out)
    return FINE


@entry
def difference_entry(h, q0, q1, out):
    m = h.model
    bad = bad_coordinate(m, q0)
    if bad == FINE:
        bad = bad_coordinate(m, q1)
    if bad == FINE:
        difference(m, q0, q1, out)
    return bad


@entry
def inverse_kinematics_entry(h, q, body, at_body, target, position_only, lower, upper, tolerance, iterations,
                             trial, e, J, JJ, y, dq):  # fmt: skip
    """target (7,): position, quaternion.  Improves q in place; returns (code, error, iterations)."""
    m, w = h.model, h.work
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad, 0.0, 0
    error, used = ik.inverse_kinematics(
        m, w, body, (at_body[0], at_body[1], at_body[2]), (target[3], target[4], target[5], target[6]),
        (target[0], target[1], target[2]), position_only, lower, upper, tolerance, iterations,
        q, trial, e, J, JJ, y, dq)  # fmt: skip
    return FINE, error, used
