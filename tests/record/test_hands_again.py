"""A recorded hand in a live world: the same bits in simulated time, on the same build."""

import threading
import time

import numpy as np
import pytest
from waiting import until

from palpate import jit
from palpate.frame import GRAVITY, HAND, PAUSE, PLAY, PRESS, PULL, RESET, Layout
from palpate.record import RecordError
from palpate.record.export import export
from palpate.record.hands import Hands, columns, hands_of, read_hands, write_hands
from palpate.record.reader import Recording
from palpate.record.writer import FrameWriter
from palpate.runtime.hello import hello_of
from palpate.runtime.record.recorder import Sources
from palpate.runtime.world.recorded_hands import touch_again
from palpate.runtime.world.session import SMOOTH_S
from palpate.runtime.world.simulation import WorldSimulation
from palpate.scenes.arm import arm, arm_at_rest
from palpate.servo.loop import STOP, servo_loop
from palpate.servo.ring import Follower

pytestmark = [pytest.mark.real_time, pytest.mark.skipif(jit.DISABLED, reason="the loop needs the compiler")]

# what the world did and the hands with it; the rest is about the clock: ages, lateness, counters of both
SAME = ("tick", "time_s", "q", "v", "tau", "plan_q", "pose", "hand_body", "hand_point", "hand_target",
        "hand_force", "hand_torque", "contacts", "contact_body", "contact_point",
        "contact_force", "energy", "edit_stage")  # fmt: skip


class Live:
    """The servo's loop in real time in a thread, with what a session gives it, and a recording of it all."""

    def __init__(self, scene, path):
        self.simulation = WorldSimulation(scene, smooth_s=SMOOTH_S)
        self.simulation.learn_to_touch()
        self.simulation.restart()
        self.writer = FrameWriter(path, hello_of(self.simulation))
        followers = [
            Follower(ring, 1) for ring in (self.simulation.frames, self.simulation.hands, self.simulation.events)
        ]
        self.sources, self.model = Sources(*followers), scene.model
        self._loop = threading.Thread(target=servo_loop, args=(self.simulation.address, 0), daemon=True)

    def __enter__(self):
        self._loop.start()
        return self

    def __exit__(self, *_):
        self.simulation.beat.control[STOP] = 1
        self._loop.join()
        self.sources.take(self.writer)
        self.writer.close(lost=self.sources.frames.lost)
        self.simulation.close()

    def event(self, kind, value=0.0):
        self.simulation.events.write(self.simulation.event_layout.pack(kind=kind, value=value))

    def hand(self, hand, body="", **more):
        row = self.model.body(body) if body else 0
        self.simulation.hands.write(
            self.simulation.hand_layout.pack(
                sent_ns=time.monotonic_ns(), hand=hand, body=row, stiffness_N_m=600.0, **more
            )
        )

    def wait(self, frames):
        """So many frames more, one a tick, or fewer while paused: not by the clock, behind which a machine may fall."""
        enough = self.simulation.frames.head + frames
        until(lambda: self.sources.take(self.writer) or self.simulation.frames.head >= enough)


def touched(path, scene, pause=False, **more):
    """Two hands at irregular times: one pulls the tool about, the other presses on it and lets go."""
    rng = np.random.default_rng(4)
    with Live(scene, path) as live:
        live.wait(1)  # the loop may have to be loaded first
        live.event(PLAY)
        for n in range(40):
            live.hand(0, "tool", hold=PULL, target=(0.5 + 0.004 * n, 0.25, 0.1), damping=0.7 if n > 20 else 0.0)
            if 10 <= n < 25:
                live.hand(1, hold=PRESS, radius_m=0.01, target=(0.5, 0.25 - 0.002 * n, 0.1))
            elif n == 25:
                live.hand(1)
            if pause and n == 30:
                live.event(PAUSE)
                live.wait(3)
                live.event(PLAY)
            live.wait(int(rng.integers(4, 21)))
        live.hand(0)
        for kind, value in more.get("events", ()):
            live.event(kind, value)
        live.wait(100)
    return path


def last_run(recording):
    """The frames after which the world moved, from the last reset on."""
    words = np.array([*recording])
    tick = words[:, recording.layout.offset["tick"]]
    begin = int(np.flatnonzero(np.diff(tick, prepend=tick[0] + 1) < 0)[-1])
    return words[begin:-1][np.diff(tick[begin:]) == 1]


def assert_same(layout, a, b):
    assert len(a) == len(b) > 300
    for name in SAME:
        part = slice(layout.offset[name], layout.offset[name] + layout.length[name])
        assert np.array_equal(a[:, part], b[:, part]), name


def test_hands_of_a_run_in_simulated_time_give_the_same_bits_again(tmp_path):
    scene = arm_at_rest()
    engine = WorldSimulation(scene, smooth_s=SMOOTH_S)
    engine.restart()
    layout, n, body = engine.hand_layout, 600, scene.model.body("tool")
    table = np.array([
        layout.pack(hand=k // 100 % 2, body=body * (k % 150 > 20), target=(0.5, 0.25 + 1e-4 * k, 0.1),
                    sent_ns=k * 10**6, stiffness_N_m=500.0 + k)
        for k in range(n)
    ])  # fmt: skip
    with FrameWriter(tmp_path / "a.mcap", hello_of(engine), clock="simulated", clock_offset_ns=0) as writer:
        assert engine.simulate(n, table) == n
        frames = np.array(Follower(engine.frames, 1).read())
        writer.add(frames)
        writer.hands(table)
    engine.close()
    with Recording(tmp_path / "a.mcap") as recording:
        hands = hands_of(recording)
    q_before = scene.world.q.copy()
    again = touch_again(scene, hands)
    assert_same(engine.layout, frames[:-1], again)  # of the last frame nobody knows whether the world moved on
    assert np.array_equal(scene.world.q, q_before)


@pytest.mark.parametrize("pause", [False, True])
def test_a_recorded_hand_gives_the_same_bits_again(pause, tmp_path):
    """Real time to simulated time, through the file that `palpate export --format hand` writes."""
    path = touched(tmp_path / "a.mcap", arm_at_rest(), pause)
    assert export(path, tmp_path / "a.hand.csv", "hand") > 20
    with Recording(path) as recording:
        live, layout = last_run(recording), recording.layout
        hands = hands_of(recording)
    assert hands.anew.any() or not pause  # on a busy machine also without: a hand was silent for 100 ms
    assert set(hands.hand.tolist()) == {0, 1}
    assert hands.also == ()
    force = np.ascontiguousarray(live[:, layout.offset["hand_force"] :][:, :6]).view(np.float64)
    assert (np.abs(force).max(axis=0) > 1.0).any()
    again = touch_again(arm_at_rest(), tmp_path / "a.hand.csv")
    assert_same(layout, live, again)
    assert np.array_equal(again, touch_again(arm_at_rest(), hands))


def test_a_plan_that_a_hand_disturbs_is_disturbed_again_in_the_same_way(tmp_path):
    path = touched(tmp_path / "a.mcap", arm())
    with Recording(path) as recording:
        assert_same(recording.layout, last_run(recording), touch_again(arm(), hands_of(recording)))


def test_only_the_last_run_counts(tmp_path):
    """After a reset ticks begin again, and so do the hands."""
    with Live(scene := arm_at_rest(), tmp_path / "a.mcap") as live:
        live.event(PLAY)
        for n in range(30):
            live.hand(0, "tool", target=(0.5, 0.25, 0.1 + 0.002 * n))
            if n == 20:
                live.event(RESET)
            live.wait(10)
    with Recording(tmp_path / "a.mcap") as recording:
        hands, run = hands_of(recording), last_run(recording)
        assert hands.ticks == len(run) < recording.count
        assert 1 <= len(hands.tick) <= 22  # ten messages, each perhaps with a silence before it
    again = touch_again(scene, hands)
    assert len(again) == hands.ticks
    assert np.array_equal(again[:, recording.layout.offset["hand_body"]], run[:, recording.layout.offset["hand_body"]])


def test_what_else_was_changed_is_told(tmp_path):
    path = touched(tmp_path / "a.mcap", arm_at_rest(), events=[(GRAVITY, 0.5)])
    export(path, tmp_path / "a.csv", "hands")
    assert read_hands(tmp_path / "a.csv").also == ("gravity",)


def test_a_hand_that_was_not_recorded_whole_is_refused(tmp_path, monkeypatch):
    write = FrameWriter.hands
    monkeypatch.setattr(FrameWriter, "hands", lambda self, hands: write(self, hands[hands[:, 1] == 1]))  # of one of two
    path = touched(tmp_path / "a.mcap", arm_at_rest())
    with Recording(path) as recording, pytest.raises(RecordError, match=r"lacks what hand 0 sent at tick \d+"):
        hands_of(recording)


# ---- files


def test_files_of_hands_read_back_to_the_last_bit(tmp_path):
    rng, layout = np.random.default_rng(8), Layout(HAND)
    message = np.array([
        layout.pack(hand=k % 2, hold=k % 3, session=k, at_body=rng.normal(size=3), target=rng.normal(size=3),
                    stiffness_N_m=rng.normal(), damping=1e-300, orientation=rng.normal(size=4),
                    force=rng.normal(size=3), normal=rng.normal(size=3), energy_J=5e-324)
        for k in range(20)
    ])  # fmt: skip
    wrote = Hands(99, np.arange(20), np.arange(20) % 2, np.arange(20) % 5 == 0, ("a,b", "c") * 10, message, ("mode",))
    assert write_hands(tmp_path / "a.csv", wrote) == 20
    back = read_hands(tmp_path / "a.csv")
    assert (back.ticks, back.body, back.also) == (99, wrote.body, ("mode",))
    for name in ("tick", "hand", "anew", "message"):
        assert np.array_equal(getattr(back, name), getattr(wrote, name)), name


@pytest.mark.parametrize(("text", "expected"), [
    ("", "is not a file of hands"),
    ("time_s,x\n0,1\n", "is not a file of hands"),
    (",".join(columns()) + "\n1,2,0,tool" + (len(columns()) - 4) * ",0" + "\n", "row 2: hands are 0 .. 1"),
    (",".join(columns()) + "\n1,0,0,tool,x\n", "row 2 cannot be read"),
])  # fmt: skip
def test_files_that_are_none_are_told_in_one_line(text, expected, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(RecordError, match=expected):
        read_hands(tmp_path / "a.csv")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(RecordError, match="there is no file"):
        read_hands(tmp_path / "a.csv")
