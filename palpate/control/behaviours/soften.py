"""Soften: a stroke on an arm makes both a quarter as stiff for 3 s (reference 8)."""

from palpate.control.behaviours.rows import DONE, GESTURE, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.jit.routines import routine

SOFT, SOFT_S = 0.25, 3.0


@routine
def act(address):
    _, i, b, _ = load(address)
    for side in range(2):
        i.stiffness[side] = SOFT
    i.gazing, i.gaze = 1, b.where
    return 1 if b.behaviour_time_s >= SOFT_S else 0


soften = Behaviour(
    "soften", act, GESTURE,
    (Row(GESTURE, "stroke", "soften", ("at arm",)), Row("soften", DONE, "stand"), Row("soften", "push", "stand")),
)  # fmt: skip
