"""Dahl's friction as it was (P. Dahl 1968; reference on planar haptics 7.1 c): w' = |x'| z/z_max always, Ff = K z.

It drifts: under a force that trembles below break-away w follows a little each time.  strain.py has the update; it
slips while more of the way goes into w than into z.
"""

from palpate.haptics.contact_laws import SLIPS, contact_friction
from palpate.planar.frictions.strain import ADHESION, TRAVEL, strained


@contact_friction(passive=True, mu=0.3, stiction=0.1, strain_N_m=375.0, damping_Ns_m=2.5)
def dahl_original(travel, slide, normal, dt, mass, setting, state):
    """Ff = K z + b v, at F_S in the end."""
    K = setting[2]
    z_max = (1.0 + setting[1]) * setting[0] * normal / K
    travelled, w = travel - state[TRAVEL], state[ADHESION]
    z = strained(travel, travelled, z_max, True, z_max, state)
    state[SLIPS] = 1.0 if abs(state[ADHESION] - w) > 0.5 * abs(travelled) else 0.0
    return K * z + setting[3] * slide
