"""A session in real time: it plays, pauses, steps and resets, lets go of a silent hand, and survives its children.

Waits are generous and nothing is asserted about how long things took: speed is for `palpate bench servo`.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_robot import stl
from waiting import WAIT_S, until

import palpate as pp
from palpate import frame, jit
from palpate.model.shapes import Shape
from palpate.runtime.children import Child, ChildError
from palpate.runtime.world.session import WorldSession
from palpate.scenes.arm import arm, arm_at_rest
from palpate.scenes.blocks import box_on_table
from palpate.scenes.scene import Scene
from palpate.servo.loop import HEARTBEAT_NS, WATCHDOG

pytestmark = [pytest.mark.real_time, pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")]
STATIC = Path(__file__).parents[2] / "palpate" / "page" / "static" / "index.html"
needs_page = pytest.mark.skipif(not STATIC.exists(), reason="the page is not built: make page")


@pytest.fixture(scope="module")
def scene():
    return arm()


def test_it_plays_pauses_steps_and_resets(scene):
    with WorldSession(scene, playing=False) as session:
        until(lambda: session.simulation.frames.head > 0)
        assert session.frame()["state"] == frame.PAUSED
        assert session.frame()["tick"] == 0
        session.step()
        session.step()
        until(lambda: session.frame()["tick"] == 2)  # a paused world is shown now and then
        session.play()
        until(lambda: session.frame()["tick"] > 100)
        session.pause()
        until(lambda: session.frame()["state"] == frame.PAUSED)
        stopped = session.frame()["tick"]
        time.sleep(0.05)
        assert session.frame()["tick"] == stopped
        session.reset()
        until(lambda: session.frame()["tick"] == 0)
    assert session.report.counters["events_lost"] == 0


def test_a_held_arm_yields_and_a_silent_hand_lets_go():
    scene = arm_at_rest()
    with WorldSession(scene) as session:
        until(lambda: session.simulation.frames.head > 10)
        start = session.frame()["pose"][scene.model.body("tool")][:3]
        target = start + (0.0, 0.12, 0.08)

        before = 0

        def pulled():
            nonlocal before
            before = times_stale()  # a busy machine may keep this test itself silent for 100 ms
            session.hold("tool", (0, 0, 0), target)
            return np.linalg.norm(session.frame()["pose"][scene.model.body("tool")][:3] - target) < 0.02

        def times_stale():
            return session.frame()["counters"][frame.COUNTERS.index("hand_stale")]

        until(pulled)
        until(lambda: session.frame()["hand_body"][0] == 0)  # nothing is sent any more
        assert times_stale() > before
        assert not session.frame()["hand_force"].any()
        home = session.frame()["plan_q"]
        until(lambda: np.abs(session.frame()["q"] - home).max() < 1e-3)
    assert session.report.periods > 0


def test_letting_go_is_obeyed_at_once():
    with WorldSession(arm_at_rest()) as session:
        until(lambda: session.simulation.frames.head > 10)

        def held():
            session.hold("link3", (0, 0, 0), (0.3, 0.3, 0.3))
            return session.frame()["hand_body"][0] != 0

        until(held)
        session.let_go()
        until(lambda: session.frame()["hand_body"][0] == 0)
        until(held)  # and the hand can take hold again


def test_two_hands_pull_at_two_places_and_let_go_one_by_one():
    scene = box_on_table()
    box = scene.model.body("box")
    with WorldSession(scene) as session:
        until(lambda: session.simulation.frames.head > 10)

        def held(*hands):
            for hand in hands:
                session.hold("box", (0.05 - 0.1 * hand, 0, 0), (0.05 - 0.1 * hand, 0, 0.3), hand=hand)
            return [int(body == box) for body in session.frame()["hand_body"]] == [int(k in hands) for k in range(2)]

        until(lambda: held(0, 1))
        session.let_go(0)
        until(lambda: held(1))
        session.let_go(1)
        until(lambda: not session.frame()["hand_body"].any())
        for hand in (2, -1, None):
            with pytest.raises(ValueError, match="there are hands 0"):
                session.hold("box", (0, 0, 0), (0, 0, 0), hand=hand)
            with pytest.raises(ValueError, match="there are hands 0"):
                session.let_go(hand)


def test_a_flood_of_events_is_counted_and_harms_nothing(scene):
    with WorldSession(scene) as session:
        until(lambda: session.simulation.frames.head > 10)

        def flooded():  # where the loop gets more of a busy machine than we do, not at the first try
            for _ in range(5000):
                session.step()
            return session.frame()["counters"][frame.COUNTERS.index("events_lost")] > 0

        until(flooded)
        session.play()
        until(lambda: session.frame()["state"] == frame.RUNNING)
        until(lambda: session.frame()["tick"] > 200)


def test_stopping_twice_is_fine_and_the_report_adds_up(scene):
    session = WorldSession(scene).start()
    until(lambda: session.simulation.frames.head > 50)
    report = session.stop()
    assert session.stop() is report
    with pytest.raises(RuntimeError, match="the session has ended"):
        session.frame()
    assert sum(report.lateness) == report.periods
    assert "Hz over" in str(report)


def test_the_watchdog_counts_a_silent_loop(scene):
    session = WorldSession(scene)
    session.simulation.beat.control[HEARTBEAT_NS] = time.monotonic_ns()  # a heartbeat, and then no loop
    session.watching.watch.start()
    until(lambda: session.simulation.beat.control[WATCHDOG] == 1)
    session._stopping.set()
    session.watching.watch.join()


@needs_page
def test_the_page_is_started_again_where_it_was_and_the_servo_goes_on(scene):
    with WorldSession(scene, page=True, port=0) as session:
        url, first = session.url, session.page.process
        before = session.frame()["tick"] if session.simulation.frames.head else 0
        first.process.kill()
        until(lambda: session.page.process is not first and session.page.alive)
        assert session.url == url
        assert session.frame()["tick"] > before
    assert any("started again" in note for note in session.report.notes)


@needs_page
def test_a_page_that_others_can_reach_keeps_its_port_and_its_token_when_it_is_started_again(scene):
    with WorldSession(scene, page=True, host="0.0.0.0", port=0) as session:
        url, first, token = session.url, session.page.process, session.page.where.token
        assert len(token) >= 20
        assert url.endswith(f"/?token={token}")
        first.process.kill()
        until(lambda: session.page.process is not first and session.page.url)
        until(lambda: session.page.alive)
        assert session.url == url
    with WorldSession(scene, page=True, host="0.0.0.0", port=0) as session:
        assert session.page.where.token != token  # another session's is another


@needs_page
def test_meshes_for_the_page_go_with_the_session(tmp_path):
    (tmp_path / "part.stl").write_bytes(stl())
    seen = Shape("mesh", (1.0, 1.0, 1.0), mesh=str(tmp_path / "part.stl"), role="visual")
    part = pp.models.box(name="part")
    world = pp.World(replace(part, bodies=(replace(part.bodies[0], shapes=(seen,)),)))
    with WorldSession(Scene("part", "a part", world), page=True, port=0) as session:
        (mesh,) = map(Path, session.meshes.paths)
        assert mesh.is_file()
    assert not mesh.parent.exists()


def test_the_recorder_killed_leaves_a_file_to_recover_and_the_servo_goes_on(scene, tmp_path):
    from palpate.record.recover import recover

    path = tmp_path / "run.mcap"
    with WorldSession(scene, record=path) as session:
        until(lambda: path.exists() and path.stat().st_size > 50_000)
        session.recorder.process.kill()
        until(lambda: session.recorder is None)
        tick = session.frame()["tick"]
        until(lambda: session.frame()["tick"] > tick + 50)
    assert any("recorder ended" in note for note in session.report.notes)
    assert recover(path).frames > 0


def test_a_recording_holds_every_tick(scene, tmp_path):
    from palpate.record.reader import Recording

    path = tmp_path / "run.mcap"
    with WorldSession(scene, record=path) as session:
        until(lambda: session.simulation.frames.head > 800)
    with Recording(path) as recording:
        frames = [recording.layout.unpack(words) for words in recording]
        lost = recording.lost
    running = np.array([f["tick"] for f in frames if f["state"] == frame.RUNNING])
    assert len(running) + lost > 700
    missing = np.diff(running) - 1
    assert (missing >= 0).all()  # in order, none twice
    assert missing.sum() <= lost  # every one, but for those that a starved recorder counted as lost


@needs_page
def test_children_end_when_the_session_is_killed(tmp_path):
    code = f"""
        import time
        from palpate.haptics.devices.pointer import Pointer
        from palpate.runtime.world.session import WorldSession
        from palpate.scenes.arm import arm_at_rest
        session = WorldSession(arm_at_rest(), page=True, port=0, record={str(tmp_path / "x.mcap")!r}).start()
        session.wait(0.3)
        print(session.page.process.process.pid, session.recorder.process.pid, flush=True)
        time.sleep(60)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    children = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(children) == 2
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()

    def gone(pid):
        stat = Path(f"/proc/{pid}/stat")
        try:
            return stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            return True

    until(lambda: all(map(gone, children)))
    from palpate.record.reader import Recording

    with Recording(tmp_path / "x.mcap") as recording:  # the recorder closed its file properly
        assert recording.count > 0


def test_a_recording_that_cannot_be_written_is_one_line_and_leaves_nothing_running(scene):
    session = WorldSession(scene, record=Path("/proc/nowhere/run.mcap"))
    with pytest.raises(ChildError, match="/proc/nowhere") as error:
        session.start()
    assert "\n" not in str(error.value)
    assert session.report.notes == []  # the error is all there is to say
    assert not session._servo.is_alive()


def test_a_child_that_does_not_exist_says_so():
    child = Child("palpate.nonsense", {}, [])
    with pytest.raises(ChildError, match="ended with code 1"):
        child.answer("url", WAIT_S)


@pytest.mark.parametrize("lines", [1, 2000])
def test_a_child_that_no_longer_reads_is_ended_all_the_same(lines, monkeypatch):
    """Somebody may be stuck telling it something: neither they nor the end wait for ever."""
    monkeypatch.setattr("palpate.runtime.children.STUCK_S", 0.1)
    child = Child("recorder", {}, [])
    os.kill(child.process.pid, signal.SIGSTOP)
    telling = threading.Thread(target=lambda: [child.tell({"text": "x" * 1000}) for _ in range(lines)])
    telling.start()
    time.sleep(0.1)
    assert child.end(timeout_s=0.2) == -signal.SIGKILL
    telling.join(WAIT_S)
    assert not telling.is_alive()
    child.tell({"text": "nobody is there"})


def test_what_is_told_by_several_threads_arrives_line_by_line(tmp_path, monkeypatch):
    (tmp_path / "echo_child.py").write_text(
        "import sys, json\nsys.stdin.readline()\n"
        "for line in sys.stdin: print(json.dumps({'heard': json.loads(line)['n']}), flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    child = Child("echo_child", {}, [])
    threads = [
        threading.Thread(target=lambda k=k: [child.tell({"n": 100 * k + i, "pad": "x" * 5000}) for i in range(50)])
        for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    heard = sorted(child.answer("heard", WAIT_S) for _ in range(200))
    assert heard == sorted(100 * k + i for k in range(4) for i in range(50))
    assert child.end(WAIT_S) == 0


def test_a_world_that_stops_says_which_body_and_a_reset_starts_it_again():
    scene = box_on_table()
    with WorldSession(scene, fifo=False) as session:
        until(lambda: session.frame()["tick"] > 10)
        scene.world.tau[:] = np.nan
        until(lambda: session.report.notes and "no longer finite" in session.report.notes[-1])
        until(lambda: session.frame()["state"] == frame.FAULT)  # published from the next period on
        scene.world.tau[:] = 0.0
        session.reset()
        session.play()
        until(lambda: session.frame()["state"] == frame.RUNNING)
    assert "box" in session.report.notes[-1]
