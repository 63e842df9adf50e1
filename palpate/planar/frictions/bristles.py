"""Bristles that bend: what LuGre and the elasto-plastic friction share (reference on planar haptics 8.4).

    z' = v (1 - alpha sgn(v) z/z_ss),  z_ss = g(v)/s0,  g = F_C + (F_S - F_C) exp(-(v/v_S)^2)
    Ff = s0 z + s1 z' + s2 v
    z+ = (z + T v)/(1 + alpha T |v|/z_ss),  z' = (z+ - z)/T            the update, stable for any v

z mean deflection of the bristles [m];  s0, s1, s2 their stiffness, damping and the viscous share;  v_S Stribeck's
speed. It slips while more of the way slides than bends, |z'| < |v|/2.  z is never beyond F_S/s0: the normal force may
have fallen.
"""

import math

from palpate.haptics.contact_laws import SLIPS
from palpate.jit import kernel

Z = 1  # place in the state: z [m]


@kernel
def stribeck(v, F_C, F_S, v_S):
    """g [N]: from break-away to Coulomb's as v grows."""
    return F_C + (F_S - F_C) * math.exp(-((v / v_S) ** 2))


@kernel
def bent(v, g, F_S, alpha, s0, s1, s2, dt, state):
    """Ff [N] after the bristles went on."""
    most = F_S / s0
    z = min(max(state[Z], -most), most)
    slid = alpha * dt * abs(v) * s0  # over g: how much of z gives way
    after = (z + dt * v) * g / (g + slid) if g + slid > 0.0 else 0.0
    after = min(max(after, -most), most)
    rate = (after - z) / dt
    state[Z] = after
    state[SLIPS] = 1.0 if abs(rate) < 0.5 * abs(v) else 0.0
    return s0 * after + s1 * rate + s2 * v
