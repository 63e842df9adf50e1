"""What pages request: each request does what it says, or fails in one line and leaves the session as it was."""

import base64
import csv
import io
import json
import threading

import numpy as np
import pytest
from offices import Office, Page
from waiting import WAIT_S, until

import palpate as pp
from palpate import jit
from palpate.page.messages import REQUESTS
from palpate.runtime.page import requests as desk_module
from palpate.runtime.world.requests import FORMATS
from palpate.scenes.arm import arm_line
from palpate.scenes.scene import Scene

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


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
    until(lambda: second.told)
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
    model, q = office.session.scene.model, office.session.simulation.arrays.q
    placed = pp.forward_kinematics(model, q)[model.body(names[1])][:3, 3]
    assert placed == pytest.approx((0.9, 0.0, 0.4))


@pytest.mark.parametrize("at", [None, [0, 0], [0, 0, "x"], {"x": 1}, [0, 0, 1e9], [[0, 0, 0]], "here"])
def test_a_place_that_is_none_is_refused(office, at):
    office.refuses("add", "three numbers in metres", at=at)


def test_only_obstacles_are_removed(office):
    office.refuses("remove", "'link2' is no obstacle", name="link2")
    office.refuses("remove", "'None' is no obstacle")
    office.refuses("remove", "'wall' is fixed in the world and cannot be placed", name="wall")


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
    assert office.session.leaving.wait(WAIT_S)
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
    office.refuses("robot", "belongs to a program", files={})


def test_a_robot_that_takes_long_to_read_keeps_nobody_waiting(office, monkeypatch):
    began, go, folders = threading.Event(), threading.Event(), []

    def slow(robot, folder):
        folders.append(folder)
        began.set()
        go.wait(WAIT_S)

    monkeypatch.setattr(desk_module, "try_robot", slow)
    first, second = Page(), Page()
    files = {"robot.urdf": base64.b64encode(b"<robot name='r'/>").decode()}
    office.desk.requested(first, {"id": 1, "what": "robot", "files": files})
    assert began.wait(WAIT_S)
    office.desk.requested(second, {"id": 1, "what": "robot", "files": files})
    assert office.ask("add", at=[0.3, 0.3, 0.3])["ok"]
    for what in set(REQUESTS) - {"robot", "scene", "run"}:
        office.ask(what)
    assert office.ask("scene", name="arm-rest")["ok"]
    assert first.told == second.told == []
    go.set()
    until(lambda: first.told and second.told)
    for page in (first, second):
        assert "another scene is on its way already" in page.told[0]["error"]
    assert office.session.next_scene.name == "arm-rest"
    until(lambda: not any(folder.exists() for folder in folders))


def test_a_scene_is_left_only_when_the_page_that_asked_has_been_told(office):
    class Slow(Page):
        def tell(self, message):
            assert not office.session.leaving.is_set()
            for what in ("remove", "robot"):
                assert not office.ask(what)["ok"]
            assert not office.session.leaving.is_set()
            super().tell(message)

    page = Slow()
    office.desk.requested(page, {"id": 1, "what": "scene", "name": "arm-rest"})
    until(lambda: page.told)
    assert page.told[0]["ok"], page.told
    assert office.session.leaving.wait(WAIT_S)


def test_closing_waits_for_the_answer_under_way(office, monkeypatch):
    began, go = threading.Event(), threading.Event()

    def slow(name):
        began.set()
        go.wait(WAIT_S)
        raise ValueError("too late")

    monkeypatch.setattr(desk_module, "scene_of", slow)
    page = Page()
    office.desk.requested(page, {"id": 1, "what": "scene", "name": "arm"})
    began.wait(WAIT_S)
    threading.Timer(0.1, go.set).start()
    office.desk.close()
    assert page.told == [{"id": 1, "ok": False, "error": "too late"}]
