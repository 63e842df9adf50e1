"""Plays a recording into a ring, as the servo would fill it: the page cannot tell the difference.

Frames come as they were recorded, all but `state`, which says whether the player runs or is paused.  They come at the
recorded pace times the speed, and while paused the frame at hand is repeated, as the servo does.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from palpate.frame import BASE, EVENT, PAUSE, PAUSED, PLAY, RESET, RUNNING, SEEK, SPEED, STEP, Layout
from palpate.record import RecordError
from palpate.record.reader import Recording
from palpate.runtime.hello import check_fields, replayed
from palpate.runtime.world.shown import describe_page
from palpate.servo.ring import Follower, Ring

PERIOD_S = 0.005  # how often frames are written
IDLE_S = 0.02  # how often a paused frame is repeated
SLOWEST, FASTEST = 0.01, 100.0


def shown_layout(recording: Recording) -> Layout:
    """Of the frames that a page gets: as recorded, and what every frame has today; what is not in the file is zero."""
    then = recording.layout
    more = tuple(field for field in BASE if field.name not in then.offset)
    now = Layout((*(field._replace(shape=then.shape[field.name]) for field in then.fields), *more), **then.sizes)
    try:
        check_fields(now)
    except ValueError as error:
        raise RecordError(f"{recording.path} is of palpate {recording.hello.get('palpate', '?')}, whose frames this "
                          f"version cannot show, but `palpate export` reads: {error}") from None  # fmt: skip
    return now


def shown_hello(recording: Recording) -> dict[str, Any]:
    """What a page is told of a recording; of one that lists no plots, a World's."""
    told, layout = recording.replay_hello(), shown_layout(recording)
    if "plots" not in told:
        told |= describe_page(told, set(recording.layout.offset))
    try:
        return replayed(told, layout)
    except ValueError as error:
        raise RecordError(f"{recording.path}: its scene description was changed: {error}") from None


class Player:
    """A thread that plays: `with Player(recording, frames, events): ...`.

    Events: PLAY (from the end: again from the start), PAUSE, STEP (one frame on, paused), SEEK [s], SPEED, RESET (to
    the start).  At the end it starts again if `loop`, else it pauses there.  `advance` is all it does; the thread
    calls it with the time.
    """

    def __init__(
        self, recording: Recording, frames: Ring, events: Ring, *, playing: bool = True, loop: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        if recording.count == 0:
            raise RecordError(f"{recording.path} holds no frames")
        self.layout = shown_layout(recording)
        if frames.words != self.layout.words:
            raise RecordError(f"{recording.path} has frames of {self.layout.words} words, "
                              f"the ring has {frames.words}")  # fmt: skip
        self.recording, self.frames, self.loop = recording, frames, loop
        self._to = np.empty(recording.layout.words, dtype=np.int64)  # where each recorded word goes
        for name, begin in recording.layout.offset.items():
            n = recording.layout.length[name]
            self._to[begin : begin + n] = self.layout.offset[name] + np.arange(n)
        self.playing, self.speed = playing, 1.0
        self.index = 0  # the frame that is shown
        self.position_s = 0.0  # in the recording; between the times of frames while playing
        self.fault: str | None = None  # why it stopped, if the file is damaged
        self._state, self._speed = self.layout.offset["state"], self.layout.offset["speed"]
        self._events, self._event = Follower(events), Layout(EVENT)
        self._clock, self._now, self._written_s = clock, 0.0, -math.inf
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="player", daemon=True)

    def start(self) -> Player:
        """Begin: the first frame is in the ring when this returns."""
        self._now = self._clock()
        self._write(self.index, self.index)
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the thread; the recording and the rings stay open."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Player:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            while not self._ended.wait(PERIOD_S):
                self.advance(self._clock())
        except RecordError as error:
            self.fault, self.playing = str(error), False

    def advance(self, now_s: float) -> None:
        """Obey the events since the last call and write the frames that are due at `now_s` [s] of the clock."""
        passed_s, self._now = max(now_s - self._now, 0.0), now_s
        if self.playing:
            self._play(passed_s * self.speed)
        for message in self._events.read():
            self._obey(self._event.read(message, "kind"), self._event.read(message, "value"))
        if not self.playing and now_s - self._written_s >= IDLE_S:
            self._write(self.index, self.index)

    def _play(self, passed_s: float) -> None:
        self.position_s += passed_s
        at_end = self.position_s >= self.recording.duration_s
        last = self.recording.count - 1 if at_end else self.recording.index_at(self.position_s)
        self._write(self.index + 1, last)
        if at_end:
            self.playing = self.loop
            self._show(0 if self.loop else last, 0.0 if self.loop else self.recording.duration_s)

    def _obey(self, kind: int, value: float) -> None:
        if kind == PLAY and not self.playing:
            self.playing = True
            if self.index == self.recording.count - 1:
                self._show(0, 0.0)
        elif kind == PAUSE and self.playing:
            self.playing = False
            self._show(self.index, self.recording.time_at(self.index))
        elif kind == STEP:
            self.playing = False
            index = min(self.index + 1, self.recording.count - 1)
            self._show(index, self.recording.time_at(index))
        elif kind == RESET:
            self._show(0, 0.0)
        elif kind == SEEK and not math.isnan(value):
            position_s = min(max(value, 0.0), self.recording.duration_s)
            self._show(self.recording.index_at(position_s), position_s)
        elif kind == SPEED and not math.isnan(value):
            self.speed = min(max(value, SLOWEST), FASTEST)

    def _show(self, index: int, position_s: float) -> None:
        self.position_s = position_s
        self._write(index, index)

    def _write(self, first: int, last: int) -> None:
        """Frames first..last, if any, into the ring; if they are more than it holds, only the last of them."""
        if first > last:
            return
        for index in range(max(first, last - self.frames.slots // 2), last + 1):
            words = np.zeros(self.layout.words, dtype=np.int64)
            words[self._to] = self.recording.frame(index)
            words[self._state] = RUNNING if self.playing else PAUSED
            words.view(np.float64)[self._speed] = self.speed  # of the replay, as the page asked for it
            self.frames.write(words)
        self.index, self._written_s = last, self._now
