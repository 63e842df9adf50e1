"""The wall's force as far as the device's own damping pays for it (planar haptics 8.3; haptics/passivity.py).

    |Fn_{k+1}| <= |Fn_k + (2 b/T) (d_{k+1} - d_k)|

Then sum Fn (d_{k+1} - d_k) + (b/T) sum (d_{k+1} - d_k)^2 >= Fn^2 T/4b >= 0 at every step, for any wall: with the
device's damping b, which must be there, nothing is given that was not taken.  Stiffness that is felt ends near 2 b/T.
"""

import math

from palpate.haptics.contact_laws import call_wall, keeper_law, pushing
from palpate.haptics.passivity import bound_axis

FORCE, DEPTH = range(2)  # places in the state: of the sample before


@keeper_law(device_damping_Ns_m=0.5)
def energy_bounding(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):
    """Fn = the wall's, bounded."""
    wanted = pushing(call_wall(wall, depth, approach, dt, mass, wall_setting, wall_state))
    if math.isnan(wanted):
        return wanted
    force = bound_axis(state[FORCE], wanted, state[DEPTH] - depth, setting[0], dt)
    state[FORCE], state[DEPTH] = force, depth
    return force
