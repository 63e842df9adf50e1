"""A study as a TOML file says it: what is felt, what is asked, of whom in which order.  docs/studies.md has the keys.

A mistake in a file is a ValueError with one line: where it is, what is wrong and what may stand there.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from palpate.experiments.studies.people.methods import Constant, Method, Quest, Staircase
from palpate.experiments.studies.people.psychometric import Psychometric
from palpate.experiments.studies.toml_tables import Table
from palpate.model.model import Floats
from palpate.registry import guess

READY = Path(__file__).parent / "ready"  # studies that come with the package
KINDS = ("constant", "staircase", "quest", "magnitude", "rating")
TASKS = ("compare", "detect", "judge")
SHOWS = ("scene", "forces", "plots", "settings")
LINKS = ("hold", "interpolate", "extrapolate")
RATINGS = ("none", "nasa-tlx")
MOST_TRIALS = 5000
PRACTICE, BREAK_S = 0, 10.0


@dataclass(frozen=True)
class Condition:
    """What stays the same in a block; settings by the name of their event."""

    name: str
    scene: str
    about: str = ""
    device: str = ""  # empty: as the command says
    link: str = ""  # between hand and world, with this estimate of what is under way; empty: none
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Stimulus:
    """What varies from trial to trial."""

    setting: str
    levels: tuple[float, ...]
    unit: str = ""
    standard: float | None = None  # what it is compared with
    scale: str = "linear"


@dataclass(frozen=True)
class Asking:
    """How it is asked.

    task     compare: which of two has more of it, one of them the standard; a hit is the one that is not
             detect:  which of two has it, the other has the standard; a hit is the right one
             judge:   one at a time; a hit is the second answer
    """

    kind: str
    task: str
    question: str
    answers: tuple[str, str] = ("the first", "the second")
    trials: int = 0
    repeats: int = 0
    down: int = 2
    up: int = 1
    first: int = 4
    starts: tuple[float, ...] = ()
    lapse: float = 0.02
    again: bool = True  # both may be felt again before the answer
    feel_s: float = 0.0  # at least so long each

    @property
    def at(self) -> float:
        """The share of hits that is called the threshold."""
        return 0.75 if self.task == "detect" else 0.5


@dataclass(frozen=True)
class Study:
    name: str
    title: str
    instructions: str
    conditions: tuple[Condition, ...]
    asking: Asking
    stimulus: Stimulus | None
    seed: int = 0
    practice: int = PRACTICE
    break_every: int = 0
    break_s: float = BREAK_S
    shows: tuple[str, ...] = ("scene",)
    rating: str = "none"
    fingerprint: str = ""  # of the file: answers belong to one plan

    @property
    def levels(self) -> Floats:
        return np.array(self.stimulus.levels if self.stimulus else ())

    @property
    def function(self) -> Psychometric:
        """What is fitted to answers."""
        assert self.stimulus is not None
        guess = 0.5 if self.asking.task == "detect" else self.asking.lapse
        scale: Any = self.stimulus.scale
        return Psychometric(self.levels, guess, self.asking.lapse, scale)

    @property
    def method(self) -> Method:
        """What chooses the levels."""
        a, k = self.asking, len(self.levels)
        if a.kind == "staircase":
            starts = a.starts or (self.levels[-1],)
            return Staircase(k, a.trials, [nearest(self.levels, x) for x in starts], a.down, a.up, a.first)
        if a.kind == "quest":
            return Quest(self.function, a.trials)
        return Constant(max(k, 1), a.repeats)

    @property
    def trials(self) -> int:
        """Of a block, without practice."""
        return self.method.trials


def nearest(levels: Floats, x: float) -> int:
    return int(np.argmin(np.abs(levels - x)))


# ---- from a file


def ready_made() -> dict[str, Path]:
    """Studies that come with the package, by name."""
    return {path.stem: path for path in sorted(READY.glob("*.toml"))}


def find_study(name: str | Path) -> Study:
    """A study by the name of a file, or of one that comes with the package."""
    path, ready = Path(name), ready_made()
    if str(name) in ready:
        path = ready[str(name)]
    elif path.suffix != ".toml" or not path.is_file():
        raise ValueError(f"no study is called {str(name)!r}, and no file FILE.toml; {guess(str(name), ready)}")
    return read_study(path.read_bytes(), path.stem)


def read_study(text: bytes, stem: str) -> Study:
    """The study in a TOML file."""
    try:
        said = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{stem}.toml is not TOML: {error}") from None
    top = Table(said, f"{stem}.toml")
    conditions = tuple(_condition(top, name, table) for name, table in top.tables("conditions").items())
    if not conditions:
        raise ValueError(f"{stem}.toml has no condition: at least one [conditions.NAME] is needed")
    stimulus = None if "stimulus" not in said else _stimulus(top.table("stimulus"))
    study = Study(
        name=stem, title=top.text("title", stem), instructions=top.text("instructions", ""), conditions=conditions,
        stimulus=stimulus, asking=_asking(top.table("method"), stimulus), seed=top.whole("seed", 0),
        practice=top.whole("practice", PRACTICE, 0, 200), break_every=top.whole("break_every", 0),
        break_s=top.number("break_s", BREAK_S, 0.0, 3600.0), rating=top.one_of("rating", RATINGS, "none"),
        shows=top.some_of("shows", SHOWS, ("scene",)), fingerprint=hashlib.sha256(text).hexdigest()[:16],
    )  # fmt: skip
    top.text("scene", "")
    top.done()
    if not 0 < study.trials * len(conditions) <= MOST_TRIALS:
        raise ValueError(f"{stem}.toml has no trials, or more than {MOST_TRIALS}: {study.trials} in each of "
                         f"{len(conditions)} conditions")  # fmt: skip
    return study


def _condition(top: Table, name: str, table: Table) -> Condition:
    scene = table.text("scene", top.said.get("scene", ""))
    if not scene:
        raise ValueError(f"{table.where} has no scene: give one here, or one for all at the top")
    made = Condition(name, scene, table.text("about", ""), table.text("device", ""),
                     table.one_of("link", ("", *LINKS), ""), table.free("settings"))  # fmt: skip
    table.done()
    return made


def _stimulus(table: Table) -> Stimulus:
    levels = _levels(table)
    standard = table.number("standard", None)
    made = Stimulus(
        table.text("setting"),
        levels,
        table.text("unit", ""),
        standard,
        table.one_of("scale", ("linear", "log"), "linear"),
    )
    table.done()
    Psychometric(np.array(levels), scale=made.scale)  # type: ignore[arg-type]  # or a ValueError
    return made


def _levels(table: Table) -> tuple[float, ...]:
    if "levels" in table.said:
        return tuple(table.numbers("levels"))
    low, high, steps = table.number("low"), table.number("high"), table.whole("steps", 21, 2, 200)
    if not low < high:
        raise ValueError(f"{table.where}: low {low:g} must be below high {high:g}")
    log = table.said.get("scale") == "log"
    if log and low <= 0.0:
        raise ValueError(f"{table.where}: a logarithmic scale needs levels above 0")
    return tuple(np.round((np.geomspace if log else np.linspace)(low, high, steps), 9).tolist())


def _asking(table: Table, stimulus: Stimulus | None) -> Asking:
    kind = table.one_of("kind", KINDS)
    if kind != "rating" and stimulus is None:
        raise ValueError(f"{table.where}: {kind} needs a [stimulus]")
    task = table.one_of("task", TASKS, "compare")
    if kind not in ("rating", "magnitude") and task != "judge" and stimulus and stimulus.standard is None:
        raise ValueError(f"{table.where}: {task} needs a standard in [stimulus]")
    answers = table.said.get("answers", ["the first", "the second"])
    if not (isinstance(answers, list) and len(answers) == 2 and all(isinstance(x, str) and x for x in answers)):
        raise ValueError(f"{table.where}: answers are two texts, not {answers!r:.60}")
    table.used.add("answers")
    made = Asking(
        kind=kind, task=task, question=table.text("question", ""), answers=(answers[0], answers[1]),
        trials=table.whole("trials", 40, 1, MOST_TRIALS) if kind in ("staircase", "quest") else 0,
        repeats=table.whole("repeats", 1, 0, 1000) if kind not in ("staircase", "quest") else 0,
        down=table.whole("down", 2, 1, 5), up=table.whole("up", 1, 1, 20), first=table.whole("first", 4, 1, 50),
        starts=tuple(table.numbers("starts", ())), lapse=table.number("lapse", 0.02, 0.0, 0.2),
        again=table.yes("again", True), feel_s=table.number("feel_s", 0.0, 0.0, 600.0),
    )  # fmt: skip
    table.done()
    return made
