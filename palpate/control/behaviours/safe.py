"""Safe: a limit was passed, or it has fallen.  Targets stay, hands open, until a person says reset (reference 8)."""

from palpate.control.behaviours.carry import FREE
from palpate.control.behaviours.rows import BRACING, SAFE, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.control.gestures.intent import STILL
from palpate.jit.routines import routine

SOFT, FALLEN_SOFT = 0.5, 0.1  # of arms; a body that lies there is limp


@routine
def act(address):
    _, i, b, _ = load(address)
    for side in range(2):
        i.reach[side], i.stiffness[side] = STILL, FALLEN_SOFT if b.fallen else SOFT
    i.grasp = FREE
    return 0


safe = Behaviour(
    "safe", act, SAFE,
    (Row(BRACING, "", "safe", ("limit",)), Row(BRACING, "", "safe", ("fallen",)), Row(BRACING, "stop", "safe"),
     Row("safe", "reset", "stand")),
)  # fmt: skip
