"""Replay: the recorded frames at the recorded pace, on a clock that the test moves."""

import numpy as np
import pytest
from sample_recordings import SMALL, frames, hello_of, recording
from waiting import WAIT_S, until

from palpate.frame import (
    BASE,
    EVENT,
    FRAME,
    HAND,
    PAUSE,
    PAUSED,
    PLAY,
    RESET,
    RUNNING,
    SEEK,
    SPEED,
    STEP,
    Field,
    Layout,
)
from palpate.record import RecordError
from palpate.record.reader import Recording
from palpate.record.writer import FrameWriter
from palpate.runtime.record.player import FASTEST, IDLE_S, SLOWEST, Player, shown_hello, shown_layout
from palpate.servo.ring import Follower, Ring

EVENTS = Layout(EVENT)
WORDS = frames(1000, first=1)  # one second; frame i has tick i + 1 and is at i ms


class Watched:
    """A player on a clock that stands at 0 until told otherwise, and what it has written."""

    def __init__(self, path, words=WORDS, slots=4096, **more):
        self.recording = Recording(recording(path / "a.mcap", words))
        self.frames, self.events = Ring.create(slots, SMALL.words), Ring.create(16, EVENTS.words)
        self.player = Player(self.recording, self.frames, self.events, clock=lambda: 0.0, **more)
        self.written, self.now_s = Follower(self.frames), 0.0

    def send(self, kind, value=0.0):
        self.events.write(EVENTS.pack(kind=kind, value=value))

    def ticks(self):
        """Ticks of the frames written since the last call."""
        return [SMALL.read(words, "tick") for words in self.written.read()]

    def after(self, seconds):
        """Ticks of the frames written when so much time has passed."""
        self.now_s += seconds
        self.player.advance(self.now_s)
        return self.ticks()

    def newest(self):
        return self.frames.newest()[1]


@pytest.fixture
def watched(tmp_path):
    return Watched(tmp_path)


def test_frames_come_at_the_recorded_pace_and_as_they_were(watched):
    assert watched.after(0.0) == []
    assert watched.after(0.0105) == list(range(2, 12))
    assert watched.after(0.0005) == [12]
    assert watched.after(0.0005) == []
    assert watched.after(0.1) == list(range(13, 113))
    ours = [SMALL.offset["state"], SMALL.offset["speed"]]  # of the replay, not of the recording
    assert np.array_equal(np.delete(watched.newest(), ours), np.delete(WORDS[111], ours))


def test_pace_is_that_of_the_recording_even_over_gaps(tmp_path):
    words = WORDS.copy()
    words[500:, SMALL.offset["wall_ns"]] += 2_000_000_000
    watched = Watched(tmp_path, words)
    assert watched.after(0.4995)[-1] == 500
    assert watched.after(1.9) == []
    assert watched.after(0.1015) == [501, 502]


@pytest.mark.parametrize(("asked", "given"), [(0.5, 0.5), (2.0, 2.0), (0.0, SLOWEST), (1e9, FASTEST), (-3.0, SLOWEST)])
def test_speed(asked, given, watched):
    watched.send(SPEED, asked)
    watched.after(0.0)
    watched.after(0.0505 / given)
    assert watched.player.speed == given
    assert SMALL.read(watched.newest(), "tick") == 51
    assert SMALL.read(watched.newest(), "speed") == given  # so that every page knows it


def test_a_speed_or_place_that_is_no_number_is_ignored(watched):
    watched.send(SPEED, float("nan"))
    watched.send(SEEK, float("nan"))
    watched.send(99)
    assert watched.after(0.0105) == list(range(2, 12))
    assert watched.player.speed == 1.0


def test_pause_stays_and_repeats_the_frame_as_paused(watched):
    watched.after(0.1)
    watched.send(PAUSE)
    assert watched.after(0.0) == [101]
    assert SMALL.read(watched.newest(), "state") == PAUSED
    assert watched.after(0.4 * IDLE_S) == []
    assert watched.after(0.7 * IDLE_S) == [101]
    assert watched.after(7.0) == [101]
    watched.send(PLAY)
    watched.after(0.0)
    assert watched.after(0.0025) == [102, 103]
    assert SMALL.read(watched.newest(), "state") == RUNNING


def test_step_shows_one_more_frame_and_pauses(watched):
    watched.after(0.0105)
    for tick in (12, 13, 14):
        watched.send(STEP)
        assert watched.after(0.0) == [tick]
        assert SMALL.read(watched.newest(), "state") == PAUSED
    watched.send(SEEK, 5.0)
    watched.send(STEP)
    assert watched.after(0.0) == [1000, 1000]


def test_seek_while_playing_goes_on_from_there(watched):
    watched.send(SEEK, 0.7)
    assert watched.after(0.0) == [701]
    assert SMALL.read(watched.newest(), "state") == RUNNING
    assert watched.after(0.0025) == [702, 703]
    watched.send(SEEK, 0.2)
    watched.after(0.0)
    assert watched.after(0.0015) == [202]


def test_seek_while_paused_shows_the_frame_there(watched):
    watched.send(PAUSE)
    for place, tick in [(0.5, 501), (0.0, 1), (-9.0, 1), (1e9, 1000), (0.1234, 124)]:
        watched.send(SEEK, place)
        assert watched.after(0.0)[-1] == tick
        assert SMALL.read(watched.newest(), "state") == PAUSED


def test_reset_is_seek_to_the_start(watched):
    watched.after(0.3)
    watched.send(RESET)
    assert watched.after(0.0) == [1]
    assert watched.after(0.0015) == [2]


def test_at_the_end_it_pauses_and_play_starts_again(watched):
    assert watched.after(50.0)[-2:] == [1000, 1000]
    assert SMALL.read(watched.newest(), "state") == PAUSED
    assert not watched.player.playing
    assert watched.player.position_s == watched.recording.duration_s
    watched.send(PLAY)
    assert watched.after(1.0) == [1]
    assert watched.after(0.0015) == [2]


def test_at_the_end_it_starts_again_if_it_loops(tmp_path):
    watched = Watched(tmp_path, loop=True)
    assert watched.after(0.9985)[-1] == 999
    assert watched.after(0.001) == [1000, 1]
    assert watched.after(0.0015) == [2]
    assert watched.player.playing


def test_every_frame_is_written_once_however_the_clock_moves(watched):
    rng = np.random.default_rng(11)
    seen = []
    while watched.player.playing:
        seen += watched.after(rng.uniform(0.0, 0.03))
    assert seen == [*range(2, 1001), 1000]


def test_no_more_is_written_than_the_ring_holds(tmp_path):
    watched = Watched(tmp_path, slots=64)
    assert watched.after(0.9)[-1] == 901
    assert watched.written.lost == 0


def test_it_can_begin_paused(tmp_path):
    watched = Watched(tmp_path, playing=False)
    assert watched.after(5.0) == [1]
    assert SMALL.read(watched.newest(), "state") == PAUSED


def test_a_recording_of_one_frame(tmp_path):
    watched = Watched(tmp_path, WORDS[:1])
    assert watched.after(0.1) == [1]
    watched.send(PLAY)
    watched.after(0.0)
    assert SMALL.read(watched.newest(), "tick") == 1


def test_the_thread_plays_to_the_end_and_stops(tmp_path):
    back = Recording(recording(tmp_path / "a.mcap", WORDS[:100]))
    ring, events = Ring.create(4096, SMALL.words), Ring.create(16, EVENTS.words)
    events.write(EVENTS.pack(kind=SEEK, value=0.5))  # before the player: not for it
    written = Follower(ring)
    with Player(back, ring, events) as player:
        assert ring.head >= 1  # a page that comes now has something to show
        events.write(EVENTS.pack(kind=SPEED, value=5.0))
        until(lambda: not player.playing)
    assert not player._thread.is_alive()
    ticks = [SMALL.read(words, "tick") for words in written.read()]
    assert ticks[:100] == list(range(1, 101))
    assert player.fault is None


def test_damage_stops_the_player_and_not_the_page(tmp_path):
    path = recording(tmp_path / "a.mcap", WORDS[:100])
    data = bytearray(path.read_bytes())
    with Recording(path) as sound:
        at = sound.contents.chunk_at[sound._chunks[3]] + 100
    data[at] ^= 0xFF
    path.write_bytes(data)
    with Player(Recording(path), Ring.create(256, SMALL.words), Ring.create(16, EVENTS.words)) as player:
        player._thread.join(timeout=WAIT_S)
    assert "is damaged at byte" in player.fault
    assert not player.playing


@pytest.mark.parametrize("missing", [("contact_mode", "gravity", "friction"), ("speed", "tick_us", "lateness")])
def test_a_recording_of_before_a_field_is_shown_without_it_and_with_zeros_in_what_every_frame_has(tmp_path, missing):
    before = Layout(tuple(f for f in FRAME if f.name not in missing), **SMALL.sizes)
    words = frames(5, before)
    old = Recording(recording(tmp_path / "a.mcap", words, before))
    now = shown_layout(old)
    assert set(now.offset) == set(before.offset) | {f.name for f in BASE}
    ring, events = Ring.create(16, now.words), Ring.create(16, EVENTS.words)
    player = Player(old, ring, events, clock=lambda: 0.0)
    player.advance(0.0)
    player.advance(1.0)
    shown = ring.newest()[1]
    for name in now.offset:
        values = np.ravel(now.read(shown, name))
        if name in missing:
            assert not values.any() or name == "speed"
        elif name not in ("state", "speed"):
            assert np.array_equal(values, np.ravel(before.read(words[-1], name))), name
    hello = shown_hello(old)
    assert hello["frame"] == now.describe()
    assert {plot["name"] for plot in hello["plots"]} == {"force", "energy", "contacts", "lateness"}  # a World's


def test_hands_of_before_are_read(tmp_path, monkeypatch):
    """Fields that were added to a hand's message since are zero."""
    now, then = Layout(HAND), Layout(HAND[: 1 + [f.name for f in HAND].index("energy_J")])
    sent = then.pack(sent_ns=5, hand=1, body=2, target=(1, 2, 3), stiffness_N_m=700.0, energy_J=0.5)
    path = tmp_path / "old.mcap"
    monkeypatch.setattr("palpate.record.writer.HAND", then.fields)
    writer = FrameWriter(path, hello_of())
    writer.add(frames(5))
    writer.hands(sent[None])
    writer.close(lost=0)
    with Recording(path) as old:
        (message,) = old.hands
    told = now.unpack(message)
    assert all(np.array_equal(told[f.name], then.read(sent, f.name)) for f in then.fields)
    assert not np.any(told["stiffer_N_m"])


def test_recordings_that_cannot_be_shown(tmp_path):
    other = Layout((*FRAME[:-1], Field("energy", "i", (), "levels")), **SMALL.sizes)  # a page knows another energy
    back = Recording(recording(tmp_path / "a.mcap", frames(5, other), other))
    ring, events = Ring.create(16, SMALL.words), Ring.create(16, EVENTS.words)
    with pytest.raises(RecordError, match=r"of palpate 0\.test, whose frames this version cannot show"):
        Player(back, ring, events)
    with pytest.raises(RecordError, match="holds no frames"):
        Player(Recording(recording(tmp_path / "b.mcap", frames(0))), ring, events)
    with pytest.raises(RecordError, match="the ring has 9"):
        Player(Recording(recording(tmp_path / "c.mcap", frames(5))), Ring.create(16, 9), events)
