"""The chain of frames as matrices, and the door between the display's world and the world of all others.

Chain of (4.1) to (4.5): world <- tracker (I) <- sensor (S) <- robot (R) <- device (P) <- tool (T), 4 x 4, in metres.
(4.2) and (4.3) as printed are reflections whose product is right; the frames here are genuine, S has its y the other
way (reference on the mobile display, 2.2), and (4.5) is corrected (2.5).  Kernels do without matrices: chain.py.

Door: inside palpate/mobile y is up (conventions.py: x forward, y left, z up).  Forward is the front of the device at
heading zero: x = -Z, y = -X, z = Y, as (6.2) has it for ROS, and as the PHANToM's axes turn into a device's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from palpate.haptics.devices.simulation.phantom import device_axes, thesis_axes
from palpate.mobile.geometry.chain import Chain

# for kernels: a vector (3-tuple) from y up to z up, and back
to_z_up = device_axes
to_y_up = thesis_axes

Z_UP = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x_z_up = Z_UP x_y_up


# ---- the door


def vectors_z_up(vectors: ArrayLike) -> np.ndarray:
    """Points, velocities or forces (..., 3) of the display as everybody else has them."""
    return _rows(vectors, 3, "vectors") @ Z_UP.T


def vectors_y_up(vectors: ArrayLike) -> np.ndarray:
    """And back."""
    return _rows(vectors, 3, "vectors") @ Z_UP


def quaternions_z_up(quaternions: ArrayLike) -> np.ndarray:
    """Orientations (..., 4), (w, x, y, z), of bodies whose own axes turn by the same rule: B R B^T."""
    q = _rows(quaternions, 4, "quaternions")
    return np.concatenate([q[..., :1], q[..., 1:] @ Z_UP.T], axis=-1)


def quaternions_y_up(quaternions: ArrayLike) -> np.ndarray:
    """And back."""
    q = _rows(quaternions, 4, "quaternions")
    return np.concatenate([q[..., :1], q[..., 1:] @ Z_UP], axis=-1)


def rotations_z_up(rotations: ArrayLike) -> np.ndarray:
    """The same for matrices (..., 3, 3)."""
    return Z_UP @ np.asarray(rotations, dtype=float) @ Z_UP.T


def yaw_of(heading_rad: float) -> float:
    """Turn of the device's front about z, counter-clockwise from x, of a heading, which grows clockwise."""
    return -heading_rad


def _rows(given: ArrayLike, columns: int, what: str) -> np.ndarray:
    rows = np.asarray(given, dtype=float)
    if rows.ndim < 1 or rows.shape[-1] != columns:
        raise ValueError(f"{what} are rows of {columns} numbers, got an array {rows.shape}")
    return rows


# ---- the chain


def _pose(rotation: Sequence[Sequence[float]], translation: ArrayLike) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, translation
    return T


def world_from_tracker(chain: Chain) -> np.ndarray:
    """W_T_I (4.1)."""
    return _pose([[0, 1, 0], [0, 0, -1], [-1, 0, 0]], (0.0, chain.ceiling_m, 0.0))


def tracker_from_sensor(heading_rad: float, sensor_m: ArrayLike) -> np.ndarray:
    """I_T_S (4.2), with S as a genuine frame; the heading is the robot's, psi and harmonics included."""
    c, s = math.cos(heading_rad), math.sin(heading_rad)
    return _pose([[c, s, 0], [s, -c, 0], [0, 0, -1]], sensor_m)


def sensor_from_robot(chain: Chain) -> np.ndarray:
    """S_T_R (4.3), the same."""
    x, y, z = chain.sensor_to_robot_m
    return _pose([[0, -1, 0], [1, 0, 0], [0, 0, 1]], (x, -y, z))


def robot_from_device(chain: Chain) -> np.ndarray:
    """R_T_P (4.4)."""
    return _pose([[1, 0, 0], [0, 0, -1], [0, 1, 0]], chain.robot_to_device_m)


def device_from_tool(chain: Chain, theta_rad: ArrayLike) -> np.ndarray:
    """P_T_T (4.5), corrected."""
    l1, l2 = chain.link1_m, chain.link2_m
    (c1, c2, c3), (s1, s2, s3) = np.cos(theta_rad), np.sin(theta_rad)
    r = l1 * c2 + l2 * s3
    return _pose([[c1, -s1 * s3, s1 * c3], [0, c3, s3], [-s1, -c1 * s3, c1 * c3]],
                 (s1 * r, l2 + l1 * s2 - l2 * c3, -l1 + c1 * r))  # fmt: skip


def world_from_tool(chain: Chain, heading_rad: float, sensor_m: ArrayLike, theta_rad: ArrayLike) -> np.ndarray:
    """All of it, (4, 4): the robot's heading [rad], its sensor in the tracker's frame [m], joint angles [rad]."""
    base = world_from_tracker(chain) @ tracker_from_sensor(heading_rad, sensor_m) @ sensor_from_robot(chain)
    return base @ robot_from_device(chain) @ device_from_tool(chain, theta_rad)
