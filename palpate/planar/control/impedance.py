"""What the device shall feel like beside what is commanded.  Reference on planar haptics, 1.8.

NATURAL   w = f_cmd - B_d v + C v                     its own inertia is kept: no observer in the inner loop
SHAPED    w = M M_d^-1 (f_cmd + f_h - B_d v) + C v + A^T b_q A v - f_h       M_d X'' + B_d X' = f_h + f_cmd

v, f_h    what the observer says
"""

from __future__ import annotations

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.planar.pantograph.dynamics import coriolis_of, drag, mass_of, solve, times
from palpate.planar.pantograph.kinematics import elbows, jacobian_of
from palpate.spatial.vectors import add, sub

NATURAL, SHAPED = range(2)
IMPEDANCES = ("natural", "shaped")


class Impedance(Struct):
    """The target."""

    way: int  # NATURAL or SHAPED
    damping: Vector  # B_d [N s/m, N s/m, N m s]
    M_x: Vector  # xx, xy, xt of M_d [kg, kg, kg m]
    M_t: Vector  # yy, yt, tt [kg, kg m, kg m^2]


def new_impedance(
    way: str = "natural",
    damping: tuple[float, float, float] = (0.5, 0.5, 6e-4),
    inertia: tuple[float, float, float] | np.ndarray = (0.35, 0.35, 6e-4),
) -> Impedance:
    """A target; inertia of "shaped": three numbers of a diagonal, or a positive definite matrix (3, 3)."""
    if way not in IMPEDANCES:
        raise ValueError(f"an impedance is one of {', '.join(IMPEDANCES)}, not {way!r}")
    M = np.asarray(inertia, dtype=float)
    M = np.diag(M) if M.shape == (3,) else M
    if M.shape != (3, 3) or not np.isfinite(M).all() or not np.array_equal(M, M.T) or np.linalg.eigvalsh(M)[0] <= 0.0:
        raise ValueError("an impedance: inertia is three positive numbers or a positive definite matrix (3, 3)")
    if not (len(damping) == 3 and all(0.0 <= b < np.inf for b in damping)):
        raise ValueError(f"an impedance: damping is three numbers, none negative, got {damping}")
    return Impedance(way=IMPEDANCES.index(way), damping=damping, M_x=M[0], M_t=(M[1, 1], M[1, 2], M[2, 2]))


@kernel
def impedance(z, m, X, v, f_h, f_cmd):
    """The wrench that the motors shall make on the handle."""
    e, ok = elbows(m, X)
    if not ok:  # the drive is in fault
        return (0.0, 0.0, 0.0)
    b = z.damping
    f = (f_cmd[0] - b[0] * v[0], f_cmd[1] - b[1] * v[1], f_cmd[2] - b[2] * v[2])
    C = coriolis_of(m, X, e, v)
    if z.way == NATURAL:
        return add(f, C)
    x, t = z.M_x, z.M_t
    wanted = solve((x[0], x[1], x[2], t[0], t[1], t[2]), add(f, f_h))  # X''
    return sub(add(add(times(mass_of(m, X, e), wanted), C), drag(m, jacobian_of(m, X, e), v)), f_h)
