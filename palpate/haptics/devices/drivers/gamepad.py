"""Gamepads, through the package pygame-ce: sticks move the hand, buttons hold, and force becomes rumble.

**Not tried on hardware.**  Tested against a fake of the package and against SDL's virtual joystick.

It is a rate device (rate.py).  Left stick: away and to the sides; right stick: up, and turning about the vertical.
Either trigger beyond half, or the first button, holds; the other buttons follow as bits 1, 2, ...
Rumble has a strength and no direction: |F| / `force_shown_N`, renewed while the force lasts, so that it stops by
itself when nobody writes any more.

SDL wants one thread for itself: it is set up, pumped and taken down there; `read` takes the newest of it.  A window
is not needed (the dummy video driver), and events must come without one having the focus.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from palpate.haptics.devices.drivers.rate import RateControl
from palpate.haptics.devices.protocol import FORCE, HAND_SPEED_M_S, DeviceError, DeviceReading, DeviceSpec, OpenClose

# axes in SDL's usual order: sticks right and down are positive, triggers rest at -1
LEFT_X, LEFT_Y, LEFT_TRIGGER, RIGHT_X, RIGHT_Y, RIGHT_TRIGGER = range(6)
AT_REST = (0.0, 0.0, -1.0, 0.0, 0.0, -1.0)
MOST_BUTTONS = 16
RUMBLE_MS = 100  # of one order; renewed at half of it
SILENT_S = 0.05  # a force written longer ago than this does not rumble
START_S = 5.0  # the longest that `open` waits for SDL
_sdl = threading.Lock()  # held by the gamepad that is open: SDL's events have one reader


def import_pygame() -> Any:
    """The package pygame-ce, whose module is called pygame; quiet, and without a window."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")
    try:
        return importlib.import_module("pygame")
    except ImportError as error:
        raise DeviceError(
            f"gamepad: the package pygame-ce is missing ({error}); pip install palpate[gamepad]"
        ) from None


def available() -> str:
    """One line: what was found, or why not; starts nothing."""
    if importlib.util.find_spec("pygame") is None:
        return "not found: the package pygame-ce is missing (pip install palpate[gamepad])"
    nodes = [name for name in _listdir("/dev/input") if name.startswith("js")]
    return (
        f"found pygame, and {len(nodes)} joysticks in /dev/input" if nodes else "not found: no joystick in /dev/input"
    )


def _listdir(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


class Gamepad(OpenClose):
    """The gamepad number `index` of those connected.

    speed_m_s, spin_rad_s  at full deflection;  dead_zone  part of the deflection that counts as none
    radius_m               of the workspace that the hand stays in
    force_shown_N          the force that rumbles at full strength
    """

    def __init__(
        self,
        index: int = 0,
        *,
        speed_m_s: float = 0.2,
        spin_rad_s: float = 1.0,
        dead_zone: float = 0.1,
        radius_m: float = 0.2,
        force_shown_N: float = 10.0,
        import_module: Callable[[], Any] = import_pygame,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not force_shown_N > 0.0:
            raise ValueError(f"force_shown_N is {force_shown_N}, it must be positive")
        self._settings = (radius_m, speed_m_s, spin_rad_s, dead_zone)
        self._rate = RateControl(*self._settings)
        self.spec = DeviceSpec("gamepad", force_limit_N=force_shown_N, workspace_radius_m=radius_m, senses=4,
                               actuates=0, rate_hz=120.0,
                               velocity_limit_m_s=max(HAND_SPEED_M_S, 2.0 * speed_m_s))  # fmt: skip
        self.index, self._import, self._clock = index, import_module, clock
        self._lock, self._stop, self._ready = threading.Lock(), threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._deflection, self._buttons, self._sampled_s = np.zeros(6), 0, np.nan
        self._force_N, self._written_s, self._lost = 0.0, -np.inf, ""
        self._last_s, self.name = 0.0, ""
        self.rumbles = True  # False once the gamepad said that it cannot

    def open(self) -> None:
        with self._lock:
            if self.is_open:
                return
            pygame = self._import()
            if not _sdl.acquire(blocking=False):
                raise DeviceError("gamepad: another one is open, and SDL serves one at a time; close that first")
            self._stop.clear()
            self._ready.clear()
            self._lost, self._sampled_s, self._buttons = "", np.nan, 0
            self._rate, self._force_N, self.rumbles = RateControl(*self._settings), 0.0, True
            self._thread = threading.Thread(target=self._run, args=(pygame,), name="palpate-gamepad", daemon=True)
            self._thread.start()
            in_time = self._ready.wait(START_S)
            if not in_time or self._lost:
                self._finish()
                raise DeviceError(self._lost or f"gamepad: SDL did not start within {START_S:g} s")
            self._last_s, self.is_open = self._clock(), True

    # ---- SDL's thread

    def _run(self, pygame: Any) -> None:
        try:
            pygame.display.init()
            pygame.joystick.init()
            if pygame.joystick.get_count() <= self.index:
                raise DeviceError(f"gamepad: {pygame.joystick.get_count()} connected, so there is no number "
                                  f"{self.index}; connect one and press a button")  # fmt: skip
            pad = pygame.joystick.Joystick(self.index)
            self.name = pad.get_name()
            self._poll(pygame, pad)
            self._ready.set()
            renewed_s = -np.inf
            while not self._stop.wait(1.0 / self.spec.rate_hz):
                self._poll(pygame, pad)
                renewed_s = self._rumble(pad, renewed_s)
            pad.stop_rumble()
            pad.quit()
        except Exception as error:  # of any kind: whoever reads must hear of it, not this thread
            self._deflection = np.zeros(6)
            self._lost = str(error) if isinstance(error, DeviceError) else f"the device 'gamepad' was lost: {error}"
        finally:
            self._ready.set()
            pygame.joystick.quit()
            pygame.display.quit()

    def _poll(self, pygame: Any, pad: Any) -> None:
        for event in pygame.event.get():
            if event.type == pygame.JOYDEVICEREMOVED and event.instance_id == pad.get_instance_id():
                raise DeviceError("the device 'gamepad' was lost: it was unplugged or went to sleep")
        axes = [pad.get_axis(i) if i < pad.get_numaxes() else rest for i, rest in enumerate(AT_REST)]
        pressed = [bool(pad.get_button(i)) for i in range(min(pad.get_numbuttons(), MOST_BUTTONS))] or [False]
        pressed[0] = pressed[0] or max(axes[LEFT_TRIGGER], axes[RIGHT_TRIGGER]) > 0.5
        self._deflection = np.array([-axes[LEFT_Y], -axes[LEFT_X], -axes[RIGHT_Y], 0.0, 0.0, -axes[RIGHT_X]])
        self._buttons = sum(1 << i for i, is_pressed in enumerate(pressed) if is_pressed)
        self._sampled_s = self._clock()

    def _rumble(self, pad: Any, renewed_s: float) -> float:
        """Renew, or stop; returns when it was last renewed."""
        now_s = self._clock()
        strength = self._force_N / self.spec.force_limit_N if now_s - self._written_s <= SILENT_S else 0.0
        if not self.rumbles or now_s - renewed_s < 0.5e-3 * RUMBLE_MS:
            return renewed_s
        if strength > 0.0:
            self.rumbles = bool(pad.rumble(strength, strength, RUMBLE_MS))
        else:
            pad.stop_rumble()
        return now_s

    # ---- everybody else

    def read(self, out: DeviceReading) -> None:
        with self._lock:
            self.require_open()
            if self._lost:
                raise DeviceError(self._lost)
            now_s = self._clock()
            self._rate.advance(self._deflection, now_s - self._last_s)
            self._last_s = now_s
            out.position_m[:], out.velocity_m_s[:] = self._rate.position_m, self._rate.velocity_m_s
            out.quaternion[:], out.spin_rad_s[:] = self._rate.quaternion, self._rate.spin_rad_s
            out.buttons, out.sampled_at_s = self._buttons, self._sampled_s

    def write(self, wrench: np.ndarray) -> None:
        """Rumble as strongly as the force is large."""
        with self._lock:
            self.require_open()
            self.require_allowed(wrench)
            self._force_N, self._written_s = float(np.linalg.norm(wrench[FORCE])), self._clock()

    def close(self) -> None:
        with self._lock:
            if self.is_open:
                self.is_open = False
                self._finish()

    def _finish(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(START_S)
            self._thread = None
            _sdl.release()
