"""Rate control: a deflection says how fast to go, and a position within a workspace is its integral.

v = gain * shaped(deflection),   x += v dt, kept within the ball |x| <= radius;   q += turning likewise, not bounded
shaped(d) = 0 inside the dead zone, and grows linearly from its edge to 1 at full deflection

At the edge the part of v that points outwards is gone, so that the reported velocity is that of the position.
"""

from __future__ import annotations

import math

import numpy as np

LONGEST_STEP_S = 0.1  # after a longer silence (a suspended process) the position does not jump


def shaped(deflection: np.ndarray, dead_zone: float) -> np.ndarray:
    """Deflections (n,) clipped to -1..1, with the dead zone cut out of each."""
    size = np.clip((np.abs(deflection) - dead_zone) / (1.0 - dead_zone), 0.0, 1.0)
    return np.sign(deflection) * size


class RateControl:
    """The position, velocity, orientation and spin that a deflection commands."""

    def __init__(self, radius_m: float, speed_m_s: float, spin_rad_s: float, dead_zone: float) -> None:
        for name, value in (("radius_m", radius_m), ("speed_m_s", speed_m_s)):
            if not (math.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} is {value}, it must be positive")
        if not (math.isfinite(spin_rad_s) and spin_rad_s >= 0.0):
            raise ValueError(f"spin_rad_s is {spin_rad_s}, it must not be negative")
        if not 0.0 <= dead_zone < 1.0:
            raise ValueError(f"dead_zone is {dead_zone}, it must be from 0 to below 1")
        self.radius_m, self.speed_m_s, self.most_spin_rad_s, self.dead_zone = radius_m, speed_m_s, spin_rad_s, dead_zone
        self.position_m, self.velocity_m_s = np.zeros(3), np.zeros(3)
        self.quaternion, self.spin_rad_s = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)

    def advance(self, deflection: np.ndarray, dt_s: float) -> None:
        """Move for dt_s as the deflections say: (6,) along x, y, z and about x, y, z, each -1..1."""
        dt_s = min(max(dt_s, 0.0), LONGEST_STEP_S)
        d = shaped(np.where(np.isfinite(deflection), deflection, 0.0), self.dead_zone)  # a broken axis does not move us
        before = self.position_m.copy()
        self.position_m += self.speed_m_s * dt_s * d[:3]
        length = float(np.linalg.norm(self.position_m))
        if length > self.radius_m:
            self.position_m *= self.radius_m / length
        self.velocity_m_s[:] = (self.position_m - before) / dt_s if dt_s > 0.0 else self.velocity_m_s
        self.spin_rad_s[:] = self.most_spin_rad_s * d[3:]
        self._turn(self.spin_rad_s * dt_s)

    def _turn(self, by: np.ndarray) -> None:
        angle = float(np.linalg.norm(by))
        if angle == 0.0:
            return
        x, y, z = math.sin(0.5 * angle) / angle * by
        w, (a, b, c, d) = math.cos(0.5 * angle), self.quaternion
        self.quaternion[:] = (w * a - x * b - y * c - z * d, w * b + x * a + y * d - z * c,
                              w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a)  # fmt: skip
        self.quaternion /= np.linalg.norm(self.quaternion)
