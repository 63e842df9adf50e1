"""Planar bodies as people describe them: frozen and checked; whatever is wrong is said in one line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from palpate.haptics.contact_laws import ContactLaw, FrictionLaw, KeeperLaw, WallLaw, find_contact_law
from palpate.model.model import Floats, Floats2
from palpate.planar.bodies.polygons import area_centre_inertia, checked

Laws = tuple[tuple[ContactLaw | None, Mapping[str, float]], ...]
Pose = tuple[float, float, float]  # x, y [m], angle [rad], counter-clockwise


@dataclass(frozen=True, eq=False)
class Polygon:
    """Convex; vertices (x, y) [m] counter-clockwise in axes of its own, the origin anywhere.

    Polygon.box(0.10, 0.06), Polygon.regular(12, 0.05)
    """

    vertices: Floats2

    def __post_init__(self) -> None:
        points = checked(self.vertices)
        points.setflags(write=False)
        object.__setattr__(self, "vertices", points)
        area, centre, spread = area_centre_inertia(points)
        object.__setattr__(self, "area_m2", area)
        object.__setattr__(self, "centre", centre)
        object.__setattr__(self, "spread_m2", spread)

    area_m2: float = field(init=False)
    centre: Floats = field(init=False)  # (2,) of mass, if it is uniform [m]
    spread_m2: float = field(init=False)  # inertia over mass about the centre, if it is uniform

    @classmethod
    def box(cls, width_m: float, height_m: float, centre: tuple[float, float] = (0.0, 0.0)) -> Self:
        """Along x and y."""
        x, y = 0.5 * width_m, 0.5 * height_m
        if not (x > 0.0 and y > 0.0):
            raise ValueError(f"a box has a width and a height above 0, not {width_m:g} and {height_m:g}")
        return cls(np.array([(-x, -y), (x, -y), (x, y), (-x, y)]) + np.asarray(centre))

    @classmethod
    def regular(cls, sides: int, radius_m: float) -> Self:
        """With its corners on a circle, the first at (radius, 0)."""
        angles = 2.0 * np.pi * np.arange(sides) / max(sides, 1)
        return cls(radius_m * np.stack([np.cos(angles), np.sin(angles)], axis=1))


@dataclass(frozen=True, eq=False)
class EdgeSurface:
    """The laws of an edge, for whatever vertex touches it.

    wall, friction, keeper   by name, or made with a decorator of haptics/contact_laws.py; None: no such
    impulse                  impacts are impulses (reference 3.2); False: the spring alone stops what comes
    restitution              of impulses, 0 to 1; with `bounded` at most what the spring's energy leaves (3.3)
    """

    wall: str | WallLaw = "seh"
    wall_settings: Mapping[str, float] = field(default_factory=dict)
    friction: str | FrictionLaw | None = "reset-integrator"
    friction_settings: Mapping[str, float] = field(default_factory=dict)
    keeper: str | KeeperLaw | None = None
    keeper_settings: Mapping[str, float] = field(default_factory=dict)
    restitution: float = 0.2
    impulse: bool = True
    bounded: bool = True

    def __post_init__(self) -> None:
        if not 0.0 <= self.restitution <= 1.0:
            raise ValueError(f"restitution must be 0 .. 1, not {self.restitution:g}")
        kinds = (WallLaw, self.wall), (FrictionLaw, self.friction), (KeeperLaw, self.keeper)
        found = [None if which is None else find_contact_law(kind, which) for kind, which in kinds]
        if found[0] is None:
            raise ValueError("an edge needs a wall")
        settings = self.wall_settings, self.friction_settings, self.keeper_settings
        for law, given in zip(found, settings, strict=True):
            if law is not None:
                law.row(**given)  # says what it does not have
        object.__setattr__(self, "laws", tuple(zip(found, settings, strict=True)))

    laws: Laws = field(init=False, repr=False)  # (law, settings) of wall, friction and keeper, as found


@dataclass(frozen=True, eq=False)
class PlanarBody:
    """A polygon with mass, or one that cannot move.

    mass_kg         None: it cannot move
    inertia_kg_m2   about the centre of mass; None: that of a uniform plate
    pose, velocity  of the polygon's own axes at the start; the body itself counts from its centre of mass (`start`)
    surface         of all its edges, or a list with one for each
    """

    name: str
    polygon: Polygon
    mass_kg: float | None = None
    inertia_kg_m2: float | None = None
    pose: Pose = (0.0, 0.0, 0.0)
    velocity: Pose = (0.0, 0.0, 0.0)
    surface: EdgeSurface | Sequence[EdgeSurface] = field(default_factory=EdgeSurface)

    def __post_init__(self) -> None:
        for what, x in (("mass", self.mass_kg), ("inertia", self.inertia_kg_m2)):
            if x is not None and not (math.isfinite(x) and x > 0.0):
                raise ValueError(f"the {what} of body {self.name!r} must be above 0 and finite, not {x:g}")
        if self.mass_kg is None and self.inertia_kg_m2 is not None:
            raise ValueError(f"body {self.name!r} has an inertia but no mass")
        for what, given in (("pose", self.pose), ("velocity", self.velocity)):
            if len(given) != 3 or not np.isfinite(given).all():
                raise ValueError(f"the {what} of body {self.name!r} is (x, y, angle), finite, not {given}")
        if self.mass_kg is None and any(self.velocity):
            raise ValueError(f"body {self.name!r} cannot move: give it a mass, or no velocity")
        edges = len(self.polygon.vertices)
        if not isinstance(self.surface, EdgeSurface) and len(self.surface) != edges:
            raise ValueError(f"body {self.name!r} has {edges} edges, but {len(self.surface)} surfaces")

    @property
    def surfaces(self) -> Sequence[EdgeSurface]:
        """One for each edge."""
        one = isinstance(self.surface, EdgeSurface)
        return [self.surface] * len(self.polygon.vertices) if one else self.surface  # type: ignore[list-item, return-value]

    @property
    def outline(self) -> Floats2:
        """(n, 2) vertices about the centre of mass [m]."""
        return self.polygon.vertices - self.polygon.centre

    @property
    def inverse_mass(self) -> tuple[float, float, float]:
        """1/m, 1/m, 1/I."""
        if self.mass_kg is None:
            return 0.0, 0.0, 0.0
        inertia = self.mass_kg * self.polygon.spread_m2 if self.inertia_kg_m2 is None else self.inertia_kg_m2
        return 1.0 / self.mass_kg, 1.0 / self.mass_kg, 1.0 / inertia

    @property
    def start(self) -> tuple[Pose, Pose]:
        """Pose and velocity of the centre of mass."""
        x, y, angle = self.pose
        c, s = math.cos(angle), math.sin(angle)
        rx, ry = (
            c * self.polygon.centre[0] - s * self.polygon.centre[1],
            s * self.polygon.centre[0] + c * self.polygon.centre[1],
        )
        vx, vy, turning = self.velocity
        return (x + rx, y + ry, angle), (vx - turning * ry, vy + turning * rx, turning)
