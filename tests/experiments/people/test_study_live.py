"""A study in a session: what a screen sets is what the servo has, what is answered is in the recording, and a page is
told nothing of either."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from waiting import until

import palpate as pp
from palpate.experiments.studies.people.answers import Answers
from palpate.experiments.studies.people.conduct import Conductor
from palpate.experiments.studies.people.live import Leading, check_scenes
from palpate.experiments.studies.people.plan import Study, find_study, read_study, ready_made
from palpate.experiments.studies.people.screening import HIDDEN, screened
from palpate.experiments.studies.people.setting import apply, settable
from palpate.haptics.hand import Hand
from palpate.planar.scenes import planar_wall
from palpate.record.reader import Recording
from palpate.runtime.hello import hello_of
from palpate.runtime.link.sessions import Remote, RemoteSession, Serving
from palpate.runtime.runnable import session_of
from palpate.runtime.session import Session
from palpate.scenes.blocks import box_on_table

PLAN = """
scene = "planar-wall"
instructions = "Push."
practice = 1
[stimulus]
setting = "stiffness"
unit = "N/m"
levels = [1000, 1500, 2000]
standard = 1500
[method]
kind = "constant"
repeats = 1
question = "Which?"
[conditions.hard]
settings = { wall = "zoh", friction = "none" }
"""


def study(text: str = PLAN) -> Study:
    return read_study(text.encode(), "walls")


@pytest.mark.parametrize("name", sorted(ready_made()))
def test_studies_that_come_along_can_be_done_in_their_scenes(name: str) -> None:
    check_scenes(find_study(name))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('scene = "planar-wall"', 'scene = "planar-wal"', "did you mean 'planar-wall'"),
        ('wall = "zoh"', 'wall = "zho"', "wall is one of"),
        ('friction = "none"', "fricton = 1", "did you mean 'friction'"),
        ('friction = "none"', 'mu = "much"', "mu is a number, not 'much'"),
        ('setting = "stiffness"', 'setting = "colour"', "no setting 'colour'"),
        ("1500, 2000]", "1500, 2000000]", "stiffness goes from 100 to 20000"),
    ],
)
def test_what_a_scene_cannot_be_set_to_is_one_line(old: str, new: str, says: str) -> None:
    with pytest.raises(ValueError, match=says) as caught:
        check_scenes(study(PLAN.replace(old, new)))
    assert "\n" not in str(caught.value)


def test_a_page_is_told_nothing_that_gives_the_answer_away(tmp_path: Path) -> None:
    simulation, plan = planar_wall(), study()
    hello = hello_of(simulation)
    told = screened(plan, hello)
    simulation.close()
    for name, nothing in HIDDEN.items():
        assert told.get(name, nothing) == nothing
    assert told["frame"] == hello["frame"]
    assert [body["touchable"] for body in told["bodies"]] == [body["touchable"] for body in hello["bodies"]]
    shown = screened(study('shows = ["scene", "plots", "settings", "forces"]' + PLAN), hello)
    assert (shown["plots"], shown["settings"], shown["drawings"]) == tuple(
        hello[name] for name in ("plots", "settings", "drawings")
    )
    assert shown["events"] == {}  # seen by design, never set by a participant
    with Answers(tmp_path, plan, 1) as answers:
        conductor = Conductor(plan, answers)
        while not conductor.is_over():
            screen = conductor.screen
            said = json.dumps(screen.told())
            assert not any(str(level) in said for level in (1000, 1500, 2000))
            assert "hard" not in said
            conductor.answer(screen.number, screen.choices[0]["value"], 0.5)


@pytest.mark.real_time
def test_what_a_screen_sets_is_what_the_servo_has_and_the_recording_tells(tmp_path: Path) -> None:
    plan, file = study(), tmp_path / "study.mcap"
    with Answers(tmp_path, plan, 3) as answers:
        leading = Leading(plan, Conductor(plan, answers))
        session = session_of(planar_wall(), page=False, record=file, playing=False, fifo=False)
        with session:
            leading.begin(session)
            screen = leading.requested({"do": "now"})["screen"]
            while screen["kind"] != "end":
                now, since_ns = leading.conductor.screen, time.monotonic_ns()
                if screen["kind"] == "feel":
                    frame = until(lambda t=since_ns: newer(session, t), "it runs")
                    assert (frame["stiffness"], frame["wall"], frame["friction"]) == (now.value, WALL, FRICTION)
                else:
                    until(lambda: session.frame()["state"] == 0, "it stands")
                value = screen["choices"][0]["value"]
                said = {"do": "answer", "screen": screen["number"], "value": value, "response_s": 0.25}
                screen = leading.requested(said)["screen"]
            until(leading.leaving.is_set, "it is over")
        done = answers.done
    with Recording(file) as recording:
        marks = [(mark.text, mark.data) for mark in recording.marks]
    trials = [line for line in done if line["kind"] == "trial"]
    assert len(trials) == 4
    assert [data for text, data in marks if text == "study trial"] == [{"participant": 3} | line for line in trials]
    assert [data["value"] for text, data in marks if text == "study feel"] == [
        v for line in trials for v in line["values"]
    ]
    assert all(line["response_s"] == 0.25 for line in trials)


def newer(session: Session, since_ns: int) -> dict[str, Any] | None:
    """A frame of after that moment, in which it moves."""
    frame = session.frame()
    return frame if frame["wall_ns"] > since_ns and frame["state"] == 1 and frame["tick"] > 3 else None


WALL, FRICTION = (
    next(s for s in hello_of(planar_wall())["settings"] if s["event"] == event)["choices"].index(name)
    for event, name in (("wall", "zoh"), ("friction", "none"))
)


def test_an_answer_to_a_screen_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    plan = study()
    with Answers(tmp_path, plan, 1) as answers:
        leading = Leading(plan, Conductor(plan, answers))
        session = session_of(planar_wall(), page=False, playing=False, fifo=False)
        leading.begin(session)
        first = leading.requested({"do": "now"})["screen"]
        said = {"do": "answer", "screen": first["number"], "value": "next", "response_s": 0.1}
        second = leading.requested(said)["screen"]
        with pytest.raises(ValueError, match="this screen is gone"):
            leading.requested(said)
        with pytest.raises(ValueError, match="which screen"):
            leading.requested({"do": "answer", "value": "next"})
        with pytest.raises(ValueError, match="the answer is one of next, not 7"):
            leading.requested({"do": "answer", "screen": second["number"], "value": 7})
        assert leading.requested({"do": "now"})["screen"] == second
        session.simulation.close()


@pytest.mark.real_time
def test_the_delay_of_a_link_is_set_while_it_is_touched() -> None:
    """There and back; the world at the other end is not told, and goes on."""
    with Serving(box_on_table(), port=0, fifo=False) as serving:
        remote = Remote("127.0.0.1", serving.port)
        with RemoteSession(remote, box_on_table(), estimate="hold", fifo=False) as session:
            until(lambda: session.frame()["tick"] > 10, "states come")
            plan, network = find_study("study-delay"), (session.simulation.there, session.simulation.back)
            for delay_ms in (60.0, 0.0, 120.0):
                apply(session, settable(session.simulation), plan, plan.conditions[0], delay_ms)
                until(lambda d=delay_ms: [q.delay_ns for q in network] == [0.5e6 * d] * 2, "the network is slower")
                until(lambda: serving.frame()["state"] == 1 and serving.frame()["tick"] > 3, "the other end runs")
                now = session.frame()["tick"]
                until(lambda n=now: session.frame()["tick"] != n, "states still come")


@pytest.mark.parametrize(("kind", "times"), [("simulated:pantograph", 7.0), ("simulated:phantom-premium-1.5", 1.4)])
def test_what_study_walls_sets_is_felt_through_the_planar_and_the_3d_device(kind: str, times: float) -> None:
    """A wall nine times as stiff; a device whose mechanism is not known feels it through a spring."""
    plan = find_study("study-walls")
    assert plan.stimulus is not None
    into = Hand(intent=((0.0, (0.0, 0.0, 0.0)), (0.8, (0.035, 0.0, 0.0))))
    felt = []
    for level in plan.stimulus.levels[::4]:
        device = pp.open_device(kind, hand=into)
        session = pp.touch(planar_wall(), device, page=False)
        session.simulate(0.0)
        apply(session, settable(session.simulation), plan, plan.conditions[0], level)
        session.simulate(1.5)
        frame = session.frame()
        assert frame["stiffness"] == level
        felt.append(-frame["device_force"][0][0] / (frame["handle"][0] - TOUCHES_M))
        session.stop()
        device.close()
    assert felt == sorted(felt)
    assert felt[-1] > times * felt[0]


TOUCHES_M = 0.025  # where the handle is when the block meets the wall
