"""A Force Dimension device in the tick: the vendor's functions, called by their addresses.

Vendor's axes: x toward the person, y to their right, z up [m, m/s, rad/s, N, N m].  Ours: x away, y left, z up.
So v = D v',  D = diag(-1, -1, 1), a half turn about z; orientation R = D R' D, and the vector part of a quaternion
turns like any vector.

Vendor's answers: 0 done, 1 "time guard" (asked again too soon: nothing new), 2 a motor is saturated, negative: failed.
"""

from __future__ import annotations

import math
from typing import Any

from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, SATURATED, Port
from palpate.jit import Struct, block_loader, kernel
from palpate.jit.foreign import address_of, call_int32, enter_gate, leave_gate
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Ints1
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import finite3, is_finite, part3

SYMBOLS = {  # by the field of Vendor that has their address
    "get_position": "dhdGetPosition", "get_velocity": "dhdGetLinearVelocity", "get_frame": "dhdGetOrientationFrame",
    "get_spin": "dhdGetAngularVelocityRad", "get_buttons": "dhdGetButtonMask",
    "set_force": "dhdSetForceAndTorqueAndGripperForce",
}  # fmt: skip
NO_REASON, CALL_FAILED, NOT_FINITE, STALE, SHUT = range(5)  # why it was lost
TIMEGUARD, MOTOR_SATURATED = 1, 2
SILENCE_S = 0.020  # without a new reading for this long the device is lost
ZERO = (0.0, 0.0, 0.0)


class Vendor(Struct):
    """What the routines need beside the Port."""

    get_position: int
    get_velocity: int
    get_frame: int
    get_spin: int
    get_buttons: int
    set_force: int
    device: int  # the vendor's number of it
    wrist: int
    active_wrist: int
    reason: int  # why it was lost
    fresh_s: float  # the tick's clock at the last new reading; NaN before the first
    # what the vendor's calls fill
    position: Floats1  # (3,)
    velocity: Floats1  # (3,)
    spin: Floats1  # (3,)
    frame: Floats1  # (9,) row-major
    gate: Ints1  # (2,) of jit/foreign.py: shut before the library is closed


load = block_loader((Port, False), (Vendor, False))


@kernel
def three_numbers(vendor: Any, symbol: int, out: Any) -> Any:
    """Call a vendor's function (double*, double*, double*, id)."""
    to = address_of(out, 0)
    return call_int32(symbol, (to, to + 8, to + 16, vendor.device))


@kernel
def ask(vendor: Any) -> Any:
    """(the answer about position, the worst answer about the rest); numbers into the vendor's arrays."""
    answer = three_numbers(vendor, vendor.get_position, vendor.position)
    rest = min(three_numbers(vendor, vendor.get_velocity, vendor.velocity), 0)
    if vendor.wrist != 0:
        rest = min(rest, call_int32(vendor.get_frame, (address_of(vendor.frame, 0), vendor.device)))
        rest = min(rest, three_numbers(vendor, vendor.get_spin, vendor.spin))
    return answer, rest


@kernel
def all_finite(vendor: Any) -> Any:
    sound = finite3(part3(vendor.position, 0)) and finite3(part3(vendor.velocity, 0))
    sound = sound and finite3(part3(vendor.spin, 0))
    for i in range(9):
        sound = sound and is_finite(vendor.frame[i])
    return sound


@kernel
def lose(vendor: Any, reason: int) -> Any:
    vendor.reason = reason
    return LOST


@kernel
def turned(v: Any) -> Any:
    """A vector between the vendor's axes and ours, either way."""
    return (-v[0], -v[1], v[2])


@kernel
def take(port: Any, vendor: Any) -> None:
    """The reading, in the vendor's axes, into the port, in ours."""
    port.position, port.velocity = turned(part3(vendor.position, 0)), turned(part3(vendor.velocity, 0))
    port.spin, R = turned(part3(vendor.spin, 0)), vendor.frame
    q = matrix_quaternion((R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]))
    port.quaternion = (q[0], -q[1], -q[2], q[3])


@kernel
def sample_inside(port: Any, vendor: Any) -> Any:
    now_s = port.now_s
    if math.isnan(vendor.fresh_s):
        vendor.fresh_s = now_s
    answer, rest = ask(vendor)
    if answer < 0:
        return lose(vendor, CALL_FAILED)
    buttons = call_int32(vendor.get_buttons, (vendor.device,)) & 0xFFFFFFFF
    if not all_finite(vendor):
        return lose(vendor, NOT_FINITE)
    # its velocity estimator may need a few samples before it answers: that is nothing new, not a loss
    if answer == TIMEGUARD or rest < 0:
        if now_s - vendor.fresh_s > SILENCE_S:
            return lose(vendor, CALL_FAILED if rest < 0 else STALE)
        return NOTHING_NEW
    vendor.fresh_s, port.sampled_s, port.buttons = now_s, now_s, buttons
    take(port, vendor)
    return OK


@kernel
def send_inside(port: Any, vendor: Any) -> Any:
    sound = finite3(port.force) and finite3(port.torque)
    f = turned(port.force) if sound else ZERO  # a NaN never reaches a motor
    t = turned(port.torque) if sound and vendor.active_wrist != 0 else ZERO
    gripper = 0.0
    answer = call_int32(vendor.set_force, (f[0], f[1], f[2], t[0], t[1], t[2], gripper, vendor.device))
    if answer < 0:
        return lose(vendor, CALL_FAILED)
    if answer == MOTOR_SATURATED or not sound:
        return SATURATED
    return NOTHING_NEW if answer == TIMEGUARD else OK


@routine
def sample(address: Any) -> Any:
    """Ask the device and fill the port's reading; the old one stays unless it returns OK."""
    port, vendor = load(address)
    if not enter_gate(vendor.gate):
        return lose(vendor, SHUT)
    result = sample_inside(port, vendor)
    leave_gate(vendor.gate)
    return result


@routine
def send(address: Any) -> Any:
    """Send the port's command; one that is not finite is sent as zero and reported as saturated."""
    port, vendor = load(address)
    if not enter_gate(vendor.gate):
        return lose(vendor, SHUT)
    result = send_inside(port, vendor)
    leave_gate(vendor.gate)
    return result
