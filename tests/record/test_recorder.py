"""The recorder's process: every frame, whatever ends it; what it lost is counted to the frame."""

import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sample_recordings import SMALL, Recorder, frame, frames, hello_of
from waiting import WAIT_S, until

from palpate import jit
from palpate.frame import EVENT, HAND, Layout
from palpate.record.reader import Recording
from palpate.record.recover import recover
from palpate.record.writer import FrameWriter
from palpate.runtime.record.recorder import CHUNK_S, PATIENCE_S, POLL_S, SlowDisk, Sources, follow
from palpate.servo.ring import Follower, Ring

LOST_AT_MOST_S = 0.1  # by kill -9: the promise


@pytest.fixture
def ring():
    made = Ring.create(4096, SMALL.words)
    yield made
    made.close()


@pytest.fixture
def start(ring):
    """Starts recorders and sees to it that none is left behind."""
    started = []

    def begin(file, **more):
        started.append(Recorder(ring, file, **more))
        return started[-1]

    yield begin
    for recorder in started:
        recorder.close()


class Producer(threading.Thread):
    """Publishes frame after frame, as a servo would, but no more than the ring holds: none is ever overwritten."""

    def __init__(self, ring):
        super().__init__(daemon=True)
        self.ring, self.ended, self.published = ring, threading.Event(), []

    def run(self):
        while not self.ended.wait(1e-3) and len(self.published) < self.ring.slots:
            self.published.append(frame(self.ring.head + 1, time.monotonic_ns()))
            self.ring.write(self.published[-1])

    def stop(self):
        self.ended.set()
        self.join()


# ---- kill -9


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_kill_9_at_random_moments_leaves_whole_frames(seed, ring, start, tmp_path):
    """Four recorders at once, killed one by one.  Frame n has tick n, so every one that is there is known.

    How many a kill may cost is for the next test, which has no clock: a machine can starve a recorder without limit.
    """
    rng, marked_ns = np.random.default_rng(seed), 1_000_000
    paths = [tmp_path / f"{i}.mcap" for i in range(4)]
    recorders = [start(path, start=1) for path in paths]
    assert [recorder.hear() for recorder in recorders] == [{"recording": str(path)} for path in paths]
    producer = Producer(ring)
    producer.start()
    for recorder, wait_s in zip(recorders, rng.uniform(0.0, 0.12, 4), strict=True):
        recorder.tell({"mark": {"text": "trial", "data": {"answer": 1}, "wall_ns": marked_ns}})
        time.sleep(wait_s)
        recorder.kill()
    producer.stop()
    for path in paths:
        report = recover(path)
        with Recording(report.path) as back:
            words = np.array([*back], dtype=np.int64).reshape(-1, SMALL.words)
            marks = [(mark.text, mark.data, mark.wall_ns) for mark in back.marks]
        assert marks in ([], [("trial", {"answer": 1}, marked_ns)])  # whole, or not there
        # nothing is missing in between, nothing is there twice, and every bit is right
        assert np.array_equal(words, np.array(producer.published)[: len(words)])
        assert report.frames == len(words)


def test_a_frame_is_on_disk_in_time_whenever_the_recorder_looks(ring, tmp_path):
    """The same promise without a clock: looks come every POLL_S or a little later, and each leaves no old frame."""
    rng = np.random.default_rng(5)
    clock, looks = [0.0], iter(rng.uniform(POLL_S, 1.25 * POLL_S, 200))
    writer = FrameWriter(tmp_path / "a.mcap", hello_of())
    published = []  # when, on the fake clock

    def look(poll_s):
        assert poll_s == POLL_S
        on_disk = writer.frames
        if on_disk < len(published):
            assert clock[0] - published[on_disk] <= CHUNK_S + 2 * POLL_S
        step = next(looks, None)
        if step is None:
            return True
        published.extend(clock[0] + np.sort(rng.uniform(0.0, step, rng.integers(0, 30))))
        while ring.head < len(published):
            ring.write(frame(ring.head + 1))
        clock[0] += step
        return False

    follow(Sources(Follower(ring, 1), clock=lambda: clock[0]), writer, look, lambda **_: None)
    assert writer.frames == len(published)
    writer.close()
    assert CHUNK_S + 2 * POLL_S <= LOST_AT_MOST_S


# ---- ends of other kinds


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or on its way out and waits for init to take it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_end_of_stdin_drains_the_ring_and_closes_the_file(ring, start, tmp_path):
    for words in frames(50, first=1):
        ring.write(words)
    recorder = start(tmp_path / "a.mcap")
    assert recorder.hear() == {"recording": str(tmp_path / "a.mcap")}
    for words in frames(2000, first=51):
        ring.write(words)
    assert recorder.end() == [{"done": {"frames": 2050, "lost": 0, "seconds": 2.049}}]
    assert recorder.process.returncode == 0
    with Recording(tmp_path / "a.mcap") as back:
        assert (back.finished, back.lost) == (True, 0)
        assert np.array_equal([*back], frames(2050, first=1))


PARENT = """
import os, sys, time
sys.path.insert(0, sys.argv[2])
from sample_recordings import *
from palpate.servo.ring import Ring
ring = Ring.create(4096, SMALL.words)
recorder = Recorder(ring, Path(sys.argv[1]))
recorder.hear()
for words in frames(500, first=1):
    ring.write(words)
print(recorder.process.pid, flush=True)
time.sleep(60)
"""


def test_death_of_the_parent_drains_the_ring_and_closes_the_file(tmp_path):
    """The parent is killed with kill -9: the pipe closes, the ring lives on in the recorder, nobody listens."""
    path, here = tmp_path / "a.mcap", os.path.dirname(__file__)
    parent = subprocess.Popen([sys.executable, "-c", PARENT, path, here], stdout=subprocess.PIPE)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    assert parent.stdout.read() == b""
    parent.stdout.close()
    until(lambda: Recording(path).finished)
    with Recording(path) as back:
        assert back.finished
        assert np.array_equal([*back], frames(500, first=1))
    until(lambda: has_ended(pid))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(number, ring, start, tmp_path):
    """Ctrl-C reaches the whole terminal and is not for the recorder; SIGTERM ends it in good order."""
    recorder = start(tmp_path / "a.mcap")
    recorder.hear()
    os.kill(recorder.process.pid, number)
    if number == signal.SIGTERM:
        assert recorder.hear() == {"done": {"frames": 0, "lost": 0, "seconds": 0.0}}
        assert recorder.process.wait(timeout=WAIT_S) == 0
    for words in frames(10):
        ring.write(words)
    done = recorder.end()
    if number == signal.SIGINT:
        assert done == [{"done": {"frames": 10, "lost": 0, "seconds": 0.009}}]


# ---- lost frames


def test_overrun_is_counted_to_the_frame(tmp_path):
    """A ring of 64 slots, and a recorder that does not look while 20 to 300 frames are published."""
    rng = np.random.default_rng(7)
    ring = Ring.create(64, SMALL.words)
    published, said, follower = [0], [], Follower(ring, 1)
    writer = FrameWriter(tmp_path / "a.mcap", hello_of())

    def look(_):
        for _ in range(rng.integers(20, 300)):
            published[0] += 1
            ring.write(frame(published[0]))
        return published[0] > 3000

    follow(Sources(follower, clock=lambda: 0.0), writer, look, lambda **message: said.append(message["lost"]))
    writer.close(lost=follower.lost)
    ring.close()
    with Recording(tmp_path / "a.mcap") as back:
        assert back.lost == follower.lost == said[-1] > 0
        assert back.count + back.lost == published[0]
        assert said == sorted(set(said))
        ticks = np.array([SMALL.read(words, "tick") for words in back])
        missing = np.diff(ticks, prepend=0) - 1
        assert (missing >= 0).all()
        assert missing.sum() == back.lost  # the last one published is never lost
        assert all(np.array_equal(words, frame(tick)) for words, tick in zip(back, ticks, strict=True))


def test_frames_that_were_gone_before_the_recorder_came_are_counted(ring, start, tmp_path):
    for words in frames(10_000, first=1):
        ring.write(words)
    recorder = start(tmp_path / "a.mcap")
    assert "recording" in recorder.hear()
    lost, done = recorder.end()
    assert done["done"]["frames"] + done["done"]["lost"] == 10_000
    assert lost == {"lost": done["done"]["lost"]}
    with Recording(tmp_path / "a.mcap") as back:
        assert np.array_equal([*back], frames(10_000, first=1)[-back.count :])


# ---- a full disk, and orders that cannot be followed


def test_a_full_disk_ends_the_recording_with_one_line_and_a_readable_file(ring, start, tmp_path):
    path = tmp_path / "a.mcap"
    recorder = start(path)
    recorder.hear()
    limit = 200_000
    resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
    words = frames(3000, first=1)
    for one in words:
        ring.write(one)
    said = recorder.hear()["error"]
    assert recorder.process.wait(timeout=WAIT_S) == 2
    with Recording(path) as back:
        assert back.count < 3000
        assert np.array_equal([*back], words[: back.count]) or back.count == 0
        assert f"recording stopped: File too large; {path} holds the {back.count} frames" in said
        assert back.whole_bytes == back.file_bytes <= limit
    assert "\n" not in said


@pytest.mark.real_time
@pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")
def test_a_full_disk_stops_the_recording_with_a_message_and_never_the_servo(tmp_path):
    from palpate.runtime.world.session import WorldSession
    from palpate.scenes.arm import arm_at_rest

    with WorldSession(arm_at_rest(), record=tmp_path / "a.mcap") as session:
        resource.prlimit(session.recorder.process.pid, resource.RLIMIT_FSIZE, (60_000, 60_000))
        until(lambda: session.recorder is None)
        tick = session.frame()["tick"]
        until(lambda: session.frame()["tick"] >= tick + 100)
    (note,) = [note for note in session.report.notes if "recorder ended" in note]
    assert "recording stopped: File too large" in note
    assert "the servo goes on" in note
    with Recording(tmp_path / "a.mcap") as back:
        assert back.count > 0


@pytest.mark.parametrize(("lost", "stops"), [((0.9,) * 20, True), ((0.3,) * 20, False),
                                             ((0.9,) * 5 + (0.0,) * 20, False)])  # fmt: skip
def test_a_disk_that_is_too_slow_for_most_frames_stops_the_recording(lost, stops, tmp_path):
    """A second of the clock between two looks; in each, 200 frames, of which the ring keeps so many."""
    ring, clock, looks = Ring.create(1000, SMALL.words), [0.0], iter(lost)
    writer = FrameWriter(tmp_path / "a.mcap", hello_of())
    follower = Follower(ring, 1)

    def look(_):
        share = next(looks, None)
        if share is None:
            return True
        for words in frames(200):
            ring.write(words)
        follower.next += round(200 * share)
        follower.lost += round(200 * share)
        clock[0] += 1.0
        return False

    sources = Sources(follower, clock=lambda: clock[0])
    if stops:
        with pytest.raises(SlowDisk, match=r"the disk is too slow, 900 of 1000 frames of 5 s were lost"):
            follow(sources, writer, look, lambda **_: None)
        assert clock[0] == pytest.approx(2 * PATIENCE_S, abs=1.0)
    else:
        follow(sources, writer, look, lambda **_: None)
    writer.close()
    ring.close()


def test_hands_and_events_are_recorded_as_they_were_sent(ring, start, tmp_path):
    hand, event = Layout(HAND), Layout(EVENT)
    hands, events = Ring.create(64, hand.words), Ring.create(64, event.words)
    recorder = start(tmp_path / "a.mcap", hand_fd=hands.fd, event_fd=events.fd, fds=[hands.fd, events.fd])
    recorder.hear()
    sent = [hand.pack(sent_ns=1000 + k, hand=k % 2, body=k, target=(k, 0.1, 0.2), damping=0.5) for k in range(20)]
    asked = [event.pack(kind=k, value=0.25 * k) for k in range(1, 5)]
    for message in sent:
        hands.write(message)
    for message in asked:
        events.write(message)
    ring.write(frame(1))
    assert recorder.end() == [{"done": {"frames": 1, "lost": 0, "seconds": 0.0}}]
    with Recording(tmp_path / "a.mcap") as back:
        assert np.array_equal(back.hands, sent)
        assert np.array_equal(back.events, asked)
    for extra in (hands, events):
        extra.close()


@pytest.mark.parametrize(("change", "expected"), [
    ({"path": "/nowhere/a.mcap"}, "cannot write /nowhere/a.mcap: No such file or directory"),
    ({"frame_fd": "x"}, "the ring of frames cannot be opened"),
    ({"frame_fd": 0}, "the ring of frames cannot be opened"),
    ({"hello": {}}, "does not say how its frames are laid out"),
    ({"hello": hello_of() | {"frame": hello_of()["frame"][:-1]}}, r"have \d+ words, those of the scene description"),
    ({"clock": "sun"}, "no clock is called 'sun'"),
    ({"start": "soon"}, "invalid literal"),
])  # fmt: skip
def test_orders_that_cannot_be_followed(change, expected, ring, start, tmp_path):
    recorder = start(tmp_path / "a.mcap", **change)
    said = recorder.hear()
    assert list(said) == ["error"]
    assert re.search(expected, said["error"])
    assert recorder.process.wait(timeout=WAIT_S) == 2
    assert not (tmp_path / "a.mcap").exists()


def test_recorder_and_player_never_load_the_compiler():
    modules = (
        "palpate.runtime.record.recorder, palpate.runtime.record.player, palpate.record.export, palpate.record.recover"
    )
    check = f"import sys, {modules}; sys.exit(any(m.split('.')[0] in ('numba', 'llvmlite') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
