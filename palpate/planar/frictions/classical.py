"""Friction that switches on velocity (reference on planar haptics 7.1 a; Haessig and Friedland 1991 compare with it).

|v| > v_s   Ff = F_C sgn v         slips
else        Ff = F_S v / v_s       sticks: below break-away it creeps at v_s F / F_S

Of a mass m the damper turns the sliding round where F_S T / (v_s m) > 1, which the reference forbids, and gives energy
where it is > 2: passive is said of it below that.  A wall of ordinary stiffness stays there.  `pulse` without impulses
of the bodies' own does not: in its one sample Fn = (1 + e) m C0/T, so that F_S T / (v_s m) = (1 + a) mu (1 + e) C0/v_s,
above 1 for what comes faster than 6 cm/s with the settings below.
"""

import math

from palpate.haptics.contact_laws import SLIPS, contact_friction


@contact_friction(passive=True, mu=0.3, stiction=0.1, switch_m_s=0.02)
def classical(travel, slide, normal, dt, mass, setting, state):
    """Coulomb's above v_s, a damper below."""
    F_C, v_s = setting[0] * normal, setting[2]
    if abs(slide) > v_s:
        state[SLIPS] = 1.0
        return math.copysign(F_C, slide)
    state[SLIPS] = 0.0
    return (1.0 + setting[1]) * F_C * slide / v_s
