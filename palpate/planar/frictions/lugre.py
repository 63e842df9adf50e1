"""LuGre (reference on planar haptics 8.4; C. Canudas de Wit, H. Olsson, K. Astrom and P. Lischinsky 1995): alpha = 1.

It drifts as Dahl's does.  Passive with constant s1 only if s2 >= s1 (F_S - F_C)/F_C (N. Barabanov and R. Ortega 2000):
these numbers, the reference's, are not; raise viscous_Ns_m to a bristle_Ns_m, or let s1 fall as exp(-(v/v_d)^2).

fading_m_s   v_d, 0: s1 is constant
"""

import math

from palpate.haptics.contact_laws import contact_friction
from palpate.planar.frictions.bristles import bent, stribeck


@contact_friction(
    mu=0.3, stiction=0.1, bristle_N_m=1250.0, bristle_Ns_m=25.0, viscous_Ns_m=0.125, stribeck_m_s=0.01, fading_m_s=0.0
)
def lugre(travel, slide, normal, dt, mass, setting, state):
    """Ff = s0 z + s1 z' + s2 v."""
    F_C, s1 = setting[0] * normal, setting[3]
    F_S = (1.0 + setting[1]) * F_C
    if setting[6] > 0.0:
        s1 *= math.exp(-((slide / setting[6]) ** 2))
    return bent(slide, stribeck(slide, F_C, F_S, setting[5]), F_S, 1.0, setting[2], s1, setting[4], dt, state)
