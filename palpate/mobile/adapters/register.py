"""Registration: where the world of a headset lies in the display's, from positions that both have seen.

Mobile display, 6.2.  A controller is put on the robot at four places or more.  Both worlds have y up, so a yaw and a
translation are left: least squares in the plane (Umeyama 1991, two dimensions, no scale), heights by their mean.

    a, b   places as the headset has them and in the display's world, minus their means
    yaw    atan2(sum(b_x a_z - b_z a_x), sum(b_x a_x + b_z a_z)), about y
    x = R(yaw) a + t
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from palpate.mobile.adapters.source import Pose

FEWEST = 4
ACROSS_M = 0.05  # rms spread across the line that fits best: less, and the yaw is a guess
DOUBTFUL_M = 0.010


@dataclass(frozen=True)
class Registration:
    """display = R(yaw) headset + translation; the default: they are the same."""

    yaw_rad: float = 0.0  # about y, counter-clockwise seen from above
    translation_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rms_m: float = 0.0  # what it leaves unexplained
    worst_m: float = 0.0

    @property
    def warning(self) -> str:
        """One line if it is not to be trusted, else nothing."""
        if self.rms_m <= DOUBTFUL_M:
            return ""
        return (f"the registration leaves {1e3 * self.rms_m:.1f} mm rms, {1e3 * self.worst_m:.1f} mm at most; above "
                f"{1e3 * DOUBTFUL_M:.0f} mm a place is wrong: put the controller on the robot anew")  # fmt: skip

    def place(self, position_m: ArrayLike) -> np.ndarray:
        """Points (..., 3) of the headset in the display's world."""
        c, s = math.cos(self.yaw_rad), math.sin(self.yaw_rad)
        return np.asarray(position_m, dtype=float) @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + self.translation_m

    def pose(self, pose: Pose) -> Pose:
        """The same pose in the display's world."""
        x, y, z = self.place(pose.position_m).tolist()
        (w, i, j, k), c, s = pose.quaternion, math.cos(0.5 * self.yaw_rad), math.sin(0.5 * self.yaw_rad)
        turned = (c * w - s * j, c * i + s * k, c * j + s * w, c * k - s * i)  # of the yaw, then of the pose
        return pose._replace(position_m=(x, y, z), quaternion=turned)


def register(seen_m: ArrayLike, known_m: ArrayLike) -> Registration:
    """From places (n, 3) of the headset's world and the same ones in the display's [m], n >= 4 and not in a line."""
    seen, known = (np.asarray(given, dtype=float) for given in (seen_m, known_m))
    if seen.ndim != 2 or seen.shape[1] != 3 or seen.shape != known.shape:
        raise ValueError(f"a registration takes places (n, 3) of both worlds, got {seen.shape} and {known.shape}")
    if len(seen) < FEWEST:
        raise ValueError(f"{len(seen)} places; a registration takes {FEWEST} or more")
    if not (np.isfinite(seen).all() and np.isfinite(known).all()):
        raise ValueError("a place of the registration is not finite; leave it out")
    a, b = seen - seen.mean(axis=0), known - known.mean(axis=0)
    for places, whose in ((a, "headset"), (b, "display")):
        across = float(np.linalg.svd(places[:, [0, 2]], compute_uv=False)[1]) / math.sqrt(len(places))
        if across < ACROSS_M:
            raise ValueError(f"the places lie in a line ({whose}: {1e3 * across:.0f} mm rms across it, "
                             f"{1e3 * ACROSS_M:.0f} or more are needed): take the corners of a square")  # fmt: skip
    yaw = math.atan2(float(np.sum(b[:, 0] * a[:, 2] - b[:, 2] * a[:, 0])), float(np.sum(b[:, [0, 2]] * a[:, [0, 2]])))
    turned = Registration(yaw).place(seen)
    x, y, z = (known.mean(axis=0) - turned.mean(axis=0)).tolist()
    error = np.linalg.norm(turned + (x, y, z) - known, axis=1)
    return Registration(yaw, (x, y, z), float(np.sqrt((error**2).mean())), float(error.max()))
