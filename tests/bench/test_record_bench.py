"""`palpate bench record`: it records what it says, every frame is accounted for, and its goals can be missed.

Nothing here is timed.  What kill -9 may cost is asserted in tests/record/test_recorder_killed.py.
"""

import json

import pytest

from palpate import cli, jit
from palpate.bench import recording
from palpate.bench.recording_table import record_table
from palpate.runtime.world.session import WorldSession

needs_servo = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")


def made_up(scene="human", rate_hz=4000.0, written=100, lost=0, published=100, contacts=104, lost_s=0.05, notes=()):
    kills = [{"life_s": 0.3, "lost_s": lost_s / k, "frames": 9, "lost_bytes": 0} for k in (2, 1)]
    return {
        "scene": scene, "rate_hz": rate_hz, "contacts": contacts, "published": published, "written": written,
        "lost": lost, "seconds": 5.0, "frame_bytes": 12345, "frames_MB_s": 47.25, "file_MB_s": 6.5,
        "recorder_cpu": 0.25, "late_fraction": 0.0, "notes": list(notes), "killed": kills,
        "frames_per_s": {"recorder": 10000.0, "raw": 20000.0, "mcap": 5000.0},
    }  # fmt: skip


def test_every_goal_can_be_met_and_missed():
    assert [is_met for _, is_met in recording.verdicts([made_up()])] == 4 * [True]
    missed = made_up(written=90, lost=5, contacts=103, lost_s=0.101)
    assert [is_met for _, is_met in recording.verdicts([missed])] == 4 * [False]
    assert len(recording.verdicts([made_up(rate_hz=1000.0, contacts=0)])) == 3  # contacts are for the fast one


def test_the_table_says_what_happened(capsys):
    record_table(cli.console, {
        "seconds": 5.0, "rows": [made_up(notes=["the recorder ended"])], "machine": {"cores": 2},
        "folder": "/somewhere", "load": {"before": (0.5, 0, 0), "after": (1.25, 0, 0)}, "met": ["one"],
        "shortfalls": ["another"],
    })  # fmt: skip
    out = capsys.readouterr().out
    assert "…" not in out
    for cell in ("104", "12.3", "47.2", "25 %", "50"):  # the worst of both kills
        assert cell in out
    assert (
        "at most 10000 frames in a second of a core (2.5 times its rate); raw bytes 20000, the mcap package 5000" in out
    )
    assert "! human: the recorder ended" in out
    assert "load 0.50 on 2 cores before the run, 1.25 after it; files in /somewhere" in out
    assert "goal met: one" in out
    assert "below its goal: another" in out


@pytest.mark.slow
@needs_servo
def test_the_fast_scene_has_104_contacts_at_4_khz():
    """In simulated time, so the same every time; a frame has room for all of them."""
    session = WorldSession(recording.RECORDED[-1].build())
    session.simulate(0.1)
    frame = session.frame()
    session.simulation.close()
    assert session.simulation.rate_hz == 4000.0
    assert frame["contacts"] >= recording.CROWDED
    assert len(frame["contact_force"]) >= frame["contacts"]
    assert (frame["contact_force"][: frame["contacts"], 2] != 0.0).any()


@pytest.mark.slow
@needs_servo
def test_the_bench_accounts_for_every_frame_and_writes_every_row(monkeypatch, tmp_path, capsys):
    """One scene for a moment, one kill."""
    monkeypatch.setattr(recording, "RECORDED", recording.RECORDED[:1])
    monkeypatch.setattr(recording, "KILLS", 1)
    assert cli.main(["bench", "record", "--seconds", "0.3", "--json", str(tmp_path / "bench.json")]) == 0
    out, result = capsys.readouterr().out, json.loads((tmp_path / "bench.json").read_text())
    (row,) = result["rows"]
    assert row["written"] + row["lost"] == row["published"] > 0
    assert row["file_MB_s"] > 0.0
    assert row["recorder_cpu"] >= 0.0
    assert all(rate > 0.0 for rate in row["frames_per_s"].values())
    (killed,) = row["killed"]
    assert killed["frames"] > 0
    assert killed["lost_s"] >= 0.0
    assert len(result["met"]) + len(result["shortfalls"]) == 3
    assert "arm, 1 kHz" in out
