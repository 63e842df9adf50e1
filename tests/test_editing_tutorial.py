"""The tutorial on editing: the example runs as a user runs it, and leaves the files that it is asked for."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from palpate.control.plans.files import load
from palpate.scenes.robots import known_robots

EXAMPLE = Path(__file__).parents[1] / "examples" / "edit_a_line.py"

pytestmark = pytest.mark.skipif(not known_robots(), reason="example-robot-data is not installed")


def test_two_pulls_make_a_motion_that_is_clear_and_can_be_replayed_and_exported(tmp_path):
    """Reference on articulated bodies 2.4 and 9: an edited motion is kept, replayed and exported."""
    done = subprocess.run([sys.executable, EXAMPLE, "."], cwd=tmp_path, capture_output=True, text=True,
                          env=os.environ | {"PALPATE_QUIET": "1"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for promise in (
        r"^as planned: forearm_link runs [\d.]+ mm into obstacle at ",
        r"^as edited: \d\.\d cm between ",
        r"^replayed: \d\.\d cm from the obstacle$",
        r"^exported \d+ rows of 6 joints; read back: the same$",
    ):
        assert re.search(promise, done.stdout, re.MULTILINE), f"{promise} is not in\n{done.stdout}"

    kept = load(tmp_path / "edited.json")
    with (tmp_path / "edited.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header[0] == "time_s"
    assert header[1:7] == [f"q.{name}" for name in kept.names]
    assert [float(x) for x in rows[-1][1:7]] == kept.q[-1].tolist()
    points = json.loads((tmp_path / "joint_trajectory.json").read_text(encoding="utf-8"))
    assert points["joint_names"] == list(kept.names)
    assert len(points["points"]) == len(kept.time_s)
    assert points["points"][-1]["positions"] == kept.q[-1].tolist()
    assert (tmp_path / "joint_trajectory.yaml").stat().st_size > 0
