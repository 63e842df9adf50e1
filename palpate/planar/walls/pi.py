"""Spring and integral (reference on planar haptics 6.2; T. Massie 1996): Fn = K d* + K_I I + B C0, I = sum T d.

It ends at no depth, whatever pushes.  Undamped it is active even in continuous time (m s^3 + K s + K_I has no s^2): a
half-cycle gains about pi K_I/(K w) of K A^2/2.  SEH pays for a weak one.

hold      0 ZOH, 1 SEH
windup_N  most that the integral may push [N], 0: whatever comes; about twice what rests on the wall is enough
"""

from palpate.haptics.contact_laws import wall_law
from palpate.planar.walls.hold import HISTORY, held_depth


@wall_law(stiffness_N_m=2500.0, damping_Ns_m=0.0, integral_N_ms=100.0, hold=1.0, windup_N=0.0)
def pi(depth, approach, dt, mass, setting, state):
    """Fn = K d* + K_I I + B C0."""
    K, B, K_I, hold, most = setting[0], setting[1], setting[2], setting[3], setting[4]
    I = state[HISTORY] + dt * depth
    if most > 0.0 and most < K_I * I:
        I = most / K_I
    state[HISTORY] = I
    return K * held_depth(hold, depth, state) + K_I * I + B * approach
