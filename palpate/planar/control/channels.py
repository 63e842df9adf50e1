"""Four channels between the device (master) and a body (slave).  Reference on planar haptics, 1.9; Lawrence 1993.

f_c = K_x (X_m - X_s) + B_x (v_m - v_s)
master   f_cmd = -f_c + f_e            slave   M_s X_s'' = f_h + f_c + f_e - B_d v_s

POSITION_FORCE   all four: the error of position does not depend on the forces, but for the observer's lag
FORCE            forces alone, f_c = 0: nothing holds device and body together
POSITION         f_c alone, two channels, the baseline: neither f_h to the slave nor f_e to the master

f_h the observer's, f_e what the world does to the slave.  With m_s of the slave, per freedom,
K_x = m_s omega^2 / 2,  B_x = m_s zeta omega.
"""

from __future__ import annotations

from palpate.jit import Struct, Vector, kernel
from palpate.spatial.vectors import add, sub

FORCE, POSITION_FORCE, POSITION = range(3)
MODES = ("force", "position-force", "position")
SLAVE = (0.35, 0.35, 4e-4)  # M_s [kg, kg, kg m^2], near to the device's own


class Channels(Struct):
    """Mode and gains."""

    mode: int  # FORCE, POSITION_FORCE, POSITION
    stiffness: Vector  # K_x [N/m, N/m, N m/rad]
    damping: Vector  # B_x [N s/m, N s/m, N m s]


def new_channels(
    mode: str = "position-force",
    inertia: tuple[float, float, float] = SLAVE,
    omega_rad_s: float = 40.0,
    zeta: float = 1.0,
) -> Channels:
    """Gains for a slave of this inertia."""
    if mode not in MODES:
        raise ValueError(f"the channels' mode is one of {', '.join(MODES)}, not {mode!r}")
    if not (omega_rad_s >= 0.0 and zeta >= 0.0 and len(inertia) == 3 and all(m > 0.0 for m in inertia)):
        raise ValueError("channels: omega_rad_s and zeta must not be negative, and inertia is three positive numbers")
    return Channels(
        mode=MODES.index(mode), stiffness=[0.5 * m * omega_rad_s**2 for m in inertia],
        damping=[m * zeta * omega_rad_s for m in inertia],
    )  # fmt: skip


@kernel
def couple(c, X_m, v_m, X_s, v_s):
    """f_c on the slave; the master gets its opposite."""
    if c.mode == FORCE:
        return (0.0, 0.0, 0.0)
    k, b, x, v = c.stiffness, c.damping, sub(X_m, X_s), sub(v_m, v_s)
    return (k[0] * x[0] + b[0] * v[0], k[1] * x[1] + b[1] * v[1], k[2] * x[2] + b[2] * v[2])


@kernel
def to_master(c, f_c, f_e):
    """f_cmd."""
    back = (-f_c[0], -f_c[1], -f_c[2])
    return back if c.mode == POSITION else add(back, f_e)


@kernel
def to_slave(c, f_c, f_h):
    """What of the hand the slave gets, beside f_e and its own damping."""
    return f_c if c.mode == POSITION else add(f_c, f_h)
