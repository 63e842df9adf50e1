"""Take, carry, hand over, let go: commands to the grasp, which does it (control/grasp.py), and what comes back.

Both hands are the grasp's while it does anything: behaviours leave them alone.
"""

from palpate.control.behaviours.rows import CARRYING, DONE, FAILED, SHAKING, Behaviour, Row
from palpate.control.behaviours.senses import HOLDING
from palpate.control.behaviours.tables import load
from palpate.control.intent import LEFT_ALONE
from palpate.jit import kernel
from palpate.jit.routines import routine

# Intent.grasp
NOTHING, TAKE, CARRY, OFFER, RELEASE = range(5)
GRASP_STATES = ("open", "approaching", "closing", "holding", "opening", "lost")
OPEN = 0
GIVE_N, GIVE_S = 5.0, 0.1  # pulled like this it is given
LONGEST_S = 15.0  # that taking lasts


@kernel
def leave_hands(i, command):
    for side in range(2):
        i.reach[side] = LEFT_ALONE
    i.grasp = command


@routine
def act_take(address):
    _, i, b, _ = load(address)
    leave_hands(i, TAKE)
    return 1 if b.grasp_state[0] == HOLDING else 2 if b.behaviour_time_s > LONGEST_S else 0


@routine
def act_carry(address):
    _, i, _, _ = load(address)
    leave_hands(i, CARRY)
    return 0


@routine
def act_hand_over(address):
    """Holds it out until someone pulls at it: the force of persons on what it holds, or on its hands."""
    _, i, b, _ = load(address)
    leave_hands(i, OFFER)
    pulled = max(b.hand_N[0], b.hand_N[1], b.object_N) > GIVE_N
    b.memory[0] = b.memory[0] + b.dt if pulled else 0.0
    i.gazing, i.gaze = 1, (i.user_x, i.user_y, i.user_z)
    return 1 if b.memory[0] > GIVE_S else 0


@routine
def act_let_go(address):
    _, i, b, _ = load(address)
    leave_hands(i, RELEASE)
    return 1 if b.grasp_state[0] == OPEN else 0


take = Behaviour(
    "take", act_take, CARRYING,
    (Row(SHAKING, "take", "take"), Row("take", DONE, "carry"), Row("take", FAILED, "let go"),
     Row("take", "release", "let go"), Row(("take", "carry", "hand over"), "stand", "let go"),
     Row("take", "", "let go", ("lost",), urgent=True)),
)  # fmt: skip
carry = Behaviour(
    "carry",
    act_carry,
    CARRYING,
    (Row("carry", "release", "let go"), Row("carry", "", "let go", ("lost",), urgent=True)),
)
hand_over = Behaviour(
    "hand over", act_hand_over, CARRYING,
    (Row("carry", "hand over", "hand over"), Row("hand over", DONE, "let go"), Row("hand over", "release", "let go"),
     Row("hand over", "", "let go", ("lost",), urgent=True)),
)  # fmt: skip
let_go = Behaviour("let go", act_let_go, CARRYING, (Row("let go", DONE, "stand"),))
