"""What the tick of a display works on.

Inside y is up: (x, z) of the floor and the heading phi; what a World has is z up (frames.py).
"""

from __future__ import annotations

from palpate.jit import Quaternion, Struct, Vector, block_loader
from palpate.mobile.adapters.inbox import Inbox
from palpate.mobile.adapters.orders import Orders
from palpate.mobile.display.fields import At
from palpate.mobile.display.person import Person
from palpate.mobile.estimate.prediction import Predictor
from palpate.mobile.geometry.chain import Linkage
from palpate.mobile.hardware.base import Drive
from palpate.mobile.hardware.lift import Lift
from palpate.mobile.hardware.tracker import Station
from palpate.mobile.planning.planner import Planner
from palpate.mobile.walking.users import Walker
from palpate.model.model import Floats2, Ints1
from palpate.servo.head import Head


class Displays(Struct):
    """All displays of a room."""

    display: Ints1  # (n,) Blocks, and
    kept: Ints1  # Blocks of servo.kept.Kept: the start
    preset: Floats2  # (m, len(settings.PRESET)) followers to choose from
    noise: Floats2  # (m, 4) of trackers to choose from [m, rad], and what the estimate takes for it, squared
    bleed: Ints1  # (len(METHODS),) whether an estimate bleeds its corrections in
    setting: Floats2  # (len(SETTINGS), 4) as they are, their bounds, and as they were at the start
    first_event: int  # kind
    first_body: int  # row of `pose`


class Display(Struct):
    """One display: what it is, what became of it."""

    tick_hz: int
    dt: float
    height: float  # Ry, of the robot's frame above the floor, the lift's part not in it [m]
    visual_hz: int
    r_c: float  # nearer is a collision [m]
    usable: float  # radius of the sphere that the device reaches [m]
    silence: int  # of the head's tracker after which the base stops [ticks]
    marks: int  # Block of a survey of the floor, 0: there was none
    psi: float  # the heading's error that nobody knows of [rad]
    freeze_m: float  # how far a pose that is held in contact may be from the predicted one
    freeze_rad: float
    rate_m_s: float  # how fast it goes back there
    rate_rad_s: float
    texture_m: float  # textures rest while the pose is less sure than this, and
    texture: float  # 0 .. 1, how much of them is felt: they fade
    texture_step: float
    arm: Ints1  # (n,) Blocks of Arm
    # the pose that rendering uses: the predicted one, and what contact keeps it off that
    used: Vector  # x, z, phi
    offset: Vector
    holds: int  # 1: contact holds the pose
    # what the person is shown, at its own rate
    eye: Vector  # z up
    eye_turn: Quaternion
    visuals: int
    # measured of the truth
    distance: float  # of robot and person [m]
    least: float
    off: float  # of the hand from the middle of the device's workspace, the farthest of them [m]
    off_ticks: int
    ticks: int
    sigma: float  # of the estimate [m]
    settled: float  # the same when a packet last put it right
    lost: int  # 1: somebody is not seen, or the base does not answer
    silent: int  # 1: the base does not answer
    # real things in the place of simulated ones, 0: simulated (adapters/)
    head_inbox: int  # Blocks of an Inbox: of the head's poses, and
    body_inbox: int  # of the robot's, with the chain that finds it
    orders: int  # Block of the Orders to the base


class Arm(Struct):
    """A device on the robot, and the hand that holds it."""

    reach: int  # address of its Reach's Block
    device: int  # of a simulated device's, 0: it is a real one
    rp: Vector  # from the robot to it, as it is believed [m]
    rp_true: Vector
    beside: Vector  # of its hand from the person's: ahead, right, up [m]
    farthest: float  # so far from its middle the hand follows the device [m]
    trip_m: float  # in a tick: the device's protection takes force away, and
    trip_N: float
    ramp: float  # of its return, and how much a tick gives back
    ramp_step: float
    trips: int
    seen: int  # ticks that the device was seen since the start
    lead: Vector  # of its hand, device frame [m]
    aim: Vector  # of the tick before, z up: where the HIP seemed to be, and
    sent: Vector  # the force that the device was told [N]
    error: Vector  # of that place [m]
    step: float  # of the error in this tick [m]
    off: float  # of the hand from the middle of the workspace [m]
    asked_N: float
    given_N: float  # as the hand feels it


load_displays = block_loader((Head, False), (Displays, False), (At, False))
load_display = block_loader(
    (Display, False), (Person, False), (Walker, False), (Station, False), (Station, False), (Predictor, False),
    (Planner, False), (Drive, False), (Lift, False),
)  # fmt: skip
load_arm = block_loader((Arm, False))
load_head_inbox = block_loader((Inbox, False))
load_body_inbox = block_loader((Inbox, False), (Linkage, True))
load_orders = block_loader((Orders, False))
