"""Force Dimension devices (omega, delta, sigma, lambda) and the Novint Falcon, through the vendor's C library libdrd.

**Not tried on hardware.**  Written from the vendor's headers and tested against a fake of the library.

Opening: open, identify, initialise if asked (the device moves!), stop regulation and leave forces on, gravity
compensation, enable forces, zero force, and wait for the first good reading.  Closing: zero force first, always.
The position, velocity, orientation and force calls happen inside the tick (force_dimension_kernels.py).
Linux needs a udev rule for the USB vendor 1451 (Force Dimension) or the product 0403:cb48 (Falcon).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from ctypes import c_bool, c_byte, c_char_p, c_double, c_int, c_ubyte, c_uint
from typing import Any, NamedTuple

import numpy as np

from palpate.haptics.devices.drivers.force_dimension_kernels import (
    CALL_FAILED,
    NO_REASON,
    NOT_FINITE,
    SHUT,
    SILENCE_S,
    STALE,
    SYMBOLS,
    ZERO,
    Vendor,
    sample,
    send,
)
from palpate.haptics.devices.drivers.library import FORCE_DIMENSION, bind, symbol_address
from palpate.haptics.devices.port import LOST, OK, InTick, copy_reading, empty_port, put_wrench
from palpate.haptics.devices.protocol import (
    HAND_SPEED_M_S,
    WRIST_SPEED_RAD_S,
    DeviceError,
    DeviceReading,
    DeviceSpec,
    OpenClose,
)
from palpate.jit import Block
from palpate.jit.foreign import open_gate, shut_gate

_numbers3 = (ctypes.POINTER(c_double),) * 3
PROTOTYPES = {
    "drdOpen": (c_int, ()),
    "drdOpenID": (c_int, (c_byte,)),
    "drdClose": (c_int, (c_byte,)),
    "drdIsSupported": (c_bool, (c_byte,)),
    "drdIsInitialized": (c_bool, (c_byte,)),
    "drdAutoInit": (c_int, (c_byte,)),
    "drdStop": (c_int, (c_bool, c_byte)),
    "dhdErrorGetLastStr": (c_char_p, ()),
    "dhdGetSystemType": (c_int, (c_byte,)),
    "dhdGetSystemName": (c_char_p, (c_byte,)),
    "dhdHasWrist": (c_bool, (c_byte,)),
    "dhdHasActiveWrist": (c_bool, (c_byte,)),
    "dhdHasGripper": (c_bool, (c_byte,)),
    "dhdEmulateButton": (c_int, (c_ubyte, c_byte)),
    "dhdSetEffectorMass": (c_int, (c_double, c_byte)),
    "dhdSetGravityCompensation": (c_int, (c_int, c_byte)),
    "dhdEnableForce": (c_int, (c_ubyte, c_byte)),
    "dhdGetPosition": (c_int, (*_numbers3, c_byte)),
    "dhdGetLinearVelocity": (c_int, (*_numbers3, c_byte)),
    "dhdGetAngularVelocityRad": (c_int, (*_numbers3, c_byte)),
    "dhdGetOrientationFrame": (c_int, (ctypes.POINTER(c_double), c_byte)),
    "dhdGetButtonMask": (c_uint, (c_byte,)),
    "dhdSetForceAndTorqueAndGripperForce": (c_int, (c_double,) * 7 + (c_byte,)),
}


class Limits(NamedTuple):
    """Published by CHAI3D for these devices, at 1 kHz; and what the motors make for ever.

    The maker's data sheets state continuous forces only, as remembered: 20 N (delta), 12 N (omega), 20 N and 0.4 N m
    (sigma), 20 N (lambda).  None is below the limits here, so they are the continuous ones as well.  Novint states no
    continuous force of the Falcon: a fifth of its limit is chosen, as it is for a PHANToM (1.4 of 8.5 N).
    """

    force_N: float
    torque_Nm: float
    stiffness_N_m: float
    radius_m: float
    continuous_N: float


DELTA, OMEGA = Limits(20.0, 0.0, 5000.0, 0.15, 20.0), Limits(12.0, 0.0, 5000.0, 0.075, 12.0)
SIGMA, LAMBDA = Limits(12.0, 0.2, 4000.0, 0.075, 12.0), Limits(12.0, 0.0, 8000.0, 0.1125, 12.0)
FALCON = Limits(8.0, 0.0, 3000.0, 0.04, 1.6)
LIMITS = {  # by the vendor's number of the type
    33: OMEGA, 34: OMEGA, 35: OMEGA, 36: OMEGA, 37: OMEGA, 60: FALCON, 63: DELTA, 64: DELTA,
    104: SIGMA, 105: SIGMA, 206: SIGMA, 108: LAMBDA, 109: LAMBDA, 203: LAMBDA,
}  # fmt: skip
UNKNOWN = FALCON  # a type that is not in the table gets the weakest limits in it
FIRST_READING_S = 0.5  # how long `open` waits for it
REASONS = {
    NOT_FINITE: "its reading is not a number",
    STALE: f"nothing new for {1e3 * SILENCE_S:.0f} ms",
    SHUT: "it is closed",
}


def available() -> str:
    """One line: the library that was found, or why not."""
    return FORCE_DIMENSION.available()


class ForceDimension(OpenClose):
    """The device with the vendor's number `index` (None: the first).

    initialise        let an uninitialised device find its zero by itself: **it moves**
    effector_mass_kg  of a tool on the end, for the vendor's gravity compensation; None keeps the vendor's value
    library           a path to libdrd, or an object that stands for the loaded library
    clock             of `read` [s]; a tick brings its own

    Until it is open, `spec` has the weakest limits of any of these devices.  One caller at a time: either the tick
    through `in_tick`, or `read` and `write`.
    """

    def __init__(
        self,
        index: int | None = None,
        *,
        initialise: bool = False,
        effector_mass_kg: float | None = None,
        library: Any = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if effector_mass_kg is not None and not 0.0 <= effector_mass_kg < 5.0:
            raise ValueError(f"effector_mass_kg is {effector_mass_kg}, it must be from 0 to 5")
        self.index, self.initialise, self.effector_mass_kg = index, initialise, effector_mass_kg
        self._library, self._clock, self._id = library, clock, -1
        self._lib: Any = None
        self._lock = threading.Lock()
        self.spec = device_spec("force-dimension", UNKNOWN, wrist=False, active=False)
        self._port = empty_port()
        self._vendor = Vendor(
            fresh_s=np.nan, position=np.zeros(3), velocity=np.zeros(3), spin=np.zeros(3), frame=np.zeros(9),
            gate=np.zeros(2, dtype=np.int64),
        )  # fmt: skip
        self.in_tick = InTick(self._port, Block(self._port, self._vendor), sample, send, owner=self)

    def open(self) -> None:
        """Find it, make it ready, and wait for its first reading."""
        with self._lock:
            if self.is_open:
                return
            lib = FORCE_DIMENSION.load(self._library)
            bind(FORCE_DIMENSION.product, lib, PROTOTYPES)
            self._lib = lib
            self._id = lib.drdOpen() if self.index is None else lib.drdOpenID(self.index)
            if self._id < 0:
                which = "no device" if self.index is None else f"no device {self.index}"
                raise DeviceError(f"Force Dimension: {which} ({self._last_error()}); connect and switch it on, and "
                                  "allow USB vendor 1451 in a udev rule")  # fmt: skip
            try:
                self._make_ready(lib, self._id)
            except BaseException:
                self._shut_down(lib)
                raise
            self.is_open = True

    def _make_ready(self, lib: Any, number: int) -> None:
        name = (lib.dhdGetSystemName(number) or b"force-dimension").decode(errors="replace")
        if lib.drdIsSupported(number):
            if not lib.drdIsInitialized(number):
                if not self.initialise:
                    raise DeviceError(f"the device {name!r} is not initialised; put its arm into the calibration pit, "
                                      "or open it with initialise=True, which moves the device")  # fmt: skip
                self._check(lib.drdAutoInit(number), "initialise itself")
            self._check(lib.drdStop(True, number), "stop regulating")
        wrist, active = bool(lib.dhdHasWrist(number)), bool(lib.dhdHasActiveWrist(number))
        self.spec = device_spec(name, LIMITS.get(lib.dhdGetSystemType(number), UNKNOWN), wrist, active)
        if lib.dhdHasGripper(number):
            lib.dhdEmulateButton(1, number)  # closing the gripper holds; devices with a button of their own refuse
        if self.effector_mass_kg is not None:
            self._check(lib.dhdSetEffectorMass(self.effector_mass_kg, number), "take the mass of its tool")
        self._check(lib.dhdSetGravityCompensation(1, number), "compensate gravity")
        self._check(lib.dhdEnableForce(1, number), "enable forces")
        self._check(self._zero(lib, number), "take a force")
        self._prepare_tick(lib, number, wrist, active)
        self._wait_for_reading()

    def _prepare_tick(self, lib: Any, number: int, wrist: bool, active: bool) -> None:
        vendor, port = self._vendor, self._port
        for field, name in SYMBOLS.items():
            setattr(vendor, field, symbol_address(lib, name))
        vendor.device, vendor.wrist, vendor.active_wrist, vendor.reason = number, wrist, active, NO_REASON
        vendor.fresh_s, port.sampled_s = np.nan, np.nan
        vendor.position[:], vendor.velocity[:], vendor.spin[:] = 0.0, 0.0, 0.0
        vendor.frame[:] = np.eye(3).ravel()  # of a device without a wrist
        port.torque, port.force = ZERO, ZERO
        open_gate(vendor.gate)

    def _wait_for_reading(self) -> None:
        until = time.monotonic() + FIRST_READING_S
        while self._sample() != OK:
            if time.monotonic() > until:
                raise DeviceError(f"the device {self.spec.name!r} gives no readings: {self.reason()}")
            time.sleep(1e-3)

    def _sample(self) -> int:
        self._port.now_s = self._clock()
        return sample(self.in_tick.block.address)

    def _last_error(self) -> str:
        return (self._lib.dhdErrorGetLastStr() or b"no reason given").decode(errors="replace") if self._lib else ""

    def _check(self, answer: int, action: str) -> None:
        if answer < 0:
            raise DeviceError(f"the device {self.spec.name!r} cannot {action}: {self._last_error()}")

    @staticmethod
    def _zero(lib: Any, number: int) -> int:
        return int(lib.dhdSetForceAndTorqueAndGripperForce(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, number))

    def reason(self) -> str:
        """Why a routine last said that the device is lost."""
        code = self._vendor.reason
        return f"a call failed ({self._last_error()})" if code == CALL_FAILED else REASONS.get(code, "no reason known")

    def read(self, out: DeviceReading) -> None:
        with self._lock:
            self.require_open()
            if self._sample() == LOST:
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
        """Zero force, forces off, closed; safe while a tick still runs, which then finds it lost."""
        with self._lock:
            if self.is_open:
                self.is_open = False
                self._shut_down(self._lib)

    def _shut_down(self, lib: Any) -> None:
        shut_gate(self._vendor.gate)
        self._zero(lib, self._id)
        lib.dhdEnableForce(0, self._id)
        lib.drdClose(self._id)
        self._id = -1


def device_spec(name: str, limits: Limits, wrist: bool, active: bool) -> DeviceSpec:
    """What a device of this kind can do; how fast it may move is chosen."""
    return DeviceSpec(
        name,
        force_limit_N=limits.force_N,
        stiffness_limit_N_m=limits.stiffness_N_m,
        workspace_radius_m=limits.radius_m,
        senses=6 if wrist else 3,
        actuates=6 if active else 3,
        torque_limit_Nm=limits.torque_Nm if active else 0.0,
        velocity_limit_m_s=HAND_SPEED_M_S,
        spin_limit_rad_s=WRIST_SPEED_RAD_S,
        continuous_force_N=limits.continuous_N,
        continuous_torque_Nm=limits.torque_Nm if active and limits.torque_Nm > 0.0 else np.inf,
    )
