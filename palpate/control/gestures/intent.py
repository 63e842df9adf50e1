"""Intent: what behaviours ask of hands, gaze and lean.  They write nothing else; this folder makes joints follow.

A behaviour writes it in every tick, on top of `at_ease`: nothing of a state that was left stays in force.
World axes, SI; pairs are (right, left).
"""

from __future__ import annotations

import numpy as np

from palpate.jit import Struct, Vector, kernel
from palpate.model.model import Floats1, Floats2, Ints1

# Intent.reach: where a hand goes
# its posture; hand_at; where its targets are now; wherever another controller wants it
AT_REST, TO_TARGET, STILL, LEFT_ALONE = range(4)
AS_IT_IS = -1  # Intent.grasp
ZERO = (0.0, 0.0, 0.0)


class Intent(Struct):
    reach: Ints1  # (2,) AT_REST, TO_TARGET, STILL or LEFT_ALONE
    hand_at: Floats2  # (2, 3) where the middle of the palm goes, and
    hand_velocity: Floats2  # (2, 3) how fast that moves
    hand_turn: Floats2  # (2, 4) how the hand is turned (w, x, y, z); counts `turning` times
    turning: Floats1  # (2,) 0: any way
    hand_push: Floats2  # (2, 3) force that the hand adds [N]
    stiffness: Floats1  # (2,) of each arm, times its own, and
    damping: Floats1  # (2,) likewise, < 0: what goes with that stiffness
    trunk_stiffness: float  # times its own
    gazing: int  # 1: at the point `gaze`, 0: ahead
    gaze: Vector
    nod_rad: float  # head further down
    lean: Vector  # of the centre of mass, for the balance [m]
    grasp: int  # what is wanted of a grasp with both hands (behaviours/carry.py), AS_IT_IS: nothing else than before
    # where a person's eyes are, as far as is known: a page or a program sets it
    user_x: float
    user_y: float
    user_z: float
    alive: float  # how much of breathing and looking about there is, 0: none


@kernel
def at_ease(i):
    """Hands at rest, gaze ahead, nothing asked."""
    for side in range(2):
        i.reach[side], i.stiffness[side], i.damping[side], i.turning[side] = AT_REST, 1.0, -1.0, 0.0
        for r in range(3):
            i.hand_velocity[side, r], i.hand_push[side, r] = 0.0, 0.0
    i.trunk_stiffness, i.gazing, i.nod_rad, i.lean = 1.0, 0, 0.0, ZERO
    i.grasp = AS_IT_IS


def make_intent() -> Intent:
    turn = np.zeros((2, 4))
    turn[:, 0] = 1.0
    return Intent(
        reach=np.zeros(2, dtype=np.int64), hand_at=np.zeros((2, 3)), hand_velocity=np.zeros((2, 3)), hand_turn=turn,
        turning=np.zeros(2), hand_push=np.zeros((2, 3)), stiffness=np.ones(2), damping=-np.ones(2),
        trunk_stiffness=1.0, alive=1.0, user_x=2.0, user_z=1.6,
    )  # fmt: skip
