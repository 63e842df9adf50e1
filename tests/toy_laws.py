"""Laws of one contact as another package would have them; tests make them known by faked entry points."""

import math

import palpate as pp
from palpate.haptics.contact_laws import SLIPS, call_wall, pushing
from palpate.planar.walls.hold import SEH, held_depth


@pp.wall_law(passive=True, stiffness_N_m=1500.0, damping_Ns_m=0.0, kept=0.5)
def rubber(depth, approach, dt, mass, setting, state):
    """Weaker on the way out, by a factor."""
    leaves = depth < state[0]
    return setting[0] * held_depth(SEH, depth, state) * (setting[2] if leaves else 1.0)


@pp.contact_friction(passive=True, mu=0.2, stiction=0.0, knee_m_s=0.05)
def smooth(travel, slide, normal, dt, mass, setting, state):
    """Coulomb's with a round corner."""
    state[SLIPS] = 1.0 if abs(slide) > setting[2] else 0.0
    return setting[0] * normal * math.tanh(slide / setting[2])


@pp.keeper_law(share=0.3)
def timid(wall, wall_setting, wall_state, depth, approach, dt, mass, setting, state):
    """A share of the wall, and none of it on the way out."""
    force = pushing(call_wall(wall, depth, approach, dt, mass, wall_setting, wall_state))
    leaves, state[0] = depth < state[0], depth
    return 0.0 * force if leaves else setting[0] * force
