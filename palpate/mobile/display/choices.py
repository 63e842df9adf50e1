"""What can be set of displays while they run, and what there is to choose from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palpate.mobile.display.configuration import MobileConfiguration
from palpate.mobile.display.fields import SETTINGS
from palpate.mobile.display.person import WAYS, Person
from palpate.mobile.display.settings import PRESET
from palpate.mobile.estimate.prediction import METHODS, Prediction
from palpate.mobile.hardware.tracker import Tracker
from palpate.mobile.planning.planner import IMPROVED, THESIS, Follower, new_planner
from palpate.mobile.walking.follow import Rig
from palpate.model.model import Floats

FOLLOWERS: dict[str, Follower] = {"thesis, 0.2 m/s": THESIS, "thesis, 0.5 m/s": THESIS.fast(), "improved": IMPROVED}
NOISES = {"quiet": Tracker(), "worst": Tracker().worst()}


class Choice(NamedTuple):
    """What is set, and its bounds."""

    value: float
    low: float
    high: float
    whole: bool = True


def choices_of(chosen: MobileConfiguration, person: Person) -> dict[str, Choice]:
    """Of each of SETTINGS; a walk that was not recorded cannot be chosen."""
    ways = len(WAYS) if person.time.shape[0] else len(WAYS) - 1
    switch, key = (0.0, 1.0), Choice(0.0, -1.0, 1.0, whole=False)
    own = {
        "person": Choice(float(person.way), 0.0, ways - 1.0),
        "follower": Choice(0.0, 0.0, float(len(FOLLOWERS))),
        "estimator": Choice(float(METHODS.index(chosen.rig.prediction.method)), 0.0, len(METHODS) - 1.0),
        "noise": Choice(0.0, 0.0, float(len(NOISES))),
        "barrier": Choice(float(chosen.rig.safety.barrier), *switch),
        "lift": Choice(float(chosen.lift), *switch),
        "walk_speed": Choice(chosen.walk_m_s, 0.1, 1.5, whole=False),
        "walk_ahead": key, "walk_side": key, "walk_turn": key,
    }  # fmt: skip
    return {name: own[name] for name in SETTINGS}


def preset_row(follower: Follower, chosen: MobileConfiguration) -> list[float]:
    """What of a Planner makes a follower, as settings.PRESET names it."""
    planner = new_planner(follower, chosen.rig.safety)
    return [float(getattr(planner, name)) for name in PRESET]


def noise_rows(rig: Rig) -> Floats:
    """(m, 4) as Displays.noise has them: its own, and those to choose from, which an estimate then knows."""
    own, known = rig.tracker, rig.prediction
    rows = [[own.jitter_m, own.jitter_rad, known.noise_m**2, known.noise_rad**2]]
    rows += [[t.jitter_m, t.jitter_rad, t.jitter_m**2, t.jitter_rad**2] for t in NOISES.values()]
    return np.array(rows)


def bleeds(method: str, own: Prediction) -> int:
    """Whether an estimate of this method bleeds its corrections in: the last pose, held, does not."""
    return int(own.bleed) if method == own.method else int(method != "hold")
