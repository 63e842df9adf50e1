"""The experiments on contact keep their claims; a curve that is not measured is not claimed."""

import json

import pytest

from palpate import jit
from palpate.experiments import contact_scaling, friction_cones
from palpate.experiments.report import run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="hundreds of solves")


def test_friction_cones(tmp_path, monkeypatch):
    monkeypatch.setattr(friction_cones, "DIRECTIONS", 360)
    report = run("friction-cones", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    worst = json.loads((tmp_path / "report.json").read_text())["values"]["worst_direction_deg"]
    for k, (reference_deg, _) in friction_cones.REFERENCE.items():  # the reference drew its directions at random
        assert worst[str(k)] == pytest.approx(reference_deg, rel=0.1)
    assert (tmp_path / "friction-cones.png").stat().st_size > 10_000


def test_contact_scaling(tmp_path, monkeypatch):
    monkeypatch.setattr(contact_scaling, "POINTS", (4, 8, 24))
    monkeypatch.setattr(contact_scaling, "BOXES", (1, 2, 4))
    report = run("contact-scaling", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    measured = json.loads((tmp_path / "report.json").read_text())["values"]["ms_over_boxes"]
    claimed = " ".join(claim.name for claim in report.claims)
    for name in contact_scaling.METHODS:
        assert name in measured or name not in claimed
