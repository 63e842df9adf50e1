"""Damping where a wall gave more than it took (reference on planar haptics 8.1; haptics/passivity.py has the method).

    E_k = E_{k-1} + Fn_{k-1} (d_k - d_{k-1})                  energy that the wall absorbed, exact for a held force
    E < 0:  Fn = wall + alpha (d_k - d_{k-1})/T,   alpha = min(-E T/(d_k - d_{k-1})^2, m/T)

A law of one contact is zeroed when its contact ends: so the account is forgotten at once, not after 0.2 s without
contact, and what an earlier contact earned never pays for a later one.  But the last held force, which works while the
device leaves, would never be booked: each loss of contact would give up to Fn d.  So the controller also looks ahead.
In the coming period a free mass m goes outwards by w + h Fn, with h = T^2/2m and w = d_{k-1} - d_k + h Fn_{k-1}, less
what pushes or damps it; so Fn may be at most what E pays for:

    Fn (w + h Fn) <= E

look_ahead   0: as in the reference, without that bound
"""

import math

from palpate.haptics.contact_laws import call_wall, keeper_law, pushing
from palpate.haptics.passivity import missing_damping

ENERGY, FORCE, DEPTH = range(3)  # places in the state: E [J]; Fn, d of the sample before


@keeper_law(look_ahead=1.0)
def passivity_controller(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):
    """Fn = the wall's, damping while E < 0, and no more than E pays for."""
    step = depth - state[DEPTH]
    state[ENERGY] += state[FORCE] * step
    E = state[ENERGY]
    force = pushing(call_wall(wall, depth, approach, dt, mass, wall_setting, wall_state))
    if math.isnan(force):
        return force
    force += missing_damping(E, step * step, mass, dt) * step / dt
    if setting[0] > 0.5:
        h = 0.5 * dt * dt / mass
        w = h * state[FORCE] - step
        force = min(force, (math.sqrt(w * w + 4.0 * h * max(E, 0.0)) - w) / (2.0 * h))
    force = pushing(force)
    state[FORCE], state[DEPTH] = force, depth
    return force
