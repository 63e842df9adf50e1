"""Colours and the floor that scenes share."""

from __future__ import annotations

from palpate.model.description import MultiBody
from palpate.model.library import plane
from palpate.model.shapes import Material

Color = tuple[float, float, float, float]

WOOD: Color = (0.72, 0.53, 0.34, 1.0)
DARK_WOOD: Color = (0.45, 0.31, 0.20, 1.0)
STEEL: Color = (0.66, 0.69, 0.73, 1.0)
DARK_STEEL: Color = (0.30, 0.32, 0.36, 1.0)
PAPER: Color = (0.94, 0.93, 0.88, 1.0)
# in an order in which neighbours differ
PALETTE: tuple[Color, ...] = (
    (0.16, 0.45, 0.70, 1.0),
    (0.90, 0.56, 0.16, 1.0),
    (0.25, 0.60, 0.42, 1.0),
    (0.80, 0.30, 0.27, 1.0),
    (0.52, 0.42, 0.66, 1.0),
    (0.86, 0.75, 0.33, 1.0),
)


def colour(i: int) -> Color:
    """The i-th of the palette, around and around."""
    return PALETTE[i % len(PALETTE)]


def floor(material: Material | None = None, height: float = 0.0) -> MultiBody:
    """The ground at z = height [m]."""
    at = (0.0, 0.0, height)
    return plane(at, name="floor") if material is None else plane(at, name="floor", material=material)


def surface(friction: float, restitution: float = 0.0, name: str = "surface") -> Material:
    """A material which, on both sides of a contact, gives just this friction and restitution."""
    return Material(name, friction, restitution=restitution)
