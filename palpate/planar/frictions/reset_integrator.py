"""Reset integrator (reference on planar haptics, equation (2); D. Haessig and B. Friedland 1991): crisp, without drift.

    slip    S0 > 0 and p >= p0, or S0 < 0 and p <= -p0         else stick
    stick   Ff = (1 + a) K_r p + beta S0,   p' = S0            slip   Ff = K_r p,   p' = 0

p0 = mu Fn/K_r, and p is never beyond it.  Where Fn changes, p0 does: a slip goes on while S0 keeps its direction, and p
follows p0 no faster than the way, so that it is paid for.  To stick whenever p0 has grown, be it by 1e-9, would brake a
slip with beta S0: the normal force of a body that a hand leads trembles in every sample.

beta must pay for the held spring, beta > (1 + a) K_r T/2, and beta T/m < 1; crispest near 2 sqrt((1 + a) K_r m).  The
force jumps by a K_r p0 where stick and slip meet.
"""

from palpate.haptics.contact_laws import SLIPS, contact_friction

P = 1  # place in the state: p [m]


@contact_friction(passive=True, mu=0.3, stiction=0.1, stick_N_m=2500.0, stick_Ns_m=37.5)
def reset_integrator(travel, slide, normal, dt, mass, setting, state):
    """Ff with p as it is; then p goes on."""
    K_r = setting[2]
    p0 = setting[0] * normal / K_r
    p = min(max(state[P], -p0), p0)
    after = min(max(p + dt * slide, -p0), p0)
    at_bound = (slide > 0.0 and p >= p0) or (slide < 0.0 and p <= -p0)
    if at_bound or (state[SLIPS] > 0.5 and slide * p > 0.0):  # it slips on though p0 has grown
        state[SLIPS], state[P] = 1.0, after
        return K_r * p
    state[SLIPS], state[P] = 0.0, after
    return (1.0 + setting[1]) * K_r * p + setting[3] * slide
