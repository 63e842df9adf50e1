"""What a contact does: open, stick, slide or roll.  One definition, for World.contacts, for frames and for modules.

open   no impulse along the normal
slide  the friction is all it can be, and the points move across each other, faster than SLIPS_M_S
roll   else, if the bodies turn against each other faster than STILL_RAD_S; a spin about the normal is no rolling
stick  else

c Contacts, r Rows: of the step that was
"""

from palpate.frame import OPEN, ROLL, SLIDE, STICK
from palpate.jit import kernel
from palpate.spatial.vectors import dot, get3, part3, sub

ZERO = (0.0, 0.0, 0.0)
STILL_RAD_S = 1e-3  # a sticking contact whose bodies turn faster against each other rolls
# One whose points move faster across each other slides: a solver within its tolerance leaves 1e-8 or so.
SLIPS_M_S = 1e-5
ALL_OF_IT = 1.0 - 1e-9  # of mu n: a friction this large is at its limit


@kernel
def contact_mode(normal, friction, mu, slip, least, turn):
    """From the impulse along the normal [N s] and squares: of the impulse and the speed across it, of the turning.

    least  slip that is one [m/s]
    """
    if normal <= 0.0:
        return OPEN
    limit = mu * normal * ALL_OF_IT
    if friction >= limit * limit and slip > least * least:
        return SLIDE
    return ROLL if turn > STILL_RAD_S * STILL_RAD_S else STICK


@kernel
def turn_of(c, r, i):
    """Square of how fast the bodies of contact i turn against each other, across its normal [rad^2/s^2]."""
    n, a, b = get3(c.normal, i), 6 * r.slot[2 * i], 6 * r.slot[2 * i + 1]
    turn = sub(part3(r.W, b) if b else ZERO, part3(r.W, a) if a else ZERO)  # slot 0 is the world
    along = dot(turn, n)
    return dot(turn, turn) - along * along


@kernel
def mode_of(c, r, i):
    """Of contact i."""
    friction = r.lam[i, 1] * r.lam[i, 1] + r.lam[i, 2] * r.lam[i, 2]
    slip = r.u[i, 1] * r.u[i, 1] + r.u[i, 2] * r.u[i, 2]
    return contact_mode(r.lam[i, 0], friction, r.mu[i], slip, SLIPS_M_S, turn_of(c, r, i))
