"""Obstacles of the room: a grid of clearances, and a search of velocities where the straight way is blocked.

Mobile display, 6.3.  Polygons inflated by the robot's radius; clear[i, j] is how far the robot's centre at a grid point
is from the nearest of them [m], below 0 inside.  The search: 16 directions x 4 speeds, near the goal also standing;
those that enter an obstacle within 1 s are rejected; cost = distance to the waypoint after that second + what turns
away from the way asked for + a price of little clearance.  It gets past columns; before a wide wall a horizon of a
second waits.  A target inside an obstacle moves along the circle d' to where it is free.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from palpate.jit import kernel
from palpate.mobile.planning.target import at

DIRECTIONS, SPEEDS, HORIZON_S, PARTS = 16, 4, 1.0, 8
FREE_STEPS = 36  # of 5 deg, each way round
FREE_M = 0.03  # a target is so far from what stands there
TURN_COST_M, CLEAR_COST_M, CLEAR_WANTED_M = 0.05, 0.30, 0.10
COS = tuple(math.cos(2.0 * math.pi * k / DIRECTIONS) for k in range(DIRECTIONS))
SIN = tuple(math.sin(2.0 * math.pi * k / DIRECTIONS) for k in range(DIRECTIONS))


class Room(NamedTuple):
    """Clearances over a grid."""

    origin: tuple[float, float, float]  # x, z of clear[0, 0]; step [m]
    clear: np.ndarray  # (nz, nx) [m]


def open_room() -> Room:
    """Without obstacles."""
    return Room((0.0, 0.0, 1.0), np.full((2, 2), 1e3))


def room_of(
    polygons: Sequence[Sequence[tuple[float, float]]],
    low: tuple[float, float],
    high: tuple[float, float],
    *,
    robot_radius_m: float = 0.25,
    step_m: float = 0.05,
) -> Room:
    """A room from low to high (x, z), whose walls are these bounds, with polygons [(x, z), ...] in it."""
    size = np.subtract(high, low)
    if not ((size > 2.0 * robot_radius_m).all() and step_m > 0.0):
        raise ValueError(f"the room from {low} to {high} has no place for a robot of {robot_radius_m} m")
    nx, nz = (int(n) for n in np.floor(size / step_m + 1e-9) + 1)
    x, z = np.meshgrid(low[0] + step_m * np.arange(nx), low[1] + step_m * np.arange(nz))
    clear = np.minimum(np.minimum(x - low[0], high[0] - x), np.minimum(z - low[1], high[1] - z))
    for corners in polygons:
        clear = np.minimum(clear, signed_distance(np.array(corners, dtype=np.float64), x, z))
    return Room((float(low[0]), float(low[1]), step_m), np.ascontiguousarray(clear - robot_radius_m))


def signed_distance(corners: np.ndarray, x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """From points to a polygon (n, 2), below 0 inside."""
    if corners.ndim != 2 or corners.shape[0] < 3 or corners.shape[1] != 2 or not np.isfinite(corners).all():
        raise ValueError(f"a polygon has at least three corners (x, z), not shape {corners.shape}")
    distance, inside = np.full(x.shape, np.inf), np.zeros(x.shape, dtype=bool)
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        ab = b - a
        s = np.clip(((x - a[0]) * ab[0] + (z - a[1]) * ab[1]) / max(ab @ ab, 1e-300), 0.0, 1.0)
        distance = np.minimum(distance, np.hypot(x - a[0] - s * ab[0], z - a[1] - s * ab[1]))
        crosses = (a[1] > z) != (b[1] > z)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside ^= crosses & (x < a[0] + (z - a[1]) * ab[0] / ab[1])
    return np.where(inside, -distance, distance)


@kernel
def clearance(s, x, z):
    """Of the robot's centre at (x, z), between the grid's points; outside the grid as at its edge."""
    nz, nx = s.clear.shape
    u = min(max((x - s.origin[0]) / s.origin[2], 0.0), nx - 1.0)
    v = min(max((z - s.origin[1]) / s.origin[2], 0.0), nz - 1.0)
    i, j = min(int(v), nz - 2), min(int(u), nx - 2)
    v, u = v - i, u - j
    c = s.clear
    return (1.0 - v) * ((1.0 - u) * c[i, j] + u * c[i, j + 1]) + v * ((1.0 - u) * c[i + 1, j] + u * c[i + 1, j + 1])


@kernel
def free_bearing(s, user, beta):
    """The bearing nearest to beta at which the circle d' around the user is free; beta, if none is."""
    for k in range(FREE_STEPS + 1):
        for side in (1.0, -1.0):
            other = beta + side * k * math.pi / FREE_STEPS
            x, z = at(user, s.d1, other)
            if clearance(s, x, z) > FREE_M:
                return other
    return beta


@kernel
def least_clearance(s, here, vx, vz, goal):
    """Along a second of this velocity, but not beyond a goal that is nearer; leaving an obstacle counts as clear."""
    d = math.sqrt((goal[0] - here[0]) ** 2 + (goal[1] - here[1]) ** 2)
    v = math.sqrt(vx * vx + vz * vz)
    seconds = HORIZON_S if v * HORIZON_S <= d else max(d, 0.05) / v
    least, first = 1e3, clearance(s, here[0], here[1])
    for k in range(1, PARTS + 1):
        t = seconds * k / PARTS
        c = clearance(s, here[0] + t * vx, here[1] + t * vz)
        least = min(least, c if first > 0.0 else c - first)
    return least


@kernel
def search(s, here, user, way, vx, vz):
    """The velocity that was asked for, if it is free; else the best that is; else none."""
    if least_clearance(s, here, vx, vz, way) > 0.0:
        return vx, vz
    asked = max(math.sqrt(vx * vx + vz * vz), 1e-9)
    best, bx, bz = 1e9, 0.0, 0.0
    left = math.sqrt((way[0] - here[0]) ** 2 + (way[1] - here[1]) ** 2)
    if (
        left <= s.vmax * HORIZON_S / SPEEDS
    ):  # nearer than the slowest goes: standing is as good; further away it would wait for ever
        best = left
    for k in range(DIRECTIONS):
        for j in range(1, SPEEDS + 1):
            v = s.vmax * j / SPEEDS
            cx, cz = v * COS[k], v * SIN[k]
            least = least_clearance(s, here, cx, cz, (here[0] + cx, here[1] + cz))
            ex, ez = here[0] + HORIZON_S * cx, here[1] + HORIZON_S * cz
            if least <= 0.0 or math.sqrt((ex - user[0]) ** 2 + (ez - user[1]) ** 2) < s.r_c:
                continue
            away = 1.0 - (cx * vx + cz * vz) / (v * asked)
            cost = math.sqrt((way[0] - ex) ** 2 + (way[1] - ez) ** 2) + TURN_COST_M * away
            cost += CLEAR_COST_M * max(CLEAR_WANTED_M - least, 0.0) / CLEAR_WANTED_M
            if cost < best:
                best, bx, bz = cost, cx, cz
    if best == 1e9:
        s.blocked += 1
    return bx, bz
