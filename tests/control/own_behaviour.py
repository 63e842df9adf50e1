"""Behaviours of somebody's own, in a file of theirs: nothing of palpate knows them."""

import math

from palpate.control.behaviours.rows import DONE, GESTURE, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.control.gestures.intent import TO_TARGET
from palpate.control.limbs import RIGHT
from palpate.jit.routines import routine
from palpate.spatial.vectors import put3


@routine
def wave_hand(address):
    """The right hand goes up and to and fro for 2 s, from where it was."""
    _, i, b, _ = load(address)
    t = b.behaviour_time_s
    x, y, z = b.since
    i.reach[RIGHT] = TO_TARGET
    put3(i.hand_at, RIGHT, (x + 0.2, y + 0.05 * math.sin(4.0 * math.pi * t), z + 0.25))
    return 1 if t > 2.0 else 0


wave = Behaviour("wave", wave_hand, GESTURE, (Row(GESTURE, "wave", "wave"), Row("wave", DONE, "stand")))


@routine
def ask_nonsense(address):
    """One of its numbers is none; which, says shake_s."""
    _, i, b, _ = load(address)
    nan, k = math.nan, int(b.shake_s)
    i.reach[RIGHT] = TO_TARGET
    put3(i.hand_at, RIGHT, (nan, nan, nan) if k == 0 else b.since)
    put3(i.hand_velocity, RIGHT, (nan if k == 1 else 0.0, 0.0, 0.0))
    put3(i.hand_push, RIGHT, (nan if k == 2 else 0.0, 0.0, 0.0))
    i.stiffness[RIGHT] = nan if k == 3 else 1.0
    i.gazing, i.gaze = 1, (nan if k == 4 else 2.0, 0.0, 1.5)
    i.nod_rad = nan if k == 5 else 0.0
    i.lean = (nan if k == 6 else 0.0, 0.0, 0.0)
    return 0


broken = Behaviour("broken", ask_nonsense, GESTURE, (Row(GESTURE, "break", "broken"), Row("broken", DONE, "stand")))
