"""PHANToM and Touch devices through OpenHaptics (the vendor's C library libHD).

**Not tried on hardware.**  Written from the vendor's header and from what people with a Touch reported; tested against
a fake of the library.

Opening: initialise the device, enable force output with the vendor's own clamping, schedule our compiled callback
(openhaptics_kernels.py), start the scheduler, wait for good frames and calibration.  Closing: zero force and one more
frame, stop the scheduler, unschedule, disable.  There is one scheduler for all devices: opening or closing a second
device stops it for a moment, so open all of them before a session begins.
Torques of six-freedom models are not sent: the vendor has deprecated the call.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_uint, c_ulong, c_ushort, c_void_p
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from palpate.haptics.devices.drivers.library import OPENHAPTICS, bind, symbol_address
from palpate.haptics.devices.drivers.openhaptics_kernels import (
    CALIBRATION,
    CALIBRATION_OK,
    ERROR,
    FRAMES,
    NOT_FINITE,
    PHASE,
    RUNNING,
    SILENCE_S,
    STOP,
    STOPPED,
    SYMBOLS,
    ZERO,
    Exchange,
    sample,
    send,
    servo,
)  # fmt: skip
from palpate.haptics.devices.port import LOST, InTick, copy_reading, empty_port, put_wrench
from palpate.haptics.devices.protocol import (
    HAND_SPEED_M_S,
    WRIST_SPEED_RAD_S,
    DeviceError,
    DeviceReading,
    DeviceSpec,
    OpenClose,
)
from palpate.jit import Block
from palpate.jit.foreign import c_address

PROTOTYPES = {
    "hdInitDevice": (c_uint, (c_char_p,)),
    "hdDisableDevice": (None, (c_uint,)),
    "hdMakeCurrentDevice": (None, (c_uint,)),
    "hdBeginFrame": (None, (c_uint,)),
    "hdEndFrame": (None, (c_uint,)),
    "hdEnable": (None, (c_uint,)),
    "hdDisable": (None, (c_uint,)),
    "hdGetString": (c_char_p, (c_uint,)),
    "hdGetDoublev": (None, (c_uint, c_void_p)),
    "hdGetIntegerv": (None, (c_uint, c_void_p)),
    "hdSetDoublev": (None, (c_uint, c_void_p)),
    "hdGetError": (ctypes.c_int64, ()),  # a struct of 12 bytes by value: its first eight are in this register
    "hdCheckCalibration": (c_uint, ()),
    "hdUpdateCalibration": (None, (c_uint,)),
    "hdStartScheduler": (None, ()),
    "hdStopScheduler": (None, ()),
    "hdScheduleAsynchronous": (c_ulong, (c_void_p, c_void_p, c_ushort)),
    "hdUnschedule": (None, (c_ulong,)),
}
INVALID_HANDLE = 0xFFFFFFFF
FORCE_OUTPUT, MAX_FORCE_CLAMPING, SOFTWARE_FORCE_LIMIT = 0x4000, 0x4001, 0x4003
MODEL, WORKSPACE, CALIBRATION_STYLE = 0x2501, 0x2551, 0x2555
MAX_STIFFNESS, MAX_FORCE, CONTINUOUS_FORCE, VELOCITY_LIMIT = 0x2602, 0x2603, 0x2604, 0x2606
ENCODER_RESET, AUTO, INKWELL = 1, 2, 4  # calibration styles; the first needs a person, and is left to the vendor's tool
HIGHEST_PRIORITY = 0xFFFF
ERRORS = {
    0x0100: "invalid name", 0x0101: "invalid value", 0x0102: "invalid operation", 0x0103: "invalid input type",
    0x0104: "bad handle", 0x0300: "device fault", 0x0301: "already in use", 0x0302: "communication error",
    0x0303: "communication is not configured", 0x0304: "timer error", 0x0400: "illegal begin of a frame",
    0x0401: "illegal end of a frame", 0x0402: "frame error", 0x0500: "invalid priority", 0x0501: "scheduler is full",
    0x0600: "invalid licence", NOT_FINITE: "its reading is not a number",
}  # fmt: skip


class Limits(NamedTuple):
    """Of models whose names have this part: force and stiffness as published by CHAI3D, the continuous force as in the
    maker's data sheets (0.88 and 1.4 N checked, the others as remembered); another Premium gets those of the weakest.

    The vendor's library is asked for all three, and for the velocity above which it stops itself.
    """

    model: str
    force_N: float
    stiffness_N_m: float
    continuous_N: float


LIMITS = (  # the first that fits
    Limits("premium 1.5", 8.5, 3500.0, 1.4), Limits("premium 3.0", 22.0, 1000.0, 3.0),
    Limits("premium", 8.5, 1000.0, 1.4), Limits("desktop", 7.9, 1000.0, 1.75), Limits("omni", 3.3, 700.0, 0.88),
    Limits("touch", 3.3, 400.0, 0.88),
)  # fmt: skip
UNKNOWN = Limits("openhaptics", 3.3, 400.0, 0.88)
READY_S, LAST_FRAME_S = 3.0, 0.1  # how long `open` waits for good frames, and `close` for one with no force


class _Scheduler:
    """The vendor's scheduler, of which a process has one: runs while any device needs it."""

    def __init__(self) -> None:
        self.lock, self.users = threading.RLock(), 0

    def pause(self, lib: Any) -> None:
        if self.users:
            lib.hdStopScheduler()

    def resume(self, lib: Any) -> None:
        if self.users:
            lib.hdStartScheduler()


_scheduler = _Scheduler()


def available() -> str:
    """One line: the library that was found, or why not."""
    return OPENHAPTICS.available()


def _error_text(code: int) -> str:
    return ERRORS.get(code, f"error 0x{code:04x}") + (f" (0x{code:04x})" if code > 0 and code in ERRORS else "")


class OpenHaptics(OpenClose):
    """The device that the vendor's configuration calls `name` (None: the default device).

    calibrate  let the device update its calibration when it asks for it (stylus in the inkwell); it does not move
    library    a path to libHD, or an object that stands for the loaded library
    clock      of `read` [s]; a tick brings its own

    Until it is open, `spec` has the weakest limits of any of these devices.  One caller at a time: either the tick
    through `in_tick`, or `read` and `write`.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        calibrate: bool = True,
        library: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name, self.calibrate, self._library, self._clock = name, calibrate, library, clock
        self._lib: Any = None
        self._handle, self._task = INVALID_HANDLE, 0
        self._lock = threading.Lock()
        self.spec = device_spec("openhaptics", UNKNOWN)
        self._port = empty_port()
        ints = lambda n: np.zeros(n, dtype=np.int64)  # noqa: E731
        self._exchange = Exchange(
            status=ints(9), transform=np.zeros(16), vendor_velocity=np.zeros(3), vendor_spin=np.zeros(3),
            vendor_force=np.zeros(3), word=ints(1), clock=ints(2), tick_clock=ints(2), seen_s=np.nan,
        )  # fmt: skip
        self._exchange.status[STOP] = 1
        self.in_tick = InTick(self._port, Block(self._port, self._exchange), sample, send, owner=self)

    def open(self) -> None:
        """Find it, start the vendor's servo thread, and wait for its first good readings."""
        with self._lock, _scheduler.lock:
            if self.is_open:
                return
            lib = self._lib = OPENHAPTICS.load(self._library)
            bind(OPENHAPTICS.product, lib, PROTOTYPES)
            _scheduler.pause(lib)
            try:
                self._initialise(lib)
            finally:
                _scheduler.resume(lib)
            try:
                self._wait_until_ready()
            except BaseException:
                self._shut_down(lib)
                raise
            self.is_open = True

    def _initialise(self, lib: Any) -> None:
        _take_error(lib)
        self._handle = lib.hdInitDevice(self.name.encode() if self.name else None)
        error = _take_error(lib)
        if self._handle == INVALID_HANDLE or error:
            self._handle = INVALID_HANDLE
            raise DeviceError(f"OpenHaptics: no device {self.name or '(default)'}: {_error_text(error)}; connect it, "
                              "set it up with the vendor's Touch_Setup, and allow its port in a udev rule")  # fmt: skip
        lib.hdMakeCurrentDevice(self._handle)
        self.spec = _read_spec(lib, self.spec)
        for capability in (FORCE_OUTPUT, MAX_FORCE_CLAMPING, SOFTWARE_FORCE_LIMIT):
            lib.hdEnable(capability)
        self._prepare_exchange(lib)
        self._task = lib.hdScheduleAsynchronous(c_address(servo), self.in_tick.block.address, HIGHEST_PRIORITY)
        error = _take_error(lib)
        if error:
            lib.hdDisableDevice(self._handle)
            raise DeviceError(f"OpenHaptics: {self.spec.name!r} cannot be scheduled: {_error_text(error)}")
        _scheduler.users += 1

    def _prepare_exchange(self, lib: Any) -> None:
        x, port = self._exchange, self._port
        for array in x.arrays().values():
            array[...] = 0
        for field, name in SYMBOLS.items():
            setattr(x, field, symbol_address(lib, name))
        x.handle, x.style = self._handle, _calibration_style(lib) if self.calibrate else 0
        x.seen_s, port.sampled_s, port.torque, port.force = np.nan, np.nan, ZERO, ZERO

    def _wait_until_ready(self) -> None:
        status, until = self._exchange.status, time.monotonic() + READY_S
        while status[PHASE] != RUNNING:
            if time.monotonic() > until:
                if not status[FRAMES]:
                    why = "the vendor's scheduler does not run"
                elif status[CALIBRATION] != CALIBRATION_OK:
                    why = "it is not calibrated; put the stylus into the inkwell and open it again"
                else:
                    why = "every frame has errors"
                raise DeviceError(f"the device {self.spec.name!r} gives no readings: {why}")
            time.sleep(1e-3)

    def reason(self) -> str:
        """Why a routine last said that the device is lost."""
        status = self._exchange.status
        if status[ERROR]:
            return _error_text(int(status[ERROR]))
        return "it is closed" if status[STOP] else f"its servo thread has been silent for {1e3 * SILENCE_S:.0f} ms"

    def read(self, out: DeviceReading) -> None:
        with self._lock:
            self.require_open()
            self._port.now_s = self._clock()
            if sample(self.in_tick.block.address) == LOST:
                raise DeviceError(f"the device {self.spec.name!r} was lost: {self.reason()}")
            copy_reading(self._port, out)

    def write(self, wrench: np.ndarray) -> None:
        with self._lock:
            self.require_open()
            self.require_allowed(wrench)
            put_wrench(self._port, wrench)
            if send(self.in_tick.block.address) == LOST:
                raise DeviceError(f"the device {self.spec.name!r} was lost: {self.reason()}")

    def close(self) -> None:
        """One more frame with zero force, then the vendor's thread lets go of our memory; safe while a tick runs."""
        with self._lock, _scheduler.lock:
            if self.is_open:
                self.is_open = False
                self._shut_down(self._lib)

    def _shut_down(self, lib: Any) -> None:
        status, until = self._exchange.status, time.monotonic() + LAST_FRAME_S
        status[STOP] = 1  # servo sees it and sends no force, whatever was commanded
        while not (status[STOPPED] or status[ERROR]) and time.monotonic() < until:
            time.sleep(1e-4)
        lib.hdStopScheduler()
        lib.hdUnschedule(self._task)
        _scheduler.users -= 1
        lib.hdMakeCurrentDevice(self._handle)
        lib.hdDisable(FORCE_OUTPUT)
        lib.hdDisableDevice(self._handle)
        self._handle = INVALID_HANDLE
        _scheduler.resume(lib)


def _take_error(lib: Any) -> int:
    """The newest error, 0 for none; empties the vendor's stack of them."""
    first = 0
    for _ in range(16):
        code = int(lib.hdGetError()) & 0xFFFFFFFF
        if code == 0:
            break
        first = first or code
    return first


def _calibration_style(lib: Any) -> int:
    styles = c_int(0)
    lib.hdGetIntegerv(CALIBRATION_STYLE, ctypes.byref(styles))
    return next((style for style in (AUTO, INKWELL) if styles.value & style), 0)


def device_spec(name: str, limits: Limits) -> DeviceSpec:
    """What a device of this kind can do; how fast it may move is chosen."""
    return DeviceSpec(
        name,
        force_limit_N=limits.force_N,
        stiffness_limit_N_m=limits.stiffness_N_m,
        senses=6,
        actuates=3,
        velocity_limit_m_s=HAND_SPEED_M_S,
        spin_limit_rad_s=WRIST_SPEED_RAD_S,
        continuous_force_N=limits.continuous_N,
    )


def _read_spec(lib: Any, fallback: DeviceSpec) -> DeviceSpec:
    """The vendor's own limits where they make sense, and never above the published ones."""
    name = (lib.hdGetString(MODEL) or b"").decode(errors="replace") or fallback.name
    known = device_spec(name, next((limits for limits in LIMITS if limits.model in name.lower()), UNKNOWN))
    numbers = (ctypes.c_double * 6)()

    def smaller(which: int, times: float, published: float) -> float:
        numbers[0] = 0.0
        lib.hdGetDoublev(which, numbers)
        told = times * float(numbers[0])
        return told if 0.0 < told < published else published

    known = replace(
        known,
        force_limit_N=smaller(MAX_FORCE, 1.0, known.force_limit_N),
        stiffness_limit_N_m=smaller(MAX_STIFFNESS, 1e3, known.stiffness_limit_N_m),  # the vendor's is in N/mm
        continuous_force_N=smaller(CONTINUOUS_FORCE, 1.0, known.continuous_force_N),
        velocity_limit_m_s=smaller(VELOCITY_LIMIT, 1e-3, known.velocity_limit_m_s),  # in mm/s
    )
    numbers[:] = [0.0] * 6
    lib.hdGetDoublev(WORKSPACE, numbers)
    radius_m = 0.5e-3 * min(numbers[3 + i] - numbers[i] for i in range(3))
    _take_error(lib)  # of a name that this model does not know
    return replace(known, workspace_radius_m=radius_m if radius_m > 0.0 else np.inf)
