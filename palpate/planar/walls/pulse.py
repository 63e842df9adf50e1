"""A braking pulse at the first touch, then a spring (reference on planar haptics 6.2; Salcudean and Vlaar 1997).

    first sample   Fn = (1 + e) m C0/T + K d* + B C0       the impulse of an impact, given in one period; C0 > 0
    then           Fn = K d* + B C0

Among the planar bodies an impulse has turned the velocity round before (C0 <= 0): there nothing is added.  With e = 0
it settles at once where v T <= 2 F/K: what comes at v has then no speed left, and less depth than it swings through.
With a held spring (ZOH) it does not settle: the pulse needs SEH or damping.  Passive, each contact taking at least
what it gives, up to K T^2/m = 0.3 with e = 0, to 0.1 with e = 0.5; not with e = 1.

restitution  e, 0 .. 1
hold         0 ZOH, 1 SEH
"""

from palpate.haptics.contact_laws import wall_law
from palpate.planar.walls.hold import HISTORY, held_depth

TOUCHED = HISTORY  # place in the state: 1 after the first sample


@wall_law(passive=True, stiffness_N_m=2500.0, damping_Ns_m=0.0, restitution=0.0, hold=1.0)
def pulse(depth, approach, dt, mass, setting, state):
    """Fn = K d* + B C0, and the pulse at first."""
    force = setting[0] * held_depth(setting[3], depth, state) + setting[1] * approach
    if state[TOUCHED] == 0.0:
        state[TOUCHED] = 1.0
        force += (1.0 + setting[2]) * mass * max(0.0, approach) / dt
    return force
