"""Recorded poses: what two stations of the tracker and the joint encoders said while the robot stood still.

A CSV file has one row for each pose and named columns in any order; others are ignored.  Lengths are in mm or m, angles
in deg or rad, as the name's end says:

    heading_deg, sensor_x_mm, sensor_y_mm, sensor_z_mm    station on the robot, in the tracker's frame (z down)
    theta1_deg, theta2_deg, theta3_deg                    joints of the arm
    tool_x_mm, tool_y_mm, tool_z_mm                       station at the tip of the tool, in the tracker's frame
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from palpate.mobile.geometry.chain import Chain
from palpate.mobile.geometry.kinematics import Kinematics
from palpate.mobile.tables import read_lines
from palpate.printable import printable
from palpate.whole_files import write_whole

LENGTHS = ("sensor_x", "sensor_y", "sensor_z", "tool_x", "tool_y", "tool_z")
ANGLES = ("heading", "theta1", "theta2", "theta3")
UNITS = {"mm": 1e-3, "m": 1.0, "deg": math.pi / 180.0, "rad": 1.0}
FEWEST = 10  # poses: twice what five folds of cross-validation need
MOST = 100_000  # of a hundred in the thesis; a file of more is not what it seems
LARGEST_M, LARGEST_RAD = 100.0, 50.0  # no room is larger, and no heading has been counted on for eight turns


@dataclass(frozen=True)
class Poses:
    """n of them, in SI units; the tracker's frame is that of chain.py."""

    heading_rad: np.ndarray  # (n,) of the station on the robot
    sensor_m: np.ndarray  # (n, 3)
    theta_rad: np.ndarray  # (n, 3)
    tool_m: np.ndarray  # (n, 3)

    def __post_init__(self) -> None:
        n = len(self.heading_rad)
        for name, shape in (("heading_rad", (n,)), ("sensor_m", (n, 3)), ("theta_rad", (n, 3)), ("tool_m", (n, 3))):
            values = np.array(getattr(self, name), dtype=float)
            if values.shape != shape:
                raise ValueError(f"{name} of {n} poses has shape {values.shape}, not {shape}")
            if not np.isfinite(values).all():
                raise ValueError(f"{name} has numbers that are not finite")
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.heading_rad)

    def __getitem__(self, rows: np.ndarray) -> Poses:
        """Some of them."""
        return Poses(self.heading_rad[rows], self.sensor_m[rows], self.theta_rad[rows], self.tool_m[rows])

    def hips_m(self, chain: Chain) -> np.ndarray:
        """(n, 3) in the world, as the station at the tool gives them: (X, Y, Z) = (y, ceiling - z, -x)."""
        x, y, z = self.tool_m.T
        return np.column_stack([y, chain.ceiling_m - z, -x])


@dataclass(frozen=True)
class Residuals:
    """Measured minus computed HIP, and what to hold it against."""

    error_m: np.ndarray  # (n, 3) in the world's axes
    heading_rad: np.ndarray  # (n,) as the tracker gave it
    device_m: np.ndarray  # (n, 3) the HIP in the device's axes
    floor_m: np.ndarray  # (n, 2) X, Z of the robot
    robot_rad: np.ndarray  # (n,) heading of the robot

    def __getitem__(self, rows: np.ndarray) -> Residuals:
        """Of some poses."""
        return Residuals(self.error_m[rows], self.heading_rad[rows], self.device_m[rows], self.floor_m[rows],
                         self.robot_rad[rows])  # fmt: skip

    @property
    def rms_m(self) -> np.ndarray:
        """(3,) of each axis."""
        return np.sqrt((self.error_m**2).mean(axis=0))

    @property
    def device_error_m(self) -> np.ndarray:
        """(n, 3) the error in the device's axes."""
        (x, y, z), c, s = self.error_m.T, np.cos(self.robot_rad), np.sin(self.robot_rad)
        return np.column_stack([-c * x - s * z, y, s * x - c * z])


def residuals(chain: Chain, poses: Poses) -> Residuals:
    """What a chain leaves unexplained."""
    kinematics = Kinematics(chain)
    found = kinematics.poses(poses.heading_rad, poses.sensor_m, poses.theta_rad)
    tips = kinematics.tips(poses.theta_rad)
    return Residuals(poses.hips_m(chain) - found.hip_m, poses.heading_rad, tips, found.robot_m[:, [0, 2]],
                     found.heading_rad)  # fmt: skip


# ---- files


def read_poses(path: str | Path) -> Poses:
    """Of a CSV file; what is wrong with it is a ValueError of one line that says where."""
    path = Path(path)
    lines = read_lines(path)
    places = _columns(path, lines[0][1])
    if not FEWEST <= len(lines) - 1 <= MOST:
        raise ValueError(f"{path} has {len(lines) - 1} poses; a calibration takes {FEWEST} to {MOST}")
    table = np.array([_numbers(path, line, row, lines[0][1], places) for line, row in lines[1:]])
    of = dict(zip(places, table.T, strict=True))
    return Poses(of["heading"], *(np.column_stack([of[name] for name in names])
                                  for names in (LENGTHS[:3], ANGLES[1:], LENGTHS[3:])))  # fmt: skip


def write_poses(path: str | Path, poses: Poses) -> None:
    """As read_poses reads them, in degrees and millimetres."""
    header = [f"{name}_deg" for name in ANGLES] + [f"{name}_mm" for name in LENGTHS]
    angles = np.degrees(np.column_stack([poses.heading_rad, poses.theta_rad]))
    table = np.column_stack([angles, 1e3 * poses.sensor_m, 1e3 * poses.tool_m])
    lines = [",".join(header), *(",".join(f"{x:.12g}" for x in row) for row in table)]
    write_whole(path, "\n".join(lines) + "\n")


def _columns(path: Path, header: list[str]) -> dict[str, tuple[int, str]]:
    """name -> (place, unit) of each quantity."""
    found: dict[str, tuple[int, str]] = {}
    for names, units in ((ANGLES, ("deg", "rad")), (LENGTHS, ("mm", "m"))):
        for name in names:
            here = [(k, unit) for k, cell in enumerate(header) for unit in units if cell == f"{name}_{unit}"]
            if not here:
                has = printable(", ".join(header))
                raise ValueError(f"{path} has no column {name}_{units[0]} or {name}_{units[1]}; it has {has[:200]}")
            if len(here) > 1:
                raise ValueError(f"{path} has more than one column of {name}")
            found[name] = here[0]
    return found


def _numbers(
    path: Path, line: int, row: list[str], header: list[str], places: dict[str, tuple[int, str]]
) -> list[float]:
    """Of one line, in SI units, in the order of `places`."""
    if len(row) != len(header):
        raise ValueError(f"{path}, line {line}: {len(row)} cells for {len(header)} columns")
    numbers = []
    for name, (place, unit) in places.items():
        try:
            value = UNITS[unit] * float(row[place])
        except ValueError:
            raise ValueError(f"{path}, line {line}: {name} is no number: {printable(row[place])[:40]!r}") from None
        most, what = (LARGEST_M, "m") if unit in ("mm", "m") else (LARGEST_RAD, "rad")
        if not abs(value) <= most:
            given = printable(row[place])[:40]
            raise ValueError(
                f"{path}, line {line}: {name}_{unit} of {given} is beyond {most:g} {what}; is the unit right?"
            )
        numbers.append(value)
    return numbers
