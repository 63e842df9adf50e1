"""Files of trajectories: the same bits when read back, one line for whatever is wrong, and never half a file."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import palpate as pp
from palpate.control.plans import files
from palpate.control.plans.files import export_csv, export_joint_trajectory, load, save
from palpate.control.plans.joint_trajectory import Point, write_joint_trajectory, written_whole
from palpate.control.plans.trajectory import Trajectory, TrajectoryError

NAMES = ("shoulder", "elbow")
finite = st.floats(allow_nan=False, allow_infinity=False)


def motion(effort=True, n=4):
    rng = np.random.default_rng(9)
    tables = [rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-20, 20, size=(n, 2)) for _ in range(4)]
    tables[0][0] = 0.1 + 0.2, 5e-324
    tables[1][0] = -0.0, 1e16
    return Trajectory(NAMES, np.arange(n) * 0.1 + 0.3, *tables[:3], tables[3] if effort else None)


def same_bits(a, b):
    return a.tobytes() == b.tobytes() and a.shape == b.shape


# ---- our own file


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(finite, finite, finite, finite), min_size=1, max_size=5), st.booleans(), st.text(min_size=1))
def test_what_is_saved_is_loaded_with_the_same_bits(tmp_path, rows, effort, name):
    table = np.array(rows)
    time = np.cumsum(np.ones(len(rows)) / 3)
    name = name.encode("utf-8", "replace").decode()  # a lone surrogate is no text
    saved = Trajectory((name,), time, table[:, :1], table[:, 1:2], table[:, 2:3], table[:, 3:] if effort else None)
    save(tmp_path / "a.json", saved)
    back = load(tmp_path / "a.json")
    assert back.names == saved.names
    for part in ("time_s", "q", "v", "a", "effort"):
        one, other = getattr(saved, part), getattr(back, part)
        assert (one is None and other is None) or same_bits(one, other)


def test_joints_with_several_coordinates_are_kept_too(tmp_path):
    model = pp.compile(pp.models.ball(0.1))
    q = np.tile(model.neutral(), (2, 1))
    still = Trajectory(model.joint_names, np.array([0.0, 1.0]), q, np.zeros((2, 6)), np.zeros((2, 6)))
    save(tmp_path / "ball.json", still)
    assert same_bits(load(tmp_path / "ball.json", model).q, q)
    with pytest.raises(TrajectoryError, match="one coordinate each"):
        export_joint_trajectory(tmp_path / "ball.yaml", still)
    export_csv(tmp_path / "ball.csv", still)
    assert (tmp_path / "ball.csv").read_text().startswith("time_s,q.0,q.1,")


def content(**changes):
    """A good file with something changed; ... leaves a field out."""
    good = {"format": files.FORMAT, "version": files.VERSION, "joint_names": ["a"], "time_s": [0.0, 1.0],
            "q": [[0.0], [1.0]], "v": [[0.0], [0.0]], "a": [[0.0], [0.0]], "effort": None}  # fmt: skip
    return json.dumps({k: v for k, v in (good | changes).items() if v is not ...})


FAULTS = {
    "not JSON": ("{", "is not a JSON file"),
    "empty": ("", "is not a JSON file"),
    "not text": (b"\xff\xfe\x00", "is not a JSON file"),
    "a list": ("[1, 2]", "not a trajectory of this program"),
    "another format": (content(format="something"), "not a trajectory of this program"),
    "another version": (content(version=2), "of version 2, this program reads version 1"),
    "no version": (content(version=...), "of version None"),
    "no accelerations": (content(a=...), "it has no a"),
    "no joints": (content(joint_names=[]), "needs joints with names"),
    "joints that are numbers": (content(joint_names=[1]), "joint_names must be a list of texts"),
    "joints twice": (content(joint_names=["a", "a"]), "each once"),
    "ragged": (content(q=[[0.0], [1.0, 2.0]]), "q must be numbers in rows of equal length"),
    "too few rows": (content(v=[[0.0]]), "v has 1 rows, there are 2 times"),
    "NaN": (content(q=[[0.0], [float("nan")]]), "it holds NaN"),
    "infinite": (content(q=[[0.0], [float("inf")]]), "it holds Infinity"),
    "too large a number": (content().replace('"time_s": [0.0', '"time_s": [-1e999'), "time_s is not a finite number"),
    "text for numbers": (content(q=[["0"], ["1"]]), "q must be numbers"),
    "truth for numbers": (content(q=[[True], [False]]), "q must be numbers"),
    "nothing for numbers": (content(q=None), "q must be numbers"),
    "a number for rows": (content(time_s=3.0), "time_s must be numbers"),
    "no rows": (content(time_s=[], q=[], v=[], a=[]), "at least one row"),
    "times that do not increase": (content(time_s=[1.0, 1.0]), "times must increase: row 1 is at 1.0 s"),
    "efforts of another joint": (content(effort=[[0.0, 1.0], [0.0, 1.0]]), "effort has 2 columns"),
    "an empty effort": (content(effort=[]), "effort must have 2 dimensions"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_of_a_file_is_one_line_that_names_it(tmp_path, fault):
    text, expected = FAULTS[fault]
    path = tmp_path / "bad.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TrajectoryError, match=expected) as error:
        load(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_a_good_file_has_none_of_these_faults(tmp_path):
    (tmp_path / "good.json").write_text(content())
    assert load(tmp_path / "good.json").names == ("a",)


def test_a_file_that_is_not_there_and_joints_that_are_not(tmp_path):
    with pytest.raises(TrajectoryError, match="cannot be read: No such file"):
        load(tmp_path / "none.json")
    save(tmp_path / "a.json", motion())
    with pytest.raises(TrajectoryError, match=r"a.json: the trajectory moves joint 'shoulder', which 'puma560' does"):
        load(tmp_path / "a.json", pp.compile(pp.models.puma560()))
    with pytest.raises(TrajectoryError, match="cannot be written"):
        save(tmp_path / "nowhere" / "a.json", motion())


def test_a_failure_while_writing_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("as before")

    def points():
        yield Point(0.0, [1.0])
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_joint_trajectory(path, ["a"], points())

    def interrupted():
        with written_whole(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "as before"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_link_to_a_file_stays_a_link_and_a_pipe_a_pipe(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.json").write_text("old")
    (tmp_path / "a.json").symlink_to(tmp_path / "real" / "a.json")
    save(tmp_path / "a.json", motion())
    assert (tmp_path / "a.json").is_symlink()
    assert load(tmp_path / "real" / "a.json").names == NAMES
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        save(pipe, motion())
        assert os.read(reader, 20).startswith(b'{"format"')
    finally:
        os.close(reader)
    assert pipe.is_fifo()


# ---- for other programs


def test_csv_has_the_time_first_and_every_bit(tmp_path):
    seen = motion()
    export_csv(tmp_path / "a.csv", seen)
    with open(tmp_path / "a.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["time_s", *(f"{part}.{name}" for part in ("q", "v", "a", "effort") for name in NAMES)]
    read = np.array([[float(x) for x in row] for row in rows])
    assert same_bits(read, np.column_stack([seen.time_s, seen.q, seen.v, seen.a, seen.effort]))


def check_message(read, seen):
    """What trajectory_msgs/JointTrajectory is, and the numbers of the trajectory."""
    assert list(read) == ["joint_names", "points"]
    assert tuple(read["joint_names"]) == seen.names
    fields = {"positions": seen.q, "velocities": seen.v, "accelerations": seen.a}
    if seen.effort is not None:
        fields["effort"] = seen.effort
    for k, point in enumerate(read["points"]):
        assert set(point) == {*fields, "time_from_start"}
        for name, table in fields.items():
            assert same_bits(np.array(point[name]), table[k])
        assert point["time_from_start"] == {"sec": 0, "nanosec": k * 100_000_000}
    assert len(read["points"]) == len(seen.time_s)


@pytest.mark.parametrize("effort", [True, False])
def test_json_and_yaml_are_messages_of_ros(tmp_path, effort):
    yaml = pytest.importorskip("yaml")
    seen = motion(effort)
    export_joint_trajectory(tmp_path / "a.json", seen)
    export_joint_trajectory(tmp_path / "a.yaml", seen, "yaml")
    check_message(json.loads((tmp_path / "a.json").read_text()), seen)
    check_message(yaml.safe_load((tmp_path / "a.yaml").read_text()), seen)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(finite, st.floats(0.0, 1e6))
def test_any_number_and_time_survives_yaml(tmp_path, x, time):
    """1e-05 is a text in YAML 1.1; nanoseconds carry into seconds."""
    yaml = pytest.importorskip("yaml")
    write_joint_trajectory(tmp_path / "a.yaml", ["no", "1"], [Point(time, [x, -x])], "yaml")
    read = yaml.safe_load((tmp_path / "a.yaml").read_text())
    assert read["joint_names"] == ["no", "1"]
    (point,) = read["points"]
    assert same_bits(np.array(point["positions"]), np.array([x, -x]))
    start = point["time_from_start"]
    assert 0 <= start["nanosec"] < 10**9
    assert abs(start["sec"] + start["nanosec"] * 1e-9 - time) <= 1e-9 + 1e-15 * time


def test_no_points_are_still_a_message(tmp_path):
    yaml = pytest.importorskip("yaml")
    for style, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        assert write_joint_trajectory(tmp_path / "a", ["a"], [], style) == 0
        assert read(Path(tmp_path / "a").read_text()) == {"joint_names": ["a"], "points": []}
    with pytest.raises(ValueError, match="no style is called 'xml'"):
        write_joint_trajectory(tmp_path / "a", ["a"], [], "xml")
