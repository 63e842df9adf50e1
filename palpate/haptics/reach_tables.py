"""What one device's reach into a world reads and writes, as arrays: settings, state and outcome.

A block of (ReachArrays, Guard, PortEnergy, EffectTable, Tank) serves one device.  A tick knows only its first part,
says there what time it is and what to do, and calls the routine `reach` (reach_kernels.py) by its address: a session
without devices compiles nothing of all that.
"""

from __future__ import annotations

from typing import NamedTuple

from palpate.frame import DEVICE_PORTS
from palpate.jit import block_loader
from palpate.model.model import Floats1, Floats2, Ints1

LEVER_M = 0.2  # the largest torque on a body is the largest force at this distance
# what a tick asks for: no force; force on the hand only; force on both; none, for the link to the bodies is lost
RESTING, FEELING, ACTING, CUT = range(4)
# ReachArrays.integer[MODE] and [PASSIVITY]
MODES = ("push", "pull", "tool")
PUSH, PULL, TOOL = range(3)
PASSIVITIES = ("observer", "controller", "bounding", "tank")
OBSERVER, CONTROLLER, BOUNDING, TANK = range(4)
# accounts of PortEnergy: force and torque at the hand, the bodies that are held, the bodies that are touched
HAND, HAND_TURN, COUPLING, SURFACES = range(len(DEVICE_PORTS))
# rows of ReachArrays.number
(SCALE, WEIGHT, STIFFNESS_N_M, STIFFNESS_NM_RAD, BODY_FORCE_N, GRAB_M, DEVICE_MASS, DAMPING, DEVICE_INERTIA,
 TURN_DAMPING, NOW_S, LATE_S, DT_S, AGE_S, OLDEST_S, ENERGY_J, GRANTED_J) = range(17)  # fmt: skip
# rows of ReachArrays.integer
MODE, PASSIVITY, TOOL_BODY, REAL_TIME, DOING, ENGAGE, HELD, TOUCHED, STATUS, STARTED, CAPPED, NEW_LINK = range(12)
# rows of ReachArrays.vector
HIP, HIP_VELOCITY, HIP_SPIN, POINT, BODIES_FORCE, FELT, SENT, TORQUE_SENT, AT_BODY, OFFSET, LAST, PUSHING = range(12)
STIFFNESS, GIVEN_DAMPING = 12, 13  # settings: of the holding spring, by world axis
# places in ReachArrays.turn
ORIENTATION, HELD_TURN, LAST_TURN = 0, 4, 8


class ReachArrays(NamedTuple):
    """One device in a world; world axes unless said."""

    port: int  # address of the device's block, and of its two routines
    sample: int
    send: int
    proxy: int  # address of its proxy's block
    world: int  # address of the World's block
    frame: Floats2  # (1, 9) device to world axes
    frame_origin: Floats2  # (1, 3) where the device's origin is [m]
    frame_turn: Floats1  # (4,) the same rotation as a quaternion
    number: Floats1  # settings SCALE .. TURN_DAMPING; from the tick: NOW_S on the clock of readings, LATE_S more than
    # DT_S since the last, ENERGY_J that the other end of a link has granted; the outcome: AGE_S of the last force,
    # OLDEST_S of any, GRANTED_J to the other end
    integer: Ints1  # settings MODE .. REAL_TIME; from the tick: DOING, and ENGAGE = 1 to begin again after a fault,
    # NEW_LINK = 1 to forget the energy of the one before; the
    # outcome: HELD body, TOUCHED body that can move, STATUS of the device, STARTED, CAPPED ticks
    vector: Floats2  # (14, 3) HIP .. POINT [m, m/s, rad/s, m], BODIES_FORCE on bodies, FELT and SENT on the hand [N];
    # AT_BODY the held or touched point in body axes, OFFSET of the held point from the hand; LAST reading in the
    # device's frame; PUSHING on the TOUCHED body [N]
    turn: Floats1  # (12,) ORIENTATION of the hand, HELD_TURN of the body in it, LAST_TURN: device frame
    clock: Ints1  # (2,) scratch
    # those of the block's other parts that a frame shows
    guard_integer: Ints1  # Guard.integer
    guard_counts: Ints1  # Guard.counts
    absorbed: Floats1  # PortEnergy.absorbed
    port_integer: Ints1  # Port.integer


load_head = block_loader((ReachArrays, False))
