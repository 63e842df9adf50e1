"""A robot of one's own, sent by a page: it comes whole, or is refused in one line and leaves nothing."""

import base64
import gc
import itertools
import tracemalloc
import weakref
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from small_robot import FACES, MESH_NAME, TETRAHEDRON, stl, urdf
from waiting import until

import palpate as pp
from palpate import jit
from palpate.model.meshes import load_mesh
from palpate.runtime.children import Child
from palpate.runtime.hello import hello_of
from palpate.runtime.page import first_reading as trial
from palpate.runtime.page import uploads
from palpate.runtime.page.uploads import unpack_robot
from palpate.runtime.world import meshes
from palpate.runtime.world.meshes import write_meshes
from palpate.scenes.any_arm import scene_of
from palpate.scenes.robots import load_robot

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
ROBOT = {"small/small.urdf": urdf().encode(), f"small/{MESH_NAME}": stl()}


def encoded(files: dict[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(data).decode() for name, data in files.items()}


def test_a_robot_comes_with_its_mesh_and_under_its_own_name(office, tmp_path):
    answer = office.ask(
        "robot", files=encoded({**ROBOT, "small/package.xml": b"<package><name>small</name></package>"})
    )
    assert answer == {"id": 7, "ok": True, "scene": "small"}
    scene = office.session.next_scene
    assert (scene.name, scene.title) == ("small", "small, wall and obstacle")
    office.session.next_scene = None
    gc.collect()
    (mesh,) = write_meshes(scene.model, tmp_path)  # the next session's page reads the mesh again
    words = np.frombuffer(Path(mesh).read_bytes(), dtype="<u4")
    n, m = words[:2]
    vertices = words[2 : 2 + 3 * n].view("<f4").reshape(n, 3)
    triangles = words[2 + 3 * n :].reshape(m, 3)
    assert len(FACES) == m
    assert vertices[triangles] == pytest.approx(TETRAHEDRON[FACES], abs=1e-6)
    session = pp.touch(scene, page=False)
    shapes = next(b for b in hello_of(session.simulation)["bodies"] if b["name"] == "lift")["shapes"]
    assert [s["mesh"] for s in shapes if s["kind"] == "mesh"] == [0]
    session.simulate(0.05)
    session.stop()
    folder = Path(next(s.mesh for b in scene.model.description.bodies for s in b.shapes if s.mesh)).parents[3]
    assert folder.name.startswith("palpate-robot-")
    del scene, session
    gc.collect()
    assert not folder.exists()  # with the scene go its files


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (None, "1 .. 400 files"),
        ({}, "1 .. 400 files"),
        ([], "1 .. 400 files"),
        ({f"{k}.stl": "" for k in range(401)}, "1 .. 400 files"),
        ({"a.urdf": "not base64!"}, "'a.urdf' did not arrive whole"),
        ({"a.urdf": "hé"}, "'a.urdf' did not arrive whole"),
        ({"a.urdf": None}, "'a.urdf' did not arrive whole"),
        ({"a.urdf": ["YQ=="]}, "'a.urdf' did not arrive whole"),
        ({"a.stl": "YQ=="}, "none of the files is a robot"),
        ({"package.xml": "YQ=="}, "none of the files is a robot"),
        ({"..": "YQ=="}, "'..' is not the name of a file"),
        ({"": "YQ=="}, "'' is not the name of a file"),
        ({"a\0.urdf": "YQ=="}, "not the name of a file"),
        ({"a.urdf": base64.b64encode(b"<robot").decode()}, "a.urdf"),
        ({"a.urdf": base64.b64encode(b"<robot name='a'><link name='a'/></robot>").decode()}, ""),
    ],
)  # fmt: skip
def test_what_is_no_robot_is_refused_and_leaves_no_files(office, files, words, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    office.refuses("robot", words, files=files)
    assert str(tmp_path) not in office.ask("robot", files=files)["error"]
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["..", ".", "", "/", "\\", "a", "etc", "C:", "~", "b.urdf"]), min_size=1, max_size=6),
    st.sampled_from(["/", "\\", "//", "/../"]),
)
def test_no_name_of_a_file_leads_out_of_its_folder(tmp_path_factory, parts, between):
    folder = tmp_path_factory.mktemp("outer") / "inner"
    folder.mkdir()
    name = between.join([*parts, "x.urdf"])
    robot = unpack_robot({name: base64.b64encode(b"robot").decode()}, folder)
    assert robot.resolve().is_relative_to(folder.resolve())
    assert robot.read_bytes() == b"robot"
    assert [path.name for path in folder.parent.iterdir()] == ["inner"]


def test_of_several_files_the_urdf_nearest_the_top_is_the_robot(tmp_path):
    files = {"a/parts/arm.urdf": b"1", "a/scene.xml": b"2", "a/robot.URDF": b"3", "a/package.xml": b"4"}
    assert unpack_robot(encoded(files), tmp_path).name == "robot.URDF"


def test_too_many_bytes_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="more than"):
        unpack_robot(encoded({"a.urdf": b"x" * 600, "b.stl": b"x" * 600}), tmp_path)


def test_a_robot_of_a_file_is_the_same_as_its_upload(office, tmp_path):
    for name, data in ROBOT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    here = scene_of(str(tmp_path / "small" / "small.urdf"))()
    assert office.ask("robot", files=encoded(ROBOT))["ok"]
    assert np.array_equal(office.session.next_scene.plan.q, here.plan.q)


FLAT = {"small.urdf": urdf().encode(), "upper arm.stl": stl()}


@pytest.mark.parametrize(
    "mesh",
    [
        "package://small/meshes/upper arm.stl", "package://nowhere/visual/upper arm.stl", "meshes/upper arm.stl",
        "../../../meshes/upper arm.stl", "file:///home/someone/meshes/upper arm.stl", "C:\\meshes\\Upper Arm.STL",
    ],
)  # fmt: skip
def test_a_mesh_is_found_by_its_name_among_files_that_lost_their_folders(tmp_path, mesh):
    robot = unpack_robot(encoded({**FLAT, "small.urdf": urdf(mesh).encode()}), tmp_path)
    (found,) = {shape.mesh for body in load_robot(str(robot)).bodies for shape in body.shapes if shape.mesh}
    assert found == tmp_path / "upper arm.stl"


def test_of_meshes_of_one_name_the_one_in_the_folder_that_was_named_is_taken(tmp_path):
    files = {"r/urdf/small.urdf": urdf().encode(), "r/visual/upper arm.stl": b"1", "r/meshes/upper arm.stl": stl()}
    robot = unpack_robot(encoded(files), tmp_path)
    (found,) = {shape.mesh for body in load_robot(str(robot)).bodies for shape in body.shapes if shape.mesh}
    assert found == tmp_path / "r" / "meshes" / "upper arm.stl"


def test_a_mesh_that_could_be_two_files_is_refused_with_both_their_names(office):
    files = {"small.urdf": urdf("upper arm.stl").encode(), "a/upper arm.stl": stl(), "b/upper arm.stl": stl()}
    office.refuses("robot", "could be a/upper arm.stl or b/upper arm.stl", files=encoded(files))


def test_a_robot_that_was_sent_reads_no_file_that_was_not(tmp_path):
    outside = tmp_path / "outside.stl"
    outside.write_bytes(stl())
    (tmp_path / "sent").mkdir()
    for name in (str(outside), f"file://{outside}", "../outside.stl", f"package://{tmp_path.name}/outside.stl"):
        robot = unpack_robot(encoded({"small.urdf": urdf(name).encode()}), tmp_path / "sent")
        assert not any(shape.mesh for body in load_robot(str(robot)).bodies for shape in body.shapes)


ENTITIES = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in itertools.pairwise("abcdefghij"))
BOMB = f'<!DOCTYPE robot [<!ENTITY a "0 0 0 0 0 0 0 0 0 ">{ENTITIES}]><robot name="&j;"><link name="a"/></robot>'
MANY = "".join(
    f'<link name="{k}"/><joint name="j{k}" type="fixed"><parent link="0"/><child link="{k}"/></joint>'
    for k in range(1, 600)
)
PLY = b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n" \
      b"property float z\nelement face 4000000000\nproperty list uchar int vertex_indices\nend_header\n"  # fmt: skip
HOSTILE = {
    "an entity of entities": ({"a.urdf": BOMB.encode()}, "a.urdf:1: the entity 'a'"),
    "no UTF-8": ({"a.urdf": b"<robot name='\xe4'/>"}, "a.urdf:1: malformed XML"),
    "no XML": ({"a.urdf": bytes(range(256))}, "a.urdf:1: malformed XML"),
    "nothing": ({"a.urdf": b""}, "a.urdf:1: malformed XML"),
    "deep": (
        {"a.urdf": b"<robot name='a'>" + b"<a>" * 50_000 + b"</a>" * 50_000 + b"</robot>"},
        "a.urdf:1: more than 500",
    ),
    "too many bodies": ({"a.urdf": f"<robot name='a'><link name='0'/>{MANY}</robot>".encode()}, "has 600 bodies"),
    "too long": ({"a.urdf": urdf().encode() + b" " * 5 * 2**20}, "may have 4"),
    "a name of many folders": ({"a/" * 30 + "a.urdf": b"x"}, "not the name of a file"),
    "a name that is too long": ({"a" * 300 + ".urdf": b"x"}, "not the name of a file"),
    "a name with a line's end": ({"a\nb.urdf": b"x"}, "not the name of a file"),
    "a file that is a folder": ({"a.urdf": b"x", "a.urdf/b.stl": b"x"}, "is a file and a folder"),
    "two of one name": ({"a.urdf": b"x", "./a.urdf": b"x"}, "two files are called 'a.urdf'"),
    "a mesh of noise": ({**FLAT, "upper arm.stl": b"noise"}, "upper arm.stl"),
    "a mesh of nothing": ({**FLAT, "upper arm.stl": b""}, "upper arm.stl"),
    "a mesh that promises": ({**FLAT, "upper arm.stl": b"\0" * 80 + b"\xff" * 4 + b"\0" * 50}, "upper arm.stl"),
    "a mesh of four billion": ({"small.urdf": urdf("x.ply").encode(), "x.ply": PLY}, "x.ply"),
    "a mesh beyond the moon": ({**FLAT, "upper arm.stl": stl(1e9 * TETRAHEDRON)}, "is it in metres?"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_are_refused_in_one_line_and_nothing_is_lost(office, what, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files, words = HOSTILE[what]
    office.refuses("robot", words, files=encoded(files))
    assert list(tmp_path.iterdir()) == []


OUTSIDE = {
    "an include": '<mujoco><include file="{up}secret.xml"/></mujoco>',
    "an include of an include": '<mujoco><include file="within.xml"/></mujoco>',
    "a mesh": '<mujoco><asset><mesh name="m" file="{up}secret.stl"/></asset></mujoco>',
    "a mesh's folder": '<mujoco><compiler meshdir="{up}"/><asset><mesh name="m" file="secret.stl"/></asset></mujoco>',
    "a texture": '<mujoco><asset><texture type="skybox" fileup="{up}secret.png"/></asset></mujoco>',
    "a model": '<mujoco><asset><model name="m" file="within.xml"/></asset></mujoco>',
}


@pytest.mark.parametrize("up", ["../", "/tmp/../", "a/../../", "..\\"])
@pytest.mark.parametrize("what", OUTSIDE)
def test_an_mjcf_that_was_sent_reads_no_file_that_was_not(what, up, tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "secret.xml").write_text("<mujoco><worldbody><body name='secret'/></worldbody></mujoco>")
    (tmp_path / "secret.stl").write_bytes(stl())
    (tmp_path / "sent").mkdir()
    files = {"a.xml": OUTSIDE[what].format(up=up).encode(), "within.xml": OUTSIDE["an include"].format(up=up).encode()}
    robot = unpack_robot(encoded(files), tmp_path / "sent")
    with pytest.raises(pp.ModelError, match=r"is not among the files|one model, not several"):
        load_robot(str(robot))


def test_an_mjcf_comes_with_what_it_includes(tmp_path):
    pytest.importorskip("mujoco")
    arm = '<worldbody><body name="upper"><joint/><geom type="mesh" mesh="m" mass="1"/></body></worldbody>'
    files = {
        "robot/a.xml": b'<mujoco><compiler meshdir="../meshes"/><include file="parts/assets.xml"/>'
        b'<include file="parts/arm.xml"/></mujoco>',
        "robot/parts/assets.xml": b'<mujoco><asset><mesh name="m" file="m.stl"/></asset></mujoco>',
        "robot/parts/arm.xml": f"<mujoco>{arm}</mujoco>".encode(),
        "meshes/m.stl": stl(),
    }
    (body,) = load_robot(str(unpack_robot(encoded(files), tmp_path))).bodies
    assert body.name == "upper"


def test_a_file_that_includes_itself_is_refused_in_one_line(office):
    pytest.importorskip("mujoco")
    endless = {
        "a.xml": b'<mujoco><include file="b.xml"/></mujoco>',
        "b.xml": b'<mujoco><include file="a.xml"/></mujoco>',
    }
    office.refuses("robot", "a.xml", files=encoded(endless))


def test_a_robot_that_cannot_be_read_to_its_end_is_given_up(office, monkeypatch):
    """Whatever breaks while a robot is read, breaks in a process of its own."""
    monkeypatch.setattr(uploads, "PATIENCE_S", 0.0)
    office.refuses("robot", "small.urdf takes too long or too much memory to read", files=encoded(FLAT))


# ---- what was let in stays small


def many_scales(n: int) -> bytes:
    """The robot, its mesh drawn at so many scales."""
    once = f'<mesh filename="package://small/{MESH_NAME}"/>'
    visual = f"<visual><geometry>{once}</geometry></visual>"
    each = [visual.replace(once, once[:-2] + f' scale="1 1 {1 + 0.01 * k}"/>') for k in range(n)]
    assert visual in urdf()
    return urdf().replace(visual, "".join(each)).encode()


def test_every_use_of_a_mesh_counts_in_what_a_robot_may_bring(tmp_path, monkeypatch):
    robot = unpack_robot(encoded({**ROBOT, "small/small.urdf": many_scales(20)}), tmp_path)
    monkeypatch.setattr(trial, "MOST_TRIANGLES", 20 * len(FACES))
    assert trial.read(robot, tmp_path) > 0
    monkeypatch.setattr(trial, "MOST_TRIANGLES", 20 * len(FACES) - 1)
    with pytest.raises(pp.ModelError, match="each use of a mesh counted"):
        trial.read(robot, tmp_path)


def test_a_mesh_of_many_scales_is_read_once_and_the_reader_leaves_nothing_behind(tmp_path, monkeypatch):
    robot = unpack_robot(encoded({**ROBOT, "small/small.urdf": many_scales(20)}), tmp_path)
    model, reads = pp.compile(load_robot(str(robot))), []

    def reading(path):
        reads.append(path)
        return load_mesh(path)

    monkeypatch.setattr(meshes, "load_mesh", reading)
    gc.collect()
    gc.disable()  # nobody tidies up by chance
    try:
        paths = write_meshes(model, tmp_path)
        left = [each for each in gc.get_objects() if type(each) is trimesh.Trimesh]
    finally:
        gc.enable()
    assert (len(paths), len(reads), left) == (20, 1, [])
    heights = [np.frombuffer(Path(path).read_bytes()[8 : 8 + 36 * len(FACES)], dtype="<f4").max() for path in paths]
    assert heights == pytest.approx([0.4 * (1 + 0.01 * k) for k in range(20)])


def test_the_desk_keeps_no_files_once_it_has_answered(office):
    class Files(dict):
        """A dictionary that can be watched."""

    files = Files(encoded({"a.stl": b"x" * 1000}))
    watched = weakref.ref(files)
    office.refuses("robot", "none of the files is a robot", files=files)
    del files
    until(lambda: watched() is None)


def test_what_a_child_said_is_not_kept_until_it_says_more(tmp_path, monkeypatch):
    (tmp_path / "talker.py").write_text(
        "import json, sys\nprint(json.dumps({'request': {'id': 1, 'file': 'x' * 8_000_000}}), flush=True)\n"
        "sys.stdin.readline(), sys.stdin.readline()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sizes = []
    tracemalloc.start()
    try:
        child = Child("talker", {}, [], lambda _, request: sizes.append(len(request["file"])))
        until(lambda: sizes)
        until(lambda: tracemalloc.get_traced_memory()[0] < 4_000_000)
    finally:
        tracemalloc.stop()
    child.end()
    assert sizes == [8_000_000]
