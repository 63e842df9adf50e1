"""3Dconnexion SpaceMouse: a cap that is pushed and twisted, read as USB reports through the package hidapi.

**Not tried on hardware.**  Report formats as several public drivers read them; tested against a fake of the package.

It is a rate device (rate.py): how far the cap is pushed says how fast the hand moves.  No force feedback.
Reports: 1 translation, 2 rotation (three int16 each), or 1 with all six in newer models; 3 buttons, a bit each.  Full
deflection is about 350.  Vendor's axes: x right, y toward the person, z down; ours: x away, y left, z up, so
(x, y, z) = (-y', -x', -z'), a turn, and twists turn with it (their signs are from memory: `twist_signs` mends them).

Reports queue up: each `read` takes all that are waiting, or the hand would lag ever further behind.
Linux needs a udev rule that lets you open the hidraw node of USB vendors 256f and 046d.
"""

from __future__ import annotations

import importlib
import importlib.util
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from palpate.haptics.devices.drivers.rate import RateControl
from palpate.haptics.devices.protocol import HAND_SPEED_M_S, DeviceError, DeviceReading, DeviceSpec, OpenClose

FULL_DEFLECTION = 350.0
VENDOR_3DCONNEXION, VENDOR_LOGITECH = 0x256F, 0x046D
LOGITECH_PRODUCTS = frozenset({0xC603, 0xC605, 0xC606, 0xC621, 0xC623, 0xC625, 0xC626, 0xC627, 0xC628, 0xC629, 0xC62B})
GENERIC_DESKTOP, MULTI_AXIS = 1, 8  # the usage of the interface that sends motion; a receiver has others too
TRANSLATION, ROTATION, BUTTONS = 1, 2, 3  # report numbers
MOST_REPORTS = 1000  # in one read: more than a second's worth; a device that floods us must not hold us
UDEV = 'add the udev rule KERNEL=="hidraw*", ATTRS{idVendor}=="256f", MODE="0666" and plug it in again'


def import_hid() -> Any:
    """The package hidapi, whose module is called hid."""
    try:
        return importlib.import_module("hid")
    except ImportError as error:
        raise DeviceError(f"SpaceMouse: the package hidapi is missing ({error}); pip install palpate[hid]") from None


def available() -> str:
    """One line: what was found, or why not; opens nothing."""
    if importlib.util.find_spec("hid") is None:
        return "not found: the package hidapi is missing (pip install palpate[hid])"
    try:
        found = [interface["product_string"] or "unnamed" for interface in find_interfaces(import_hid())]
    except (DeviceError, OSError) as error:
        return f"not found: {error}"
    return f"found {', '.join(found)}" if found else "not found: no SpaceMouse is connected"


def find_interfaces(hid: Any) -> list[dict[str, Any]]:
    """The motion interfaces of all connected SpaceMice, as hidapi describes them."""
    return [
        interface
        for interface in hid.enumerate()
        if (interface["vendor_id"] == VENDOR_3DCONNEXION
            or (interface["vendor_id"] == VENDOR_LOGITECH and interface["product_id"] in LOGITECH_PRODUCTS))
        # some systems do not tell the usage: zero
        and (interface.get("usage_page", 0), interface.get("usage", 0)) in ((GENERIC_DESKTOP, MULTI_AXIS), (0, 0))
    ]  # fmt: skip


class SpaceMouse(OpenClose):
    """The SpaceMouse number `index` of those connected.

    speed_m_s, spin_rad_s  at full deflection; spin_rad_s=0 ignores twists
    dead_zone              part of the deflection that counts as none
    radius_m               of the workspace that the hand stays in
    twist_signs            of the turns about x, y, z
    """

    def __init__(
        self,
        index: int = 0,
        *,
        speed_m_s: float = 0.2,
        spin_rad_s: float = 1.0,
        dead_zone: float = 0.05,
        radius_m: float = 0.2,
        twist_signs: tuple[int, int, int] = (1, 1, 1),
        import_module: Callable[[], Any] = import_hid,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if set(twist_signs) - {1, -1} or len(twist_signs) != 3:
            raise ValueError(f"twist_signs is {twist_signs}, it must be three of 1 and -1")
        self._settings = (radius_m, speed_m_s, spin_rad_s, dead_zone)
        self._rate = RateControl(*self._settings)
        self.spec = DeviceSpec("spacemouse", force_limit_N=0.0, workspace_radius_m=radius_m, senses=6, actuates=0,
                               rate_hz=250.0,
                               velocity_limit_m_s=max(HAND_SPEED_M_S, 2.0 * speed_m_s))  # fmt: skip
        self.index, self._signs = index, np.array([1, 1, 1, *twist_signs], dtype=float)
        self._import, self._clock, self._lock = import_module, clock, threading.Lock()
        self._raw, self._buttons = np.zeros(6), 0  # the vendor's axes, -1..1
        self._device: Any = None
        self._last_s, self._lost = 0.0, ""
        self.malformed = 0  # reports that made no sense

    def open(self) -> None:
        with self._lock:
            if self.is_open:
                return
            hid = self._import()
            found = find_interfaces(hid)
            if len(found) <= self.index:
                raise DeviceError(f"SpaceMouse: {len(found)} connected, so there is no number {self.index}; connect it "
                                  f"and if `lsusb` shows it: {UDEV}")  # fmt: skip
            device = hid.device()
            try:
                device.open_path(found[self.index]["path"])
                device.set_nonblocking(True)
            except OSError as error:
                raise DeviceError(f"SpaceMouse: it cannot be opened ({error}); {UDEV}") from None
            self._device, self._rate = device, RateControl(*self._settings)
            self._raw[:], self._buttons, self._lost = 0.0, 0, ""
            self._last_s, self.is_open = self._clock(), True

    def read(self, out: DeviceReading) -> None:
        with self._lock:
            self.require_open()
            self._drain()
            now_s = self._clock()
            x, y, z, a, b, c = self._raw
            self._rate.advance(self._signs * np.array([-y, -x, -z, -b, -a, -c]), now_s - self._last_s)
            self._last_s = now_s
            out.position_m[:], out.velocity_m_s[:] = self._rate.position_m, self._rate.velocity_m_s
            out.quaternion[:], out.spin_rad_s[:] = self._rate.quaternion, self._rate.spin_rad_s
            out.buttons, out.sampled_at_s = self._buttons, now_s

    def _drain(self) -> None:
        if self._lost:
            raise DeviceError(self._lost)
        for _ in range(MOST_REPORTS):
            try:
                report = self._device.read(64)
            except (OSError, ValueError) as error:  # ValueError: closed behind our back
                self._raw[:] = 0.0
                self._lost = f"the device {self.spec.name!r} was lost: {error}"
                raise DeviceError(self._lost) from None
            if not report:
                return
            self._take(bytes(report))

    def _take(self, report: bytes) -> None:
        kind, body = report[0], report[1:]
        if kind == TRANSLATION and len(body) >= 12:
            self._raw[:] = struct.unpack_from("<6h", body)
            self._raw /= FULL_DEFLECTION
        elif kind in (TRANSLATION, ROTATION) and len(body) >= 6:
            at = 0 if kind == TRANSLATION else 3
            self._raw[at : at + 3] = struct.unpack_from("<3h", body)
            self._raw[at : at + 3] /= FULL_DEFLECTION
        elif kind == BUTTONS and body:
            self._buttons = int.from_bytes(body[:4], "little")
        elif kind in (TRANSLATION, ROTATION, BUTTONS):
            self.malformed += 1
        # others tell of batteries and lights

    def write(self, wrench: np.ndarray) -> None:
        """It makes neither force nor torque: only zero is allowed."""
        with self._lock:
            self.require_open()
            self.require_allowed(wrench)

    def close(self) -> None:
        with self._lock:
            if self.is_open:
                self.is_open = False
                self._device.close()
                self._device = None
