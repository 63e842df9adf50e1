"""The null device: what a session has when there is no other, so that nothing has to ask whether there is one."""

from __future__ import annotations

import numpy as np

from palpate.haptics.devices.protocol import DeviceReading, DeviceSpec, OpenClose


class Null(OpenClose):
    """Senses nothing, and takes any allowed force and drops it."""

    def __init__(self) -> None:
        self.spec = DeviceSpec("null", force_limit_N=0.0, senses=0, actuates=0)

    def read(self, out: DeviceReading) -> None:
        self.require_open()
        out.sampled_at_s = np.nan

    def write(self, wrench: np.ndarray) -> None:
        self.require_open()
        self.require_allowed(wrench)
