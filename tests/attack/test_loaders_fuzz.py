"""Damaged files are read or refused in one line; what breaks the reader breaks a process of its own."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from runtime.small_robot import stl, urdf

import palpate as pp
from palpate import cli
from palpate.model import xml_tree
from palpate.model.meshes import load_mesh
from palpate.runtime.page import first_reading as trial
from palpate.runtime.page import uploads
from palpate.scenes.any_arm import LINE_SECONDS, LONGEST_LINE_S, line_seconds
from palpate.scenes.robots import capsule_around, load_robot

HERE = Path(__file__).parent


def run(*arguments):
    """What the process said that reads damaged files."""
    paths = [str(Path(pp.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, HERE / "mutated.py", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"it ended with {done.returncode} at {lines[-1]}"
    return lines


@pytest.mark.parametrize(("first", "last"), [(0, 40), pytest.param(40, 400, marks=pytest.mark.slow)])
def test_a_damaged_file_is_read_or_refused_in_one_line(first, last):
    pytest.importorskip("mujoco")
    lines = run(first, last)
    assert [line["wrong"] for line in lines if "wrong" in line] == []
    assert min(lines[-1].values()) > 0.05 * sum(lines[-1].values())  # both happen


# what is wrong -> (file, what the complaint says after the file's name)
FOO, UTF_32 = (f'<?xml version="1.0" encoding="{name}"?>'.encode() for name in ("foo", "utf-32"))
DEEP, TOO_DEEP = 100_000, ":1: more than 500 elements are nested"
BROKEN = {
    "unknown encoding": ("a.urdf", FOO + b"<robot/>", ":1: malformed XML: unknown encoding"),
    "encoding of several bytes": ("a.urdf", UTF_32 + b"<robot/>", ":1: malformed XML: "),
    "unknown encoding in MJCF": ("a.xml", FOO + b"<mujoco/>", ":1: malformed XML: unknown"),
    "deep": ("a.urdf", b"<robot>" + b"<a>" * DEEP + b"</a>" * DEEP + b"</robot>", TOO_DEEP),
    "deep, and not closed": ("a.urdf", b"<robot>" + b"<a>" * DEEP, TOO_DEEP),
    "deep MJCF": ("a.xml", b"<mujoco>" + b"<body>" * DEEP + b"</body>" * DEEP + b"</mujoco>", TOO_DEEP),
    "a name that no file system takes": ("a.urdf", urdf("x" * 5000 + ".stl").encode(), ":15: link 'lift': mesh 'xxx"),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_refused_in_one_line_with_its_name(what, tmp_path):
    name, data, words = BROKEN[what]
    (tmp_path / name).write_bytes(data)
    for read in (pp.load, lambda path: trial.read(path, tmp_path), lambda path: load_robot(str(path))):
        with pytest.raises(pp.ModelError) as error:
            read(tmp_path / name)
        assert name + words in str(error.value)
        assert "\n" not in str(error.value)


def test_as_deep_as_may_be_is_read(tmp_path):
    within = xml_tree.DEEPEST - 1
    (tmp_path / "a.urdf").write_text('<robot name="r"><link name="a"/>' + "<a>" * within + "</a>" * within + "</robot>")
    assert len(pp.load(tmp_path / "a.urdf").bodies) == 1


def test_a_chain_as_long_as_any_file_has_it_needs_no_stack(tmp_path):
    """One link on the other, more of them than Python may go deep."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{k}">{inertial}</link>' for k in range(600))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/></joint>'
        for k in range(1, 600)
    )
    (tmp_path / "a.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        assert pp.compile(pp.load(tmp_path / "a.urdf")).nv == 599
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("faces", ["f 1 1 1", "f 1 2 2", "f 1 2 3"])
def test_a_mesh_without_extent_is_touched_as_a_small_capsule(faces, tmp_path):
    """Vertices in one point, on a line, in a plane: their principal axes are any."""
    (tmp_path / "m.obj").write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{faces}\n")
    (tmp_path / "one.obj").write_text("v 0.5 0 0\nf 1 1 1\n")
    for name in ("m.obj", "one.obj"):
        (radius, length), _ = capsule_around(tmp_path / name, (1.0, 1.0, 1.0))
        assert np.isfinite([radius, length]).all()


def test_triangles_of_vertices_that_are_not_there_are_refused(tmp_path):
    (tmp_path / "m.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n"
    )
    with pytest.raises(pp.ModelError, match=r"m\.ply"):
        load_mesh(tmp_path / "m.ply")


def test_a_zipped_dae_is_refused_before_it_unfolds(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.dae", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("m.dae", b" " * 10_000_000)
    with pytest.raises(pp.ModelError, match=r"m\.dae:1: malformed XML"):
        load_mesh(tmp_path / "m.dae")


# ---- a process of its own


def test_the_reader_of_what_was_sent_has_limits():
    """So that what unfolds without end ends there: memory by its size, time by what the processor spends on it."""
    pytest.importorskip("resource")
    code = "import resource as r; from palpate.runtime.page import first_reading; first_reading.limit(); " \
           "print(r.getrlimit(r.RLIMIT_AS)[0], r.getrlimit(r.RLIMIT_CPU)[0])"  # fmt: skip
    said = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout
    assert [int(x) for x in said.split()] == [trial.MOST_MEMORY_BYTES, trial.LONGEST_S]


@pytest.mark.parametrize("death", ["os.kill(os.getpid(), signal.SIGSEGV)", "os._exit(3)", "print('{'); os.abort()"])
def test_a_reader_that_dies_is_a_robot_that_is_refused(death, tmp_path, monkeypatch):
    (tmp_path / "dies.py").write_text(f"import os, signal, sys\nsys.stdin.readline()\n{death}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    child = uploads.Child
    monkeypatch.setattr(uploads, "Child", lambda _, orders, fds: child("dies", orders, fds))
    with pytest.raises(ValueError, match=r"^a\.xml takes too long or too much memory to read$"):
        uploads.try_robot(tmp_path / "a.xml", tmp_path)


def test_a_line_that_would_fill_the_memory_is_refused():
    """A velocity limit near zero makes a plan of as many rows as there are ticks until the arm is there."""
    v = np.array([[0.0, 1.0], [0.0, -2.0]])
    assert line_seconds(v, np.array([0.0, 10.0])) == LINE_SECONDS  # what does not move may be forbidden to
    assert LINE_SECONDS < line_seconds(v, np.array([1.0, 0.1])) < LONGEST_LINE_S
    for slow in (0.0, 1e-320, 1e-9, 1e-3):
        with pytest.raises(pp.ModelError, match="velocity limits are so low"):
            line_seconds(v, np.array([1.0, slow]))


# ---- what is not there


@pytest.mark.filterwarnings("default::palpate.ModelWarning")  # as on a command line
def test_meshes_that_are_not_there_are_named_with_what_they_were_for(tmp_path, monkeypatch, capsys):
    text = urdf("gone/arm.stl").replace("<cylinder", '<mesh filename="hull.stl"/><cylinder')
    (tmp_path / "r.urdf").write_text(text)
    monkeypatch.setattr(cli.Touch, "run", lambda self: len(load_robot(self.scene).bodies) and 0)
    assert cli.main(["touch", str(tmp_path / "r.urdf")]) == 0
    assert capsys.readouterr().err == (
        "palpate: r.urdf: left out 2 meshes that are not there: hull.stl, gone/arm.stl; "
        "there nothing touches base, lift, elbow\n"
    )
    (tmp_path / "hull.stl").write_bytes(stl())
    with pytest.warns(pp.ModelWarning, match=r"^r\.urdf: left out a mesh that is not there: gone/arm\.stl$"):
        load_robot(str(tmp_path / "r.urdf"))


def test_of_many_meshes_that_are_not_there_the_first_are_named(tmp_path):
    links = "".join(
        f'<link name="l{k}"><collision><geometry><mesh filename="{k}.stl"/></geometry></collision></link>'
        for k in range(7)
    )
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l0"/><child link="l{k}"/></joint>' for k in range(1, 7)
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    with pytest.warns(pp.ModelWarning) as warned:
        pp.load(tmp_path / "r.urdf", skip_missing_meshes=True)
    (warning,) = warned
    assert str(warning.message) == (
        "r.urdf: left out 7 meshes that are not there: 0.stl, 1.stl, 2.stl and 4 more; "
        "there nothing touches l0, l1, l2 and 4 more"
    )
