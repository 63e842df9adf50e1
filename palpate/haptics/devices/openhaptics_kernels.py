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
from palpate.haptics.devices.protocol import FORCE
from palpate.jit import block_loader, kernel
from palpate.jit.atomics import fence, load_acquire, monotonic_ns, store_release
from palpate.jit.foreign import address_of, call_int32, call_int64
from palpate.jit.routines import routine
from palpate.model.model import Floats1, Ints1
from palpate.spatial.quaternions import matrix_quaternion
from palpate.spatial.vectors import is_finite

SYMBOLS = (
    "hdMakeCurrentDevice", "hdBeginFrame", "hdEndFrame", "hdGetDoublev", "hdGetIntegerv", "hdSetDoublev", "hdGetError",
    "hdCheckCalibration", "hdUpdateCalibration",
)  # fmt: skip
MAKE_CURRENT, BEGIN, END, GET_DOUBLE, GET_INTEGER, SET_DOUBLE, GET_ERROR, CHECK, UPDATE = range(len(SYMBOLS))
# the vendor's names (hdDefines.h)
HD_BUTTONS, HD_VELOCITY, HD_TRANSFORM, HD_ANGULAR_VELOCITY, HD_FORCE = 0x2000, 0x2051, 0x2052, 0x2053, 0x2700
CALIBRATION_OK, CALIBRATION_NEEDS_UPDATE = 0x5000, 0x5001
DONE, CONTINUE = 0, 1  # what a callback returns
FIRST_FORCE_ERROR, LAST_FORCE_ERROR = 0x0200, 0x02FF  # warm motors, force or velocity too large: the vendor limits it
NOT_FINITE = -1  # our own kind of error: the device's reading is not a number
# rows of Exchange.status, all written with atomics
IN, OUT, HELD, ERROR, PHASE, STOP, STOPPED, CALIBRATION, FORCE_ERRORS, FRAMES = range(10)
STARTING, RUNNING = 0, 1  # PHASE
HANDLE, STYLE = range(2)  # rows of Exchange.setting
STAMP = 13  # of Exchange.inbound: after the reading
FORCE_STAMP = 3  # of Exchange.outbound: after the force
CLOCK, WORD, CLEAN = 0, 2, 3  # rows of Exchange.servo_word: (2,) for the clock, one for the vendor, good frames so far
TICK_CLOCK, LAST_IN, LAST_FORCE_ERRORS = 0, 2, 3  # rows of Exchange.tick_word
SEEN_S, COPY = 0, 1  # rows of Exchange.tick_number
# parts of Exchange.scratch
AT_TRANSFORM, AT_VELOCITY, AT_SPIN, AT_FORCE, SCRATCH = 0, 16, 19, 22, 25
P, V, Q, W, F = POSITION.start, VELOCITY.start, QUATERNION.start, SPIN.start, FORCE.start
CLEAN_FRAMES = 3
SILENCE_S = 0.020  # without a new frame for this long the device is lost
DEAD_S = 0.050  # a command older than this is not obeyed
MM = 1e-3
TRIES = 16  # of a seqlock: a write takes less than a microsecond
MOST_ERRORS = 16  # the vendor keeps a stack of them


class Exchange(NamedTuple):
    """What servo and tick share beside the Port, which is the tick's alone."""

    symbol: Ints1  # addresses, in the order of SYMBOLS
    setting: Ints1  # HANDLE, STYLE of calibration
    status: Ints1  # the atomics
    inbound: Floats1  # (14,) the reading in our axes, STAMP [s, monotonic]; written by servo under IN
    outbound: Floats1  # (4,) the force in our axes, FORCE_STAMP; written by the tick under OUT
    scratch: Floats1  # (SCRATCH,) of servo: what the vendor's calls fill and read
    servo_word: Ints1  # (4,) of servo
    tick_word: Ints1  # (4,) of the tick
    tick_number: Floats1  # (15,) of the tick: SEEN_S, its clock when IN last moved; then a copy of inbound


load = block_loader((Port, False), (Exchange, False))


# ---- the vendor's thread


@kernel
def get_double(x: Any, name: int, at: int) -> None:
    call_int32(x.symbol[GET_DOUBLE], (name, address_of(x.scratch, at)))


@kernel
def read_device(x: Any) -> Any:
    """Fill scratch; returns the buttons."""
    get_double(x, HD_TRANSFORM, AT_TRANSFORM)
    get_double(x, HD_VELOCITY, AT_VELOCITY)
    get_double(x, HD_ANGULAR_VELOCITY, AT_SPIN)
    x.servo_word[WORD] = 0
    call_int32(x.symbol[GET_INTEGER], (HD_BUTTONS, address_of(x.servo_word, WORD)))
    return x.servo_word[WORD] & 0xFFFFFFFF


@kernel
def set_force(x: Any, fx: float, fy: float, fz: float) -> None:
    """A force in our axes."""
    f = x.scratch
    f[AT_FORCE], f[AT_FORCE + 1], f[AT_FORCE + 2] = -fy, fz, -fx
    call_int32(x.symbol[SET_DOUBLE], (HD_FORCE, address_of(f, AT_FORCE)))


@kernel
def newest_command(x: Any, now_s: float) -> Any:
    """The tick's force, or none if it is too old or cannot be read."""
    o = x.outbound
    for _ in range(TRIES):
        number = load_acquire(x.status, OUT)
        force, stamp = (o[0], o[1], o[2]), o[FORCE_STAMP]
        fence()
        if number % 2 == 0 and load_acquire(x.status, OUT) == number:
            return force if now_s - stamp <= DEAD_S else (0.0, 0.0, 0.0)
    return (0.0, 0.0, 0.0)


@kernel
def take_errors(x: Any) -> Any:
    """The first error since the last look that is not about the force (0: none); counts those that are."""
    worst = 0
    for _ in range(MOST_ERRORS):
        # HDErrorInfo {unsigned code; int internal; unsigned device} by value: the code is the low half of the register
        code = call_int64(x.symbol[GET_ERROR], ()) & 0xFFFFFFFF
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
        found = call_int32(x.symbol[CHECK], ())
        if found == CALIBRATION_NEEDS_UPDATE and x.setting[STYLE] != 0:
            call_int32(x.symbol[UPDATE], (x.setting[STYLE],))
        store_release(x.status, CALIBRATION, found)


@kernel
def all_finite(x: Any) -> Any:
    sound = True
    for i in range(AT_FORCE):
        sound = sound and is_finite(x.scratch[i])
    return sound


@kernel
def publish(x: Any, buttons: int, now_s: float) -> None:
    """scratch, in the vendor's axes, into inbound, in ours."""
    s, to = x.scratch, x.inbound
    number = load_acquire(x.status, IN)
    store_release(x.status, IN, number + 1)
    fence()
    to[P], to[P + 1], to[P + 2] = -MM * s[14], -MM * s[12], MM * s[13]
    v = AT_VELOCITY
    to[V], to[V + 1], to[V + 2] = -MM * s[v + 2], -MM * s[v], MM * s[v + 1]
    w = AT_SPIN
    to[W], to[W + 1], to[W + 2] = -s[w + 2], -s[w], s[w + 1]
    q = matrix_quaternion((s[0], s[4], s[8], s[1], s[5], s[9], s[2], s[6], s[10]))
    to[Q], to[Q + 1], to[Q + 2], to[Q + 3] = q[0], -q[3], -q[1], q[2]
    to[STAMP] = now_s
    store_release(x.status, HELD, buttons)
    store_release(x.status, IN, number + 2)


@kernel
def begin_frame(x: Any) -> None:
    call_int32(x.symbol[MAKE_CURRENT], (x.setting[HANDLE],))
    call_int32(x.symbol[BEGIN], (x.setting[HANDLE],))


@kernel
def end_frame(x: Any) -> None:
    call_int32(x.symbol[END], (x.setting[HANDLE],))


@kernel
def give_up(x: Any, error: int) -> Any:
    """Zero force as well as that still works, and say why."""
    begin_frame(x)
    set_force(x, 0.0, 0.0, 0.0)
    end_frame(x)
    take_errors(x)
    store_release(x.status, ERROR, error)
    return DONE


@routine
def servo(address: Any) -> Any:
    """One frame of the vendor's scheduler: HDCallbackCode (void*)."""
    _, x = load(address)
    stop, running = load_acquire(x.status, STOP) != 0, load_acquire(x.status, PHASE) == RUNNING
    now_s = 1e-9 * monotonic_ns(x.servo_word[CLOCK : CLOCK + 2])
    begin_frame(x)
    calibrate(x)
    buttons = read_device(x)
    f = newest_command(x, now_s)
    if stop or not running:
        f = (0.0, 0.0, 0.0)
    set_force(x, f[0], f[1], f[2])
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
    x.servo_word[CLEAN] = x.servo_word[CLEAN] + 1 if error == 0 else 0
    if x.servo_word[CLEAN] >= CLEAN_FRAMES and load_acquire(x.status, CALIBRATION) == CALIBRATION_OK:
        publish(x, buttons, now_s)
        store_release(x.status, PHASE, RUNNING)
    return CONTINUE


# ---- the tick


@kernel
def copy_newest(port: Any, x: Any) -> Any:
    """The stamp of the newest reading [s], which is copied into the port; NaN if none newer than the last."""
    for _ in range(TRIES):
        number = load_acquire(x.status, IN)
        if number == x.tick_word[LAST_IN]:
            return math.nan
        for i in range(STAMP + 1):
            x.tick_number[COPY + i] = x.inbound[i]
        buttons = load_acquire(x.status, HELD)
        fence()
        if number % 2 == 0 and load_acquire(x.status, IN) == number:
            for i in range(STAMP):
                port.reading[i] = x.tick_number[COPY + i]
            x.tick_word[LAST_IN], port.integer[BUTTONS] = number, buttons
            return x.tick_number[COPY + STAMP]
    return math.nan


@routine
def sample(address: Any) -> Any:
    """The newest reading that servo left, with its age."""
    port, x = load(address)
    if load_acquire(x.status, ERROR) != 0 or load_acquire(x.status, STOP) != 0:
        return LOST
    now_s, stamp = port.number[NOW_S], copy_newest(port, x)
    if math.isnan(stamp):
        if math.isnan(x.tick_number[SEEN_S]):
            x.tick_number[SEEN_S] = now_s
        return LOST if now_s - x.tick_number[SEEN_S] > SILENCE_S else NOTHING_NEW
    age = 1e-9 * monotonic_ns(x.tick_word[TICK_CLOCK : TICK_CLOCK + 2]) - stamp
    x.tick_number[SEEN_S], port.number[SAMPLED_S] = now_s, now_s - max(age, 0.0)
    return OK


@routine
def send(address: Any) -> Any:
    """Leave the command for servo; one that is not finite is left as zero and reported as saturated."""
    port, x = load(address)
    c, o = port.command, x.outbound
    sound = is_finite(c[F]) and is_finite(c[F + 1]) and is_finite(c[F + 2])
    now_s = 1e-9 * monotonic_ns(x.tick_word[TICK_CLOCK : TICK_CLOCK + 2])
    number = load_acquire(x.status, OUT)
    store_release(x.status, OUT, number + 1)
    fence()
    for i in range(3):
        o[i] = c[F + i] if sound else 0.0
    o[FORCE_STAMP] = now_s
    store_release(x.status, OUT, number + 2)
    if load_acquire(x.status, ERROR) != 0 or load_acquire(x.status, STOP) != 0:
        return LOST
    refused = load_acquire(x.status, FORCE_ERRORS)
    limited = refused != x.tick_word[LAST_FORCE_ERRORS]
    x.tick_word[LAST_FORCE_ERRORS] = refused
    return SATURATED if limited or not sound else OK
