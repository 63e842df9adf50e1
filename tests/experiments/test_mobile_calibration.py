"""mobile-calibration keeps its claims, draws, and can fail."""

from pathlib import Path

import pytest

from palpate import jit
from palpate.experiments import mobile_calibration
from palpate.experiments.mobile_calibration import display, row
from palpate.experiments.report import Report, run
from palpate.mobile.calibration.poses import residuals
from palpate.mobile.calibration.synthetic import Recording, record
from palpate.mobile.geometry.chain import RULER, Chain

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="hundreds of fits")


def test_the_experiment_keeps_its_claims_and_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(mobile_calibration, "CHOICES", 2)
    report = run("mobile-calibration", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    assert len(report.claims) == 78
    for name in ("mobile-calibration", "mobile-calibration-thesis", "mobile-calibration-residuals"):
        for suffix in ("png", "svg"):
            assert (tmp_path / f"{name}.{suffix}").stat().st_size > 10_000


def test_the_claims_fail_for_other_displays():
    report = Report("mobile-calibration", Path("nowhere"), say=lambda line: None)
    mobile_calibration.claim_psi(report, {6.0: row(display(5.0), Recording(), 10)})
    mobile_calibration.claim_headings(
        report, {"harmonics": row(display(0.3, (0.6, 0.8, 0.7, 0.5)), Recording(), 5, True)}
    )
    poses = record(display(), 0)
    mobile_calibration.claim_thesis(report, *(residuals(c, poses) for c in (RULER, RULER, Chain())))
    failed = {claim.name for claim in report.claims if not claim.passed}
    assert {
        "psi 6 deg: estimate, mean",
        "psi 6 deg, before: rms x (reference 34.7)",
        "harmonics: estimates off by at most",
        "heading error harmonics, linear: rms of x, z (reference 6.55)",
        "thesis' calibration: x, z after over before",
    } <= failed
