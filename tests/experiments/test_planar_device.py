"""planar-device keeps its claims, draws, and can fail."""

import json
from pathlib import Path

import numpy as np
import pytest

from palpate import jit
from palpate.experiments import planar_device
from palpate.experiments.report import Report, run
from palpate.planar.pantograph.facade import PantographModel
from palpate.planar.pantograph.mechanism import Pantograph

compiled = pytest.mark.skipif(jit.DISABLED, reason="a hundred thousand poses")


@compiled
def test_the_experiment_keeps_its_claims_and_draws(tmp_path):
    report = run("planar-device", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    assert len(report.claims) == 17
    values = json.loads((tmp_path / "report.json").read_text())["values"]
    assert np.shape(values["all_angles_share"]) == (len(values["y_m"]), len(values["x_m"]))
    for suffix in ("png", "svg"):
        assert (tmp_path / f"planar-device.{suffix}").stat().st_size > 10_000


def test_the_claims_of_the_reference_fail_for_another_device():
    report = Report("planar-device", Path("nowhere"), say=lambda line: None)
    planar_device.claim_reference(report, PantographModel(Pantograph(distal_m=0.26, encoder_counts=32_768)))
    failed = {claim.name for claim in report.claims if not claim.passed}
    assert {"largest condition number", "resolution x m at the centre", "continuous torque, worst"} <= failed


@compiled
def test_another_device_is_drawn_with_options(tmp_path, monkeypatch):
    monkeypatch.setattr(planar_device, "ANGLES", 6)
    report = run("planar-device", tmp_path, say=lambda line: None, distal_m=0.27, encoder_counts=40_000.0)
    assert report.passed
    assert len(report.claims) == 2  # the reference's are of its own
    with pytest.raises(ValueError, match=r"^a pantograph: "):
        run("planar-device", tmp_path, say=lambda line: None, crank_m=0.5)


def test_measures_are_those_of_a_single_pose_by_hand():
    """At the centre, from the check values: what motors at 0.35 N m make in x alone."""
    model = PantographModel()
    found = planar_device.measures(model, np.zeros((1, 3)))
    tau, _ = model.torques((0.0, 0.0, 0.0), (found["force_x_N"][0], 0.0, 0.0), "minimum-norm")
    assert np.abs(tau).max() == pytest.approx(0.35, rel=1e-9)
    A = model.jacobians((0.0, 0.0, 0.0))[0]
    counts = np.sign(np.linalg.pinv(A)[1]) * 2.0 * np.pi / 65_536  # the worst of all signs for y
    assert np.linalg.lstsq(A, counts, rcond=None)[0][1] == pytest.approx(found["resolution_y_m"][0], rel=1e-9)
