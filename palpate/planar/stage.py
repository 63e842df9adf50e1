"""What the tick of the planar interface works on beside its lanes."""

from __future__ import annotations

from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.planar.fields import At
from palpate.planar.settings import Choices, Settings
from palpate.servo.head import Head

LINKS = 9  # of the mechanism: four proximal, four distal, the crank with its handle
NOT, HANDLE, BODY = range(3)  # Stage.grips: what a hand can take


class Stage(Struct):
    """Addresses, rates and what is shown."""

    lane: int  # address of a lane's Block
    other: int  # and of the one that is compared with it
    sample: int  # routine that reads a hand's message
    hands: Ints1  # (HANDS,) Blocks of the page's hands (haptics/devices/messages.py)
    kept: Ints1  # (n,) Blocks of servo.kept.Kept: the start
    # the servo's rate beside the tick's
    rates: Floats1  # (n,) that can be chosen [Hz]
    tick_hz: float
    dt: float  # of a servo step [s]
    steps: int  # in a tick, or
    every: int  # so many ticks for one
    wait: int  # ticks until the next
    omega: float  # of the observer, where the rate allows it [rad/s]
    gain: float  # [1/s]
    shapes: int  # 1: the device is made to have the body's inertia, as far as the observer can tell
    done: int  # servo steps so far
    rest: int  # routine of a device that takes no part (port_drive.py), 0: there is none
    fault: int  # why it stopped
    faults: int  # how often it did
    # what is shown
    shown: int  # contacts, at most
    grips: Ints1  # (n_bodies,) NOT, HANDLE or BODY: what of the rows of `pose` a hand can take
    bodies: Ints1  # (n_bodies,) row of the planar body that a row of `pose` shows, 0: none
    first_link: int  # row of `pose`
    first_other: int  # the compared lane's bodies come last


class Held(Struct):
    """What a page's hand holds, and how; poses (x, y, angle) in the room."""

    body: int  # row of `pose`, 0: nothing
    hand: int  # which of HANDS
    shift: Vector  # of the held body from the handle, when it was taken
    aim: Vector  # where the hand is, and how it is turned
    target: Vector  # the same, smoothly
    point: Vector  # held point, world [m]
    to: Vector  # where the hand is, world [m]
    force: Vector  # on what it holds, world [N]
    torque: float  # [N m]
    # how a hand is
    stiffness: Vector  # of a hand that does not say [N/m, N/m, N m/rad], at the device
    damping: Vector
    inertia: Vector  # of handle and body together, at the device, for a spring's critical damping
    sharpest: Vector  # stiffness that the step allows, at the device
    most_N: float  # force of a hand at most, at the device
    most_Nm: float  # and torque
    smooth_s: float  # of the pointer's path
    border: Vector  # half of where a hand can lead the handle [m], at the device
    capped: int  # ticks on which it was stretched beyond its force


class Path(Struct):
    """A hand that follows a path, where nobody else holds the handle."""

    row: Floats2  # (n, 4) time [s], pose of the handle; straight from one to the next; n = 0: there is none
    at: int  # row before now


load_stage = block_loader(
    (Head, False), (At, False), (Stage, False), (Settings, False), (Choices, False), (Held, False), (Path, False)
)
