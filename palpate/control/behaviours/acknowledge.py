"""Acknowledge: a nod of 10 degrees, 0.6 s, that answers a tap (reference 8)."""

import math

from palpate.control.behaviours.rows import DONE, GESTURE, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.jit.routines import routine

NOD_RAD, NOD_S = math.radians(10.0), 0.6
GAZE_S = 0.9  # the eyes stay a little longer


@routine
def act(address):
    _, i, b, _ = load(address)
    t = b.behaviour_time_s
    i.gazing, i.gaze = 1, (i.user_x, i.user_y, i.user_z)
    if t < NOD_S:
        i.nod_rad = 0.5 * NOD_RAD * (1.0 - math.cos(2.0 * math.pi * t / NOD_S))
    return 1 if t >= GAZE_S else 0


acknowledge = Behaviour(
    "acknowledge", act, GESTURE, (Row(GESTURE, "tap", "acknowledge"), Row("acknowledge", DONE, "stand"))
)
