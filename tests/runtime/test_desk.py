"""What pages request: each request does what it says, or fails in one line and leaves the session as it was."""

import base64
import csv
import gc
import io
import itertools
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_robot import FACES, MESH_NAME, TETRAHEDRON, stl, urdf

import palpate as pp
from palpate import jit
from palpate.page.messages import REQUESTS
from palpate.runtime import desk as desk_module
from palpate.runtime import uploads
from palpate.runtime.describe import describe
from palpate.runtime.desk import FORMATS, Desk
from palpate.runtime.meshes import write_meshes
from palpate.runtime.uploads import unpack_robot
from palpate.scenes.any_arm import scene_of
from palpate.scenes.arm import arm_line
from palpate.scenes.robots import load_robot
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")
ROBOT = {"small/small.urdf": urdf().encode(), f"small/{MESH_NAME}": stl()}


class Page:
    """What the desk tells a page."""

    def __init__(self) -> None:
        self.told: list[dict] = []

    def tell(self, message: dict) -> None:
        self.told.append(json.loads(json.dumps(message, allow_nan=False)))


class Office:
    """A session, its desk, and a page that asks."""

    def __init__(self, session) -> None:
        self.session, self.page = session, Page()
        self.session.may_leave = True
        self.desk = Desk(session)

    def ask(self, what: str, **more) -> dict:
        """The answer."""
        page = Page()
        self.desk.requested(page, {"type": "request", "id": 7, "what": what, **more})
        ended = time.monotonic() + 60.0
        while not page.told:
            assert time.monotonic() < ended, "no answer"
            time.sleep(0.005)
        assert page.told[0]["id"] == 7
        return page.told[0]

    def refuses(self, what: str, words: str, **more) -> None:
        """It fails in one line, nothing has changed, and the desk is still open."""
        before = self.session.engine.events.head, self.session.next_scene
        answer = self.ask(what, **more)
        assert answer.keys() == {"id", "ok", "error"}
        assert not answer["ok"]
        assert words in answer["error"]
        assert "\n" not in answer["error"]
        assert (self.session.engine.events.head, self.session.next_scene) == before
        assert not self.session.leaving.is_set()
        assert self.desk._thread.is_alive()


def encoded(files: dict[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(data).decode() for name, data in files.items()}


@pytest.fixture
def office():
    made = Office(pp.touch(arm_line(mode="hold"), page=False))
    yield made
    made.desk.close()
    made.session.stop()


@pytest.fixture
def still():
    made = Office(pp.touch(Scene("still", "still", pp.World(pp.models.plane())), page=False))
    yield made
    made.desk.close()
    made.session.stop()


def test_the_desk_knows_every_request_that_a_page_may_make(office):
    for what in REQUESTS:
        assert "there is no request" not in office.ask(what).get("error", "")
    office.refuses("quit", "there is no request 'quit'")
    office.refuses("answer", "there is no request 'answer'")


def test_an_answer_goes_to_the_page_that_asked(office):
    """A page that was started again counts its requests anew: it must not get the answer to another's."""
    first, second = Page(), Page()
    office.desk.requested(first, {"id": 1, "what": "remove", "name": "nothing"})
    office.desk.requested(second, {"id": 1, "what": "add", "at": [0.3, 0.3, 0.3]})
    ended = time.monotonic() + 10.0
    while not second.told:
        assert time.monotonic() < ended
        time.sleep(0.005)
    assert [m["ok"] for m in (*first.told, *second.told)] == [False, True]


def test_whatever_goes_wrong_the_desk_stays_open(office, monkeypatch):
    def broken(name):
        raise AssertionError("first line\nsecond line")

    monkeypatch.setattr(desk_module, "scene_of", broken)
    office.refuses("scene", "first line", name="arm")
    monkeypatch.setattr(office.session.edit, "add", lambda at, kind: float("nan"))  # which JSON cannot hold
    office.refuses("add", "JSON", at=[0, 0, 0])


# ---- plans and edits


def test_motion_tells_the_plan_and_what_became_of_it(office):
    office.refuses("motion", "nothing has moved yet")
    office.session.simulate(1.0)
    told = office.ask("motion")
    plan, motion = told["plan"], told["motion"]
    assert plan["duration_s"] == pytest.approx(2.0, abs=1e-3)
    assert plan["path"][0] == pytest.approx((0.32, 0.15, -0.05), abs=0.3)
    assert len(plan["path"]) >= 200
    assert plan["clearance_m"]["obstacle"] < 0.0
    assert any("mm into obstacle" in line for line in plan["wrong"])
    assert motion["duration_s"] < 1.01
    assert np.abs(office.session.edit.plan.v).max() == pytest.approx(plan["fastest"], abs=1e-4)


def test_the_clearance_of_every_point_shown_is_told_and_the_smallest_is_among_them(office):
    office.session.simulate(1.0)
    told = office.ask("motion")
    edit = office.session.edit
    for motion, trajectory in ((told["plan"], edit.plan), (told["motion"], edit.motion())):
        near = edit.clearance(trajectory)
        assert len(motion["gap_m"]) == len(motion["path"])
        assert min(motion["gap_m"]) == min(motion["clearance_m"].values()) == round(near.smallest.gap_m, 5)
        assert motion["gap_m"][0] == round(near.gap_m[0], 5)
        assert motion["gap_m"][-1] == round(near.gap_m[-1], 5)
        lowest = motion["path"][int(np.argmin(motion["gap_m"]))]
        model, q = office.session.scene.model, edit.whole(trajectory).q[near.smallest.row]
        assert lowest == pytest.approx(pp.forward_kinematics(model, q)[model.body("tool")][:3, 3], abs=1e-4)


def test_a_motion_with_nothing_in_its_way_has_no_clearance():
    line = arm_line(solid=False)
    world = pp.World(pp.models.puma560())
    world.q[:] = line.plan.q[0]
    office = Office(pp.touch(Scene("alone", "alone", world, line.plan, editing=line.editing), page=False))
    office.session.simulate(0.5)
    told = office.ask("motion")["plan"]
    assert told["path"]
    assert (told["gap_m"], told["clearance_m"]) == (None, {})
    office.desk.close()
    office.session.stop()


def test_keep_makes_the_motion_the_plan(office):
    office.refuses("keep", "nothing has moved yet")
    office.session.simulate(0.5)
    kept = office.ask("keep")["plan"]
    assert kept["duration_s"] < 0.6
    assert office.session.edit.plan.q[-1] != pytest.approx(arm_line().plan.q[-1], abs=0.1)


@pytest.mark.parametrize("style", FORMATS)
def test_export_is_a_text_to_download(office, style):
    office.session.simulate(0.3)
    for which in ("plan", "motion"):
        answer = office.ask("export", which=which, format=style)
        assert answer["name"].startswith("arm-line-")
        assert "joint1" in answer["text"]
    if style == "csv":
        rows = list(csv.reader(io.StringIO(answer["text"])))
        assert len(rows) > 250
    elif style.endswith("json"):
        json.loads(answer["text"])


def test_a_wrong_export_says_what_there_is(office):
    office.refuses("export", "plan or motion, as json, csv", format="exe", which="plan")
    office.refuses("export", "plan or motion", which="../plan")
    office.refuses("export", "nothing has moved yet", which="motion")


def test_without_a_plan_there_is_nothing_to_edit(still):
    for what in ("motion", "keep", "export"):
        still.refuses(what, "nothing is planned in the scene 'still'")
    still.refuses("add", "no obstacle to spare", at=[0, 0, 0])


# ---- obstacles


def test_obstacles_are_added_and_removed_until_there_are_none_to_spare(office):
    names = [office.ask("add", at=[0.3 + 0.2 * k, 0.6, 0.2])["name"] for k in range(3)]
    assert sorted(names) == sorted(office.session.scene.spares)  # three at once, three different ones
    office.refuses("add", "every obstacle is out already", at=[0, 0, 1])
    assert office.ask("remove", name=names[1])["ok"]
    assert office.ask("add", at=[0.9, 0.0, 0.4])["name"] == names[1]
    office.session.simulate(0.01)
    model, q = office.session.scene.model, office.session.engine.servo.q
    placed = pp.forward_kinematics(model, q)[model.body(names[1])][:3, 3]
    assert placed == pytest.approx((0.9, 0.0, 0.4))


@pytest.mark.parametrize("at", [None, [0, 0], [0, 0, "x"], {"x": 1}, [0, 0, 1e9], [[0, 0, 0]], "here"])
def test_a_place_that_is_none_is_refused(office, at):
    office.refuses("add", "three numbers in metres", at=at)


def test_only_obstacles_are_removed(office):
    office.refuses("remove", "'link2' is no obstacle", name="link2")
    office.refuses("remove", "'None' is no obstacle")
    office.refuses("remove", "'wall' cannot be moved", name="wall")


# ---- marks


def test_a_mark_needs_a_recording_and_a_text(office):
    office.refuses("mark", "nothing is being recorded", text="now")
    office.refuses("mark", "a text of 1", text="")
    office.refuses("mark", "a text of 1", text="x" * 20_000)


def test_a_mark_reaches_the_recorder_and_holds_what_json_can_hold(office):
    office.session.recorder = recorder = Page()
    assert office.ask("mark", text="stimulus", data={"force_N": 2.5, "answer": None})["ok"]
    (told,) = recorder.told
    assert told["mark"]["text"] == "stimulus"
    assert told["mark"]["data"] == {"force_N": 2.5, "answer": None}
    for text, data in (("half a letter: \ud800", None), ("now", float("inf")), ("now", np.zeros(3)), ("now", {1, 2})):
        with pytest.raises(ValueError, match="what JSON can hold"):
            office.session.mark(text, data)
    assert len(recorder.told) == 1
    office.session.recorder = None


# ---- scenes


def test_another_scene_is_built_first_and_then_the_session_is_left(office):
    answer = office.ask("scene", name="arm-rest")
    assert answer == {"id": 7, "ok": True, "scene": "arm-rest"}
    assert office.session.leaving.wait(5.0)
    assert office.session.next_scene.name == "arm-rest"
    again = office.ask("scene", name="arm")
    assert "on its way already" in again["error"]
    assert office.session.next_scene.name == "arm-rest"


def test_an_unknown_scene_leaves_the_session_running(office):
    office.refuses("scene", "no scene is called 'arm-rset'; did you mean 'arm-rest'?", name="arm-rset")
    office.refuses("scene", "no scene is called", name=["arm"])
    office.refuses("scene", "no scene is called")
    for name in ("/etc/robot.urdf", "../robot.xml", "robot.URDF"):
        office.refuses("scene", "scenes and robots by name", name=name)


def test_a_session_of_a_program_keeps_its_scene(office):
    office.session.may_leave = False
    office.refuses("scene", "belongs to a program", name="arm")
    office.refuses("robot", "belongs to a program", files=encoded(ROBOT))


# ---- a robot of one's own


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
    shapes = next(b for b in describe(scene, session.engine)["bodies"] if b["name"] == "lift")["shapes"]
    assert [s["mesh"] for s in shapes if s["kind"] == "mesh"] == [0]
    session.simulate(0.05)
    session.stop()
    folder = Path(next(s.mesh for b in scene.model.description.bodies for s in b.shapes if s.mesh)).parents[2]
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
    "deep": ({"a.urdf": b"<robot name='a'>" + b"<a>" * 50_000 + b"</a>" * 50_000 + b"</robot>"}, "recursion"),
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


def test_closing_waits_for_the_answer_under_way(office, monkeypatch):
    began, go = threading.Event(), threading.Event()

    def slow(name):
        began.set()
        go.wait(10.0)
        raise ValueError("too late")

    monkeypatch.setattr(desk_module, "scene_of", slow)
    page = Page()
    office.desk.requested(page, {"id": 1, "what": "scene", "name": "arm"})
    began.wait(10.0)
    threading.Timer(0.1, go.set).start()
    office.desk.close()
    assert page.told == [{"id": 1, "ok": False, "error": "too late"}]
