"""The experiment on hand shakes keeps its claims at the ends of its range; all of it is for `palpate run`."""

import json

import pytest

from palpate import jit
from palpate.experiments import avatar_hand_shake
from palpate.experiments.report import run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(jit.DISABLED, reason="minutes of a simulated avatar")]


def test_a_shaken_avatar_is_in_step_and_saves_the_person_half_of_the_force(tmp_path, monkeypatch):
    """avatars.md 10.28, 10.30; the issue: locks to 1 to 3 Hz within 1.5 s."""
    monkeypatch.setattr(avatar_hand_shake, "RATES_HZ", (1.0, 2.0, 3.0))
    monkeypatch.setattr(avatar_hand_shake, "PHASES", (2.0,))
    report = run("avatar-hand-shake", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    table = json.loads((tmp_path / "report.json").read_text())["values"]["table"]
    assert {row["avatar"] for row in table} == {"hrp2", "human"}
    assert all((tmp_path / name).stat().st_size > 10_000 for name in report.figures)
