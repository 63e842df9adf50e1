"""The thesis' calibration: six offsets by linear least squares.  Reference on the mobile display, 3.1 and 3.2.

HIP = C(phi, theta, S) + A(phi) p,   p = (SRx, SRy, SRz, RPx, RPy, RPz)                            (4.6)

Of the six only three can be seen: for every heading col(RPy) = -col(SRx), col(RPx) = -col(SRy), col(RPz) = col(SRz), so
that the regressor of n poses has singular values sqrt(2 n) thrice, and zero thrice.  The update of minimum norm from
measured values gives each of a pair half of its correction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from palpate.mobile.calibration.poses import Poses, residuals
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.kinematics import Kinematics

RANK_RATIO = 1e-9  # of the largest singular value: rounding leaves 1e-16, a column that counts is 1


@dataclass(frozen=True)
class LinearFit:
    """Offsets nearest to those it started from, and what the poses could tell."""

    chain: Chain
    rank: int
    singular_values: np.ndarray  # (6,) of the stacked regressor


def regressor(heading_rad: np.ndarray) -> np.ndarray:
    """A of each heading of the robot, stacked, (3 n, 6)."""
    c, s, o, i = np.cos(heading_rad), np.sin(heading_rad), np.zeros(len(heading_rad)), np.ones(len(heading_rad))
    rows = np.array([[s, c, o, -c, -s, o], [o, o, i, o, o, i], [-c, s, o, -s, c, o]])
    return rows.transpose(2, 0, 1).reshape(-1, 6)


def fit_linear(poses: Poses, start: Chain) -> LinearFit:
    """p = p0 + pinv(A) (measured - computed with p0); psi and harmonics stay as they are in `start`."""
    heading = Kinematics(start).poses(poses.heading_rad, poses.sensor_m, poses.theta_rad).heading_rad
    U, singular, Vt = np.linalg.svd(regressor(heading), full_matrices=False)
    rank = int((singular > RANK_RATIO * singular[0]).sum())
    error = residuals(start, poses).error_m.reshape(-1)
    p = np.array(start.sensor_to_robot_m + start.robot_to_device_m)
    p += Vt[:rank].T @ ((U[:, :rank].T @ error) / singular[:rank])
    chain = replace(start, sensor_to_robot_m=tuple(p[:3]), robot_to_device_m=tuple(p[3:]))
    return LinearFit(chain, rank, singular)
