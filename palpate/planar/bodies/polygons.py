"""Convex polygons: what is checked of one, and the tables of many.  Python only, at set-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palpate.model.model import Floats, Floats2
from palpate.planar.bodies.tables import Polygons

STRAIGHT = 1e-9  # sine of the least turn at a vertex: below, support by hill climbing could stop on a plateau
DOUBLED = 1e-9  # two vertices closer than this share of the size are one


def cross(a: Floats, b: Floats) -> Floats:
    """z of a x b, of rows of two numbers."""
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def checked(vertices: object) -> Floats2:
    """(n, 2) a convex polygon, counter-clockwise; ValueError says in one line what else it is."""
    try:
        points = np.array(vertices, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("a polygon is a list of vertices (x, y)") from None
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3:
        raise ValueError(f"a polygon is at least three vertices (x, y), got an array of shape {points.shape}")
    if not np.isfinite(points).all():
        raise ValueError(f"vertex {int(np.argmin(np.isfinite(points).all(axis=1)))} of the polygon is not finite")
    size = float(np.ptp(points, axis=0).max())
    edges = np.roll(points, -1, axis=0) - points
    lengths = np.hypot(*edges.T)
    if size == 0.0 or not np.isfinite(size):
        raise ValueError("the polygon has no area: its vertices are one point")
    if lengths.min() <= DOUBLED * size:
        raise ValueError(f"vertex {(int(np.argmin(lengths)) + 1) % len(points)} of the polygon is doubled")
    unit = edges / lengths[:, None]
    before = np.roll(unit, 1, axis=0)
    turns = cross(before, unit)  # sine of the turn at each vertex
    if (np.abs(turns) <= STRAIGHT).all():
        raise ValueError("the polygon has no area: its vertices are on one line")
    angles = np.arctan2(turns, np.sum(before * unit, axis=1))
    rounds = float(angles.sum()) / (2.0 * np.pi)
    if (turns > STRAIGHT).all() and abs(rounds - 1.0) < 0.25:
        return points
    if (turns < -STRAIGHT).all() and abs(rounds + 1.0) < 0.25:
        raise ValueError("the polygon's vertices are clockwise: give them counter-clockwise (reversed)")
    if abs(abs(rounds) - 1.0) > 0.25:
        raise ValueError(f"the polygon crosses itself: its edges turn {rounds:.3g} times around, not once")
    wrong = turns * np.sign(rounds)
    straight = np.abs(turns) <= STRAIGHT
    if straight.any() and (wrong[~straight] > 0.0).all():
        where = int(np.argmax(straight))
        raise ValueError(f"vertex {where} of the polygon lies on the line of its neighbours: leave it out")
    raise ValueError(f"the polygon is not convex at vertex {int(np.argmin(wrong))}")


def area_centre_inertia(points: Floats2) -> tuple[float, Floats, float]:
    """Area [m^2], centroid [m] and second moment of area about it over the area [m^2]."""
    origin = points.mean(axis=0)  # so that what is far away keeps its digits
    p, q = points - origin, np.roll(points - origin, -1, axis=0)
    twice = cross(p, q)
    area = 0.5 * float(twice.sum())
    centre = ((p + q) * twice[:, None]).sum(axis=0) / (6.0 * area)
    about_origin = float((twice * (p * p + p * q + q * q).sum(axis=1)).sum()) / (12.0 * area)
    return area, origin + centre, about_origin - float(centre @ centre)


def tables_of(shapes: Sequence[Floats2], inverse_mass: Floats2) -> Polygons:
    """The polygons of bodies 1, 2, ...: (n, 2) each, about the centre of mass; inverse_mass with the world's row 0."""
    counts = [0, *(len(shape) for shape in shapes)]
    vertex = np.concatenate(shapes)
    edges = np.concatenate([np.roll(shape, -1, axis=0) - shape for shape in shapes])
    length = np.hypot(*edges.T)
    tangent = edges / length[:, None]
    normal = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)  # outwards, as they run counter-clockwise
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    width = [0.0]
    for shape, begin in zip(shapes, first[1:], strict=False):
        out = normal[begin : begin + len(shape)]
        width.append(float((np.sum(out * shape, axis=1)[:, None] - out @ shape.T).max(axis=1).min()))
    polygons = Polygons(
        first, np.repeat(np.arange(len(counts)), counts), np.ascontiguousarray(vertex),
        np.ascontiguousarray(tangent), np.ascontiguousarray(normal), length,
        np.array([0.0, *(float(np.hypot(*shape.T).max()) for shape in shapes)]), np.array(width),
        np.ascontiguousarray(inverse_mass, dtype=np.float64),
    )  # fmt: skip
    for array in polygons:
        array.setflags(write=False)
    return polygons
