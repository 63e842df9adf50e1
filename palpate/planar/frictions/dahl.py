"""Dahl's friction without drift, as stick and slip (reference on planar haptics 7.1 c; Hayward and Armstrong 2000).

    stick   alpha = 0: a spring                   -> slip  where |z| > F_S/K
    slip    alpha = K/F_C: towards F_C            -> stick where x turns back, (x_k - x_{k-1}) z <= 0

In stick it is damped too: the bare spring, held, is active (-K T/2) and would shake itself loose.  It is soft: the
compliance is felt.  strain.py has the update.
"""

from palpate.haptics.contact_laws import SLIPS, contact_friction
from palpate.planar.frictions.strain import ADHESION, TRAVEL, strained


@contact_friction(passive=True, mu=0.3, stiction=0.1, strain_N_m=375.0, stick_Ns_m=2.5)
def dahl(travel, slide, normal, dt, mass, setting, state):
    """Ff = K z, and damping in stick."""
    F_C, K = setting[0] * normal, setting[2]
    z_s = (1.0 + setting[1]) * F_C / K
    z, travelled = travel - state[ADHESION], travel - state[TRAVEL]
    if state[SLIPS] > 0.0:
        if travelled * z <= 0.0:
            state[SLIPS] = 0.0
    elif abs(z) > z_s:
        state[SLIPS] = 1.0
    slips = state[SLIPS] > 0.0
    z = strained(travel, travelled, F_C / K, slips, z_s, state)
    return K * z if slips else K * z + setting[3] * slide
