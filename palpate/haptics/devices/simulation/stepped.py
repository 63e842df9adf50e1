"""What devices of simulated time share: it passes only in `advance`, or in the tick's `send`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from palpate.haptics.devices.port import OK, InTick, copy_reading, put_wrench
from palpate.haptics.devices.protocol import DeviceReading, OpenClose
from palpate.haptics.hand import Hand


class SteppedDevice(OpenClose):
    """`read`, `write` and `advance` use the routines and the port of `in_tick`: so use one way or the other."""

    in_tick: InTick
    _state: Any  # the Struct of its Block in which its routines look whether it `is_open`, and how late it is: `time_s`

    def open(self) -> None:
        super().open()
        self._state.is_open = 1

    def close(self) -> None:
        super().close()
        self._state.is_open = 0

    @property
    def time_s(self) -> float:
        """Simulated time so far."""
        return float(self._state.time_s)

    def read(self, out: DeviceReading) -> None:
        self.require_open()
        port = self.in_tick.port
        port.now_s = self.time_s
        if self.in_tick.sample(self.in_tick.block.address) != OK:
            out.buttons, out.sampled_at_s = 0, np.nan
            return
        copy_reading(port, out)

    def write(self, wrench: np.ndarray) -> None:
        self.require_open()
        self.require_allowed(wrench)
        put_wrench(self.in_tick.port, wrench)

    def advance(self, dt_s: float) -> None:
        """Let simulated time pass, with the wrench last written [s]."""
        self.require_open()
        if not 0.0 < dt_s < np.inf:
            raise ValueError(f"time passes by a positive number of seconds, got {dt_s}")
        self.in_tick.port.dt = dt_s
        self.in_tick.send(self.in_tick.block.address)


class HeldDevice(SteppedDevice):
    """One with a simulated hand on it, which it begins with: opening begins anew, the same every time."""

    hand: Hand
    begin: ClassVar[Any]  # entry: puts device and hand where the hand's intent begins; not OK: it is out of reach

    def _begin(self) -> None:
        if type(self).begin(self.in_tick.block.address) != OK:
            first = self.hand.intent[0][1]
            raise ValueError(
                f"the device {self.spec.name!r} cannot reach {list(first)} m, where the hand's intent begins"
            )

    def open(self) -> None:
        if not self.is_open:
            self._begin()
        super().open()
