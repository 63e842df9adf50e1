"""What a gap asks of a contact or of a joint's end: how fast it may close in a step, and how fast what overlaps parts.

slop  penetration that is left alone [m, rad]
"""

from palpate.contact.project import SHARE
from palpate.jit import kernel

SLOP_M, SLOP_PART = 1e-4, 1e-3  # no more than this, nor than this part of a radius
# Of the slop: a gap this small is none.  What a solver leaves of a velocity tilts a face that lies by some 1e-12 m in a
# step; were that room to close, its highest corner would carry nothing, and another one soon after.
TOUCHING = 1e-5


@kernel
def contact_slop(g, c, i):
    """Of contact i [m]."""
    return min(SLOP_M, SLOP_PART * min(g.radius[c.shape_a[i]], g.radius[c.shape_b[i]]))


@kernel
def closing(gap, slop, dt):
    """Speed at which a gap may close in this step [m/s, rad/s]."""
    return gap / dt if gap > TOUCHING * slop else 0.0


@kernel
def parting(gap, slop, dt):
    """Speed at which a share of what overlaps, beyond the slop, is taken out in this step [m/s, rad/s]."""
    return SHARE * max(-gap - slop, 0.0) / dt
