"""What `palpate touch` records is exported in every format, and other programs' readers find the frames in it.

Free bodies wait in every scene of `touch`, so its coordinates are more than its joints' (scenes/loose.py).
"""

import csv
import json
import os
import resource
import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pyarrow.parquet
import pytest
from waiting import until

from palpate import jit
from palpate.experiments.simulated import simulated_run
from palpate.haptics.devices.simulation.scripted import Grasp, Scripted
from palpate.record import RecordError
from palpate.record.export import FORMATS, columns, export
from palpate.record.hands import hands_of, read_hands
from palpate.record.reader import Recording
from palpate.runtime.link.sessions import Remote, RemoteSession, Serving
from palpate.runtime.world.session import WorldSession
from palpate.scenes.any_arm import scene_of
from palpate.scenes.loose import with_loose

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="sessions need the compiler")
TICKS = 40
HELD = {"arm-line": "tool", "hrp2": "RARM_LINK6", "stack": "box4"}  # what the hand pulls at


@pytest.fixture(scope="module", params=HELD)
def touched(request, tmp_path_factory):
    """(scene, its recording): what `touch` builds, in simulated time."""
    scene = with_loose(scene_of(request.param)())
    path = tmp_path_factory.mktemp("touched") / f"{request.param}.mcap"
    bodies = scene.model.body_names
    held = (
        HELD[request.param] if HELD[request.param] in bodies else next(n for n in reversed(bodies) if "loose" not in n)
    )
    simulated_run(scene, TICKS, Scripted((Grasp(held, 0.0, 1.0, to=(0.5, 0.3, 0.8)),)), record=path)
    return scene, path


def words_of(path):
    with Recording(path) as back:
        return back.layout, np.array(list(back))


def part(layout, words, name):
    return np.array([np.ravel(layout.read(row, name)) for row in words])


def axes_of(model):
    """(name, index into q, into v) of what turns or slides: from the model itself, not from the recording."""
    kinds = {joint.name: joint.kind for joint in model.description.joints}
    return [(name, model.q_index[name].start, model.v_index[name].start)
            for name in model.joint_names if kinds[name] in ("revolute", "prismatic", "continuous")]  # fmt: skip


def test_a_trajectory_has_the_joints_and_not_the_free_bodies(touched, tmp_path):
    scene, path = touched
    out, notes, axes = tmp_path / "t.json", [], axes_of(scene.model)
    if not axes:
        with pytest.raises(RecordError, match=rf"^{path} has no joints with one coordinate each[^\n]*$"):
            export(path, out, "trajectory")
        assert list(tmp_path.iterdir()) == []
        return
    layout, words = words_of(path)
    assert export(path, out, "trajectory", note=notes.append) == len(words)
    told = json.loads(out.read_text())
    assert told["joint_names"] == [name for name, _, _ in axes]
    q, v = part(layout, words, "q"), part(layout, words, "v")
    assert [p["positions"] for p in told["points"]] == q[:, [i for _, i, _ in axes]].tolist()
    assert [p["velocities"] for p in told["points"]] == v[:, [i for _, _, i in axes]].tolist()
    assert not any("loose" in note for note in notes)  # they waited all the time
    roots = {j.name for j in scene.model.description.joints if j.kind == "free" and "loose" not in j.name}
    assert len(notes) <= 1
    assert all(name in notes[0] for name in roots - set(scene.spares))


@pytest.mark.parametrize("everything", [False, True])
def test_tables_have_every_number_of_every_frame(touched, tmp_path, everything):
    scene, path = touched
    layout, words = words_of(path)
    with Recording(path) as back:
        wanted = columns(back, everything)
    export(path, tmp_path / "t.csv", "csv", everything)
    export(path, tmp_path / "t.parquet", "parquet", everything)
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert header == table.column_names == [column.name for column in wanted]
    assert len(set(header)) == len(header)
    floats = words.view(np.float64)
    for k, column in enumerate(wanted):
        there = (floats if column.kind == "f" else words)[:, column.word].tolist()
        read = float if column.kind == "f" else int
        assert [read(row[k]) for row in rows] == table[column.name].to_pylist() == there
    for name, q, v in axes_of(scene.model):
        assert (floats[:, layout.offset["q"] + q] == table[f"q.{name}"].to_numpy()).all()
        assert (floats[:, layout.offset["tau"] + v] == table[f"tau.{name}"].to_numpy()).all()


def test_a_recording_from_before_says_where_its_velocities_are(touched, tmp_path):
    """Those of free bodies were in every scene before the description said so."""
    scene, path = touched
    if not (axes := axes_of(scene.model)):
        return
    with Recording(path) as back:
        from palpate.record.labels import axes_of as axes_told

        for axis in back.hello["axes"]:
            del axis["v_index"]
        assert [tuple(axis) for axis in axes_told(back.layout, back.hello)] == axes


@pytest.mark.real_time
@pytest.mark.parametrize("remote", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_format_is_exported_from_a_session_that_recorded(tmp_path, remote):
    path = tmp_path / "live.mcap"
    with ExitStack() as stack:
        if remote:
            server = stack.enter_context(Serving(scene_of("arm-line")(), port=0))
            scene = scene_of("arm-line")()
            session = RemoteSession(Remote("127.0.0.1", server.port), scene, record=path)
        else:
            scene = with_loose(scene_of("arm-line")())
            session = WorldSession(scene, record=path)
        stack.enter_context(session)
        session.mark("=1+1", {"answer": "+2", "n": -3})
        session.hold("tool", (0.0, 0.0, 0.0), (0.4, 0.2, 0.4))
        until(lambda: session.simulation.frames.head > 60, "frames")
        session.let_go()
    layout, words = words_of(path)
    for form in set(FORMATS) - {"hand", "hands"}:
        assert export(path, tmp_path / f"out.{form}", form) > 0
    with Recording(path) as back:
        try:
            hands = hands_of(back)
        except RecordError:  # on a busy machine the recorder may have missed what a hand sent
            hands = None
    if hands is not None:
        for form in ("hand", "hands"):
            export(path, tmp_path / f"out.{form}", form)
            again = read_hands(tmp_path / f"out.{form}")
            assert (again.ticks, again.body) == (hands.ticks, hands.body)
    told = json.loads((tmp_path / "out.trajectory").read_text())
    assert told["joint_names"] == [name for name, _, _ in axes_of(scene.model)]
    moved = np.diff(part(layout, words, "time_s")[:, 0], prepend=-1.0) > 0
    assert [p["positions"] for p in told["points"]] == part(layout, words, "q")[moved, :6].tolist()
    assert len(told["points"]) == moved.sum() > 10
    with open(tmp_path / "out.marks", newline="", encoding="utf-8") as file:
        (mark,) = csv.DictReader(file)
    assert (mark["text"], mark["data.answer"], mark["data.n"]) == ("'=1+1", "'+2", "-3")


WRITE = """
import resource, sys
from palpate.record import RecordError
from palpate.record.export import export
from palpate.record.recover import recover
path, out, format, most = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
try:
    recover(path, out) if format == "mcap" else export(path, out, format)
except RecordError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="files have no limit here")
@pytest.mark.parametrize("form", ["csv", "parquet", "trajectory"])
def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path, touched, form):
    scene, path = touched
    if form == "trajectory" and not axes_of(scene.model):
        return
    out = tmp_path / f"out.{form}"
    out.write_text("an older one")
    done = subprocess.run([sys.executable, "-c", WRITE, str(path), str(out), form, "2000"], text=True,
                          capture_output=True, env=os.environ, timeout=300)  # fmt: skip
    assert done.stdout.startswith(f"{out} cannot be written: "), done.stderr
    assert done.stdout.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == [out.name]
    assert out.read_text() == "an older one"


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="files have no limit here")
def test_a_recovery_that_finds_no_room_leaves_nothing(tmp_path, touched):
    out = tmp_path / "out.mcap"
    done = subprocess.run([sys.executable, "-c", WRITE, str(touched[1]), str(out), "mcap", "9000"], text=True,
                          capture_output=True, env=os.environ, timeout=300)  # fmt: skip
    assert done.stdout.startswith(f"{out} cannot be written: "), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "hands", "marks", "trajectory"])
def test_a_folder_that_is_not_there_is_named(tmp_path, touched, form):
    _, path = touched
    out = tmp_path / "no such folder" / "out"
    with pytest.raises(RecordError) as told:
        export(path, out, form)
    assert str(out) in str(told.value) or str(path) in str(told.value)
    assert "\n" not in str(told.value)
