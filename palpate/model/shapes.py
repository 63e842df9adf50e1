"""Shape and Material: what a body looks like and what touching it is like."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from palpate.spatial.placement import IDENTITY, LARGEST, Rotation, Transform, Vector3, vector3

# kind -> names of its sizes [m]
SHAPE_KINDS: dict[str, tuple[str, ...]] = {
    "plane": (),  # z = 0 of its placement, normal +z, the solid below
    "sphere": ("radius",),
    "capsule": ("radius", "length"),  # axis z, `length` between the two centres
    "cylinder": ("radius", "length"),  # axis z
    "box": ("x", "y", "z"),  # full edges
    "mesh": ("x", "y", "z"),  # scale of the file's vertices, signed
}


@dataclass(frozen=True)
class Material:
    """What touching feels like.  Pairs: friction by the geometric mean, restitution by the larger."""

    name: str = "default"
    friction: float = 0.5  # static Coulomb coefficient
    friction_sliding: float | None = None  # None: the same as static
    restitution: float = 0.0  # 0 .. 1

    def __post_init__(self) -> None:
        sliding = self.friction if self.friction_sliding is None else self.friction_sliding
        if not (0.0 <= sliding <= self.friction <= LARGEST):
            raise ValueError(
                f"material {self.name!r}: friction needs 0 <= sliding <= static, got {sliding}, {self.friction}"
            )
        if not 0.0 <= self.restitution <= 1.0:
            raise ValueError(f"material {self.name!r}: restitution must be 0 .. 1, got {self.restitution}")


@dataclass(frozen=True)
class Shape:
    """A solid fixed to a body: `size` as SHAPE_KINDS names it, `placement` in the body's frame.

    role    "both", or only "visual" (seen, never touched) or only "collision" (touched, never seen)
    color   (red, green, blue, opacity), each 0 .. 1, or None: the viewer chooses
    convex  a mesh is touched as its convex hull (True) or as its triangles, from outside (False); None: as its hull
            if that has at most 5 % more volume, else as triangles
    """

    kind: str
    size: tuple[float, ...] = ()
    placement: Transform = IDENTITY
    material: Material = Material()
    role: str = "both"
    color: tuple[float, float, float, float] | None = None
    mesh: Path | None = None
    convex: bool | None = None

    def __post_init__(self) -> None:
        if self.kind not in SHAPE_KINDS:
            raise ValueError(f"unknown shape {self.kind!r}; known: {', '.join(SHAPE_KINDS)}")
        names = SHAPE_KINDS[self.kind]
        if len(self.size) != len(names):
            raise ValueError(f"a {self.kind} takes the sizes ({', '.join(names)}), got {self.size}")
        size = tuple(float(x) for x in self.size)
        positive = self.kind != "mesh"
        if not all(math.isfinite(x) and (x > 0.0 if positive else x != 0.0) for x in size):
            raise ValueError(
                f"the sizes of a {self.kind} must be {'positive' if positive else 'finite, not zero'}, got {size}"
            )
        if not all(1.0 / LARGEST <= abs(x) <= LARGEST for x in size):
            raise ValueError(f"the sizes of a {self.kind} must be {1.0 / LARGEST:g} .. {LARGEST:g} m, got {size}")
        if self.color is not None and not all(map(math.isfinite, self.color)):
            raise ValueError(f"a color is four finite numbers, got {self.color}")
        if self.role not in ("both", "visual", "collision"):
            raise ValueError(f"a shape's role is both, visual or collision, got {self.role!r}")
        if (self.kind == "mesh") != (self.mesh is not None):
            raise ValueError("a mesh shape needs a mesh file, and only a mesh shape has one")
        if self.convex is not None and self.kind != "mesh":
            raise ValueError(f"convex says how a mesh is touched; a {self.kind} has no such choice")
        object.__setattr__(self, "size", size)


def capsule_between(a: Vector3, b: Vector3, radius: float, **options: Any) -> Shape:
    """A capsule whose two centres are `a` and `b` [m], in the body's frame; options as of Shape."""
    start, end = np.array(vector3(a, "a point")), np.array(vector3(b, "a point"))
    X = Transform(Rotation.between((0, 0, 1), end - start), tuple(0.5 * (start + end)))
    return Shape("capsule", (radius, float(np.linalg.norm(end - start))), X, **options)
