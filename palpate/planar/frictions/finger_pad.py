"""Finger-pad (reference on planar haptics 7.1 d; A. Nahvi, J. Hollerbach, R. Freier and D. Nelson 1998).

Sticks as the skin of a finger does, on a soft spring in shear (0.5 to 2 N/mm for a fingertip): the compliance is felt.
"""

from palpate.haptics.contact_laws import contact_friction
from palpate.planar.frictions.anchored import anchored


@contact_friction(passive=True, mu=0.3, stiction=0.1, pad_N_m=200.0, pad_Ns_m=5.0, slip_Ns_m=0.125, slow_m_s=0.005)
def finger_pad(travel, slide, normal, dt, mass, setting, state):
    """Sticks in shear, slips at F_C."""
    F_C = setting[0] * normal
    F_S = (1.0 + setting[1]) * F_C
    return anchored(travel, slide, F_C, F_S, setting[2], setting[3], setting[4], setting[5], state)
