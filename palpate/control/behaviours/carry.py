"""Take, carry, put down, hand over, let go: wishes of the grasp, which does it (control/grasp/grasp.py).

Both hands are the grasp's while it does anything.  It opens by itself when what it holds is lost, or pulled too hard:
the guard "lost".
"""

from palpate.control.behaviours.rows import CARRYING, DONE, FAILED, SHAKING, Behaviour, Row
from palpate.control.behaviours.senses import CARRIES, HOLDS
from palpate.control.behaviours.tables import load
from palpate.jit.routines import routine

FREE, HELD, LIFTED = range(3)  # wishes
IDLE = 0  # state of the grasp
GIVE_N, GIVE_S = 5.0, 0.1  # pulled like this it is given
LONGEST_S = 20.0  # that taking or putting down lasts


@routine
def act_take(address):
    _, i, b, _ = load(address)
    i.grasp = LIFTED
    return 1 if b.grasp_state[0] == CARRIES else 2 if b.behaviour_time_s > LONGEST_S else 0


@routine
def act_carry(address):
    _, i, _, _ = load(address)
    i.grasp = LIFTED
    return 0


@routine
def act_put_down(address):
    _, i, b, _ = load(address)
    i.grasp = HELD
    return 1 if b.grasp_state[0] == HOLDS else 2 if b.behaviour_time_s > LONGEST_S else 0


@routine
def act_hand_over(address):
    """Holds it out until someone pulls at it: the force of persons on what it holds, or on its hands."""
    _, i, b, _ = load(address)
    i.grasp = LIFTED
    pulled = max(b.hand_N[0], b.hand_N[1], b.object_N) > GIVE_N
    b.memory[0] = b.memory[0] + b.dt if pulled else 0.0
    i.gazing, i.gaze = 1, (i.user_x, i.user_y, i.user_z)
    return 1 if b.memory[0] > GIVE_S else 0


@routine
def act_let_go(address):
    _, i, b, _ = load(address)
    i.grasp = FREE
    return 1 if b.grasp_state[0] == IDLE else 0


def opened(name: str) -> tuple[Row, ...]:
    """The ways out that all have."""
    return (
        Row(name, "release", "let go"), Row(name, "stand", "let go"), Row(name, "", "let go", ("lost",), urgent=True),
    )  # fmt: skip


take = Behaviour(
    "take", act_take, CARRYING,
    (Row(SHAKING, "take", "take"), Row("take", DONE, "carry"), Row("take", FAILED, "let go"), *opened("take")),
)  # fmt: skip
carry = Behaviour("carry", act_carry, CARRYING, opened("carry"))
put_down = Behaviour(
    "put down", act_put_down, CARRYING,
    (Row(("carry", "hand over"), "put down", "put down"), Row("put down", DONE, "let go"),
     Row("put down", FAILED, "let go"), *opened("put down")),
)  # fmt: skip
hand_over = Behaviour(
    "hand over",
    act_hand_over,
    CARRYING,
    (Row("carry", "hand over", "hand over"), Row("hand over", DONE, "let go"), *opened("hand over")),
)
let_go = Behaviour("let go", act_let_go, CARRYING, (Row("let go", DONE, "stand"),))
