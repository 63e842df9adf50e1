"""`palpate bench sweep`: everything runs and is reported; nothing here is timed."""

import json

from palpate import cli
from palpate.bench import sweep


def test_a_quick_run_prints_and_writes_everything(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sweep, "KEYS", 300)
    file = tmp_path / "sweep.json"
    assert cli.main(["bench", "sweep", "--quick", "--json", str(file)]) == 0
    printed, written = capsys.readouterr().out, json.loads(file.read_text())
    assert "tasks of 10 ms in 2 processes" in printed
    assert "a resumed sweep of 300 keys: " in printed
    assert "a quick run" in printed
    assert [row["name"] for row in written["rows"]] == ["palpate sweep", "ProcessPoolExecutor"]
    assert all(row["tasks"] == 40 and row["mean_ms"] >= 10.0 for row in written["rows"])
    assert written["rows"][0]["memory_MB"] > 0.0
    assert written["resume_s"] > 0.0
    assert written["met"] == written["shortfalls"] == []


def test_overhead_is_what_is_not_in_the_tasks():
    row = sweep._row("a sweep", 101, seconds=0.6, tasks_s=1.0, start_s=0.1)
    assert abs(row["overhead"] - 0.2) < 1e-12
    assert abs(row["mean_ms"] - 10.0) < 1e-12
