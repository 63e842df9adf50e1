"""What a contact does: open, stick, slide or roll.  One definition, for World.contacts, for frames and for modules.

open   no impulse along the normal
slide  the friction is all it can be, and the points move across each other, faster than SLIPS_M_S
roll   else, if the bodies turn against each other faster than STILL_RAD_S; a spin about the normal is no rolling
stick  else

c Contacts, r Rows: of the step that was
"""

import math

from palpate.frame import OPEN, ROLL, SLIDE, STICK
from palpate.jit import kernel
from palpate.spatial.vectors import add_scaled, dot, get3, sub

STILL_RAD_S = 1e-3  # a sticking contact whose bodies turn faster against each other rolls
SLIPS_M_S = (
    1e-5  # and whose points move faster across each other slides: a solver within its tolerance leaves 1e-8 or so
)
ALL_OF_IT = 1.0 - 1e-9  # of mu n: a friction this large is at its limit


@kernel
def contact_mode(normal, friction, mu, slip, least, turn):
    """From impulses along and across the normal [N s], speeds across it [m/s] and of turning [rad/s]."""
    if normal <= 0.0:
        return OPEN
    if friction >= mu * normal * ALL_OF_IT and slip > least:
        return SLIDE
    return ROLL if turn > STILL_RAD_S else STICK


@kernel
def spin_of(r, slot):
    """Angular velocity of a slot's link; slot 0 is the world."""
    return (r.W[6 * slot], r.W[6 * slot + 1], r.W[6 * slot + 2]) if slot != 0 else (0.0, 0.0, 0.0)


@kernel
def mode_of(c, r, i):
    """Of contact i."""
    n, turn = get3(c.normal, i), sub(spin_of(r, r.slot[2 * i + 1]), spin_of(r, r.slot[2 * i]))
    across = add_scaled(turn, -dot(turn, n), n)
    friction, slip = math.hypot(r.lam[i, 1], r.lam[i, 2]), math.hypot(r.u[i, 1], r.u[i, 2])
    return contact_mode(r.lam[i, 0], friction, r.mu[i], slip, SLIPS_M_S, math.sqrt(dot(across, across)))
