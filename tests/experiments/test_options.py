"""Options of experiments: those it takes reach it, others are refused in one line."""

import json

import pytest

from palpate.cli import main
from palpate.experiments import report


def test_options_reach_the_experiment_and_its_report(tmp_path, capsys):
    wanted = ["mass_kg=0.1", "rate_hz=4000", "method=none"]
    assert main(["run", "z-width", "--out", str(tmp_path), "--set", *wanted]) == 0
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["options"] == {"mass_kg": 0.1, "rate_hz": 4000.0, "method": "none"}
    assert written["passed"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["z-width", "--set", "colour=1"], "no option 'colour'; it takes mass_kg"),
        (["z-width", "--set", "mass_kg"], "--set takes NAME=VALUE, got 'mass_kg'"),
        (["z-width", "--set", "mass_kg=-1"], "mass_kg must be positive"),
        (["arm-line", "--set", "mass_kg=1"], "'arm-line' has no option 'mass_kg'; it takes none"),
    ],
)
def test_a_wrong_option_is_one_line(arguments, complaint, tmp_path, capsys):
    assert main(["run", *arguments, "--out", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert complaint in said
    assert said.count("\n") == 1


def test_an_experiment_says_what_it_takes():
    with pytest.raises(ValueError, match="it takes mass_kg, damping_Ns_m"):
        report.run("z-width", None, print, weight=1.0)
