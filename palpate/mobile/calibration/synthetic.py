"""Poses as a calibration would record them, of a display whose offsets are known.  Reference 3.4."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palpate.haptics.devices.simulation.phantom import HIGH, LOW
from palpate.mobile.calibration.poses import Poses
from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.kinematics import Kinematics

BOX_M = (0.381, 0.191, 0.267)  # the maker's workspace: wide, high, deep (1.2)
SENSOR_DEPTH_M = 1.9  # of the station on the robot below the tracker


@dataclass(frozen=True)
class Recording:
    """How n poses are recorded; noises are standard deviations."""

    n: int = 100
    tracker_m: float = 1e-3  # of the station on the robot
    heading_rad: float = np.radians(0.15)
    tool_m: float = 1e-3
    floor_m: float = 3e-3  # unevenness, upwards
    heading_error_rad: float = 0.0  # more noise of the heading, white
    room_m: float = 1.0  # the robot is within +- of it
    workspace: float = 1.0  # share of the maker's box that the hand visits
    locked: bool = False  # the arm does not move
    any_angle: bool = False  # joint angles from 0 to 360 degrees, as printed, which no arm can
    drop_outs: int = 0  # poses of which the station at the tool is lost
    drop_out_m: float = 0.5  # how far it is then

    def __post_init__(self) -> None:
        if self.n < 1 or not 0 <= self.drop_outs <= self.n:
            raise ValueError(f"{self.n} poses with {self.drop_outs} drop-outs cannot be recorded")


QUIET = Recording(tracker_m=0.0, heading_rad=0.0, tool_m=0.0, floor_m=0.0)


def record(chain: Chain, seed: int, recording: Recording = Recording()) -> Poses:  # noqa: B008 (frozen)
    """Poses of a display that is truly `chain`, all random."""
    rng, n = np.random.default_rng(seed), recording.n
    tracker = rng.uniform(0.0, 2.0 * np.pi, n)
    robot = rng.uniform(-recording.room_m, recording.room_m, (n, 2))  # X, Z
    theta = _angles(chain, rng, recording)
    kinematics = Kinematics(chain)
    centre = kinematics.poses(tracker, (0.0, 0.0, SENSOR_DEPTH_M), theta)
    # the chain is linear in the sensor's place: X = Sy + .., Z = -Sx + ..
    away = robot - centre.robot_m[:, [0, 2]]
    sensor = np.column_stack([-away[:, 1], away[:, 0], np.full(n, SENSOR_DEPTH_M)])
    hip = centre.hip_m + np.column_stack([away[:, 0], np.zeros(n), away[:, 1]])
    tool = np.column_stack([-hip[:, 2], hip[:, 0], chain.ceiling_m - hip[:, 1]])
    heading = tracker + (recording.heading_rad**2 + recording.heading_error_rad**2) ** 0.5 * rng.normal(size=n)
    sensor += recording.tracker_m * rng.normal(size=(n, 3))
    tool += recording.tool_m * rng.normal(size=(n, 3))
    tool[:, 2] += recording.floor_m * rng.normal(size=n)
    lost = rng.permutation(n)[: recording.drop_outs]
    wild = rng.normal(size=(len(lost), 3))
    tool[lost] += recording.drop_out_m * wild / np.linalg.norm(wild, axis=1, keepdims=True)
    return Poses(heading, sensor, theta, tool)


def within_limits(theta: np.ndarray) -> np.ndarray:
    """(n,) whether the arm's stops allow joint angles (n, 3)."""
    q = np.column_stack([theta, theta[:, 1] - theta[:, 2]])
    return np.asarray(((q >= LOW) & (q <= HIGH)).all(axis=1))


def _angles(chain: Chain, rng: np.random.Generator, recording: Recording) -> np.ndarray:
    """(n, 3): uniform in the box as far as links and stops reach."""
    n, kinematics, found = recording.n, Kinematics(chain), np.empty((0, 3))
    if recording.locked:
        return np.tile(kinematics.joint_angles((0.02, -0.01, 0.03)), (n, 1))
    if recording.any_angle:
        return rng.uniform(0.0, 2.0 * np.pi, (n, 3))
    while len(found) < n:
        points = recording.workspace * np.array(BOX_M) * rng.uniform(-0.5, 0.5, (2 * n, 3))
        theta = kinematics.joint_angles(points[kinematics.reaches(points)])
        found = np.concatenate([found, theta[within_limits(theta)]])
    return found[:n]
