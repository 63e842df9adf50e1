"""The experiment on touch patterns keeps its claims, with fewer touches; its own are for `palpate run`."""

import json

import pytest

from palpate import jit
from palpate.experiments import avatar_patterns
from palpate.experiments.report import run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(jit.DISABLED, reason="minutes of a simulated avatar")]


def test_touches_are_told_apart_by_force_alone(tmp_path, monkeypatch):
    """avatars.md 10.31, and touches of a simulated HRP-2 through the coupling of a hand."""
    monkeypatch.setattr(avatar_patterns, "FAMILIES", {"plain": 25, "stress": 25, "devices": 6})
    monkeypatch.setattr(avatar_patterns, "RECORDED", 2)
    report = run("avatar-patterns", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    values = json.loads((tmp_path / "report.json").read_text())["values"]
    assert values["right"]["stress"] > values["right_by_the_references_list"]["stress"]
    assert len(report.figures) == 6
    assert all((tmp_path / name).stat().st_size > 10_000 for name in report.figures)
