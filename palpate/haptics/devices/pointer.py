"""The browser pointer: the page sends where it is, the servo's coupling does the rest, and the page draws the force."""

from __future__ import annotations

import numpy as np

from palpate.haptics.devices.protocol import FORCE, DeviceReading, DeviceSpec, OpenClose


class Pointer(OpenClose):
    """A mouse or a finger: senses a position, shows the force instead of making it.

    Its position comes through shared memory straight into the servo; `feed` is for callers without a page.
    """

    def __init__(self) -> None:
        self.spec = DeviceSpec("pointer", force_limit_N=60.0, force_rise_N_s=2000.0, stiffness_limit_N_m=3000.0,
                               actuates=0)  # fmt: skip
        self._position = np.zeros(3)
        self._buttons, self._sampled_at_s = 0, np.nan
        self.shown_N = np.zeros(3)  # the last force it was sent

    def feed(self, position_m: np.ndarray, holding: bool, at_s: float) -> None:
        """What the page would send."""
        self._position[:] = position_m
        self._buttons, self._sampled_at_s = int(holding), at_s

    def read(self, out: DeviceReading) -> None:
        self.require_open()
        out.position_m[:] = self._position
        out.buttons, out.sampled_at_s = self._buttons, self._sampled_at_s

    def write(self, wrench: np.ndarray) -> None:
        self.require_open()
        self.require_allowed(wrench)
        self.shown_N[:] = wrench[FORCE]
