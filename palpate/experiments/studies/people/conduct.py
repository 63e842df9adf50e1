"""The way of a participant through a study, screen by screen.  It knows no session and no clock: who runs it shows the
screens, sets what they set and gives back what was answered.

Everything that is drawn by chance comes from the study's seed, the participant's number and the block: whoever comes
back after a power failure finds the same order, and is asked again only what was not answered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from palpate.experiments.studies.people.answers import Answers, now_utc
from palpate.experiments.studies.people.methods import Run
from palpate.experiments.studies.people.order import generator, order_of
from palpate.experiments.studies.people.plan import Condition, Study

PRACTICE, SIDES = 1000, 2000  # chance of practice and of sides, beside that of the method
LEAST, MOST = 0.001, 1e6  # of a magnitude
TLX = (
    ("Mental demand", "How much did you have to think, decide and look?", "very little", "very much"),
    ("Physical demand", "How much bodily effort did it take?", "very little", "very much"),
    ("Temporal demand", "How hurried did you feel?", "not at all", "very"),
    ("Performance", "How well did you do what you were asked to do?", "perfectly", "failed"),
    ("Effort", "How hard did you have to work for that?", "very little", "very hard"),
    ("Frustration", "How insecure, discouraged or annoyed were you?", "not at all", "very"),
)


class Trial(NamedTuple):
    """One trial as it was drawn; values: of the intervals, in the order in which they are felt."""

    number: int  # from 1, of all that count and all practice
    block: int
    condition: str
    practice: bool
    at: int  # place of its level, -1: it has none
    level: float | None
    values: tuple[float, ...]
    odd: int  # which of the intervals has the level


@dataclass
class Screen:
    """What a participant sees, and what is set meanwhile.

    kind     read, feel, choose, number, scales, end
    choices  buttons: what they say, their key and the value that comes back
    condition, value   what the simulation has: None, as it was
    """

    kind: str
    title: str = ""
    text: str = ""
    choices: list[dict[str, Any]] = field(default_factory=list)
    scales: list[dict[str, str]] = field(default_factory=list)
    least_s: float = 0.0
    part: int = 0  # which of the intervals
    condition: Condition | None = None
    value: float | None = None
    trial: Trial | None = None
    number: int = 0
    done: int = 0
    of: int = 0

    def told(self) -> dict[str, Any]:
        """As a page is told: nothing of what is set."""
        return {
            "number": self.number, "kind": self.kind, "title": self.title, "text": self.text, "choices": self.choices,
            "scales": self.scales, "least_s": self.least_s, "part": self.part, "done": self.done, "of": self.of,
        }  # fmt: skip


def choice(label: str, key: str, value: Any) -> dict[str, Any]:
    return {"label": label, "key": key, "value": value}


class Conductor:
    """Leads one participant: `screen` is what is shown now, `answer` goes on."""

    def __init__(self, study: Study, answers: Answers) -> None:
        self.study, self.answers, self.participant = study, answers, answers.participant
        self.conditions = [study.conditions[k] for k in order_of(self.participant, len(study.conditions))]
        self.total = len(self.conditions) * (study.practice + study.trials)
        self._before = list(answers.done)  # that are replayed
        self.resumes_at = len([line for line in self._before if line["kind"] == "trial"]) + 1 if self._before else 0
        self._numbers, self.said, self.block = 0, 0, 0
        self._way = self._lead()
        self.screen = self._numbered(next(self._way))

    def answer(self, number: int, value: Any, response_s: float) -> Screen:
        """What was answered to the screen of this number, and how long it took [s]; the next screen."""
        if number != self.screen.number:
            raise ValueError("this screen is gone: another page has answered it")
        if self.screen.kind == "end":
            return self.screen
        checked(self.screen, value)
        self.screen = self._numbered(self._way.send((value, response_s)))
        return self.screen

    def is_over(self) -> bool:
        return self.screen.kind == "end"

    def _numbered(self, screen: Screen) -> Screen:
        self._numbers += 1
        screen.number, screen.done, screen.of = self._numbers, self.said, self.total
        return screen

    # ---- the way; each yield is a screen, and gives (value, response_s)

    def _lead(self) -> Any:
        study = self.study
        if self._before:
            yield read("We go on", f"You are back at trial {self.resumes_at}.  The task is as before:\n\n"
                       f"{study.instructions}", "Go on")  # fmt: skip
        else:
            yield read(study.title, study.instructions, "Begin")
        for block, condition in enumerate(self.conditions):
            self.block = block
            yield from self._block(block, condition)
        if not self._replay("end"):
            self.answers.add(kind="end", utc=now_utc())
        yield Screen("end", "Thank you", "That was all.  Please tell the person who conducts the study.")

    def _block(self, block: int, condition: Condition) -> Any:
        study = self.study
        trials, rated = self._drawn(block, condition), study.asking.kind == "rating"
        if len(self.conditions) > 1 and not self._before:
            about = condition.about or "The next part begins now."
            yield read(f"Part {block + 1} of {len(self.conditions)}", about, "Begin", condition)
        for count, (trial, run) in enumerate(trials):
            if trial.practice and count == 0 and not self._before:
                yield read("Practice", "First some trials for practice.  They do not count.", "Begin", condition)
            if not trial.practice and study.practice and count == study.practice and not self._before:
                yield read("Now it counts", "The practice is over.", "Begin", condition)
            line = self._replay("trial", trial)
            if line is None:
                line = yield from self._asked(trial, condition)
                self.answers.add(**line)
            self.said = trial.number
            if run is not None:
                run.take(np.array([max(trial.at, 0)]), np.array([bool(line.get("hit", True))]))
            left = study.practice + study.trials - count - 1
            if study.break_every and left and (count + 1) % study.break_every == 0 and not self._before:
                screen = read("A break", "Rest your hand.  Go on when you like.", "Go on")
                screen.least_s = study.break_s
                yield screen
        if study.rating != "none" and not rated and self._replay("rating") is None:
            value, response_s = yield scales(condition)
            self.answers.add(kind="rating", block=block, condition=condition.name, scales=value,
                             response_s=response_s, utc=now_utc())  # fmt: skip

    def _replay(self, kind: str, trial: Trial | None = None) -> dict[str, Any] | None:
        """The line that was answered before, if there is one; ValueError if it is of something else."""
        if not self._before:
            return None
        line = self._before.pop(0)
        if line["kind"] != kind or (trial is not None and line["trial"] != trial.number):
            raise ValueError(f"{self.answers.path} does not follow the plan; move the file away")
        return line

    def _drawn(self, block: int, condition: Condition) -> Iterator[tuple[Trial, Run | None]]:
        """The trials of a block; a method that adapts is asked when the one before was answered."""
        study, asking = self.study, self.study.asking
        who = (study.seed, self.participant, block)
        run = study.method.begin(1, generator(*who))
        practice, sides = generator(*who, PRACTICE), generator(*who, SIDES)
        first = block * (study.practice + study.trials) + 1
        pair = asking.kind not in ("rating", "magnitude") and asking.task != "judge"
        for k in range(study.practice + study.trials):
            exercise = k < study.practice
            at = -1 if study.stimulus is None else self._practised(practice) if exercise else int(run.next()[0])
            level = None if at < 0 else float(study.levels[at])
            odd = int(sides.integers(2)) if pair else 0
            values: tuple[float, ...] = () if level is None else (level,)
            if pair and level is not None and study.stimulus is not None:
                standard = float(study.stimulus.standard or 0.0)
                values = (level, standard) if odd == 0 else (standard, level)
            yield Trial(first + k, block, condition.name, exercise, at, level, values, odd), None if exercise else run

    def _practised(self, random: np.random.Generator) -> int:
        """Practice is with what is easy to tell: the ends of the levels."""
        n = len(self.study.levels)
        return n - 1 if self.study.asking.task == "detect" else int(random.integers(2)) * (n - 1)

    # ---- one trial

    def _asked(self, trial: Trial, condition: Condition) -> Any:
        asking, n = self.study.asking, max(1, len(trial.values))
        for part in range(n):
            yield self._feel(trial, condition, part, n)
        if asking.kind == "rating":
            value, response_s = yield scales(condition)
            return self._line(trial, response_s, scales=value)
        if asking.kind == "magnitude":
            value, response_s = yield Screen("number", asking.question, "Any positive number.", trial=trial)
            return self._line(trial, response_s, answer=float(value))
        again = [0] * n
        while True:
            value, response_s = yield self._choose(trial, n)
            if not isinstance(value, str):
                break
            part = int(value.removeprefix("again-"))
            again[part] += 1
            yield self._feel(trial, condition, part, n)
        hit = bool(value == (trial.odd if n == 2 else 1))
        return self._line(trial, response_s, answer=int(value), hit=int(hit), again=again)

    def _feel(self, trial: Trial, condition: Condition, part: int, n: int) -> Screen:
        names = ("The first", "The second") if n == 2 else ("Feel it",)
        value = trial.values[part] if trial.values else None
        text = "Feel it as long as you like, then go on." if self.study.asking.kind != "rating" else condition.about
        return Screen(
            "feel", names[part], text, [choice("Next", " ", "next")], least_s=self.study.asking.feel_s, part=part + 1,
            condition=condition, value=value, trial=trial,
        )  # fmt: skip

    def _choose(self, trial: Trial, n: int) -> Screen:
        asking = self.study.asking
        choices = [choice(answer, str(k + 1), k) for k, answer in enumerate(asking.answers)]
        if asking.again:
            words = ("Feel the first again", "Feel the second again") if n == 2 else ("Feel it again",)
            choices += [choice(word, key, f"again-{k}") for k, (word, key) in enumerate(zip(words, "qw", strict=False))]
        return Screen("choose", asking.question, "", choices, trial=trial)

    def _line(self, trial: Trial, response_s: float, **more: Any) -> dict[str, Any]:
        return {
            "kind": "trial", "trial": trial.number, "block": trial.block, "condition": trial.condition,
            "practice": trial.practice, "level": trial.level, "values": list(trial.values), "odd": trial.odd,
            **more, "response_s": round(response_s, 4), "utc": now_utc(),
        }  # fmt: skip


def read(title: str, text: str, go: str, condition: Condition | None = None) -> Screen:
    return Screen("read", title, text, [choice(go, " ", "next")], condition=condition)


def scales(condition: Condition) -> Screen:
    """NASA-TLX without its weights: six scales from 0 to 100 in steps of five."""
    told = [{"name": name, "about": about, "low": low, "high": high} for name, about, low, high in TLX]
    return Screen("scales", "How was it?", condition.about, scales=told)


def checked(screen: Screen, value: Any) -> None:
    """ValueError unless a screen can be answered like that."""
    if screen.kind in ("read", "feel", "choose"):
        known = [each["value"] for each in screen.choices]
        if not any(type(value) is type(each) and value == each for each in known):
            raise ValueError(f"the answer is one of {', '.join(map(str, known))}, not {value!r:.40}")
    elif screen.kind == "number":
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not LEAST <= value <= MOST:
            raise ValueError(f"the answer is a number from {LEAST:g} to {MOST:g}, not {value!r:.40}")
    elif screen.kind == "scales":
        names = {each["name"] for each in screen.scales}
        if (
            not isinstance(value, dict)
            or set(value) != names
            or not all(type(x) in (int, float) and 0 <= x <= 100 for x in value.values())
        ):
            raise ValueError(f"the answer has a number from 0 to 100 for each of {', '.join(sorted(names))}")
