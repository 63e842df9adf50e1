"""The doors from Python: each checks sizes and numbers, runs one algorithm, and returns FINE or what was wrong.

Codes: FINE; n >= 0, the first bad coordinate of q; BAD_*, an argument of another size or with a NaN or infinity.
"""

from palpate.dynamics import energy as energies
from palpate.dynamics import ik
from palpate.dynamics.aba import aba
from palpate.dynamics.cholesky import cholesky_solve
from palpate.dynamics.coordinates import BAD_SIZE, FINE, bad_coordinate, difference, finite, finite_rows, integrate
from palpate.dynamics.crba import crba
from palpate.dynamics.jacobian import body_frame, body_pose, point_jacobian
from palpate.dynamics.kinematics import kinematics, positions
from palpate.dynamics.rnea import rnea
from palpate.dynamics.workspace import load
from palpate.jit import entry, kernel
from palpate.spatial.vectors import add, rotate

BAD_V, BAD_X, BAD_WRENCH, SINGULAR = -3, -4, -5, -6


@kernel
def check(m, q, v, x, wrenches):
    """The arguments of both dynamics; x is tau or a."""
    rows = wrenches.shape[0]
    if v.shape[0] != m.nv or x.shape[0] != m.nv or wrenches.shape[1] != 6 or (rows and rows != m.body_p.shape[0]):
        return BAD_SIZE
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if not finite(v):
        return BAD_V
    if not finite(x):
        return BAD_X
    return FINE if finite_rows(wrenches) else BAD_WRENCH


@entry("intp, float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1]")
def forward_dynamics_entry(address, q, v, tau, wrenches, a):
    m, w = load(address)
    bad = check(m, q, v, tau, wrenches)
    if bad != FINE:
        return bad
    if m.axis_v.shape[0] == m.nv:
        aba(m, q, v, tau, wrenches, w, a)
        return FINE if finite(a) else SINGULAR
    # mimic joints tie axes of different links together: a tree no more, so solve with the dense matrix
    a[:] = 0.0
    rnea(m, q, v, a, wrenches, w, w.h)
    crba(m, w, w.H)
    for j in range(m.nv):
        a[j] = tau[j] - w.h[j]
    return FINE if cholesky_solve(w.H, a) else SINGULAR


@entry("intp, float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1]")
def inverse_dynamics_entry(address, q, v, a, wrenches, tau):
    m, w = load(address)
    bad = check(m, q, v, a, wrenches)
    if bad == FINE:
        rnea(m, q, v, a, wrenches, w, tau)
    return bad


@entry("intp, float64[::1], float64[:, ::1]")
def mass_matrix_entry(address, q, H):
    m, w = load(address)
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        crba(m, w, H)
    return bad


@entry("intp, float64[::1], float64[:, :, ::1]")
def forward_kinematics_entry(address, q, X):
    m, w = load(address)
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        for body in range(X.shape[0]):
            body_pose(m, w, body, X)
    return bad


@entry("intp, float64[::1], intp, float64[::1], float64[:, ::1]")
def jacobian_entry(address, q, body, at_body, J):
    m, w = load(address)
    bad = bad_coordinate(m, q)
    if bad == FINE:
        positions(m, q, w)
        R, p = body_frame(m, w, body)
        point = add(p, rotate(R, (at_body[0], at_body[1], at_body[2])))
        point_jacobian(m, w, m.body_link[body], point, J)
    return bad


@entry("intp, float64[::1], float64[::1], float64[::1]")
def motion_entry(address, q, v, out):
    """out (11,): kinetic, potential, centre of mass (3), momentum (angular, linear)."""
    m, w = load(address)
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if v.shape[0] != m.nv:
        return BAD_SIZE
    if not finite(v):
        return BAD_V
    kinematics(m, q, v, w)
    out[0], out[1] = energies.energy(m, v, w)
    c = energies.center_of_mass(m, w)
    angular, linear = energies.momentum(m, w, c)
    for r in range(3):
        out[2 + r], out[5 + r], out[8 + r] = c[r], angular[r], linear[r]
    return FINE


@entry("intp, float64[::1], float64[::1], float64, float64[::1]")
def integrate_entry(address, q, v, dt, out):
    m, _ = load(address)
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad
    if v.shape[0] != m.nv:
        return BAD_SIZE
    if not finite(v):
        return BAD_V
    integrate(m, q, v, dt, out)
    return FINE


@entry("intp, float64[::1], float64[::1], float64[::1]")
def difference_entry(address, q0, q1, out):
    m, _ = load(address)
    bad = bad_coordinate(m, q0)
    if bad == FINE:
        bad = bad_coordinate(m, q1)
    if bad == FINE:
        difference(m, q0, q1, out)
    return bad


@entry("intp, intp, float64[::1], float64[::1], boolean, float64[::1], float64[::1], float64, intp, float64[::1]")
def inverse_kinematics_entry(
    address, body, at_body, target, position_only, lower, upper, tolerance, iterations, q
):  # fmt: skip
    """target (7,): position, quaternion.  Improves q in place; returns (code, error, iterations)."""
    m, w = load(address)
    bad = bad_coordinate(m, q)
    if bad != FINE:
        return bad, 0.0, 0
    at = (at_body[0], at_body[1], at_body[2])
    goal = (target[3], target[4], target[5], target[6]), (target[0], target[1], target[2])
    error, used = ik.inverse_kinematics(
        m, w, body, at, goal, position_only, lower, upper, tolerance, iterations, q
    )  # fmt: skip
    return FINE, error, used
