"""Spring and damper by sample, estimate, hold (reference on planar haptics, equation (1)): Fn = K d~ + B C0.

Almost lossless where contact is well sampled: a bounce keeps about 99 % of its energy at K T^2/m = 0.02, never more
than all.  Stable for K T^2/m < 4/3 on both sides of it.  Passive: up to K T^2/m = 0.5 each contact of a free mass
takes at least what it gives, from its first sample to its last; a hand that shakes it above a quarter of the rate can
do better.
"""

from palpate.haptics.contact_laws import wall_law
from palpate.planar.walls.hold import SEH, held_depth


@wall_law(passive=True, stiffness_N_m=2500.0, damping_Ns_m=0.0)
def seh(depth, approach, dt, mass, setting, state):
    """Fn = K d~ + B C0."""
    return setting[0] * held_depth(SEH, depth, state) + setting[1] * approach
