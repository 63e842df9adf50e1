"""What a grasp reads and writes, as numbers: the object, limits, and where it is in taking it."""

from __future__ import annotations

from palpate.control.avatar import Avatar
from palpate.control.grasp.object_form import JointForm, ObjectForm
from palpate.control.grasp.palms import TwoPalms
from palpate.dynamics.workspace import Workspace
from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1

# what is wanted of the hands: Grasp.wish
FREE, HELD, LIFTED = range(3)
# Grasp.state
STATES = (
    "idle", "raise", "approach", "close", "press", "hold", "lift", "carry", "lower", "open", "withdraw",
    "return", "rest",
)  # fmt: skip
IDLE, RAISE, APPROACH, CLOSE, PRESS, HOLD, LIFT, CARRY, LOWER, OPEN, WITHDRAW, RETURN, REST = range(len(STATES))
# why it let go last: Grasp.why
REASONS = ("", "asked", "lost", "pulled", "out of reach", "fallen", "no contact")
NOTHING, ASKED, LOST, PULLED, UNREACHED, FELL, UNTOUCHED = range(len(REASONS))
OBJECT_FORM, JOINT_FORM, RIGID = range(3)


class Grasp(Struct):
    """k coordinates of the arms."""

    # settings
    wish: float  # FREE, HELD or LIFTED
    wish_start: float
    squeeze_N: float  # wanted of each palm
    lift_m: float
    form: int  # OBJECT_FORM, ...
    loops: int  # 1: the slow loop on the palms' distance keeps the squeeze
    answers: int  # 1: slip is answered by more squeeze
    watches: int  # 1: what is lost or pulled too hard is let go
    bears: int  # 1: the weight of arms and trunk is fed forward here, 0: balance does
    turns: int  # 1: a torque about z turns it; not if another holds it, too
    listens: int  # 1: what the object does to the palms leads too, level, not only known hands
    friction: float  # that is counted on
    pull_limit_N: float  # of a hand at the object: it is let go beyond
    body: int  # the object, and
    at: Vector  # where on it, in its axes [m]
    half: Vector  # half its edges [m]
    weight_N: float
    # leading: what is carried goes by go_m along go_way
    go_m: float  # wanted
    go_way: Vector  # world
    go_from_m: float
    go_to_m: float
    go_s: float  # since the way began, of
    go_leg_s: float
    gone_m: float
    # where it is
    state: int
    why: int  # it let go last
    since_s: float  # in this state
    leg_s: float  # how long the way to the targets takes
    squeeze_now_N: float  # fed forward
    more_N: float  # what slip added
    weight_now_N: float
    raised: float  # part of the lift, 0 .. 1
    lost_s: float  # how long a palm has had less than LOST_N
    pulled_s: float  # how long a hand has pulled more than its limit
    borne_s: float  # how long something else has borne the object
    slip_m: float  # the larger of both palms' against the object, since it was taken, and
    slip_answered_m: float
    lowered_m: float
    # the object now
    p: Vector  # of `at`
    arm: Vector  # from its origin to there
    left: Vector  # from the right palm's side to the left one's
    on: int  # which of its axes that is, and
    sign: float
    felt: Vector  # smoothed force of the object on the palms less the weight they bear [N]
    touched: Ints1  # (2,)
    taken_at: Floats2  # (2, 3) palms in the object's axes when it was taken
    from_p: Floats2  # (2, 3) where a way began, and
    from_turn: Floats2  # (2, 4)
    to_p: Floats2  # (2, 3) and ends
    to_turn: Floats2  # (2, 4)
    home_p: Floats2  # (2, 3) palms in the waist's axes before it all began, and
    home_turn: Floats2  # (2, 4)
    q_rest: Floats1  # (nq,) where the arms go back to, and
    q_from: Floats1  # (nq,) from where
    way: Floats1  # (nv,) between them
    load: Floats2  # (L, 6) scratch: forces on links


load_grasp = block_loader(
    (Avatar, False), (Workspace, False), (TwoPalms, False), (ObjectForm, False), (JointForm, False), (Grasp, False)
)
