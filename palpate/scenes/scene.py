"""Scene: what a session runs and a page shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from palpate.control.plans.guide_tables import Editing
from palpate.control.plans.plan import Plan
from palpate.model.model import Model
from palpate.scenes.task import Task
from palpate.world.world import World

PARKED_M = -100.0  # height at which obstacles wait that are not needed: nothing meets them; frames say `parked`
LOOSE_PARKED_M = 100.0  # and free bodies: above all floors, which stop them, and not obstacles


@dataclass(frozen=True)
class Scene:
    """A world at its start, the plan its joints follow (None: they are left alone or held), and a path [m] to draw.

    The tick of a session is the world's step.  `editing` says how the plan answers to a hand; obstacles are bodies that
    the motion is to keep clear of, those with `placed=True` can be moved while it runs; spares wait far below until
    they are put somewhere; loose bodies, by kind, are free ones that wait far above.
    """

    name: str
    title: str
    world: World
    plan: Plan | None = None
    path: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    editing: Editing = field(default_factory=Editing)
    obstacles: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    loose: dict[str, tuple[str, ...]] = field(default_factory=dict)
    task: Task | None = None  # something to learn in it
    controllers: tuple[
        Any, ...
    ] = ()  # in place of a plan (docs/extending.md), or functions of the world that make some
    # open ones that live in the tick and how each reaches into the world (haptics/reach.py): held by simulated hands,
    # unless a session is given one, which takes the place of the first, and reaches as that does
    devices: tuple[tuple[Any, Any], ...] = ()

    @property
    def model(self) -> Model:
        return self.world.model

    @property
    def rate_hz(self) -> float:
        return 1.0 / self.world.dt
