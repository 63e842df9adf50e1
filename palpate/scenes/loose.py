"""Loose bodies: boxes and balls that a person adds to a scene while it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from palpate.model.description import MultiBody
from palpate.model.library import ball, box
from palpate.scenes.looks import colour
from palpate.scenes.scene import LOOSE_PARKED_M, Scene
from palpate.spatial.placement import Transform

EACH = 3  # of a kind
APART_M = 2.0  # where they wait
BOX_M, BALL_M, MASS_KG = (0.10, 0.10, 0.10), 0.05, 0.5


S = TypeVar("S")


def with_loose(scene: S) -> S:
    """The same scene, its world with a few boxes and balls to spare.

    A scene that has some keeps those, and what is no scene of a World stays as it is.
    """
    if not isinstance(scene, Scene) or scene.loose:
        return scene
    names = {kind: tuple(f"loose {kind} {n + 1}" for n in range(EACH)) for kind in ("box", "ball")}
    kinds = [(kind, name) for kind, each in names.items() for name in each]
    solids = [_body(kind, name, colour(n + 2)) for n, (kind, name) in enumerate(kinds)]
    together = MultiBody("loose", tuple(s.bodies[0] for s in solids), tuple(s.joints[0] for s in solids))
    scene.world.add(together)  # at once: every change of bodies builds the world anew
    for n, (_, name) in enumerate(kinds):
        scene.world.place(name, parking(n), parked=True)
    return replace(scene, loose=names)


def parking(n: int) -> Transform:
    """Where the n-th waits."""
    return Transform(p=(0.0, 0.0, LOOSE_PARKED_M + APART_M * n))


def _body(kind: str, name: str, color: tuple[float, float, float, float]) -> MultiBody:
    if kind == "box":
        return box(BOX_M, mass=MASS_KG, name=name, color=color)
    return ball(BALL_M, mass=MASS_KG, name=name, color=color)
