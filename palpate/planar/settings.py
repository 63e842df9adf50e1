"""What can be set of the planar interface while it runs: laws by their place in a list, and numbers.

The laws' addresses are resolved before anything runs, those of other packages too.  An edge keeps its laws until one is
set; then all edges of the lane have it, and contacts begin anew: what one law remembered means nothing to another.

c  Choices;  s  Settings
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from palpate.haptics.contact_laws import SETTINGS as ROW
from palpate.haptics.contact_laws import ContactLaw, FrictionLaw, KeeperLaw, WallLaw, find_contact_law
from palpate.jit import Struct, kernel
from palpate.model.model import Floats1, Floats2, Ints1
from palpate.planar.bodies.stages import laws_changed
from palpate.planar.bodies.tables import FRICTIONAL, POISSON, load_bodies
from palpate.planar.fields import SETTINGS
from palpate.registry import everything

NONE = "none"
(WALL, FRICTION, KEEPER, STIFFNESS, DAMPING, RESTITUTION, MU, RATE, COUPLING, OBSERVER, IMPACT, EXAGGERATION, COMPARE,
 OTHER_WALL, OTHER_FRICTION) = range(len(SETTINGS))  # fmt: skip
IMPACTS = (NONE, "poisson", "frictional")
BY_FRICTION = 2
RATES_HZ = (250, 500, 1000, 2000, 4000)
PROXIMITY_S = 0.02  # between two looks at the pairs of bodies (reference 2.2)


class Settings(Struct):
    """As they are now; only a tick writes them while it runs."""

    value: Floats1  # (n,) in the order of fields.SETTINGS
    low: Floats1
    high: Floats1
    whole: Ints1


class Choices(Struct):
    """The laws that there are: addresses, 0: none; and their settings by default."""

    wall: Ints1
    wall_row: Floats2
    restitution_at: Ints1  # place of a wall's own restitution in its row, -1: it has none
    friction: Ints1
    friction_row: Floats2
    keeper: Ints1
    keeper_row: Floats2


@kernel
def set_laws(c, s, bodies, wall, friction):
    """All edges of a lane's bodies have these laws, and the numbers that are set."""
    _, _, laws, _, _, rules = load_bodies(bodies)
    value = s.value
    keeper, at = int(value[KEEPER]), c.restitution_at[wall]
    for e in range(laws.wall.shape[0]):
        laws.wall[e], laws.friction[e], laws.keeper[e] = c.wall[wall], c.friction[friction], c.keeper[keeper]
        for k in range(ROW):
            laws.wall_setting[e, k] = c.wall_row[wall, k]
            laws.friction_setting[e, k] = c.friction_row[friction, k]
            laws.keeper_setting[e, k] = c.keeper_row[keeper, k]
        laws.wall_setting[e, 0], laws.wall_setting[e, 1] = value[STIFFNESS], value[DAMPING]
        if at >= 0:
            laws.wall_setting[e, at] = value[RESTITUTION]
        laws.friction_setting[e, 0] = value[MU]
        laws.restitution[e], laws.impulse[e], laws.bounded[e] = value[RESTITUTION], value[IMPACT] > 0.0, 1
    rules.impact = FRICTIONAL if value[IMPACT] == BY_FRICTION else POISSON
    laws_changed(bodies, -1)


@kernel
def take_setting(s, which, value):
    """Whether it was one, within its bounds, and another than before."""
    if not (0 <= which < s.value.shape[0] and s.low[which] <= value <= s.high[which]):  # a NaN fails this too
        return False
    value = float(math.floor(value + 0.5)) if s.whole[which] else value
    before = s.value[which]
    s.value[which] = value
    return value != before


# ---- from Python


class Setting(NamedTuple):
    """One of them, as people see it; choices: names, and the value is a place among them."""

    name: str
    label: str
    low: float = 0.0
    high: float = 1.0
    unit: str = ""
    about: str = ""
    choices: tuple[str, ...] = ()
    switch: bool = False
    step: float = 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, len(self.choices) - 1.0) if self.choices else (self.low, self.high)

    @property
    def whole(self) -> bool:
        return bool(self.choices) or self.switch

    def place(self, wanted: Any) -> float:
        """The number that a name or a number is; ValueError if there is none such."""
        if self.choices:
            name = wanted if isinstance(wanted, str) else getattr(wanted, "name", wanted)
            if name not in self.choices:
                raise ValueError(f"{self.label.lower()} is one of {', '.join(self.choices)}, not {name!r:.60}")
            return float(self.choices.index(name))
        number = float(wanted)
        if not self.low <= number <= self.high:
            bounds = f"{self.low:g} to {self.high:g} {self.unit}".strip()
            raise ValueError(f"{self.label.lower()} goes from {bounds}, not {number:g}")
        return number

    def hello(self, value: float) -> dict[str, Any]:
        """As a page is told."""
        told: dict[str, Any] = {"event": self.name, "field": self.name, "label": self.label, "value": value}
        told |= {"unit": self.unit, "about": self.about}
        if self.choices:
            return told | {"choices": list(self.choices)}
        if self.switch:
            return told | {"switch": True}
        return told | {"low": self.low, "high": self.high, "step": self.step or (self.high - self.low) / 100.0}


class Laws:
    """All laws of one kind that can be chosen, by name; `more` are a user's own."""

    def __init__(self, kind: type[ContactLaw], more: Sequence[Any] = (), optional: bool = False) -> None:
        registry, group = kind.group
        self.kind = kind
        self.laws: dict[str, Any] = {NONE: None} if optional else {}
        self.left_out: dict[str, str] = {}  # another package's, which does not load: why
        for name in everything(registry, group):
            try:
                self.laws[name] = find_contact_law(kind, name)
            except Exception as error:
                if name in registry:
                    raise
                self.left_out[name] = str(error) or type(error).__name__
        for law in more:
            if not isinstance(law, str):
                found = find_contact_law(kind, law)
                self.laws.setdefault(found.name, found)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.laws)

    def rows(self) -> Floats2:
        """(n, SETTINGS) their settings by default."""
        return np.array([np.zeros(ROW) if law is None else law.row() for law in self.laws.values()])

    def addresses(self) -> Ints1:
        """(n,) compiled or loaded now."""
        return np.array([0 if law is None else law.address for law in self.laws.values()], dtype=np.int64)

    def places(self, setting: str) -> Ints1:
        """(n,) where each has this setting in its row, -1: it has none."""
        names = [[] if law is None else list(law.defaults) for law in self.laws.values()]
        return np.array([row.index(setting) if setting in row else -1 for row in names], dtype=np.int64)


def all_laws(walls: Sequence[Any] = (), frictions: Sequence[Any] = ()) -> tuple[Laws, Laws, Laws]:
    """Walls, frictions and keepers."""
    return Laws(WallLaw, walls), Laws(FrictionLaw, frictions, optional=True), Laws(KeeperLaw, optional=True)


def empty_choices(walls: Laws, frictions: Laws, keepers: Laws) -> Choices:
    """Without addresses, which take compiling."""
    zeros = [np.zeros(len(laws.names), dtype=np.int64) for laws in (walls, frictions, keepers)]
    return Choices(
        wall=zeros[0], wall_row=walls.rows(), restitution_at=walls.places("restitution"), friction=zeros[1],
        friction_row=frictions.rows(), keeper=zeros[2], keeper_row=keepers.rows(),
    )  # fmt: skip
