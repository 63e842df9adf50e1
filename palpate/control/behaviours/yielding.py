"""Yield: a push at the trunk is leaned away from; a balance that can step does so (reference 8)."""

from palpate.control.behaviours.rows import LED, Behaviour, Row
from palpate.control.behaviours.tables import load
from palpate.control.gestures.tables import clipped
from palpate.jit.routines import routine
from palpate.spatial.vectors import scale

LEAN_M_N, MOST_LEAN_M = 5e-4, 0.03
SOFT = 0.5  # of the trunk


@routine
def act(address):
    a, i, b, _ = load(address)
    lean = clipped(scale(LEAN_M_N, a.push_smooth), MOST_LEAN_M)
    i.lean, i.trunk_stiffness = (lean[0], lean[1], 0.0), SOFT
    i.gazing, i.gaze = 1, b.where
    return 0


yielding = Behaviour(
    "yield", act, LED,
    (Row(LED, "", "yield", ("pressed",)), Row(LED, "push", "yield", ("at trunk", "pressed")),
     Row("yield", "", "stand", ("released",))),
)  # fmt: skip
