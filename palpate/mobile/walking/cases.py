"""A walk that can be run again bit for bit: everything that it depends on, in a file.

write_case("worst.json", Case(events, rig, seed=7, seconds=30.0))
replayed = replay_case("worst.json")
replayed.same, replayed.run["distance_m"]
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from palpate.mobile.estimate.prediction import Prediction
from palpate.mobile.hardware.base import Base
from palpate.mobile.hardware.tracker import Tracker
from palpate.mobile.planning.planner import Follower, Safety
from palpate.mobile.walking.follow import Followed, Numbers, Rig, follow
from palpate.mobile.walking.users import Event
from palpate.whole_files import write_whole

KIND = "palpate mobile case 1"
PARTS = {"follower": Follower, "safety": Safety, "base": Base, "tracker": Tracker, "prediction": Prediction}


@dataclass(frozen=True)
class Case:
    """One walk."""

    events: Sequence[Event]
    rig: Rig
    seed: int
    seconds: float

    def run(self, every: int = 10) -> Followed:
        """It, with its history."""
        return follow(self.events, self.seconds, self.rig, self.seed, every)


@dataclass(frozen=True)
class Replayed:
    """A case that was run again."""

    run: Followed
    written: Numbers  # of when it was written

    @property
    def same(self) -> bool:
        """Whether every number is what it was, to the last bit."""
        return numbers_written(self.run.numbers) == numbers_written(self.written)


def numbers_written(numbers: Numbers) -> dict[str, float | None]:
    """As JSON has them: what never was is null."""
    return {name: None if math.isnan(value) else value for name, value in numbers._asdict().items()}


def write_case(path: str | Path, case: Case) -> Numbers:
    """Run a case and write it with its numbers."""
    if case.rig.room is not None:
        raise ValueError("a case is written without a room: its obstacles are no part of the file")
    numbers = case.run(every=0).numbers
    document = {
        "kind": KIND, "seed": case.seed, "seconds": case.seconds, "events": [list(e) for e in case.events],
        "rig": asdict(case.rig), "numbers": numbers_written(numbers),
    }  # fmt: skip
    write_whole(Path(path), json.dumps(document, indent=1) + "\n")
    return numbers


def read_case(path: str | Path) -> tuple[Case, Numbers]:
    """A case, and the numbers that it had."""
    try:
        found: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if found["kind"] != KIND:
            raise ValueError(f"its kind is {found['kind']!r}, not {KIND!r}")
        fields = dict(found["rig"])
        parts = {name: part(**fields.pop(name)) for name, part in PARTS.items()}
        start, walls = fields.pop("start"), tuple(tuple(w) for w in fields.pop("walls"))
        rig = Rig(**parts, **fields, start=None if start is None else tuple(start), walls=walls)
        events = [tuple(float(x) for x in e) for e in found["events"]]
        case = Case(events, rig, int(found["seed"]), float(found["seconds"]))
        numbers = {name: math.nan if value is None else float(value) for name, value in found["numbers"].items()}
        return case, Numbers(**numbers)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is no case of a walk: {said}") from None


def replay_case(path: str | Path, every: int = 10) -> Replayed:
    """Run a written case again; the numbers are those that it had, or something has changed."""
    case, numbers = read_case(path)
    return Replayed(case.run(every), numbers)
