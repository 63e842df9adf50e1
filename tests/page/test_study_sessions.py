"""`palpate study` from end to end without a browser: conditions with other scenes, and with a link, have sessions of
their own, which a page finds where the one before was."""

import json
from pathlib import Path
from typing import Any

import pytest
from browsing import Touched, Watcher, wait

pytestmark = pytest.mark.real_time

PLAN = """
title = "Which?"
instructions = "Drag it."
[stimulus]
setting = "friction"
levels = [0.5, 2]
standard = 1
[method]
kind = "constant"
repeats = 1
question = "Which?"
[conditions.box]
scene = "box-on-table"
[conditions.ball]
scene = "ball-on-plane"
settings = { gravity = 0.5 }
[conditions.far]
scene = "box-on-table"
link = "hold"
settings = { delay_ms = 20 }
"""


def test_each_condition_has_the_session_that_it_needs(built: None, tmp_path: Path) -> None:
    plan, out = tmp_path / "which.toml", tmp_path / "out"
    plan.write_text(PLAN)
    running = Touched(str(plan), "--participant", "1", "--out", str(out), command="study")
    watcher = Watcher(running.url)
    felt: list[float] = []
    since_ns = 0

    def asked(**more: Any) -> dict[str, Any]:
        """An answer; if this session is gone, that of the next one, once it is there."""
        hello, answer = watcher.hello, watcher.request("study", **more)
        if not answer["ok"]:
            assert "on its way" in answer["error"]
            wait(lambda: watcher.hello is not hello, "the next session")
            answer = watcher.request("study", **more)
        return dict(answer["screen"])

    try:
        screen = asked(do="now")
        while screen["kind"] != "end":
            if screen["kind"] == "feel":
                wait(lambda ns=since_ns: watcher.began_after(ns) and watcher.frame()["state"] == 1, "it runs anew")
                felt.append(float(watcher.frame()["friction"]))
            since_ns = watcher.frame()["wall_ns"]
            said = {"do": "answer", "screen": screen["number"], "value": screen["choices"][0]["value"]}
            screen = asked(**said, response_s=0.4)
        watcher.end()
        wait(lambda: running.process.poll() is not None, "it ends by itself")
    finally:
        running.end()
    assert running.process.returncode == 0, running.said
    lines = [json.loads(line) for line in (out / "participant-001.jsonl").read_text().splitlines()]
    trials = [line for line in lines if line.get("kind") == "trial"]
    assert [line["condition"] for line in trials] == ["box"] * 2 + ["far"] * 2 + ["ball"] * 2
    assert len(list(out.glob("participant-001-*.mcap"))) == 3
    set_to = [value for line in trials for value in line["values"]]
    assert (felt[:4], felt[8:]) == (set_to[:4], set_to[8:])  # what a link mirrors has no friction of its own
