"""Brace: about to tip, it drops all that its hands do; arms soft, balance first (reference 8)."""

from palpate.control.behaviours.carry import FREE
from palpate.control.behaviours.rows import BRACING, CARRYING, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.jit.routines import routine

SOFT = 0.5


@routine
def act(address):
    _, i, _, _ = load(address)
    for side in range(2):
        i.stiffness[side] = SOFT
    i.grasp = FREE
    return 0


brace = Behaviour(
    "brace", act, BRACING, (Row(CARRYING, "", "brace", ("tipping",)), Row("brace", "", "stand", ("steady",)))
)
