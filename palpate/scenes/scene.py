"""Scene: what a session runs and a page shows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from palpate.control.plan import Plan
from palpate.model.model import Model


@dataclass(frozen=True)
class Scene:
    """A model with a plan to follow, its tick rate, and the path [m] to draw."""

    name: str
    title: str
    model: Model
    plan: Plan
    rate_hz: float = 1000.0
    path: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
