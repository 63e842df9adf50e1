"""The examples run as a user runs them: from another folder, by themselves, and print what they promise."""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

# example -> what it must print, as regular expressions
PROMISES = {
    "edit_a_line.py": [
        r"^as planned: forearm_link runs [\d.]+ mm into obstacle", r"^as edited: \d\.\d cm between ",
        r"^replayed: \d\.\d cm", r"read back: the same$",
    ],
    "ten_lines.py": [r"^the tool accelerates by \[-0\.24  1\.78 -0\.01\] m/s\^2$"],
    "load_a_robot.py": [r"^ur5: 10 bodies in 6 moving links, 6 degrees of freedom$", r"^all +20\.994$",
                        r"^shoulder_lift_joint +-59\.17 +150\.0$"],
    "reach.py": [r"^0\.880 .* 143\.5 ", r"^2 m away: not reached, 1\.02 m short$"],
    "read_a_recording.py": [r"^2000 frames, 1\.999 s of the scene 'arm'$", r"^the hand pulled for 1\.00 s, .* 53\.5 N",
                            r"^at 1\.000 s the tool was at \[0\.586 0\.342 0\.104\] m$"],
    "touch_from_python.py": [r"^pulled with at most \d+ N; the tool went \d+\.\d cm", r"^let go: \d+\.\d mm from",
                             r"Hz over \d+\.\d s, "],
    "push_plugin.py": [r"^pushed with 60 N it leaned [01]\.\d\d degrees, then -?0\.\d\d$",
                       r"^it stands, on [4-8] contacts$"],
    "simulated_hand.py": [r"^pushing, the hand feels (0\.9|1\.0)\d N; friction is 0\.98 N$", r"^the box went 2\.\d cm$",
                          r"^lifted by 5\.\d cm, it weighs (1\.9|2\.0)\d N; m g is 1\.96 N$",
                          r"^the hand did 0\.1\d\d J of work, the box got 0\.1\d\d J of it$"],
    "texture.py": [r"^smooth: 1\.00 to 1\.00 N up, 0\.00 N along, ", r"^ridges: 0\.80 to 1\.20 N up, 0\.31 N along, ",
                   r"^it hums with 25 Hz: ", r"^in the air, 9 mm before a magnet, at rest: \[-1\.  0\.  0\.\] N$"],
    "own_simulation.py": [r"^7 bounces in 3 s, now at 0\.134 m$"],
    "tasks.py": [r"^reached: hand 0\.00 mm, gaze 0\.0 deg, feet 0\.00\d mm, centre of mass 0\.00\d mm$",
                 r"^too far: hand \d+ mm short, feet 0\.00\d mm, centre of mass 0\.00\d mm$",
                 r"^at most \d\.\d rad/s in any joint$"],
    "own_controller.py": [r"^after 2 s without a hand no joint has moved by more than \d\d mrad$"],
    "own_wall.py": [r"^zoh   10 impacts; 20\.0, 26\.1, 33\.9 mm; gave 1098 mJ$",
                    r"^seh   18 impacts; 20\.0, 19\.8, 19\.6 mm; gave nothing that it did not take$",
                    r"^clay  21 impacts; 20\.0, 19\.1, 18\.2 mm; gave nothing", r"^40% kept: after 10 s at rest$"],
    "walk_along_a_wall.py": [r"^the hand is at the wall after 3\.7 s$", r"^the person walks 0\.95 m .* robot 0\.94 m$",
                             r"^touching for 100 % of that, 2\.\d N on average$", r": 0\.8\d m at least",
                             r"^the tip leaps by 0\.\d\d mm in a tick at most$"],
    "many_worlds.py": [r"^forwards: stands 1\d\d N, falls at (1\d\d|200) N$",
                       r"^backwards: stands 1\d\d N, falls at 1\d\d N$",
                       r"^on ice it slides 1\d cm; on rubber it rocks, within \d cm"],
    "own_mechanism.py": [r"^pendulum: q has 5 numbers .* v has 4$", r"^energy kept to \S+ of that: good$"],
}  # fmt: skip
NEEDS = {"edit_a_line.py": "example-robot-data", "load_a_robot.py": "example-robot-data"}
MAX_LINES = {"own_simulation.py": 100}  # a whole simulation; the others: 60


def run(example: str, cwd: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, EXAMPLES / example, *arguments], cwd=cwd, capture_output=True, text=True,
                          env=os.environ | {"PALPATE_QUIET": "1"})  # fmt: skip


def test_every_example_is_tested_and_short():
    files = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in EXAMPLES.glob("*.py")}
    assert set(files) == set(PROMISES)
    assert all(lines <= MAX_LINES.get(name, 60) for name, lines in files.items())


@pytest.mark.parametrize("example", PROMISES)
def test_example_prints_what_it_promises(example, tmp_path):
    if example in NEEDS:
        try:
            distribution(NEEDS[example])
        except PackageNotFoundError:
            pytest.skip(f"{NEEDS[example]} is not installed")
    done = run(example, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for promise in PROMISES[example]:
        assert re.search(promise, done.stdout, re.MULTILINE), f"{promise} is not in\n{done.stdout}"
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind unless it is told to"


def test_reach_draws_the_arm_when_given_a_file(tmp_path):
    done = run("reach.py", tmp_path, "line.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "line.png").read_bytes().startswith(b"\x89PNG")


def test_load_a_robot_says_what_it_cannot_find(tmp_path):
    done = run("load_a_robot.py", tmp_path, "nowhere.urdf")
    assert done.returncode == 1
    assert re.fullmatch(r"nowhere\.urdf is .*\n", done.stderr)


def test_read_a_recording_keeps_the_file_in_a_given_folder(tmp_path):
    done = run("read_a_recording.py", tmp_path, ".")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "pull.mcap").read_bytes().startswith(b"\x89MCAP")
