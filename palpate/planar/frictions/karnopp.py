"""Modified Karnopp (reference on planar haptics 7.1 b; S. Salcudean and T. Vlaar 1997): sticks on a stiff spring.

Does not drift; the spring's rest x0 is set anew at each return to stick (anchored.py).
"""

from palpate.haptics.contact_laws import contact_friction
from palpate.planar.frictions.anchored import anchored


@contact_friction(
    passive=True, mu=0.3, stiction=0.1, stick_N_m=1250.0, stick_Ns_m=15.0, slip_Ns_m=0.125, slow_m_s=0.005
)
def karnopp(travel, slide, normal, dt, mass, setting, state):
    """Sticks to an anchor, slips at F_C."""
    F_C = setting[0] * normal
    F_S = (1.0 + setting[1]) * F_C
    return anchored(travel, slide, F_C, F_S, setting[2], setting[3], setting[4], setting[5], state)
