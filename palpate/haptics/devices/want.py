"""What a hand wants to do, beside where it is: in its device's memory, read in every tick after the reading.

Most devices say nothing of it: their button takes hold of what is near, with the spring that their Reach has.  A page's
hand, or one across a link, names the body and the point it holds, and brings its own spring.
"""

from __future__ import annotations

from palpate.jit import Struct, Vector

# Want.does: what its button says; nothing; a spring at a named point; a force there; a ball that touches what is there
BUTTON, NOTHING, HOLD, GIVE, TOUCH = range(-1, 4)


class Want(Struct):
    """Of one hand; world axes unless said."""

    does: int  # BUTTON, ...
    body: int  # that is held or pushed, and
    at_body: Vector  # its point, body axes [m]
    force: Vector  # GIVE: on the body [N]
    radius_m: float  # TOUCH: of the ball
    times: float  # TOUCH: how stiff surfaces are, beside what they are to the Reach
    stiffness: Vector  # HOLD, or the button's: of the spring, by axis [N/m], and
    damping: Vector  # of its damper [N s/m], 0: critical, times
    ratio: float
    stiffness_Nm_rad: float  # of the spring that turns, and
    damping_Nms_rad: float  # of its damper, 0: critical
    tells_motion: int  # 0: readings come more rarely than ticks, and are followed smoothly
    account: int  # number of the account whose energy limits what a body gets; 0: none does
    energy_J: float  # that the other end of its link has granted so far
