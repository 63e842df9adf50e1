"""A Force Dimension device in the tick: the vendor's functions, called by their addresses.

Vendor's axes: x toward the person, y to their right, z up [m, m/s, rad/s, N, N m].  Ours: x away, y left, z up.
So v = D v',  D = diag(-1, -1, 1), a half turn about z; orientation R = D R' D, and the vector part of a quaternion
turns like any vector.

Vendor's answers: 0 done, 1 "time guard" (asked again too soon: nothing new), 2 a motor is saturated, negative: failed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from palpate.haptics.devices.port import (
    BUTTONS,
    LOST,
    NOTHING_NEW,
    NOW_S,
    OK,
    POSITION,
    QUATERNION,
    SAMPLED_S,
    SATURATED,
    SPIN,
    VELOCITY,
    Port,
)
from palpate.haptics.devices.protocol import FORCE, TORQUE
from palpate.jit import block_loader, kernel
from palpate.jit.foreign import address_of, call_int32, enter_gate, leave_gate
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Ints1
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import is_finite

SYMBOLS = (
    "dhdGetPosition", "dhdGetLinearVelocity", "dhdGetOrientationFrame", "dhdGetAngularVelocityRad", "dhdGetButtonMask",
    "dhdSetForceAndTorqueAndGripperForce",
)  # fmt: skip
GET_POSITION, GET_VELOCITY, GET_FRAME, GET_SPIN, GET_BUTTONS, SET_FORCE = range(len(SYMBOLS))
DEVICE, WRIST, ACTIVE_WRIST, REASON = range(4)  # rows of Vendor.integer
FRESH_S = 0  # row of Vendor.number
NO_REASON, CALL_FAILED, NOT_FINITE, STALE, SHUT = range(5)  # why it was lost
# where the parts of a reading begin
P, V, Q, W = POSITION.start, VELOCITY.start, QUATERNION.start, SPIN.start
T, F = TORQUE.start, FORCE.start  # and of a command
# parts of Vendor.scratch, which the vendor's calls fill
AT_POSITION, AT_VELOCITY, AT_SPIN, AT_FRAME, SCRATCH = 0, 3, 6, 9, 18
TIMEGUARD, MOTOR_SATURATED = 1, 2
SILENCE_S = 0.020  # without a new reading for this long the device is lost


class Vendor(NamedTuple):
    """What the routines need beside the Port."""

    symbol: Ints1  # addresses, in the order of SYMBOLS
    integer: Ints1  # DEVICE (the vendor's number of it), WRIST, ACTIVE_WRIST, REASON
    number: Floats1  # FRESH_S: the tick's clock at the last new reading; NaN before the first
    scratch: Floats1  # (SCRATCH,)
    gate: Ints1  # (2,) of jit/foreign.py: shut before the library is closed


load = block_loader((Port, False), (Vendor, False))


@kernel
def three_numbers(vendor: Any, which: int, at: int) -> Any:
    """Call a vendor's function (double*, double*, double*, id) that fills scratch[at : at + 3]."""
    to = address_of(vendor.scratch, at)
    return call_int32(vendor.symbol[which], (to, to + 8, to + 16, vendor.integer[DEVICE]))


@kernel
def ask(vendor: Any) -> Any:
    """(the answer about position, the worst answer about the rest); numbers into scratch."""
    answer = three_numbers(vendor, GET_POSITION, AT_POSITION)
    rest = min(three_numbers(vendor, GET_VELOCITY, AT_VELOCITY), 0)
    if vendor.integer[WRIST] != 0:
        frame = (address_of(vendor.scratch, AT_FRAME), vendor.integer[DEVICE])
        rest = min(rest, call_int32(vendor.symbol[GET_FRAME], frame))
        rest = min(rest, three_numbers(vendor, GET_SPIN, AT_SPIN))
    return answer, rest


@kernel
def all_finite(vendor: Any) -> Any:
    sound = True
    for i in range(SCRATCH):
        sound = sound and is_finite(vendor.scratch[i])
    return sound


@kernel
def lose(vendor: Any, reason: int) -> Any:
    vendor.integer[REASON] = reason
    return LOST


@kernel
def take(port: Any, vendor: Any) -> None:
    """scratch, in the vendor's axes, into the port, in ours."""
    x, to = vendor.scratch, port.reading
    for part, at in ((P, AT_POSITION), (V, AT_VELOCITY), (W, AT_SPIN)):
        to[part], to[part + 1], to[part + 2] = -x[at], -x[at + 1], x[at + 2]
    f = AT_FRAME
    q = matrix_quaternion((x[f], x[f + 1], x[f + 2], x[f + 3], x[f + 4], x[f + 5], x[f + 6], x[f + 7], x[f + 8]))
    to[Q], to[Q + 1], to[Q + 2], to[Q + 3] = q[0], -q[1], -q[2], q[3]


@kernel
def sample_inside(port: Any, vendor: Any) -> Any:
    now_s = port.number[NOW_S]
    if math.isnan(vendor.number[FRESH_S]):
        vendor.number[FRESH_S] = now_s
    answer, rest = ask(vendor)
    if answer < 0:
        return lose(vendor, CALL_FAILED)
    buttons = call_int32(vendor.symbol[GET_BUTTONS], (vendor.integer[DEVICE],)) & 0xFFFFFFFF
    if not all_finite(vendor):
        return lose(vendor, NOT_FINITE)
    # its velocity estimator may need a few samples before it answers: that is nothing new, not a loss
    if answer == TIMEGUARD or rest < 0:
        if now_s - vendor.number[FRESH_S] > SILENCE_S:
            return lose(vendor, CALL_FAILED if rest < 0 else STALE)
        return NOTHING_NEW
    vendor.number[FRESH_S] = port.number[SAMPLED_S] = now_s
    port.integer[BUTTONS] = buttons
    take(port, vendor)
    return OK


@kernel
def send_inside(port: Any, vendor: Any) -> Any:
    c, sound = port.command, True
    for i in range(6):
        sound = sound and is_finite(c[i])
    if not sound:  # a NaN never reaches a motor
        f = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    elif vendor.integer[ACTIVE_WRIST] != 0:
        f = (-c[F], -c[F + 1], c[F + 2], -c[T], -c[T + 1], c[T + 2])
    else:
        f = (-c[F], -c[F + 1], c[F + 2], 0.0, 0.0, 0.0)
    gripper = 0.0
    answer = call_int32(vendor.symbol[SET_FORCE], (f[0], f[1], f[2], f[3], f[4], f[5], gripper, vendor.integer[DEVICE]))
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
