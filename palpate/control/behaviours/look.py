"""Look: at what touched, then at the person (reference 8); on a double tap."""

from palpate.control.behaviours.rows import DONE, GESTURE, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.jit.routines import routine

CONTACT_S, LOOK_S = 1.0, 2.0


@routine
def act(address):
    _, i, b, _ = load(address)
    i.gazing = 1
    i.gaze = b.where if b.behaviour_time_s < CONTACT_S else (i.user_x, i.user_y, i.user_z)
    return 1 if b.behaviour_time_s >= LOOK_S else 0


look = Behaviour("look", act, GESTURE, (Row(GESTURE, "double tap", "look"), Row("look", DONE, "stand")))
