"""`palpate calibrate FILE`: a table, a folder, and errors of one line."""

import json
from dataclasses import replace

import numpy as np
import pytest

from palpate import cli
from palpate.mobile.calibration.poses import write_poses
from palpate.mobile.calibration.synthetic import Recording, record
from palpate.mobile.geometry.chain import Chain

TURNED = replace(Chain(), psi_rad=float(np.radians(3.0)))


@pytest.fixture
def file(tmp_path):
    write_poses(tmp_path / "poses.csv", record(TURNED, 1, Recording(drop_outs=2)))
    return tmp_path / "poses.csv"


def test_what_was_found_is_printed_and_written(file, tmp_path, capsys):
    assert cli.main(["calibrate", str(file), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "offsets and psi" in printed.splitlines()[0]
    assert "2 of 100 poses are far off" in printed
    for word in ("SRx", "RPz", "u = SRx - RPy", "psi [deg]", "before", "offsets and psi *", "not seen"):
        assert word in printed
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["model"] == "psi"
    assert np.degrees(report["estimates"]["psi"]["value"]) == pytest.approx(3.0, abs=0.3)
    assert 0.0 < report["estimates"]["psi"]["sigma"] < np.radians(0.2)
    assert report["chain"]["psi_rad"] == report["estimates"]["psi"]["value"]
    assert set(report["estimates"]) == {"u", "v", "h", "psi"}
    assert np.array(report["covariance"]).shape == (4, 4)
    before, after = (np.array(report["rms_m"][name]) for name in ("before", "psi"))
    assert (after < 0.2 * before).all()
    assert len(report["drop_outs"]) == 2
    for name in ("residuals_m", "rms_m"):
        assert set(report[name]) >= {"before"}
    assert np.array(report["residuals_m"]["after"]).shape == (100, 3)
    for suffix in ("png", "svg"):
        assert (tmp_path / "out" / f"residuals.{suffix}").stat().st_size > 10_000
    # the chain of the report is the one to put into a Chain
    chain = Chain(**{k: tuple(v) if isinstance(v, list) else v for k, v in report["chain"].items()})
    assert chain.combinations_m[0] == pytest.approx(0.4359, abs=1e-3)


def test_without_out_nothing_is_written(file, tmp_path, capsys):
    assert cli.main(["calibrate", str(file)]) == 0
    assert "report.json" not in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["poses.csv"]


def test_a_locked_arm_is_told(tmp_path, capsys):
    write_poses(tmp_path / "locked.csv", record(TURNED, 1, Recording(locked=True)))
    assert cli.main(["calibrate", str(tmp_path / "locked.csv")]) == 0
    printed = capsys.readouterr().out
    assert "offsets alone" in printed.splitlines()[0]
    assert "note: psi cannot be told from these poses" in printed
    assert "note: the HIP spreads by 0.0 mm" in printed


def test_errors_are_one_line_and_exit_2(tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    (tmp_path / "taken").write_text("")
    write_poses(tmp_path / "good.csv", record(TURNED, 1))
    for arguments, says in (
        (["calibrate", str(tmp_path / "none.csv")], "there is no file"),
        (["calibrate", str(tmp_path / "bad.csv")], "has no column heading_deg or heading_rad; it has a, b"),
        (["calibrate", str(tmp_path)], "directory"),
        (["calibrate"], "FILE"),
        (["calibrate", str(tmp_path / "good.csv"), "--out", str(tmp_path / "taken")], "taken"),
    ):
        assert cli.main(arguments) == 2, arguments
        complaint = capsys.readouterr().err
        assert says in complaint
        assert len(complaint.strip().splitlines()) == 1
