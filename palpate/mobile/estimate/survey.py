"""The tracker's bias over the floor, as a survey found it, taken off every pose of the robot.  Mobile display, 1.3.

The robot stands on marks whose places are known, one every step, and the mean of its readings says how wrong they are:

    b[i, j] = mean(z) - p            x, z [m], phi [rad]

Between marks b is bilinear, outside as at the edge; a reading z is put right by b at z, which is millimetres from p.
What the survey leaves is the jitter of its means, and how b bends between marks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from palpate.jit import Block, Struct, Vector, block_loader, entry, kernel
from palpate.mobile.hardware.tracker import Station, Tracker, bias_at, new_station
from palpate.mobile.rates import normal
from palpate.model.model import Floats, Floats2

READINGS = 100  # at each mark
HALF_M = 4.0  # of the floor that is surveyed


@dataclass(frozen=True)
class Survey:
    """Bias at marks: offsets (nz, nx, 3) of x, z [m] and phi [rad]; the first mark is at low (x, z)."""

    low: tuple[float, float]
    step_m: float
    offsets: Floats

    def __post_init__(self) -> None:
        b = np.array(self.offsets, dtype=np.float64)
        if b.ndim != 3 or min(b.shape[:2]) < 2 or b.shape[2] != 3 or not np.isfinite(b).all():
            raise ValueError(f"a survey has finite offsets (nz, nx, 3) at 2 x 2 marks or more, got shape {b.shape}")
        if not (math.isfinite(self.step_m) and self.step_m > 0.0 and all(map(math.isfinite, self.low))):
            raise ValueError(f"a survey's marks begin at {self.low} and are {self.step_m} m apart: finite, above zero")
        object.__setattr__(self, "offsets", b)

    @property
    def marks(self) -> Marks:
        """For kernels."""
        nz, nx, _ = self.offsets.shape
        return Marks(origin=(*self.low, self.step_m), nx=nx, nz=nz, offset=self.offsets.reshape(-1, 3).copy()).frozen()


class Marks(Struct):
    """A survey as kernels read it."""

    origin: Vector  # x, z of the first mark, step [m]
    nx: int
    nz: int
    offset: Floats2  # (nz nx, 3)


load_marks = block_loader((Marks, True))
load_station = block_loader((Station, False))


@kernel
def put_right(m, pose):
    """A robot's pose (x, z, phi) as it was read, without the bias."""
    u = min(max((pose[0] - m.origin[0]) / m.origin[2], 0.0), m.nx - 1.0)
    v = min(max((pose[1] - m.origin[1]) / m.origin[2], 0.0), m.nz - 1.0)
    i, j = min(int(v), m.nz - 2), min(int(u), m.nx - 2)
    v, u = v - i, u - j
    x, z, phi = pose
    for k in range(4):
        di, dj = k // 2, k % 2
        weight = (v if di else 1.0 - v) * (u if dj else 1.0 - u)
        b = m.offset[(i + di) * m.nx + j + dj]
        x, z, phi = x - weight * b[0], z - weight * b[1], phi - weight * b[2]
    return x, z, phi


@entry("intp, float64[:, ::1], intp, float64[:, ::1]")
def mean_errors(address, places, readings, out):
    """Of a station that stands at places (n, 2): mean error of its x, z and phi over so many readings."""
    (s,) = load_station(address)
    for i in range(places.shape[0]):
        b = bias_at(s, places[i, 0], 0.0, places[i, 1])
        for _ in range(readings):
            out[i, 0] += (b[0] + s.jitter_m * normal(s)) / readings
            out[i, 1] += (b[2] + s.jitter_m * normal(s)) / readings
            out[i, 2] += s.jitter_rad * normal(s) / readings


def survey(errors: Callable[[Floats], Floats], step_m: float, half_m: float = HALF_M) -> Survey:
    """Of a square floor about the origin; errors: places (n, 2) [m] -> mean errors (n, 3) there."""
    if not (math.isfinite(step_m) and 0.0 < step_m <= half_m):
        raise ValueError(f"marks are {step_m} m apart; that must be positive, and at most {half_m} m")
    marks = np.arange(-half_m, half_m + 0.5 * step_m, step_m)
    x, z = np.meshgrid(marks, marks)
    offsets = errors(np.ascontiguousarray(np.stack([x.ravel(), z.ravel()], axis=1)))
    return Survey((-half_m, -half_m), step_m, np.asarray(offsets).reshape(len(marks), len(marks), 3))


def simulated_survey(tracker: Tracker, seed: int, step_m: float) -> Survey:
    """Of the simulated tracker whose bias has this field seed; the readings are others than those of any run."""
    station = new_station(tracker, 7919 * (seed + 1), field_seed=seed)
    block = Block(station)

    def errors(places: Floats) -> Floats:
        out = np.zeros((len(places), 3))
        mean_errors(block.address, places, READINGS, out)
        return out

    return survey(errors, step_m)
