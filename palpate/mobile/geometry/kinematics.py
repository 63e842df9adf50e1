"""The chain from Python: many poses at once, checked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from palpate.jit import Block
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.chain_rows import angle_rows, force_rows, jacobian_rows, pose_rows, tip_rows


class ToolPoses(NamedTuple):
    """Of n samples, in the world, y up."""

    hip_m: np.ndarray  # (n, 3)
    rotation: np.ndarray  # (n, 3, 3) tool -> world
    robot_m: np.ndarray  # (n, 3) origin of the robot's frame
    heading_rad: np.ndarray  # (n,) of the robot


class Kinematics:
    """Of one chain; headings (n,) [rad], joint angles (n, 3) [rad], a single one stands for a row of one.

    kinematics = Kinematics()
    kinematics.poses(0.5, [0.5, -0.3, 1.9], [0.1, 0.2, 0.3]).hip_m
    """

    def __init__(self, chain: Chain | None = None) -> None:
        self.chain = chain or Chain()
        self._block = Block(self.chain.linkage)

    def poses(self, tracker_heading_rad: ArrayLike, sensor_m: ArrayLike, theta_rad: ArrayLike) -> ToolPoses:
        """The tool and the robot, of the sensor's heading and position as the tracker gives them."""
        phi, S, theta = _together(tracker_heading_rad, sensor_m, theta_rad)
        out = np.empty((len(phi), 16))
        pose_rows(self._block.address, phi, S, theta, out)
        return ToolPoses(out[:, :3], out[:, 3:12].reshape(-1, 3, 3), out[:, 12:15], out[:, 15])

    def jacobians(self, heading_rad: ArrayLike, theta_rad: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """J_R (n, 3, 4), columns Rx, Rz, phi, Ry, and J_P (n, 3, 3); the heading is the robot's."""
        phi, theta = _together(heading_rad, theta_rad)
        out = np.empty((len(phi), 21))
        jacobian_rows(self._block.address, phi, theta, out)
        return out[:, :12].reshape(-1, 3, 4), out[:, 12:].reshape(-1, 3, 3)

    def torques(self, heading_rad: ArrayLike, theta_rad: ArrayLike, force_N: ArrayLike) -> np.ndarray:
        """(n, 3) [N m] that a force on the tip in the world's axes takes."""
        return self._forces(heading_rad, theta_rad, force_N)[:, :3]

    def reactions(self, heading_rad: ArrayLike, theta_rad: ArrayLike, force_N: ArrayLike) -> np.ndarray:
        """(n, 4) of a force on the tip on the base: along x and z [N], about y [N m], on the lift [N]."""
        return self._forces(heading_rad, theta_rad, force_N)[:, 3:]

    def tips(self, theta_rad: ArrayLike) -> np.ndarray:
        """(n, 3) of the arm alone, in the device's axes [m]."""
        (theta,) = _together(theta_rad)
        out = np.empty((len(theta), 3))
        tip_rows(self._block.address, theta, out)
        return out

    def reaches(self, points_m: ArrayLike) -> np.ndarray:
        """(n,) whether the links are long enough for points in the device's axes."""
        return self._angles(points_m)[1]

    def joint_angles(self, points_m: ArrayLike) -> np.ndarray:
        """(n, 3) [rad]; a point out of reach is a ValueError."""
        theta, reachable = self._angles(points_m)
        if not reachable.all():
            point = np.atleast_2d(np.asarray(points_m, dtype=float))[np.argmin(reachable)]
            raise ValueError(f"{point.tolist()} m is out of the reach of links of {self.chain.link1_m:g} and "
                             f"{self.chain.link2_m:g} m")  # fmt: skip
        return theta

    def _angles(self, points_m: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        (points,) = _together(points_m)
        out = np.empty((len(points), 4))
        angle_rows(self._block.address, points, out)
        return out[:, :3], out[:, 3] > 0.0

    def _forces(self, heading_rad: ArrayLike, theta_rad: ArrayLike, force_N: ArrayLike) -> np.ndarray:
        phi, theta, force = _together(heading_rad, theta_rad, force_N)
        out = np.empty((len(phi), 7))
        force_rows(self._block.address, phi, theta, force, out)
        return out


def _together(*given: ArrayLike) -> list[np.ndarray]:
    """Headings (n,) and vectors (n, 3) of one n; the last is always a vector.  What is single is repeated."""
    arrays = [np.asarray(x, dtype=float) for x in given]
    wide = [np.atleast_2d(x) if k or len(given) == 1 else np.atleast_1d(x) for k, x in enumerate(arrays)]
    for k, x in enumerate(wide):
        if k == 0 and len(given) > 1:
            if x.ndim != 1:
                raise ValueError(f"headings are one row of numbers, got an array {x.shape}")
        elif x.ndim != 2 or x.shape[1] != 3:
            raise ValueError(f"vectors and joint angles are rows of 3 numbers, got an array {arrays[k].shape}")
        if not np.isfinite(x).all():
            raise ValueError("headings, vectors and joint angles are finite numbers")
    n = max(map(len, wide))
    if any(len(x) not in (1, n) for x in wide):
        raise ValueError(f"rows of different number: {', '.join(str(len(x)) for x in wide)}")
    return [np.array(np.broadcast_to(x, (n, *x.shape[1:])), order="C") for x in wide]
