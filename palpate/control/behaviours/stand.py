"""Stand: where every other behaviour ends.  Hands at rest, gaze ahead."""

from palpate.control.behaviours.rows import SHAKING, STANDING, Behaviour, Row
from palpate.jit.routines import routine


@routine
def act(address):
    return 0


stand = Behaviour("stand", act, STANDING, (Row(SHAKING, "stand", "stand"),))
