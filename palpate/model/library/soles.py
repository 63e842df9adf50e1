"""The sole of a foot, as one box or as a grid of points on which a standing avatar rests."""

from __future__ import annotations

import numpy as np

from palpate.model.description import ModelError
from palpate.model.shapes import Material, Shape
from palpate.spatial.placement import Transform

SOLE = Material("sole", friction=0.7)

# Small beside a foot, so that a sphere touches at the point below its centre; large beside the penetration of a
# resting contact (under 1 mm), so that none sinks in.
POINT_RADIUS = 0.005  # [m]

Interval = tuple[float, float]
Color = tuple[float, float, float, float]


def foot_shapes(
    sole: str, x: Interval, y: Interval, z: Interval, grid: tuple[int, int], color: Color
) -> tuple[Shape, ...]:
    """A box foot over the intervals [m] of the foot's frame, its sole at z[0].

    sole="box" touches with the box.  sole="spheres" touches with grid[0] x grid[1] spheres instead, whose lowest
    points lie in the sole's plane and reach its edges: the same support, at known points.
    """
    size = tuple(high - low for low, high in (x, y, z))
    centre = Transform(p=(0.5 * sum(x), 0.5 * sum(y), 0.5 * sum(z)))
    if sole == "box":
        return (Shape("box", size, centre, SOLE, color=color),)
    if sole == "spheres":
        points = tuple(
            Shape("sphere", (POINT_RADIUS,), Transform(p=(px, py, z[0] + POINT_RADIUS)), SOLE, "collision")
            for px in np.linspace(*x, grid[0]).tolist()
            for py in np.linspace(*y, grid[1]).tolist()
        )
        return (Shape("box", size, centre, SOLE, "visual", color), *points)
    raise ModelError(f"a sole is 'box' or 'spheres', got {sole!r}")
