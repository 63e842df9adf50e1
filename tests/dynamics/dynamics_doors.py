"""Doors from Python to the parts of forward dynamics that have none of their own."""

from palpate.dynamics.aba import aba, articulated_again, response
from palpate.dynamics.kinematics import kinematics, velocities
from palpate.dynamics.mobility import acceleration_per_wrench
from palpate.dynamics.workspace import load
from palpate.jit import entry
from palpate.spatial.vectors import get6, put6


@entry("intp, float64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1]")
def accelerations_again(address, q, v_before, v, tau, wrenches, a):
    """a at v by `articulated_again`, after `aba` at v_before."""
    m, w = load(address)
    aba(m, q, v_before, tau, wrenches, w, a)
    velocities(m, v, w)
    articulated_again(m, tau, wrenches, w, a)


@entry("intp, float64[::1], float64[::1], float64[::1], float64[:, ::1], float64[::1]")
def responses(address, q, v, tau, wrenches, a):
    """a = H^-1 tau by `response`, after `aba` at v."""
    m, w = load(address)
    aba(m, q, v, tau, wrenches, w, a)
    response(m, tau, w, a)


@entry("intp, float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1]")
def mobilities(address, q, v, wrenches, none, out):
    """Row i of out (L, 6): what the wrench in row i does to link i, about its tree's reference point."""
    m, w = load(address)
    aba(m, q, v, v, none, w, w.trial)
    kinematics(m, q, v, w)
    for i in range(1, m.parent.shape[0]):
        torque, force = get6(wrenches, i)
        alpha, a = acceleration_per_wrench(m, w, i, torque, force)
        put6(out, i, alpha, a)
