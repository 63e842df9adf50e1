"""A disk that is full half way: what was there before stays, nothing half is left, and the complaint names the file.

The disk is as full as a limit on the size of files makes it, which fails a write at any byte; where this user may
mount one, also a disk that is full.
"""

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass

import matplotlib
import numpy as np
import pytest
from runtime.small_robot import stl, urdf

import palpate as pp
from palpate import bench, cli
from palpate.control.plans.files import export_csv, export_joint_trajectory, save
from palpate.experiments import EXPERIMENTS, report
from palpate.haptics.devices.simulation.playback import HandRecording, write_recording
from palpate.record.hands import MESSAGE, Hands, write_hands
from palpate.runtime.page import uploads
from palpate.runtime.world.meshes import write_meshes
from palpate.whole_files import WriteError, write_whole, written_whole

resource = pytest.importorskip("resource")

N = 50
ROWS = np.arange(2.0 * N).reshape(N, 2)
TIMES = np.arange(N) * 1e-3


@contextlib.contextmanager
def full_after(size):
    """No file of this process may be longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def motion():
    return pp.Trajectory(("a", "b"), TIMES, ROWS, ROWS, ROWS)


def figure(path):
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(2, 1))
    drawn.add_subplot().plot([0, 1])
    made = report.Report("none", path.parent, print)
    made.figure(path.stem, drawn)


def experiment(path):
    """The report of one: written when all else is done."""
    report.run("nothing", path.parent, print)


def benched(path):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        code = cli.main(["bench", "dynamics", "--json", str(path)])
    if code:
        raise ValueError(said.getvalue().strip())


def meshes(path):
    folder = path.parent / "robot"
    folder.mkdir(exist_ok=True)
    if not (folder / "m.stl").exists():
        (folder / "m.stl").write_bytes(stl())
        (folder / "r.urdf").write_text(urdf("m.stl"))
    write_meshes(pp.compile(pp.load(folder / "r.urdf")), path.parent)


# what -> (name of the file, how it is written)
WRITERS = {
    "trajectory": ("a.json", lambda path: save(path, motion())),
    "trajectory as CSV": ("a.csv", lambda path: export_csv(path, motion())),
    "joint trajectory": ("a.json", lambda path: export_joint_trajectory(path, motion(), "json")),
    "joint trajectory in YAML": ("a.yaml", lambda path: export_joint_trajectory(path, motion(), "yaml")),
    "hand of a device": (
        "a.csv", lambda path: write_recording(path, HandRecording(TIMES, np.zeros((N, 3))))),
    "hands": (
        "a.csv", lambda path: write_hands(path, Hands(
            N, np.arange(N), np.zeros(N, int), np.ones(N, bool), ("b",) * N, np.zeros((N, MESSAGE.words), int), ()))),
    "figure": ("a.png", figure),
    "report": ("report.json", experiment),
    "bench": ("a.json", benched),
    "mesh for the page": ("0.mesh", meshes),
    "any": ("a.bin", lambda path: write_whole(path, b"x" * 5000)),
}  # fmt: skip


@dataclass
class Bench:
    def measure(self, say, **_):
        return {"n": list(range(100))}

    def show(self, console, result):
        pass


def nothing(made):
    made.values["n"] = 1.0


@pytest.fixture
def stage(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "nothing", (f"{__name__}:nothing", "an experiment"))
    monkeypatch.setitem(bench.BENCHES, "dynamics", Bench())


def refused(write, path):
    with pytest.raises((ValueError, OSError)) as error:
        write(path)
    text = str(error.value).strip()
    assert path.name in text
    assert "\n" not in text
    assert "cannot be written: " in text


def around(path):
    """What is in the folder beside the file, without what the writer reads, and the second file of a figure."""
    return {p.name for p in path.parent.iterdir()} - {path.name, "robot", "a.svg"}


@pytest.mark.parametrize("what", WRITERS)
def test_what_was_there_stays_when_the_disk_is_full(what, tmp_path, stage):
    name, write = WRITERS[what]
    path = tmp_path / name
    write(path)
    size = path.stat().st_size
    for room in (0, 1, size // 2, size - 100):  # a report has its seconds in it, and is not always as long
        path.write_text("as before")
        with full_after(room):
            refused(write, path)
        assert path.read_text() == "as before"
        path.unlink()
        with full_after(room):
            refused(write, path)
        assert not path.exists()
        assert around(path) == set()
    write(path)
    assert path.stat().st_size == pytest.approx(size, abs=50)
    assert around(path) == set()


@pytest.mark.parametrize("what", WRITERS)
def test_on_a_disk_that_is_full(what, tmp_path, stage):
    name, write = WRITERS[what]
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("this user may not mount a disk")
    try:
        write(disk / name)  # there is room for it once
        (disk / name).write_text("as before")
        with contextlib.suppress(OSError):  # what is left of the disk
            (disk / "a.svg").write_bytes(b"x" * 100_000)
        refused(write, disk / name)
        assert (disk / name).read_text() == "as before"
        assert around(disk / name) == set()
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_disk_that_is_found_full_only_when_it_is_closed(tmp_path, monkeypatch):
    def fsync(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fsync)
    (tmp_path / "a").write_text("as before")
    with pytest.raises(WriteError, match=r"/a cannot be written: No space left on device$"):
        write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "as before"
    assert around(tmp_path / "a") == set()


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_what_is_no_file_is_written_as_it_is_and_named():
    with pytest.raises(WriteError, match=r"^/dev/full cannot be written: No space left on device$"):
        write_whole("/dev/full", "x")


def test_a_fault_of_another_file_is_not_said_of_this_one(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"other"), written_whole(tmp_path / "a") as file:
        file.write((tmp_path / "other").read_text())
    assert list(tmp_path.iterdir()) == []


def test_whatever_stops_the_writing_leaves_what_was_there(tmp_path):
    (tmp_path / "a").write_text("as before")

    def stopped(stop):
        with written_whole(tmp_path / "a") as file:
            file.write("half")
            raise stop

    for stop in (KeyboardInterrupt, ValueError, SystemExit):
        with pytest.raises(stop):
            stopped(stop)
    assert (tmp_path / "a").read_text() == "as before"
    assert around(tmp_path / "a") == set()


def test_a_robot_that_finds_no_room_is_refused_by_the_name_of_its_file(tmp_path):
    with full_after(1000), pytest.raises(ValueError, match=r"^'m\.stl' cannot be kept here: "):
        uploads.unpack_robot({"r.urdf": "YQ==", "m.stl": "YWFh" * 1000}, tmp_path)
