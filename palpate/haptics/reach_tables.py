"""What one device's reach into a world reads and writes, as arrays: settings, state and outcome.

A block of (ReachArrays, Guard, PortEnergy, EffectTable, Tank, Want) serves one device.  A tick knows only its first
part, says there what time it is and what to do, and calls the routine `reach` (reach_kernels.py) by its address.  That
calls the routine `touch` (touch_kernels.py) by its own, which may come later: rendering takes long to compile, and a
page shall not wait for it.
"""

from __future__ import annotations

from palpate.frame import DEVICE_PORTS
from palpate.haptics.devices.want import Want
from palpate.haptics.guard import Guard
from palpate.haptics.passivity import PortEnergy
from palpate.haptics.rendering.effects import EffectTable
from palpate.haptics.tank import Tank
from palpate.jit import Struct, Vector, block_loader
from palpate.model.model import Floats1, Floats2, Ints1

LEVER_M = 0.2  # the largest torque on a body is the largest force at this distance
# what a tick asks for: no force; force on the hand only; force on both; none, for the link to the bodies is lost
RESTING, FEELING, ACTING, CUT = range(4)
# ReachArrays.mode and .passivity
MODES = ("push", "pull", "tool")
PUSH, PULL, TOOL = range(3)
PASSIVITIES = ("observer", "controller", "bounding", "tank")
OBSERVER, CONTROLLER, BOUNDING, TANK = range(4)
# accounts of PortEnergy: force and torque at the hand, the bodies that are held, the bodies that are touched
HAND, HAND_TURN, COUPLING, SURFACES = range(len(DEVICE_PORTS))
FIND, FEEL = range(2)  # ReachArrays.asked, of `touch`: what is near enough to be held; what is touched
# places in ReachArrays.turn
ORIENTATION, HELD_TURN, LAST_TURN = 0, 4, 8


class ReachArrays(Struct):
    """One device in a world; world axes unless said."""

    # addresses
    port: int  # of the device's block, and of its two routines
    sample: int
    send: int
    touch: int  # of the routine that touches, 0: not there yet, then nothing is touched, and
    proxy: int  # of its proxy's block
    world: int  # of the World's block
    # settings
    mode: int  # MODES
    passivity: int  # PASSIVITIES
    tool_body: int
    real_time: int
    scale: float  # how far the hand goes in the world, over how far in the device
    weight: float  # force on bodies over force on the hand
    body_force_N: float  # most that a body gets, and
    rise_N_s: float  # how fast it may rise
    smooth_s: float  # time constant of a hand that tells no motion (devices/want.py)
    grab_m: float  # how far the nearest surface may be to be held
    device_mass: float  # as the hand moves it [kg, N s/m, kg m^2, N m s], for stability
    damping: float
    device_inertia: float
    turn_damping: float
    dt: float  # of the tick [s]
    edge_m: float  # from the middle of the device's workspace, where a spring begins that the hand feels, inf: nowhere
    edge_N_m: float
    edge_N: float  # at most
    # from whoever carries the device, else at rest
    frame_velocity: Vector  # of the device's origin [m/s], and
    frame_spin: Vector  # of its axes [rad/s]
    share: float  # of the force that is given, 1 unless somebody has a reason
    # from the tick
    now_s: float  # on the clock of readings
    late_s: float  # more than dt since the last
    doing: int  # RESTING, ...
    engage: int  # 1: begin again after a fault
    new_link: int  # 1: forget the energy of the link before
    energy_J: float  # that the other end of a link has granted
    # between `reach` and `touch`
    asked: int  # FIND or FEEL
    placed: int  # whether the proxy is; 0: it begins anew where the hand then is
    near: int  # FIND: body that can be held, and
    near_point: Vector  # where
    stored_J: float  # FEEL, where rise_N_s keeps a force back: what the spring of the touch has, and
    power_W: float  # what it gave the bodies in the tick before
    before: Vector  # where the hand was then
    lawless: int  # 1: a surface's law gave what is not a number
    # the outcome
    does: int  # devices/want.py, NOTHING if it found nothing to do it to
    held: int  # body, and
    touched: int  # body that can move
    status: int  # of the device
    started: int
    capped: int  # ticks on which the spring was stretched beyond its cap,
    clamped: int  # the force on a body was longer than its limit,
    rate_limited: int  # or would have risen too fast
    age_s: float  # of the last force, and
    oldest_s: float  # of any
    granted_J: float  # to the other end of a link
    account: int  # whose energy limits what a body gets (devices/want.py), 0: nobody's, and
    link_account: int  # whose the tank is
    aim: Vector  # where the reading puts the hand [m]
    hip: Vector  # where the hand is, which may follow it smoothly [m], and how it moves [m/s, rad/s]
    hip_velocity: Vector
    hip_spin: Vector
    target: Vector  # where what is held shall be [m]
    point: Vector  # of the proxy, or what is held [m]
    bodies_force: Vector  # on bodies [N]
    bodies_torque: Vector  # [N m]
    felt: Vector  # on the hand, wanted and sent [N]
    sent: Vector
    torque_sent: Vector
    at_body: Vector  # the held or touched point in body axes
    offset: Vector  # of the held point from the hand
    pushing: Vector  # on the touched body [N]
    last: Vector  # reading, in the device's frame
    frame: Floats2  # (1, 9) device to world axes
    frame_origin: Floats2  # (1, 3) where the device's origin is [m]
    frame_turn: Floats1  # (4,) the same rotation as a quaternion
    turn: Floats1  # (12,) ORIENTATION of the hand, HELD_TURN of the body in it, LAST_TURN: device frame
    old_R: Floats2  # (L, 9) poses of the links in the tick before
    old_p: Floats2  # (L, 3)
    clock: Ints1  # (2,) scratch
    # those of the block's other parts that a frame shows
    absorbed: Floats1  # PortEnergy.absorbed


load_head = block_loader((ReachArrays, False))
load_shown = block_loader((ReachArrays, False), (Guard, False))
load_reach = block_loader(
    (ReachArrays, False), (Guard, False), (PortEnergy, False), (EffectTable, False), (Tank, False), (Want, False)
)
