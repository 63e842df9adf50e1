"""A study as its file says it: mistakes are one line, orders are balanced, and whoever was interrupted finds the same
order again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palpate.experiments.studies.people.answers import Answers, answers_path
from palpate.experiments.studies.people.conduct import TLX, Conductor, Screen
from palpate.experiments.studies.people.order import order_of, williams
from palpate.experiments.studies.people.plan import Study, find_study, read_study, ready_made

TOP = """
title = "Which?"
scene = "planar-wall"
instructions = "Push."
seed = 11
practice = 2
break_every = 7
rating = "nasa-tlx"
"""
STIMULUS = """
[stimulus]
setting = "stiffness"
unit = "N/m"
low = 500
high = 2500
steps = 9
standard = 1500
"""
METHODS = {
    "constant": '[method]\nkind = "constant"\nrepeats = 2\nquestion = "Which?"\n',
    "staircase": '[method]\nkind = "staircase"\ntask = "detect"\ntrials = 18\nquestion = "Which?"\n',
    "weighted": '[method]\nkind = "staircase"\ndown = 1\nup = 3\nstarts = [600, 2400]\ntrials = 18\nquestion = "?"\n',
    "quest": '[method]\nkind = "quest"\ntrials = 18\nquestion = "Which?"\n',
    "judge": '[method]\nkind = "constant"\ntask = "judge"\nrepeats = 2\nquestion = "Who?"\nanswers = ["I", "it"]\n',
    "magnitude": '[method]\nkind = "magnitude"\nrepeats = 2\nquestion = "How stiff?"\n',
    "rating": '[method]\nkind = "rating"\nrepeats = 3\n',
}
CONDITIONS = "[conditions.a]\nsettings = { wall = 'seh' }\n[conditions.b]\nsettings = { wall = 'zoh' }\n"


def text_of(method: str) -> str:
    return TOP + ("" if method == "rating" else STIMULUS) + METHODS[method] + CONDITIONS


def study_of(method: str = "constant") -> Study:
    return read_study(text_of(method).encode(), "which")


# ---- mistakes


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('scene = "planar-wall"', "", r"\[conditions.a\] has no scene"),
        ("seed = 11", "sede = 11", "there is no 'sede'; did you mean 'seed'"),
        ("seed = 11", "seed = 1.5", "seed is a whole number, not 1.5"),
        ("practice = 2", "practice = -1", "practice is a number from 0 to 200"),
        ('rating = "nasa-tlx"', 'rating = "nasa"', "rating is one of none, nasa-tlx"),
        ('title = "Which?"', "title = 3", "title is a text, not 3"),
        ('title = "Which?"', 'shows = ["all"]', "shows is a list of scene, forces, plots, settings"),
        ('kind = "constant"', 'kind = "constants"', "kind is one of constant, staircase"),
        ("repeats = 2", "repeats = 0", "has no trials"),
        ("repeats = 2", "repeats = 1000", "or more than 5000"),
        ("standard = 1500", "", "compare needs a standard"),
        ("low = 500", "low = 5000", "low 5000 must be below high 2500"),
        ("low = 500\nhigh = 2500\nsteps = 9", "levels = [3, 2, 1]", "larger than the one before"),
        ("low = 500\nhigh = 2500\nsteps = 9", 'levels = ["a"]', "levels is a list of numbers"),
        ("steps = 9", 'steps = 9\nscale = "log"\nlow = 0', "Cannot overwrite"),
        ('setting = "stiffness"', "", "has no 'setting'"),
        (CONDITIONS, "", "has no condition"),
        ("settings = { wall = 'seh' }", "setings = {}", "did you mean 'settings'"),
        ("settings = { wall = 'seh' }", "settings = { wall = [1] }", "holds numbers and names"),
        ("settings = { wall = 'seh' }", "link = 'fast'", "link is one of"),
        ('question = "Which?"', 'question = "Which?"\nanswers = ["one"]', "answers are two texts"),
        ('question = "Which?"', 'question = "Which?"\nagain = 1', "again is true or false"),
        (STIMULUS, "", r"constant needs a \[stimulus\]"),
        ("[method]", "[methods]", "has no 'method'"),
        ("seed = 11", "seed = ", "is not TOML"),
    ],
)
def test_a_mistake_in_a_file_is_one_line(old: str, new: str, says: str) -> None:
    text = text_of("constant")
    assert old in text
    with pytest.raises(ValueError, match=says) as caught:
        read_study(text.replace(old, new, 1).encode(), "which")
    assert "\n" not in str(caught.value)
    assert "which" in str(caught.value) or "levels" in str(caught.value)


def test_an_unknown_study_is_guessed() -> None:
    with pytest.raises(ValueError, match="did you mean 'study-walls'"):
        find_study("study-wall")
    with pytest.raises(ValueError, match="there are: study-delay, study-friction, study-handover, study-walls"):
        find_study("elsewhere.toml")


@pytest.mark.parametrize("participant", [0, -3, 10000])
def test_participants_are_numbers(tmp_path: Path, participant: int) -> None:
    with pytest.raises(ValueError, match="participants are numbers from 1"):
        Answers(tmp_path, study_of(), participant)


def test_a_participant_who_is_done_is_refused_and_so_are_answers_to_another_plan(tmp_path: Path) -> None:
    with Answers(tmp_path, study_of(), 1) as answers:
        attend(Conductor(study_of(), answers))
    with pytest.raises(ValueError, match="participant 1 has done this study, in "):
        Answers(tmp_path, study_of(), 1)
    changed = read_study(text_of("constant").replace("seed = 11", "seed = 12").encode(), "which")
    with pytest.raises(ValueError, match="answers to another plan"):
        Answers(tmp_path, changed, 1)
    answers_path(tmp_path, 2).write_text("name,age\n")
    with pytest.raises(ValueError, match="line 1: not an answer of a study"):
        Answers(tmp_path, study_of(), 2)


def test_nothing_is_kept_of_a_participant_but_a_number(tmp_path: Path) -> None:
    with Answers(tmp_path, study_of(), 42) as answers:
        attend(Conductor(study_of(), answers))
        header, *lines = (json.loads(line) for line in answers.path.read_text().splitlines())
    assert header.keys() == {"study", "fingerprint", "participant", "palpate"}
    known = {"kind", "trial", "block", "condition", "practice", "level", "values", "odd", "answer", "hit", "again",
             "response_s", "scales", "utc"}  # fmt: skip
    assert set().union(*lines) <= known


# ---- orders


@pytest.mark.parametrize("n", range(1, 9))
def test_each_condition_comes_at_each_place_and_after_each_other_equally_often(n: int) -> None:
    rows = williams(n)
    assert all(sorted(row) == list(range(n)) for row in rows)
    places = Counter((place, condition) for row in rows for place, condition in enumerate(row))
    assert len(places) == n * n
    assert len(set(places.values())) == 1
    after = Counter(pair for row in rows for pair in pairwise(row))
    assert len(after) == n * (n - 1)
    assert len(set(after.values())) <= 1
    assert [order_of(k + 1, n) for k in range(2 * len(rows))] == rows * 2


def test_the_comparison_comes_first_as_often_as_second_and_each_participant_has_an_order_of_their_own(
    tmp_path: Path,
) -> None:
    orders = []
    for participant in range(1, 21):
        with Answers(tmp_path, study_of(), participant) as answers:
            attend(Conductor(study_of(), answers))
            orders.append([(line["level"], line["odd"]) for line in answers.done if line["kind"] == "trial"])
    odd = np.array([[odd for _, odd in order] for order in orders])
    n = odd.size
    assert abs(odd.mean() - 0.5) < 3.0 * 0.5 / np.sqrt(n)
    assert len({tuple(order) for order in orders}) == len(orders)


# ---- the way


def replied(screen: Screen) -> Any:
    """An answer that follows from the screen alone."""
    if screen.kind in ("read", "feel"):
        return "next"
    if screen.kind == "scales":
        return {name: 35 for name, *_ in TLX}
    assert screen.trial is not None
    if screen.kind == "number":
        return float(screen.trial.number)
    return int(np.random.default_rng(screen.trial.number).integers(2))


def attend(conductor: Conductor, screens: int = 10**6) -> list[Screen]:
    seen = []
    while not conductor.is_over() and len(seen) < screens:
        seen.append(conductor.screen)
        conductor.answer(conductor.screen.number, replied(conductor.screen), 0.5)
    return seen


def without_time(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in json.loads(line).items() if k != "utc"} for line in path.read_text().splitlines()]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cut", [0.02, 0.3, 0.37, 0.5, 0.77, 0.98])
def test_a_study_that_was_cut_off_anywhere_goes_on_with_the_same_order(method: str, cut: float, tmp_path: Path) -> None:
    """Also in the middle of a line: that trial was not answered."""
    study = study_of(method)
    with Answers(tmp_path / "whole", study, 7) as answers:
        attend(Conductor(study, answers))
    whole, path = answers_path(tmp_path / "whole", 7), answers_path(tmp_path / "cut", 7)
    path.parent.mkdir()
    content = whole.read_bytes()
    path.write_bytes(content[: int(cut * len(content))])
    with Answers(tmp_path / "cut", study, 7) as answers:
        conductor = Conductor(study, answers)
        known = [line for line in answers.done if line["kind"] == "trial"]
        first = conductor.screen
        assert (first.title == "We go on") == bool(answers.done)
        if answers.done:
            assert conductor.resumes_at == len(known) + 1
        seen = attend(conductor)
        asked = [screen.trial.number for screen in seen if screen.kind != "feel" and screen.trial is not None]
        assert not set(asked) & {line["trial"] for line in known}
    assert without_time(path) == without_time(whole)


SLOW = """
import sys, time
from pathlib import Path
sys.path[:0] = [{tests!r}]
from test_study_plan import *
study = read_study(Path({plan!r}).read_bytes(), "which")
with Answers(Path({out!r}), study, 7) as answers:
    conductor = Conductor(study, answers)
    while not conductor.is_over():
        attend(conductor, 1)
        if len(answers.done) == 37:
            print("37", flush=True)
            time.sleep(600)
"""


def test_power_lost_in_trial_37_loses_nothing(tmp_path: Path) -> None:
    """By SIGKILL, which lets no program write what it has not written."""
    text = text_of("quest").replace("trials = 18", "trials = 40")
    plan = tmp_path / "which.toml"
    plan.write_text(text)
    study, here = read_study(text.encode(), "which"), Path(__file__).parent
    code = SLOW.format(tests=str(here), plan=str(plan), out=str(tmp_path))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(here.parents[1]), *filter(None, sys.path)])}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"37"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Answers(tmp_path, study, 7) as answers:
        assert len(answers.done) == 37
        conductor = Conductor(study, answers)
        attend(conductor)
    with Answers(tmp_path / "whole", study, 7) as answers:
        attend(Conductor(study, answers))
    assert without_time(answers_path(tmp_path, 7)) == without_time(answers_path(tmp_path / "whole", 7))


@pytest.mark.parametrize("method", METHODS)
def test_a_study_has_all_its_trials_practice_breaks_and_scales(method: str, tmp_path: Path) -> None:
    study = study_of(method)
    with Answers(tmp_path, study, 2) as answers:
        seen = attend(Conductor(study, answers))
        trials = [line for line in answers.done if line["kind"] == "trial"]
    assert len(trials) == 2 * (2 + study.trials)
    assert sum(line["practice"] for line in trials) == 4
    assert [line["condition"] for line in trials] == sorted((line["condition"] for line in trials), reverse=True)
    titles = Counter(screen.title for screen in seen if screen.kind == "read")
    assert titles["Practice"] == titles["Now it counts"] == 2
    assert titles["A break"] == 2 * ((2 + study.trials - 1) // 7)
    assert all(screen.least_s == 10.0 for screen in seen if screen.title == "A break")
    rated = [line for line in answers.done if line["kind"] == "rating"]
    assert len(rated) == (0 if method == "rating" else 2)
    if method not in ("rating", "magnitude", "judge"):
        for line in trials:
            assert line["values"][line["odd"]] == line["level"]
            assert line["values"][1 - line["odd"]] == 1500.0
            assert line["hit"] == (line["answer"] == line["odd"])


def test_both_may_be_felt_again_before_the_answer(tmp_path: Path) -> None:
    study = study_of()
    with Answers(tmp_path, study, 1) as answers:
        conductor = Conductor(study, answers)
        while conductor.screen.kind != "choose":
            conductor.answer(conductor.screen.number, "next", 0.1)
        values = conductor.screen.trial.values
        for k in (1, 0, 1):
            screen = conductor.answer(conductor.screen.number, f"again-{k}", 0.1)
            assert (screen.kind, screen.value, screen.part) == ("feel", values[k], k + 1)
            conductor.answer(conductor.screen.number, "next", 0.1)
        conductor.answer(conductor.screen.number, 0, 1.5)
        assert answers.done[-1]["again"] == [1, 2]
        assert answers.done[-1]["response_s"] == 1.5


@pytest.mark.parametrize("value", [0, "again-7", None, True, 2, "next "])
def test_an_answer_that_a_screen_has_not_is_refused(tmp_path: Path, value: Any) -> None:
    with Answers(tmp_path, study_of(), 1) as answers:
        conductor = Conductor(study_of(), answers)
        with pytest.raises(ValueError, match="the answer is one of next"):
            conductor.answer(conductor.screen.number, value, 0.1)


@pytest.mark.parametrize("value", ["7", -1.0, 0, float("nan"), True, None])
def test_a_magnitude_is_a_positive_number(tmp_path: Path, value: Any) -> None:
    study = study_of("magnitude")
    with Answers(tmp_path, study, 1) as answers:
        conductor = Conductor(study, answers)
        while conductor.screen.kind != "number":
            conductor.answer(conductor.screen.number, "next", 0.1)
        with pytest.raises(ValueError, match="the answer is a number from"):
            conductor.answer(conductor.screen.number, value, 0.1)


def test_studies_that_come_along_say_what_they_are() -> None:
    for name in ready_made():
        study = find_study(name)
        assert study.title
        assert study.instructions
        assert study.asking.question
