"""Elasto-plastic (reference on planar haptics 8.4; P. Dupont, V. Hayward, B. Armstrong and F. Altpeter 2002).

LuGre's bristles that only bend below z_ba, so that nothing drifts:

    alpha = 0                                                            sgn v != sgn z, or |z| <= z_ba
            1/2 + sin(pi (|z| - (z_ss + z_ba)/2)/(z_ss - z_ba))/2        between
            1                                                            |z| >= z_ss

elastic_share   z_ba = elastic_share F_C/s0
"""

import math

from palpate.haptics.contact_laws import contact_friction
from palpate.jit import kernel
from palpate.planar.frictions.bristles import Z, bent, stribeck


@kernel
def plastic_share(v, z, z_ba, z_ss):
    """alpha."""
    if v * z <= 0.0 or abs(z) <= z_ba:
        return 0.0
    if abs(z) >= z_ss:
        return 1.0
    return 0.5 + 0.5 * math.sin(math.pi * (abs(z) - 0.5 * (z_ss + z_ba)) / (z_ss - z_ba))


@contact_friction(
    mu=0.3, stiction=0.1, bristle_N_m=1250.0, bristle_Ns_m=25.0, viscous_Ns_m=0.125, stribeck_m_s=0.01,
    elastic_share=0.7,
)  # fmt: skip
def elasto_plastic(travel, slide, normal, dt, mass, setting, state):
    """Ff = s0 z + s1 z' + s2 v."""
    F_C, s0 = setting[0] * normal, setting[2]
    F_S = (1.0 + setting[1]) * F_C
    g = stribeck(slide, F_C, F_S, setting[5])
    alpha = plastic_share(slide, state[Z], setting[6] * F_C / s0, g / s0)
    return bent(slide, g, F_S, alpha, s0, setting[3], setting[4], dt, state)
