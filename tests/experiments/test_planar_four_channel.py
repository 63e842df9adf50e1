"""planar-four-channel keeps its claims, draws, and can fail."""

from pathlib import Path

import pytest

from palpate import jit
from palpate.experiments import planar_four_channel
from palpate.experiments.report import Report, run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of samples")


def test_the_experiment_keeps_its_claims_and_draws(tmp_path):
    report = run("planar-four-channel", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    assert len(report.claims) == 15
    for suffix in ("png", "svg"):
        assert (tmp_path / f"planar-four-channel.{suffix}").stat().st_size > 10_000


def test_the_claims_fail_when_the_modes_are_mixed_up():
    report = Report("planar-four-channel", Path("nowhere"), say=lambda line: None)
    found = {mode: planar_four_channel.coupled(mode) for mode in planar_four_channel.MODES}
    found["position"], found["position-force"] = found["position-force"], found["position"]
    planar_four_channel.claim_modes(report, found)
    failed = {claim.name for claim in report.claims if not claim.passed}
    assert {"position and force: distance at the end (reference 0.001)",
            "two channels: distance at the end, at least"} <= failed  # fmt: skip
