"""Solids and planes, one body each: what arms and hands meet.

A free solid starts at `at` through its posture "start" (q of its free joint); a fixed one is there by its joint.  A
placed one starts as a free one does, and stays where it is put, whatever pushes it: `World.place` moves it.
"""

from __future__ import annotations

import math
from typing import Any

from palpate.model.description import Body, Joint, ModelError, MultiBody
from palpate.model.shapes import Material, Shape
from palpate.spatial.placement import IDENTITY, Rotation, Transform, Vector3, unit3, vector3

DENSITY = 1000.0  # of a solid of which nothing is said: water [kg/m^3]

Color = tuple[float, float, float, float]
ORIGIN = (0.0, 0.0, 0.0)
DEFAULT = Material()


def ball(
    radius: float = 0.05,
    *,
    mass: float | None = None,
    density: float | None = None,
    at: Vector3 = ORIGIN,
    R: Rotation = IDENTITY.R,
    fixed: bool = False,
    placed: bool = False,
    material: Material = DEFAULT,
    name: str = "ball",
    color: Color | None = None,
) -> MultiBody:
    """A solid sphere of `radius` [m]; `mass` [kg] or `density` [kg/m^3]."""
    r = _positive(name, "radius", radius, "m")
    m = _mass(name, mass, density, 4.0 / 3.0 * math.pi * r**3)
    shape = Shape("sphere", (r,), material=material, color=color)
    return _solid(name, m, (0.4 * m * r * r,) * 3, shape, Transform(R, at), fixed, placed)


def box(
    size: Vector3 = (0.1, 0.1, 0.1),
    *,
    mass: float | None = None,
    density: float | None = None,
    at: Vector3 = ORIGIN,
    R: Rotation = IDENTITY.R,
    fixed: bool = False,
    placed: bool = False,
    material: Material = DEFAULT,
    name: str = "box",
    color: Color | None = None,
) -> MultiBody:
    """A solid box of full edges `size` [m]; `mass` [kg] or `density` [kg/m^3]."""
    try:
        x, y, z = vector3(size, "size")
    except (TypeError, ValueError):
        raise ModelError(f"{name!r}: size must be the three edges of a box in m, got {size!r}") from None
    edges = (_positive(name, "size x", x, "m"), _positive(name, "size y", y, "m"), _positive(name, "size z", z, "m"))
    m = _mass(name, mass, density, x * y * z)
    shape = Shape("box", edges, material=material, color=color)
    return _solid(name, m, box_inertia(m, edges), shape, Transform(R, at), fixed, placed)


def capsule(
    radius: float = 0.03,
    length: float = 0.1,
    *,
    mass: float | None = None,
    density: float | None = None,
    at: Vector3 = ORIGIN,
    R: Rotation = IDENTITY.R,
    fixed: bool = False,
    placed: bool = False,
    material: Material = DEFAULT,
    name: str = "capsule",
    color: Color | None = None,
) -> MultiBody:
    """A solid cylinder with round ends, axis z, `length` between the two centres [m]; `mass` or `density`."""
    r, L = _positive(name, "radius", radius, "m"), _positive(name, "length", length, "m")
    middle, ends = math.pi * r * r * L, 4.0 / 3.0 * math.pi * r**3  # volumes
    m = _mass(name, mass, density, middle + ends)
    shape = Shape("capsule", (r, L), material=material, color=color)
    return _solid(name, m, capsule_inertia(m, r, L), shape, Transform(R, at), fixed, placed)


def cylinder(
    radius: float = 0.05,
    length: float = 0.1,
    *,
    mass: float | None = None,
    density: float | None = None,
    at: Vector3 = ORIGIN,
    R: Rotation = IDENTITY.R,
    fixed: bool = False,
    placed: bool = False,
    material: Material = DEFAULT,
    name: str = "cylinder",
    color: Color | None = None,
) -> MultiBody:
    """A solid cylinder of `radius` and `length` [m], axis z; `mass` [kg] or `density` [kg/m^3]."""
    r, L = _positive(name, "radius", radius, "m"), _positive(name, "length", length, "m")
    m = _mass(name, mass, density, math.pi * r * r * L)
    across = m * (r * r / 4.0 + L * L / 12.0)
    shape = Shape("cylinder", (r, L), material=material, color=color)
    return _solid(name, m, (across, across, 0.5 * m * r * r), shape, Transform(R, at), fixed, placed)


def plane(
    at: Vector3 = ORIGIN,
    normal: Vector3 = (0.0, 0.0, 1.0),
    *,
    material: Material = DEFAULT,
    name: str = "plane",
    color: Color | None = None,
) -> MultiBody:
    """An unbounded wall, floor or slope through `at`, solid on the side away from `normal`; always fixed."""
    try:
        R = Rotation.between((0, 0, 1), unit3(normal, "normal"))
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name!r}: {error}") from None
    return _solid(name, 0.0, ORIGIN, Shape("plane", material=material, color=color), Transform(R, at), fixed=True)


def box_inertia(mass: float, size: Vector3) -> Vector3:
    """Principal moments of a solid box about its centre [kg m^2]."""
    xx, yy, zz = (edge * edge for edge in size)
    return (mass * (yy + zz) / 12.0, mass * (xx + zz) / 12.0, mass * (xx + yy) / 12.0)


def capsule_inertia(mass: float, r: float, L: float) -> Vector3:
    """Principal moments of a solid capsule about its centre, axis z [kg m^2].

    A half ball has 2/5 m r^2 about any diameter of its flat face, and its centre of mass 3/8 r from it.  Shifted from
    that face to the middle, L/2 away: 2/5 m r^2 + m ((L/2 + 3/8 r)^2 - (3/8 r)^2) = m (2/5 r^2 + L^2/4 + 3/8 L r).
    """
    share = L / (L + 4.0 / 3.0 * r)  # of the mass in the cylinder; the rest is in the two half balls
    middle, ends = share * mass, (1.0 - share) * mass
    across = middle * (r * r / 4.0 + L * L / 12.0) + ends * (0.4 * r * r + L * L / 4.0 + 0.375 * L * r)
    return (across, across, middle * 0.5 * r * r + ends * 0.4 * r * r)


def _solid(
    name: str, mass: float, inertia: Vector3, shape: Shape, X: Transform, fixed: bool, placed: bool = False
) -> MultiBody:
    if fixed and placed:
        raise ModelError(f"{name!r}: give fixed (it never moves) or placed (World.place moves it), not both")
    body = Body(name, mass, inertia=inertia, shapes=(shape,))
    start: dict[str, Any] = {}
    if fixed:
        joint = Joint(name, "fixed", "world", name, X)
    else:
        joint = Joint(name, "free", "world", name, placed=placed)
        start[name] = (*X.p, *X.R.wxyz)
    return MultiBody(name, (body,), (joint,), {"start": start})


def _positive(name: str, what: str, value: Any, unit: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0.0):
        raise ModelError(f"{name!r}: {what} must be a positive number of {unit}, got {value!r}")
    return number


def _mass(name: str, mass: float | None, density: float | None, volume: float) -> float:
    if mass is not None and density is not None:
        raise ModelError(f"{name!r}: give its mass or its density, not both")
    if mass is not None:
        return _positive(name, "mass", mass, "kg")
    return volume * _positive(name, "density", DENSITY if density is None else density, "kg/m^3")
