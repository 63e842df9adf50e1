"""The experiments on avatars keep their claims."""

import json

import pytest

from palpate import cli, jit
from palpate.experiments import avatar_push, avatar_sequence, avatar_table, joint_parameters
from palpate.experiments.report import run

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="thousands of steps of a World")


def test_joint_parameters(tmp_path, monkeypatch):
    monkeypatch.setattr(joint_parameters, "ARMS", 3)
    monkeypatch.setattr(joint_parameters, "PAST_LOCK_DEG", (10.0, 1.0, 0.1))
    report = run("joint-parameters", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    assert (tmp_path / "joint-parameters.png").stat().st_size > 10_000


@pytest.mark.slow
def test_avatar_sequence(tmp_path, monkeypatch):
    monkeypatch.setattr(
        avatar_sequence, "WAYS", {name: avatar_sequence.WAYS[name] for name in ("equally smooth", "fastest")}
    )
    report = run("avatar-sequence", tmp_path, say=lambda line: None)
    assert report.passed, [claim for claim in report.claims if not claim.passed]
    values = json.loads((tmp_path / "report.json").read_text())["values"]
    assert values["fastest"]["seconds"] < values["equally smooth"]["seconds"] < values["given"]["seconds"]
    assert (tmp_path / "avatar-sequence.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "avatar-push",  # avatars.md 10.1 to 10.15
        "avatar-table-hrp2",  # avatars.md 10.16 to 10.24, 10.35; articulated-haptics 34, 37
        "avatar-table-human",
        "avatar-carry",  # avatars.md 10.34
    ],
)
def test_every_claim_of_an_avatars_experiment_holds(name, tmp_path, monkeypatch):
    monkeypatch.setattr(avatar_push, "DIRECTIONS", (0, 45, 135, 270))  # all eight are in tests/control
    if name == "avatar-table-human":
        monkeypatch.setattr(avatar_table, "pictures", lambda report, kind: None)  # those of HRP-2 are drawn
    assert cli.main(["run", name, "--out", str(tmp_path)]) == 0
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["claims"]
    assert [claim["name"] for claim in told["claims"] if not claim["passed"]] == []
    assert list(tmp_path.glob("*.png"))
