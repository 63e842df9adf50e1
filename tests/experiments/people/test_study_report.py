"""From answers to a report: observers of known threshold do whole studies, and what is reported of them is true."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from palpate import cli
from palpate.experiments.studies.people.analysis import analyse
from palpate.experiments.studies.people.answers import Answers
from palpate.experiments.studies.people.conduct import Conductor
from palpate.experiments.studies.people.observers import Observer, read_observer
from palpate.experiments.studies.people.plan import Study, find_study

PEOPLE = 6
OBSERVERS = {
    "study-walls": Observer(threshold=1620.0, width=0.2),
    "study-friction": Observer(threshold=0.33, width=0.04),
    "study-delay": Observer(threshold=48.0, width=0.3),
    "study-handover": Observer(threshold=340.0, width=70.0),
}


def answered(study: Study, folder: Path, observer: Observer, people: int = PEOPLE) -> None:
    for participant in range(1, people + 1):
        with Answers(folder, study, participant) as answers:
            observer.attend(Conductor(study, answers))


@pytest.mark.parametrize("name", OBSERVERS)
def test_what_is_reported_of_simulated_participants_is_their_threshold(name: str, tmp_path: Path) -> None:
    study, observer = find_study(name), OBSERVERS[name]
    answered(study, tmp_path, observer)
    told = analyse(study, tmp_path, lambda text: None)
    rows = [row["threshold"] for row in told["runs"]]
    assert len(rows) == PEOPLE * len(study.conditions)
    inside = sum(row.low <= observer.threshold <= row.high for row in rows)
    assert inside >= 0.95 * len(rows) - 3.0 * math.sqrt(0.95 * 0.05 * len(rows))
    for condition in told["conditions"].values():
        mean = condition["threshold"]
        error = np.std([row["threshold"].value for row in told["runs"]]) / math.sqrt(PEOPLE)
        assert abs(mean.value - observer.threshold) < 4.0 * error
        assert mean.low < mean.value < mean.high


def test_a_report_has_figures_a_tidy_table_and_json_that_anybody_reads(tmp_path: Path) -> None:
    study = find_study("study-walls")
    answered(study, tmp_path, OBSERVERS["study-walls"], people=2)
    analyse(study, tmp_path, lambda text: None)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["participants"] == report["finished"] == [1, 2]
    assert report["conditions"]["seh"]["threshold"]["low"] is None  # of two people no interval is known
    assert {"psychometric.png", "thresholds.png", "workload.png", "response-times.png"} <= set(report["figures"])
    for name in report["figures"]:
        assert (tmp_path / name).stat().st_size > 1000
    rows = list(csv.DictReader((tmp_path / "answers.csv").read_text().splitlines()))
    trials = [row for row in rows if row["trial"]]
    assert len(trials) == 2 * 2 * (study.practice + study.trials)
    assert len(rows) == len(trials) + 4  # and four times six scales
    assert all(row["hit"] in ("0", "1") and float(row["response_s"]) > 0.0 for row in trials)
    assert {row["participant"] for row in rows} == {"1", "2"}
    assert all(row["Effort"] for row in rows if not row["trial"])
    again = analyse(study, tmp_path, lambda text: None)
    assert json.loads((tmp_path / "report.json").read_text()) == report, "the same answers, the same report"
    assert again["table"] == "answers.csv"


def test_magnitudes_become_an_exponent_and_scales_a_workload(tmp_path: Path) -> None:
    plan = tmp_path / "magnitude.toml"
    plan.write_text(
        'scene = "planar-wall"\nrating = "nasa-tlx"\n[stimulus]\nsetting = "stiffness"\nlow = 500\nhigh = 4000\n'
        'steps = 7\nscale = "log"\n[method]\nkind = "magnitude"\nrepeats = 6\nquestion = "How stiff?"\n[conditions.a]\n'
    )
    study = find_study(plan)
    answered(study, tmp_path, Observer(exponent=0.7, noise=0.2, rating=60.0))
    told = analyse(study, tmp_path, lambda text: None)
    means = told["conditions"]["a"]
    assert means["exponent"].low < 0.7 < means["exponent"].high
    assert means["tlx"].low < 60.0 < means["tlx"].high
    assert "magnitudes.png" in told["figures"]


def test_practice_does_not_count(tmp_path: Path) -> None:
    study = find_study("study-delay")
    answered(study, tmp_path, OBSERVERS["study-delay"], people=1)
    for row in analyse(study, tmp_path, lambda text: None)["runs"]:
        assert row["trials"] == sum(row["shown"]) == 50


def test_answers_so_far_are_analysed_too(tmp_path: Path) -> None:
    study = find_study("study-walls")
    with Answers(tmp_path, study, 1) as answers:
        conductor = Conductor(study, answers)
        random = np.random.default_rng(0)
        while len(answers.done) < 30:
            value = OBSERVERS["study-walls"].answer(study, conductor.screen, random)
            conductor.answer(conductor.screen.number, value, 0.5)
    told = analyse(study, tmp_path, lambda text: None)
    assert told["finished"] == []
    assert [row["trials"] for row in told["runs"]] == [26]


# ---- the command


def test_the_command_simulates_reports_and_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path)]
    simulated = ["study", "study-delay", "--participant", "3", "--simulate", "threshold=50", *out]
    assert cli.main(simulated) == 0
    assert "104 trials answered" in capsys.readouterr().out
    assert cli.main(["study", "study-delay", "--report", *out]) == 0
    said = capsys.readouterr().out
    assert "held: 1 participants; threshold" in said
    assert (tmp_path / "report.json").is_file()
    for words, says in (
        (simulated, "participant 3 has done this study"),
        (["study", "study-delay", *out], "--participant N says who sits there"),
        (["study", "study-delay", "--report", "--participant", "3", *out], "--report is of all participants"),
        (["study", "study-dela"], "did you mean 'study-delay'"),
        (["study", "study-walls", "--report", *out], "answers to another plan"),
        (["study", "study-walls", "--report", "--out", str(tmp_path / "none")], "nobody has answered yet"),
        (["study", "study-delay", "--participant", "4", "--simulate", "width=3", *out], "needs threshold=NUMBER"),
        (["study", "study-delay", "--participant", "4", "--simulate", "age=3", *out], "--simulate takes"),
        (["study", "study-delay", "--participant", "4", "--simulate", "threshold=x", *out], "NAME=NUMBER"),
        (["study", "study-delay", "--participant", "0", "--simulate", "threshold=9", *out], "numbers from 1"),
    ):
        assert cli.main(words) == 2
        complaint = capsys.readouterr().err
        assert says in complaint
        assert complaint.count("\n") == 1


def test_observers_hit_as_often_as_their_threshold_says() -> None:
    for name, observer in OBSERVERS.items():
        study = find_study(name)
        assert observer.probability(study, observer.threshold) == pytest.approx(study.asking.at)
        levels = [level for level in study.levels if level > 0]
        shares = [observer.probability(study, level) for level in levels]
        assert shares == sorted(shares)
    assert read_observer(("threshold=3", "seed=2"), find_study("study-delay")).seed == 2
