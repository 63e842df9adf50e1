"""Participants that are not there: an observer with a known threshold does a study, to try it before anybody comes."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from palpate.experiments.studies.people.conduct import Conductor, Screen
from palpate.experiments.studies.people.plan import Study
from palpate.experiments.studies.people.psychometric import logistic

RESPONSE_S, SPREAD = 0.9, 0.3  # of response times, log-normal: median [s], deviation of the logarithm


@dataclass(frozen=True)
class Observer:
    """threshold  [unit of the levels] the level that is hit with the share that the study calls its threshold
    width       s of the psychometric function, on the scale of the study; 0: a tenth of the levels' span
    lapse       answers by chance;  exponent, noise: of magnitude estimates;  rating: of the scales, on average
    """

    threshold: float = math.nan
    width: float = 0.0
    lapse: float = 0.02
    exponent: float = 1.0
    noise: float = 0.2
    rating: float = 40.0
    seed: int = 0

    def probability(self, study: Study, level: float) -> float:
        """Of a hit."""
        function = study.function
        a = 1.0 - function.guess - self.lapse
        share = (study.asking.at - function.guess) / a
        width = self.width or 0.1 * function.span
        log = function.scale == "log"
        u, threshold = (math.log(level), math.log(self.threshold)) if log else (level, self.threshold)
        z = (u - threshold) / width + math.log(share / (1.0 - share))
        return float(function.guess + a * logistic(np.array(z)))

    def answer(self, study: Study, screen: Screen, random: np.random.Generator) -> Any:
        """What it answers to a screen."""
        if screen.kind in ("read", "feel"):
            return screen.choices[0]["value"]
        if screen.kind == "scales":
            near = np.clip(random.normal(self.rating, 15.0, size=len(screen.scales)), 0.0, 100.0)
            return {each["name"]: float(5.0 * round(x / 5.0)) for each, x in zip(screen.scales, near, strict=True)}
        trial = screen.trial
        assert trial is not None
        assert trial.level is not None
        if screen.kind == "number":
            middle = float(np.exp(np.log(study.levels).mean()))
            return float(10.0 * (trial.level / middle) ** self.exponent * math.exp(random.normal(0.0, self.noise)))
        hit = bool(random.random() < self.probability(study, trial.level))
        right = trial.odd if len(trial.values) == 2 else 1
        return right if hit else 1 - right

    def attend(self, conductor: Conductor) -> None:
        """Do the study from where it is to its end."""
        study = conductor.study
        random = np.random.default_rng([self.seed, conductor.participant, len(conductor.answers.done)])
        while not conductor.is_over():
            screen = conductor.screen
            response_s = RESPONSE_S * math.exp(random.normal(0.0, SPREAD))
            conductor.answer(screen.number, self.answer(study, screen, random), response_s)


def read_observer(words: tuple[str, ...], study: Study) -> Observer:
    """Of NAME=VALUE ..., as --simulate has them."""
    known = {each.name for each in fields(Observer)}
    values: dict[str, float] = {}
    for word in words:
        name, _, number = word.partition("=")
        try:
            values[name] = float(number)
        except ValueError:
            raise ValueError(f"--simulate takes NAME=NUMBER, not {word!r}") from None
        if name not in known or not math.isfinite(values[name]):
            raise ValueError(f"--simulate takes {', '.join(sorted(known))}, not {word!r}")
    if "threshold" not in values and study.asking.kind in ("constant", "staircase", "quest"):
        raise ValueError(
            f"--simulate needs threshold=NUMBER: the observer's, in {study.stimulus and study.stimulus.unit}"
        )
    seed = int(values.pop("seed", 0))
    return Observer(seed=seed, **values)
