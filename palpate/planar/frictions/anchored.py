"""Stick by a spring to an anchor, slip at a constant level: what modified Karnopp and finger-pad share.

Reference on planar haptics 7.1 (b), (d):

    stick   Ff = k (x - x0) + b v           -> slip where k |x - x0| > F_S, in that direction
    slip    Ff = F_C dir + b_v v            -> stick where |v| < v_min, once it was faster, or where v turns round;
                                               then x0 = x - dir F_C/k, so that the force does not jump

x travel [m];  v slide [m/s];  F_C, F_S Coulomb and break-away force [N].  A slip begins slowly: without the "once it
was faster" it would end where it began.  x0 follows all through a slip, at most F_C/k behind: so
what the spring holds at the end was paid for, also where the normal force grew meanwhile.
"""

import math

from palpate.haptics.contact_laws import SLIPS
from palpate.jit import kernel

ANCHOR, DIRECTION, WAS_FAST = 1, 2, 3  # places in the state


@kernel
def anchored(x, v, F_C, F_S, k, b, b_v, v_min, state):
    """Ff [N]."""
    if state[SLIPS] == 0.0:
        spring = k * (x - state[ANCHOR])
        if abs(spring) <= F_S:
            return spring + b * v
        state[SLIPS], state[DIRECTION], state[WAS_FAST] = 1.0, math.copysign(1.0, spring), 0.0
    direction = state[DIRECTION]
    strain = min(direction * (x - state[ANCHOR]), F_C / k)
    state[ANCHOR] = x - direction * strain
    if abs(v) > v_min:
        state[WAS_FAST] = 1.0
    if v * direction < 0.0 or (state[WAS_FAST] > 0.0 and abs(v) < v_min):
        state[SLIPS] = 0.0
        return direction * k * strain + b * v
    return direction * F_C + b_v * v
