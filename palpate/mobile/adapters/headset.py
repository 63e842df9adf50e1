"""Poses of the headset that shows the page, or of its controllers.  Mobile display, 6.2.

WebXR's local-floor space is right-handed with y up and in metres, as the display's world is, but begins where the
session began: a Registration says where that is.  Whoever has the page's messages calls `hear`; a pose that the headset
only guesses (emulatedPosition) counts as lost.

**Not tried with a headset.**  Positions and orientations are WebXR's `transform.position` and `.orientation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from palpate.mobile.adapters.register import Registration
from palpate.mobile.adapters.source import HEAD, Delivering, Pose


class Headset(Delivering):
    """Its poses as `hear` is told; `registration` may be replaced at any time by a newer one."""

    def __init__(self, registration: Registration | None = None) -> None:
        super().__init__()
        self.registration = registration or Registration()

    def hear(self, message: Mapping[str, Any]) -> None:
        """One pose: {"time_s", "position": [x, y, z], "orientation": [x, y, z, w], "emulated", "station"}.

        As WebXR orders them; station is the head's and emulated false if not given.  What is no pose is counted.
        """
        try:
            position, orientation = map(float, message["position"]), map(float, message["orientation"])
            (x, y, z), (qx, qy, qz, qw) = position, orientation
            station, sampled_s = int(message.get("station", HEAD)), float(message["time_s"])
        except (KeyError, TypeError, ValueError, OverflowError):
            self.refused["message"] += 1
            return
        pose = Pose(station, sampled_s, (x, y, z), (qw, qx, qy, qz), bool(message.get("emulated", False)))
        self.hand_on(self.registration.pose(pose))
