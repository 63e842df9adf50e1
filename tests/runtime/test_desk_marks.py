"""Marks on a busy desk: they are in the recording at the time of their arrival, whatever else is being answered."""

import random
import threading
import time

import pytest
from offices import Office, Page
from waiting import until

import palpate as pp
from palpate import jit
from palpate.record.reader import Recording
from palpate.runtime.children import Child
from palpate.runtime.page import requests as desk_module
from palpate.runtime.world import trials as trials_module
from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm_at_rest
from palpate.scenes.task import REACHED, Trial

pytestmark = pytest.mark.skipif(jit.DISABLED, reason="the ring's kernels need the compiler")


@pytest.fixture
def busy(office, monkeypatch):
    """What lets the desk go on: until then, it answers nothing but marks."""
    began, go = threading.Event(), threading.Event()

    def slow(name):
        began.set()
        go.wait()
        raise ValueError("too late")

    monkeypatch.setattr(desk_module, "scene_of", slow)
    office.desk.requested(Page(), {"id": 1, "what": "scene", "name": "arm"})
    began.wait()
    yield go
    go.set()


@pytest.mark.parametrize("seed", range(8))
def test_marks_never_wait_for_other_requests_whatever_the_order(office, busy, seed):
    rng = random.Random(seed)
    office.session.recorder = recorder = Page()
    pages, stamps, scenes = [], {}, []
    for k in range(30):
        pages.append(Page())
        what = rng.choice(["mark", "mark", "remove", "scene", "motion", "nonsense"])
        request = {"id": k, "what": what, "name": "nothing"}
        if what == "mark":
            stamps[f"{k}"] = arrived_ns = time.monotonic_ns() - rng.randrange(10**10)
            request |= {"text": f"{k}", "data": {"k": k}, "arrived_ns": arrived_ns}
        elif what == "scene":
            scenes.append(k)
        office.desk.requested(pages[-1], request)
    until(lambda: len(recorder.told) == len(stamps))
    assert {told["mark"]["text"]: told["mark"]["wall_ns"] for told in recorder.told} == stamps
    until(lambda: all(pages[int(k)].told == [{"id": int(k), "ok": True}] for k in stamps))
    assert not any(pages[k].told for k in scenes)  # the desk is still busy
    busy.set()
    until(lambda: all(len(page.told) == 1 for page in pages))
    office.session.recorder = None


@pytest.mark.parametrize("stamp", [None, "1", 1.5, True, [1], 2**80, {}])
def test_a_stamp_that_is_none_or_of_the_future_is_now(office, stamp):
    office.session.recorder = recorder = Page()
    before_ns = time.monotonic_ns()
    assert office.ask("mark", text="x", arrived_ns=stamp)["ok"]
    assert before_ns <= recorder.told[0]["mark"]["wall_ns"] <= time.monotonic_ns()
    office.session.recorder = None


def test_without_a_stamp_it_is_when_the_desk_was_asked(office, busy):
    office.session.recorder = recorder = Page()
    before_ns = time.monotonic_ns()
    office.desk.requested(Page(), {"id": 2, "what": "mark", "text": "x"})
    after_ns = time.monotonic_ns()
    until(lambda: recorder.told)
    assert before_ns <= recorder.told[0]["mark"]["wall_ns"] <= after_ns
    office.session.recorder = None


def test_marks_of_a_busy_desk_are_in_the_recording_at_their_time(tmp_path, monkeypatch):
    path, go = tmp_path / "a.mcap", threading.Event()
    monkeypatch.setattr(desk_module, "scene_of", lambda name: go.wait())
    with pp.touch(arm_at_rest(), page=False, record=path) as session:
        office, stamps = Office(session), {}
        office.desk.requested(Page(), {"id": 1, "what": "scene", "name": "arm"})
        for k in range(5):
            head = session.simulation.frames.head
            until(lambda before=head: session.simulation.frames.head > before + 5)
            stamps[f"{k}"] = time.monotonic_ns()
            assert office.ask("mark", text=f"{k}", arrived_ns=stamps[f"{k}"])["ok"]
        session.mark("from Python", {"k": 1})
        go.set()
        office.desk.close()
    with Recording(path) as back:
        assert {mark.text: mark.wall_ns for mark in back.marks if mark.text.isdigit()} == stamps
        assert back.marks[-1][1:3] == ("from Python", {"k": 1})
        assert back.lost == 0


def test_a_line_that_is_too_deep_does_not_end_the_listening_to_a_page(tmp_path, monkeypatch):
    (tmp_path / "deep_child.py").write_text('print("[" * 10**5); print(\'{"request": {"id": 1}}\')\n')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    asked = []
    child = Child("deep_child", {}, [], lambda child, request: asked.append(request))
    until(lambda: asked == [{"id": 1}])
    child.end()


# ---- marks that the session sets itself


@pytest.mark.parametrize("seconds", [1.5, float("nan")])
def test_a_trial_that_cannot_be_marked_is_still_counted_and_the_watch_goes_on(office, monkeypatch, seconds):
    """Nothing is recorded, or no longer, or the trial holds what JSON cannot: that is no reason to stop watching."""
    trial = Trial(1, True, seconds, 0.1, 2.0, 0)
    servo, session = office.session.simulation.arrays, office.session
    servo.task_state, servo.task_trial = REACHED, 1
    monkeypatch.setattr(trials_module, "trials_of", lambda frames: [trial])
    monkeypatch.setattr(WorldSession, "frame", lambda self: {})
    session.recorder = recorder = Page()
    found = trials_module.Trials()
    found.collect(session)
    assert len(found) == 1
    assert len(recorder.told) == (seconds == 1.5)
    session.recorder = None
