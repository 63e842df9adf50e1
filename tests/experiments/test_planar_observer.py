"""planar-observer keeps its claims, draws, and can fail."""

from pathlib import Path

import numpy as np
import pytest

from palpate import jit
from palpate.experiments import planar_observer
from palpate.experiments.report import Report, run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="tens of thousands of samples")


def test_the_experiment_keeps_its_claims_and_draws(tmp_path):
    report = run("planar-observer", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    assert len(report.claims) == 30
    for suffix in ("png", "svg"):
        assert (tmp_path / f"planar-observer.{suffix}").stat().st_size > 10_000


def test_the_claims_fail_for_a_slow_observer_and_for_the_biased_velocity():
    report = Report("planar-observer", Path("nowhere"), say=lambda line: None)
    slow = planar_observer.pushed("position", omega_rad_s=30.0)
    planar_observer.claim_push(report, "position", slow)
    planar_observer.claim_velocity(report, slow._replace(rate=slow.copy_rate))
    failed = {claim.name for claim in report.claims if not claim.passed}
    assert {"position: rise to 90 %, x", "bias of the velocity used, x"} <= failed


def test_noise_is_the_same_every_time():
    first, second = (planar_observer.pushed("momentum", seconds=0.2, noise_rad=1e-4).felt for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, planar_observer.pushed("momentum", seconds=0.2).felt)
