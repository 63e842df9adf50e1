"""An OpenHaptics device: the vendor's scheduler calls `servo` in a thread of its own, the tick only meets its memory.

Vendor's axes: x to the person's right, y up, z toward them [mm, mm/s, rad/s, N].  Ours: x away, y left, z up [m].
So (x, y, z) = (-z', -x', y'), a turn; the vector part of a quaternion turns like any vector.  The transform is
column-major: row i of column j at 4 j + i, translation at 12..14.

Two seqlocks: the writer makes the number odd, writes, makes it even; a reader that saw an odd or another number
reads again.  `servo` writes IN and reads OUT, the tick the other way round.

servo, one frame: make current, begin, read, set force, end, look at the errors.  It begins STARTING, where errors are
expected (the scheduler says it runs before it does, and its first poses are defaults), and is RUNNING after
CLEAN_FRAMES good ones with the device calibrated.  Later any error but that of a force too large ends it: zero force,
the error kept, no more calls.  A command older than DEAD_S is zero: the tick that sent it may be gone.
"""

from __future__ import annotations

import math
from typing import Any

from palpate.haptics.devices.port import LOST, NOTHING_NEW, OK, SATURATED, Port
from palpate.jit import Quaternion, Struct, Vector, block_loader, kernel
from palpate.jit.atomics import fence, load_acquire, monotonic_ns, store_release
from palpate.jit.foreign import address_of, call_int32, call_int64
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Ints1
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import finite3, is_finite, part3, scale

SYMBOLS = {  # by the field of Exchange that has their address
    "make_current": "hdMakeCurrentDevice", "begin": "hdBeginFrame", "end": "hdEndFrame", "get_doubles": "hdGetDoublev",
    "get_integers": "hdGetIntegerv", "set_doubles": "hdSetDoublev", "get_error": "hdGetError",
    "check_calibration": "hdCheckCalibration", "update_calibration": "hdUpdateCalibration",
}  # fmt: skip
# the vendor's names (hdDefines.h)
HD_BUTTONS, HD_VELOCITY, HD_TRANSFORM, HD_ANGULAR_VELOCITY, HD_FORCE = 0x2000, 0x2051, 0x2052, 0x2053, 0x2700
CALIBRATION_OK, CALIBRATION_NEEDS_UPDATE = 0x5000, 0x5001
DONE, CONTINUE = 0, 1  # what a callback returns
FIRST_FORCE_ERROR, LAST_FORCE_ERROR = 0x0200, 0x02FF  # warm motors, force or velocity too large: the vendor limits it
NOT_FINITE = -1  # our own kind of error: the device's reading is not a number
# words of Exchange.status, all written with atomics
IN, OUT, ERROR, PHASE, STOP, STOPPED, CALIBRATION, FORCE_ERRORS, FRAMES = range(9)
STARTING, RUNNING = 0, 1  # PHASE
ZERO = (0.0, 0.0, 0.0)
CLEAN_FRAMES = 3
SILENCE_S = 0.020  # without a new frame for this long the device is lost
DEAD_S = 0.050  # a command older than this is not obeyed
MM = 1e-3
TRIES = 16  # of a seqlock: a write takes less than a microsecond
MOST_ERRORS = 16  # the vendor keeps a stack of them


class Exchange(Struct):
    """What servo and tick share beside the Port, which is the tick's alone."""

    make_current: int
    begin: int
    end: int
    get_doubles: int
    get_integers: int
    set_doubles: int
    get_error: int
    check_calibration: int
    update_calibration: int
    handle: int
    style: int  # of calibration
    status: Ints1  # (9,) the atomics
    # the reading in our axes, written by servo under IN
    position: Vector
    velocity: Vector
    quaternion: Quaternion
    spin: Vector
    buttons: int
    stamp_s: float  # monotonic
    # the force in our axes, written by the tick under OUT
    force: Vector
    force_stamp_s: float
    # of servo: what the vendor's calls fill and read, and
    transform: Floats1  # (16,)
    vendor_velocity: Floats1  # (3,)
    vendor_spin: Floats1  # (3,)
    vendor_force: Floats1  # (3,)
    word: Ints1  # (1,)
    clock: Ints1  # (2,)
    clean: int  # good frames so far
    # of the tick
    tick_clock: Ints1  # (2,)
    last_in: int
    last_force_errors: int
    seen_s: float  # its clock when IN last moved


load = block_loader((Port, False), (Exchange, False))


# ---- the vendor's thread


@kernel
def get_doubles(x: Any, name: int, out: Any) -> None:
    call_int32(x.get_doubles, (name, address_of(out, 0)))


@kernel
def read_device(x: Any) -> Any:
    """Fill the vendor's arrays; returns the buttons."""
    get_doubles(x, HD_TRANSFORM, x.transform)
    get_doubles(x, HD_VELOCITY, x.vendor_velocity)
    get_doubles(x, HD_ANGULAR_VELOCITY, x.vendor_spin)
    x.word[0] = 0
    call_int32(x.get_integers, (HD_BUTTONS, address_of(x.word, 0)))
    return x.word[0] & 0xFFFFFFFF


@kernel
def set_force(x: Any, f: Any) -> None:
    """A force in our axes."""
    x.vendor_force[0], x.vendor_force[1], x.vendor_force[2] = -f[1], f[2], -f[0]
    call_int32(x.set_doubles, (HD_FORCE, address_of(x.vendor_force, 0)))


@kernel
def newest_command(x: Any, now_s: float) -> Any:
    """The tick's force, or none if it is too old or cannot be read."""
    for _ in range(TRIES):
        number = load_acquire(x.status, OUT)
        force, stamp = x.force, x.force_stamp_s
        fence()
        if number % 2 == 0 and load_acquire(x.status, OUT) == number:
            return force if now_s - stamp <= DEAD_S else ZERO
    return ZERO


@kernel
def take_errors(x: Any) -> Any:
    """The first error since the last look that is not about the force (0: none); counts those that are."""
    worst = 0
    for _ in range(MOST_ERRORS):
        # HDErrorInfo {unsigned code; int internal; unsigned device} by value: the code is the low half of the register
        code = call_int64(x.get_error, ()) & 0xFFFFFFFF
        if code == 0:
            break
        if FIRST_FORCE_ERROR <= code <= LAST_FORCE_ERROR:
            store_release(x.status, FORCE_ERRORS, load_acquire(x.status, FORCE_ERRORS) + 1)
        elif worst == 0:
            worst = code
    return worst


@kernel
def calibrate(x: Any) -> None:
    """Look, and update if asked; the vendor wants this done in its own thread, inside a frame."""
    if load_acquire(x.status, CALIBRATION) != CALIBRATION_OK:
        found = call_int32(x.check_calibration, ())
        if found == CALIBRATION_NEEDS_UPDATE and x.style != 0:
            call_int32(x.update_calibration, (x.style,))
        store_release(x.status, CALIBRATION, found)


@kernel
def all_finite(x: Any) -> Any:
    sound = finite3(part3(x.vendor_velocity, 0)) and finite3(part3(x.vendor_spin, 0))
    for i in range(16):
        sound = sound and is_finite(x.transform[i])
    return sound


@kernel
def turned(v: Any) -> Any:
    """A vector from the vendor's axes into ours."""
    return (-v[2], -v[0], v[1])


@kernel
def publish(x: Any, buttons: int, now_s: float) -> None:
    """The reading, in the vendor's axes, for the tick, in ours."""
    s = x.transform
    number = load_acquire(x.status, IN)
    store_release(x.status, IN, number + 1)
    fence()
    x.position, x.velocity = scale(MM, turned(part3(s, 12))), scale(MM, turned(part3(x.vendor_velocity, 0)))
    x.spin = turned(part3(x.vendor_spin, 0))
    q = matrix_quaternion((s[0], s[4], s[8], s[1], s[5], s[9], s[2], s[6], s[10]))
    x.quaternion = (q[0], -q[3], -q[1], q[2])
    x.stamp_s, x.buttons = now_s, buttons
    store_release(x.status, IN, number + 2)


@kernel
def begin_frame(x: Any) -> None:
    call_int32(x.make_current, (x.handle,))
    call_int32(x.begin, (x.handle,))


@kernel
def end_frame(x: Any) -> None:
    call_int32(x.end, (x.handle,))


@kernel
def give_up(x: Any, error: int) -> Any:
    """Zero force as well as that still works, and say why."""
    begin_frame(x)
    set_force(x, ZERO)
    end_frame(x)
    take_errors(x)
    store_release(x.status, ERROR, error)
    return DONE


@routine
def servo(address: Any) -> Any:
    """One frame of the vendor's scheduler: HDCallbackCode (void*)."""
    _, x = load(address)
    stop, running = load_acquire(x.status, STOP) != 0, load_acquire(x.status, PHASE) == RUNNING
    now_s = 1e-9 * monotonic_ns(x.clock)
    begin_frame(x)
    calibrate(x)
    buttons = read_device(x)
    force = newest_command(x, now_s)
    set_force(x, ZERO if stop or not running else force)
    end_frame(x)
    error = take_errors(x)
    if error == 0 and not all_finite(x):
        error = NOT_FINITE
    store_release(x.status, FRAMES, load_acquire(x.status, FRAMES) + 1)
    if stop:
        store_release(x.status, STOPPED, 1)
        return DONE
    if running:
        if error != 0:
            return give_up(x, error)
        publish(x, buttons, now_s)
        return CONTINUE
    x.clean = x.clean + 1 if error == 0 else 0
    if x.clean >= CLEAN_FRAMES and load_acquire(x.status, CALIBRATION) == CALIBRATION_OK:
        publish(x, buttons, now_s)
        store_release(x.status, PHASE, RUNNING)
    return CONTINUE


# ---- the tick


@kernel
def copy_newest(port: Any, x: Any) -> Any:
    """The stamp of the newest reading [s], which is copied into the port; NaN if none newer than the last."""
    for _ in range(TRIES):
        number = load_acquire(x.status, IN)
        if number == x.last_in:
            return math.nan
        position, velocity, quaternion, spin = x.position, x.velocity, x.quaternion, x.spin
        buttons, stamp = x.buttons, x.stamp_s
        fence()
        if number % 2 == 0 and load_acquire(x.status, IN) == number:
            port.position, port.velocity, port.quaternion, port.spin = position, velocity, quaternion, spin
            x.last_in, port.buttons = number, buttons
            return stamp
    return math.nan


@routine
def sample(address: Any) -> Any:
    """The newest reading that servo left, with its age."""
    port, x = load(address)
    if load_acquire(x.status, ERROR) != 0 or load_acquire(x.status, STOP) != 0:
        return LOST
    now_s, stamp = port.now_s, copy_newest(port, x)
    if math.isnan(stamp):
        if math.isnan(x.seen_s):
            x.seen_s = now_s
        return LOST if now_s - x.seen_s > SILENCE_S else NOTHING_NEW
    age = 1e-9 * monotonic_ns(x.tick_clock) - stamp
    x.seen_s, port.sampled_s = now_s, now_s - max(age, 0.0)
    return OK


@routine
def send(address: Any) -> Any:
    """Leave the command for servo; one that is not finite is left as zero and reported as saturated."""
    port, x = load(address)
    sound = finite3(port.force)
    now_s = 1e-9 * monotonic_ns(x.tick_clock)
    number = load_acquire(x.status, OUT)
    store_release(x.status, OUT, number + 1)
    fence()
    x.force, x.force_stamp_s = port.force if sound else ZERO, now_s
    store_release(x.status, OUT, number + 2)
    if load_acquire(x.status, ERROR) != 0 or load_acquire(x.status, STOP) != 0:
        return LOST
    refused = load_acquire(x.status, FORCE_ERRORS)
    limited = refused != x.last_force_errors
    x.last_force_errors = refused
    return SATURATED if limited or not sound else OK
