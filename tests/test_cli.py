"""The command line: what it prints, what it leaves, how it fails."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from palpate import cli
from palpate.bench import dynamics
from palpate.experiments.report import Report, run


def palpate(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "palpate", *arguments], capture_output=True, text=True)


def test_help_lists_every_command():
    done = palpate("--help")
    assert done.returncode == 0
    for command in (
        "touch",
        "replay",
        "recover",
        "export",
        "doctor",
        "bench",
        "run",
        "sweep",
        "experiments",
        "scenes",
        "devices",
    ):
        assert command in done.stdout


def test_the_demonstration_holds_its_claims_and_leaves_report_and_figures(tmp_path):
    done = palpate("run", "arm-swing", "--out", str(tmp_path / "new" / "folder"))
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "new" / "folder" / "report.json").read_text())
    assert report["passed"]
    assert len(report["claims"]) == 4
    for figure in report["figures"]:
        assert (tmp_path / "new" / "folder" / figure).stat().st_size > 10_000


def test_a_failed_claim_is_exit_1_and_is_written(tmp_path, monkeypatch, capsys):
    def failing(report: Report) -> None:
        report.claim("two", 2.0, high=1.0)
        report.claim("not a number", float("nan"))
        report.claim("fine", 1.0, low=0.0, high=2.0)

    monkeypatch.setattr("palpate.experiments.report.registry", SimpleNamespace(find=lambda *_: failing))
    assert cli.main(["run", "arm-swing", "--out", str(tmp_path)]) == 1
    assert "1 of 3 claims hold" in capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text())
    assert [c["passed"] for c in report["claims"]] == [False, False, True]


def test_an_experiment_without_claims_does_not_pass(tmp_path, monkeypatch):
    monkeypatch.setattr("palpate.experiments.report.registry", SimpleNamespace(find=lambda *_: lambda report: None))
    assert not run("empty", tmp_path).passed


@pytest.mark.parametrize(("arguments", "message"), [
    (["run", "arm-swin"], "did you mean 'arm-swing'?"),
    (["run", "nothing-like-it"], "no experiment is called 'nothing-like-it'"),
    (["bench", "--rounds", "0"], "--rounds takes a number from 1"),
    (["bench", "nonsense"], "invalid choice 'nonsense'"),
    (["run"], "Missing from palpate run: EXPERIMENT"),
    (["touch", "nowhere"], "no scene is called 'nowhere'"),
    (["touch", "--device", "pointr"], "did you mean 'pointer'?"),
    (["touch", "--device", "simulated:nothing"], "no simulated device is called 'nothing'"),
    (["touch", "--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    (["touch", "--host", "nowhere.invalid"], "cannot listen on nowhere.invalid"),
    (["touch", "--watch"], "--watch and --key are for --remote"),
    (["replay", "missing.mcap"], "missing.mcap"),
    (["recover", "missing.mcap"], "missing.mcap"),
    (["export", "missing.mcap"], "missing.mcap"),
])  # fmt: skip
def test_a_wrong_call_is_one_line_and_exit_2(arguments, message, capsys):
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert "\n" not in error


def test_an_unwritable_folder_is_one_line_and_exit_2(capsys):
    assert cli.main(["run", "arm-swing", "--out", "/proc/nowhere"]) == 2
    assert "/proc/nowhere" in capsys.readouterr().err


def test_listings(capsys):
    for group, names in {"experiments": ("arm-swing", "arm-line"), "scenes": ("arm", "arm-line", "arm-rest"),
                         "devices": ("pointer", "scripted", "null")}.items():  # fmt: skip
        assert cli.main([group]) == 0
        out = capsys.readouterr().out
        assert all(name in out for name in names)


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("palpate 0.")


def test_arm_line_reproduces_the_published_scene_and_its_recording_opens(tmp_path):
    """Acceptance item 16, through the same tick as a live session."""
    from palpate.record.reader import Recording

    assert cli.main(["run", "arm-line", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert {c["name"]: c["passed"] for c in report["claims"]}["first contact of link 2 with the obstacle"]
    with Recording(tmp_path / report["recordings"][0]) as recording:
        assert recording.count == 2000
        assert recording.hello["scene"] == "arm-line"


def test_doctor_speaks_of_everything_it_promises(capsys):
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    for topic in ("python", "numba", "clock", "scheduling", "kernels", "servo", "devices", "page"):
        assert topic in out


def test_doctor_counts_kernels_while_another_start_replaces_them(monkeypatch, tmp_path):
    """A link to nothing is what a file is that went between being seen and being asked for its size."""
    from palpate import doctor
    from palpate.jit.cache import functions

    (tmp_path / "there.nbc").write_bytes(bytes(3_000_000))
    (tmp_path / "gone.nbc").symlink_to(tmp_path / "nowhere")
    monkeypatch.setattr(functions, "cache_dir", lambda: tmp_path)
    assert doctor._cache().text.startswith("1 compiled, 3.0 MB in")


def test_doctor_warm_leaves_nothing_to_compile(capsys):
    from palpate import jit

    assert cli.main(["doctor", "--warm"]) == 0
    assert "entries ready" in capsys.readouterr().out
    if not jit.DISABLED:
        assert all(entry.overloads for entry in jit.entries)


def test_bench_writes_what_it_prints(tmp_path, capsys):
    assert cli.main(["bench", "dynamics", "--rounds", "1", "--json", str(tmp_path / "bench.json")]) == 0
    out, result = capsys.readouterr().out, json.loads((tmp_path / "bench.json").read_text())
    robots = {row["robot"] for row in result["rows"]}
    assert {"hrp2", "human"} <= robots
    for row in result["rows"]:
        assert row["robot"] in out
        assert row["loop_us"] > 0.0
        if row["peer_us"] is not None:
            assert row["agreement"] < 1e-12
            assert row["loop_ratio"] == pytest.approx(row["peer_us"] / row["loop_us"])


def test_bench_without_the_peer_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(dynamics, "peer_of", lambda model: None)
    assert cli.main(["bench", "--rounds", "1"]) == 0
    assert "not measured: pin" in capsys.readouterr().out
