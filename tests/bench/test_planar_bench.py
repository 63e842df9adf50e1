"""`palpate bench planar`: all ways do the same work, and its goals are said; nothing here is timed."""

import json

import numpy as np
import pytest

from palpate import cli, jit
from palpate.bench import planar
from palpate.bench.peers import pymunk as pymunk_peer
from palpate.bench.planar import DT_S, BodiesCase, ServoCase, stirred, verdicts

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")


@pytest.mark.parametrize(
    ("situation", "contacts"), [("free", {0}), ("along a wall", {1, 2}), ("in a corner", {2, 3, 4})]
)
def test_a_situation_is_what_its_name_says(situation, contacts):
    case = ServoCase(situation, 300)
    case.compiled()
    assert case.touched in contacts
    twin = case.twin()
    for target, velocity in zip(case.target, case.velocity, strict=True):
        twin.step(target, velocity)
    assert len(twin.room.touches) == case.touched
    case.simulation.close()


def test_ten_blocks_are_stirred_and_stay_in_the_room():
    case = BodiesCase(stirred(700, 10))
    case.compiled()
    assert case.touching > 4
    assert (np.abs(case.world.X[1:11, :2]) < [0.2, 0.15]).all()
    assert case.world.contacts.lost == 0
    assert case.world.audit.worst <= 1e-9


@pytest.mark.skipif(pymunk_peer.version() is None, reason="pymunk is not installed")
def test_a_block_rests_where_it_rests_in_pymunk():
    """In the corner into which both are pushed, as deep as our springs are soft."""
    case = stirred(1500, 1)
    case.wrench[1000:] = [4.0, -3.0, 0.0]
    ours = BodiesCase(case)
    ours.compiled()
    room = pymunk_peer.Room(case.bodies, 0.3, 0.2)
    for wrench in case.wrench[:, 0].tolist():
        room.push(0, *wrench)
        room.step(DT_S)
    assert np.allclose(ours.world.X[1, :2], room.moving[0].position, atol=4e-3)
    assert np.allclose(ours.world.X[1, :2], [0.15, -0.12], atol=4e-3)


def test_a_goal_that_is_missed_is_said():
    servo = [{"situation": "free", "compiled": {"p50_us": p50}} for p50 in (9.0, 11.0)]
    bodies = [{"bodies": "10 blocks", "ways": {"compiled": {"p99_us": 2100.0}}}]
    said = verdicts(servo, bodies, {"rate_hz": 4000, "late_fraction": 0.0005})
    assert [met for _, met in said] == [True, False, False, True]


@pytest.mark.slow
def test_the_bench_prints_its_tables_and_writes_json(tmp_path, monkeypatch, capsys):
    """Planar haptics, acceptance 39, as a bench: the median of 2000 steps, and how many times real time that is."""
    monkeypatch.setattr(planar, "BEFORE", 20)
    out = tmp_path / "out.json"
    assert cli.main(["bench", "planar", "--quick", "--rounds", "1", "--seconds", "0.2", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "in a corner" in printed
    assert "10 blocks" in printed
    assert "times real time" in printed
    result = json.loads(out.read_text())
    assert [row["situation"] for row in result["servo"]] == list(planar.SITUATIONS)
    assert len(result["met"]) + len(result["shortfalls"]) == 5
