"""Thresholds of simulated observers, whose truth is known: what is estimated is not biased, and intervals cover the
truth as often as they say.  Tolerances are those of the number of runs: three deviations."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from palpate.experiments.studies.people import estimate
from palpate.experiments.studies.people.methods import Constant, Method, Quest, Staircase, simulate
from palpate.experiments.studies.people.psychometric import Fitted, Psychometric, logistic

FEW, MANY, SAMPLES = 100, 2000, 100


class Case(NamedTuple):
    """An observer (mu, s) in a method; at: the share of hits that is a threshold."""

    function: Psychometric
    method: Method
    mu: float
    s: float
    at: float

    @property
    def truth(self) -> float:
        return float(self.function.level_at(Fitted(np.array([self.mu]), np.array([self.s])), self.at)[0])


WALLS = Psychometric(np.linspace(1000.0, 2000.0, 9), guess=0.02, lapse=0.02)
FINE = Psychometric(np.linspace(1000.0, 2000.0, 21), guess=0.02, lapse=0.02)
DELAYS = Psychometric(np.geomspace(5.0, 400.0, 32), guess=0.5, lapse=0.02, scale="log")
CASES = {
    "constant": Case(WALLS, Constant(9, 16), 1500.0, 80.0, 0.5),
    "constant-off-centre": Case(WALLS, Constant(9, 16), 1380.0, 60.0, 0.5),
    "two-staircases": Case(FINE, Staircase(21, 90, (2, 18), down=1, up=1, first=3), 1500.0, 80.0, 0.5),
    "one-up-two-down": Case(DELAYS, Staircase(32, 90, (28,)), math.log(60.0), 0.3, 0.75),
    "weighted": Case(DELAYS, Staircase(32, 90, (28,), down=1, up=3), math.log(60.0), 0.3, 0.75),
    "quest": Case(DELAYS, Quest(DELAYS, 60), math.log(60.0), 0.3, 0.75),
    "quest-compares": Case(FINE, Quest(FINE, 60), 1500.0, 80.0, 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_the_bias_of_a_threshold_is_less_than_a_tenth_of_its_deviation(name: str) -> None:
    case = CASES[name]
    hits, trials = simulate(case.method, case.function.probability(case.mu, case.s), MANY, np.random.default_rng(19))
    values = case.function.level_at(case.function.fit(hits, trials), case.at)
    bias = (values.mean() - case.truth) / values.std(ddof=1)
    assert abs(bias) < 0.1 + 3.0 / math.sqrt(MANY)


def covered(
    case: Case, runs: int, seed: int, of: str = "threshold", truth: float = 0.0, confidence: float = 0.95
) -> float:
    """How often the interval has the truth in it."""
    random = np.random.default_rng(seed)
    hits, trials = simulate(case.method, case.function.probability(case.mu, case.s), runs, random)
    found = [
        getattr(estimate.threshold(case.function, case.method, h, t, case.at, random, SAMPLES, confidence), of)
        for h, t in zip(hits, trials, strict=True)
    ]
    truth = truth or case.truth
    return float(np.mean([each.low <= truth <= each.high for each in found]))


def chance(confidence: float, runs: int) -> float:
    """Three deviations of a share of so many runs."""
    return 3.0 * math.sqrt(confidence * (1.0 - confidence) / runs)


@pytest.mark.parametrize("name", CASES)
def test_intervals_of_thresholds_cover_the_truth_as_often_as_they_say(name: str) -> None:
    assert abs(covered(CASES[name], FEW, 20) - 0.95) < chance(0.95, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_intervals_of_thresholds_cover_the_truth_as_often_as_they_say_in_many_runs(name: str) -> None:
    assert abs(covered(CASES[name], 600, 23) - 0.95) < chance(0.95, 600)


def test_the_just_noticeable_difference_of_constant_stimuli_is_covered_as_often_as_it_says() -> None:
    case = CASES["constant"]
    often = covered(case, FEW, 21, "difference", truth=case.s * math.log(3.0))
    assert abs(often - 0.95) < chance(0.95, FEW)


@pytest.mark.parametrize("confidence", [0.5, 0.8])
def test_an_interval_of_less_confidence_is_right_less_often(confidence: float) -> None:
    assert abs(covered(CASES["constant"], FEW, 22, confidence=confidence) - confidence) < chance(confidence, FEW)


# ---- the fit


@pytest.mark.parametrize("function", [WALLS, FINE, DELAYS], ids=["walls", "fine", "delays"])
def test_a_fit_to_endless_data_is_the_truth(function: Psychometric) -> None:
    u = function.u
    mu, s = 0.6 * u[0] + 0.4 * u[-1], 0.1 * function.span
    psi = function.probability(mu, s)
    fitted = function.fit(1e7 * psi, np.full_like(psi, 1e7))
    assert fitted.mu[0] == pytest.approx(mu, rel=1e-4)
    assert fitted.s[0] == pytest.approx(s, rel=1e-3)


@pytest.mark.parametrize("answers", ["always", "never", "perfect", "backwards"])
def test_who_is_always_right_or_wrong_has_a_finite_fit(answers: str) -> None:
    trials = np.full(9, 10.0)
    hits = {
        "always": trials, "never": 0.0 * trials, "perfect": trials * (WALLS.levels > 1500.0),
        "backwards": trials * (WALLS.levels < 1500.0),
    }[answers]  # fmt: skip
    told = estimate.threshold(WALLS, Constant(9, 10), hits, trials, 0.5, np.random.default_rng(0))
    assert np.isfinite([*told.threshold, *told.difference, *told.slope]).all()
    if answers == "perfect":
        assert 1375.0 < told.threshold.value < 1625.0


def test_the_fit_has_no_better_neighbour() -> None:
    random = np.random.default_rng(5)
    hits, trials = simulate(Constant(9, 8), WALLS.probability(1480.0, 90.0), 40, random)
    theta = np.stack([WALLS.fit(hits, trials).mu, np.log(WALLS.fit(hits, trials).s)], axis=1)
    best = WALLS._posterior(theta, hits, trials)
    for step in ([1.0, 0.0], [-1.0, 0.0], [0.0, 0.01], [0.0, -0.01]):
        assert (WALLS._posterior(theta + step, hits, trials) <= best + 1e-9).all()


def test_the_covariance_is_how_much_fits_vary() -> None:
    random, method = np.random.default_rng(6), Constant(9, 60)
    hits, trials = simulate(method, WALLS.probability(1500.0, 80.0), 1500, random)
    fitted = WALLS.fit(hits, trials)
    told = WALLS.covariance(Fitted(np.array([1500.0]), np.array([80.0])), trials[:1])[0]
    seen = np.cov(fitted.mu, np.log(fitted.s))
    assert np.sqrt(np.diag(seen)) == pytest.approx(np.sqrt(np.diag(told)), rel=0.08)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"levels": [1.0]}, "two numbers or more"),
        ({"levels": [2.0, 1.0]}, "larger than the one before"),
        ({"levels": [0.0, 1.0], "scale": "log"}, "above 0"),
        ({"levels": [0.0, 1.0], "guess": 0.8, "lapse": 0.3}, "no room"),
    ],
)
def test_levels_that_cannot_be_are_refused(more: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Psychometric(**more)


# ---- methods


@pytest.mark.parametrize(("down", "up", "settles"), [(1, 1, 0.5), (2, 1, 0.7071), (3, 1, 0.7937), (1, 3, 0.75)])
def test_a_staircase_settles_where_its_rule_says(down: int, up: int, settles: float) -> None:
    method = Staircase(41, 400, (20,), down=down, up=up, first=2)
    assert method.settles_at == pytest.approx(settles, abs=1e-4)
    levels = np.linspace(-4.0, 4.0, 41)
    hits, trials = simulate(method, logistic(levels), 100, np.random.default_rng(1))
    assert hits.sum() / trials.sum() == pytest.approx(settles, abs=0.02)


def test_constant_stimuli_come_equally_often_and_in_every_block() -> None:
    run = Constant(7, 5).begin(3, np.random.default_rng(2))
    shown = np.array([(run.next().copy(), run.take(run.next(), np.ones(3, dtype=bool)))[0] for _ in range(35)])
    for block in shown.reshape(5, 7, 3):
        assert (np.sort(block, axis=0) == np.arange(7)[:, None]).all()


def test_quest_needs_fewer_trials_than_constant_stimuli() -> None:
    random = np.random.default_rng(3)

    def spread(method: Method) -> float:
        hits, trials = simulate(method, DELAYS.probability(math.log(60.0), 0.3), 300, random)
        return float(np.log(DELAYS.level_at(DELAYS.fit(hits, trials), 0.75)).std())

    assert spread(Quest(DELAYS, 64)) < 0.7 * spread(Constant(32, 2))


@pytest.mark.parametrize("name", CASES)
def test_the_same_seed_and_answers_lead_to_the_same_stimuli(name: str) -> None:
    method = CASES[name].method

    def shown() -> list[int]:
        run, answers, levels = method.begin(1, np.random.default_rng(7)), np.random.default_rng(8), []
        for _ in range(40):
            at = run.next().copy()
            levels.append(int(at[0]))
            run.take(at, answers.random(1) < 0.6)
        return levels

    assert shown() == shown()


# ---- means and exponents


@pytest.mark.parametrize("n", [8, 16, 40])
def test_means_are_covered_as_often_as_they_say(n: int) -> None:
    """Ratings of people are bounded and in steps of five, as NASA-TLX has them."""
    random, runs = np.random.default_rng(n), 300
    many = np.clip(5.0 * np.round(random.normal(45.0, 22.0, size=(200_000,)) / 5.0), 0.0, 100.0)
    ratings = random.choice(many, size=(runs, n))
    found = [estimate.mean(row, random, 500) for row in ratings]
    covered = np.mean([each.low <= many.mean() <= each.high for each in found])
    assert abs(covered - 0.95) < 3.0 * math.sqrt(0.95 * 0.05 / runs)
    assert abs(ratings.mean() - many.mean()) < 3.0 * many.std() / math.sqrt(runs * n)


@pytest.mark.parametrize("truth", [0.35, 1.0, 1.7])
def test_exponents_of_magnitude_estimates_are_not_biased_and_covered_as_often_as_they_say(truth: float) -> None:
    random, runs = np.random.default_rng(9), 300
    levels = np.tile(np.geomspace(200.0, 4000.0, 7), 4)
    numbers = 10.0 * (levels / 800.0) ** truth * np.exp(random.normal(0.0, 0.25, size=(runs, len(levels))))
    found = [estimate.exponent(levels, row, random, 500)[0] for row in numbers]
    values = np.array([each.value for each in found])
    assert abs(values.mean() - truth) < 3.0 * values.std(ddof=1) / math.sqrt(runs)
    covered = np.mean([each.low <= truth <= each.high for each in found])
    assert abs(covered - 0.95) < 3.0 * math.sqrt(0.95 * 0.05 / runs)


def test_too_few_numbers_have_no_interval() -> None:
    told = estimate.mean(np.array([3.0, 5.0]), np.random.default_rng(0))
    assert told.value == 4.0
    assert math.isnan(told.low)
    assert estimate.mean(np.full(6, 7.0), np.random.default_rng(0)) == (7.0, 7.0, 7.0)
    assert math.isnan(estimate.exponent(np.ones(9), np.ones(9), np.random.default_rng(0))[0].value)
