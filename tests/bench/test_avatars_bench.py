"""`palpate bench avatars`: every controller of a scene has its row, and each story is played; nothing here is timed."""

import json

import pytest

from palpate import cli, jit
from palpate.bench import avatars
from palpate.bench.avatars import Story, parts_of, verdicts
from palpate.registry import find
from palpate.runtime.world.controllers import controllers_of
from palpate.runtime.world.in_tick import InTick
from palpate.scenes import SCENES

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")


def test_every_controller_of_a_scene_is_timed_and_does_what_it_did():
    rows = parts_of(Story("push-me"), 0.05)
    scene = find(SCENES, "scenes", "push-me")()
    assert [row["part"] for row in rows] == [each.control.name for each in controllers_of(scene)]
    assert all(0.0 < row["p50_us"] <= row["p99_us"] for row in rows)


def test_every_scene_with_an_avatar_that_acts_has_a_story():
    acting = set()
    for name in SCENES:
        scene = find(SCENES, "scenes", name)()
        if getattr(scene, "controllers", ()) and any(isinstance(each, InTick) for each in controllers_of(scene)):
            acting.add(name)
    assert acting == {story.scene for story in avatars.STORIES}


def test_a_story_tells_its_scene_events_that_it_takes():
    for story in avatars.STORIES:
        scene = find(SCENES, "scenes", story.scene)()
        takes = {take.name: take for each in controllers_of(scene) for take in each.takes}
        for _, event, value in story.events:
            assert takes[event].low <= value <= takes[event].high


def test_a_goal_that_is_missed_is_said():
    row = {"scene": "table-x", "tick_p99_us": 200.0, "late_fraction": 0.0, "core_s": 2.0}
    said = verdicts([{"scene": "table-x", "part": "balance", "p50_us": 3.0}], [row])
    assert [met for _, met in said] == [True, False, True, False]


@pytest.mark.slow
def test_the_bench_prints_its_tables_and_writes_json(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(avatars, "STORIES", (Story("push-me"), Story("table-human", avatars.LIFT)))
    monkeypatch.setattr(avatars, "STORY_S", 5.5)
    assert cli.main(["bench", "avatars", "--seconds", "0.2", "--json", str(tmp_path / "out.json")]) == 0
    printed = capsys.readouterr().out
    assert "table-human" in printed
    assert "grasp" in printed
    result = json.loads((tmp_path / "out.json").read_text())
    assert {row["scene"] for row in result["rows"]} == {"push-me", "table-human"}
    assert len(result["met"]) + len(result["shortfalls"]) == len(verdicts(result["parts"], result["rows"]))
