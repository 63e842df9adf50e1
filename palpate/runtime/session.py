"""A session: a simulation in real time, with servo thread, devices, page, recorder, and someone who watches them all.

Nothing that page or recorder do can delay a tick: they only share memory with the servo.  If the page dies it is
started again; if the recorder dies the session goes on and says so; if this process dies they both end by themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from palpate.frame import PAUSE, PLAY, RESET, STEP
from palpate.haptics.devices.mailbox import Mailbox, in_tick_of, take_force_away
from palpate.haptics.devices.protocol import Device
from palpate.jit.clock import CLOCK
from palpate.runtime.children import Child, ChildError
from palpate.runtime.ending import Ending
from palpate.runtime.folders import sweep
from palpate.runtime.hello import hello_of
from palpate.runtime.record.process import finish_recorder, start_recorder, tell_mark
from palpate.runtime.report import SessionReport as SessionReport
from palpate.runtime.saying import Say, Saying
from palpate.runtime.watch import Watching
from palpate.servo.loop import SPIN_NS
from palpate.servo.run import BATCH
from palpate.servo.simulation import Simulation

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.reach import DeviceReport, Reach
    from palpate.runtime.page.early import EarlyPage
    from palpate.runtime.page.process import Paging

SPIN_US = 80  # the end of each sleep is spun, because sleeping threads wake late by about this much
FIFO_PRIORITY = 80


@dataclass(frozen=True)
class Options:
    """Of a session.

    page, host, port, certificate, token   a page, and where: its token is in `url`, and whoever started it needs none
                 on this machine; files of a certificate and its key: it comes by https; a token that is given lets
                 another session's pages find this one
    early        a page that is there already, which the session takes over
    record       every frame into this file
    playing      from the start on;  fifo: ask for real-time scheduling;  say: what there is to say goes there
    may_leave    a page may ask for another scene: then `leaving` is set, and `next_scene` is it
    answers      what pages may request, and then nothing else: a program that leads whoever sits there
    tells        what of the hello pages are told; a recording has all of it
    """

    page: bool = False
    record: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8642
    certificate: tuple[Path, Path] | None = None
    token: str = ""
    early: EarlyPage | None = None
    playing: bool = True
    fifo: bool = True
    say: Say = lambda text: None
    may_leave: bool = False
    answers: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] | None = None
    tells: Callable[[dict[str, Any]], dict[str, Any]] | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other processes will read frames, and write hands and events."""
        return self.page or self.record is not None


class Session:
    """Run a simulation in real time: `with Session(simulation) as session: session.wait(5)`; options: of Options.

    devices  open ones for a simulation that takes some (Simulation.take_device), each with how it reaches into it

    A reset goes back to the start, as it was when the session began; it keeps the settings.
    """

    def __init__(self, simulation: Simulation, devices: Sequence[tuple[Device, Reach]] = (), **options: Any) -> None:
        self.simulation, self.options = simulation, Options(**options)
        self._say = Saying(self.options.say)
        self.devices: list[Device] = []  # open ones, and
        self.mailboxes: list[Mailbox] = []  # those of them that do not live in the tick
        for device, reach in devices:
            simulation.take_device(device, in_tick_of(device, self.mailboxes), reach)
            self.devices.append(device)
        self._hands_in, self._events_in = simulation.hands, simulation.events
        self.owned: list[Device] = []  # which close with it
        self.report = SessionReport()
        self.record = self.options.record
        self.may_leave, self.leaving = self.options.may_leave, threading.Event()
        self.next_scene: Any = None
        self._begun = False
        self.page: Paging | None = None
        self.recorder: Child | None = None
        self._began = 0.0  # monotonic clock [s], 0: not in real time
        self._writing = threading.Lock()  # of the rings: a desk, a program and its threads may all send
        self._stopping, self._scheduled = threading.Event(), threading.Event()
        self._servo = threading.Thread(target=self._run_servo, name="servo", daemon=True)
        self.watching = Watching(self, self._stopping)

    # --- what a kind of simulation adds

    def hello(self) -> dict[str, Any]:
        """What a page or a recording needs to know before the first frame."""
        return hello_of(self.simulation)

    def page_hello(self) -> dict[str, Any]:
        """What of it pages are told."""
        return self.options.tells(self.hello()) if self.options.tells is not None else self.hello()

    def mesh_files(self) -> list[str]:
        """Of what the hello names by number."""
        return []

    def answers(self) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """What pages may request beside what every session answers (page/requests.py)."""
        return {}

    def collect(self) -> None:
        """Called all the time, by a thread of its own: look at the newest frames."""

    def faults(self) -> list[str]:
        """Of each device why it has no force, empty: it has."""
        return [report.fault for report in self.device_reports()]

    def device_reports(self) -> list[DeviceReport]:
        """Of each device how it went."""
        return self.simulation.device_reports()

    def _check(self) -> None:
        """Whether it can start; ValueError."""
        if self._stopping.is_set():
            raise ValueError("this session has ended: make another session")

    def _begin(self, real_time: bool) -> None:
        """At the start, the first time; in real time always."""
        if real_time or not self._begun:
            self.simulation.restart()
        self._begun = True

    def _clear_away(self) -> None:
        """Files that page and recorder had."""

    def _end(self) -> None:
        """The last thing; nothing runs any more."""
        self.simulation.close()

    # --- from start to end

    @property
    def url(self) -> str:
        """Where the page is; empty if there is none."""
        return self.page.url if self.page else ""

    def start(self) -> Self:
        """Compile if need be, start all that does not run yet, and return when the servo ticks and the page listens."""
        if self.is_running:
            return self
        self._check()
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self) -> None:
        sweep()
        options = self.options
        if options.page:
            from palpate.runtime.page.process import Paging, Where

            where = Where(options.host, options.port, options.certificate, options.token)
            self.page = Paging(self, where, options.early)
            self.page.start()  # which takes its process a while
        self.simulation.warm()
        self._begin(real_time=True)
        if self.record is not None:
            self.recorder = start_recorder(self, self.record, options.fifo)
        if self.page is not None:
            self.page.listening()
        self.simulation.beat.control[SPIN_NS] = SPIN_US * 1000
        self._began = time.monotonic()
        for mailbox in self.mailboxes:
            mailbox.start()
        for beside in self.simulation.beside:
            beside.start()
        self._servo.start()
        self.watching.start()
        self._scheduled.wait()
        while self.simulation.frames.head == 0 and self._servo.is_alive():  # so that frame() has something to show
            time.sleep(0.001)
        if options.page:
            threading.Thread(target=self.simulation.warm_later, name="later", daemon=True).start()
        if options.playing:
            self.play()

    def stop(self) -> SessionReport:
        """Stop the servo within a few ms, let the recorder finish, end the page."""
        if self._stopping.is_set():
            return self.report
        self._stopping.set()
        self.simulation.stop()
        with contextlib.ExitStack() as last:  # from below; what fails, or is interrupted, does not keep the rest
            last.callback(self._say.finish)
            last.callback(self._close)
            last.callback(self._clear_away)
            if self.page is not None:
                last.callback(self.page.end)
            last.callback(self._finish_recording)
            last.callback(self._note_report)
            last.callback(self.watching.join)
            for device in self.owned:
                last.callback(device.close)
            last.callback(take_force_away, self.devices, self.mailboxes)
            for mailbox in self.mailboxes:
                last.callback(mailbox.stop)
            for beside in self.simulation.beside:
                last.callback(beside.stop)
            if self._servo.is_alive():
                self._servo.join()
        return self.report

    def _finish_recording(self) -> None:
        if self.recorder is not None:
            try:
                self._say(finish_recorder(self.recorder, self.record))
            except ChildError as error:
                self.note(f"recording: {error}")

    def _close(self) -> None:
        if not self._servo.is_alive():  # else a second Ctrl-C came before it had stopped, and it still has the memory
            self._end()

    def run(self, seconds: float) -> SessionReport:
        """Start, if it does not run already, let it run for a while [s], and stop."""
        with self:
            self.wait(seconds)
        return self.report

    def simulate(self, seconds: float) -> SessionReport:
        """The same ticks in simulated time, as fast as they go and the same every time; a second call goes on.

        Without page and recorder, and only with devices that live in the tick, such as simulated ones.
        """
        if self.is_running:
            raise ValueError("this session runs in real time; simulated time needs one that does not (page=False)")
        self._check()
        if self.mailboxes:
            names = ", ".join(box.device.spec.name for box in self.mailboxes)
            raise ValueError(f"simulated time needs devices that live in the tick; {names} runs by the clock")
        self._begin(real_time=False)
        ticks, done = round(seconds * self.simulation.rate_hz), 0
        while done < ticks and (new := self.simulation.simulate(min(BATCH, ticks - done))):
            done += new
            self.collect()
        if done < ticks:
            self.note(self.simulation.why_stopped())
        self._note_report()
        self.report.periods += done
        self.report.seconds += seconds
        return self.report

    @property
    def is_running(self) -> bool:
        """Whether it runs in real time."""
        return self._servo.is_alive() and not self._stopping.is_set()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait(self, seconds: float | None = None) -> None:
        """Let it run for a while [s]; without a time until it is stopped, or by Ctrl-C, SIGTERM, a closed terminal."""
        if seconds is not None:
            self._stopping.wait(seconds)
            return
        with contextlib.suppress(KeyboardInterrupt), Ending(None) as ending:
            ending.wait(self._stopping)

    # --- events, and what is going on ---

    def play(self) -> None:
        self._event(PLAY)

    def pause(self) -> None:
        self._event(PAUSE)

    def step(self) -> None:
        """One tick, paused."""
        self._event(STEP)

    def reset(self) -> None:
        self._event(RESET)

    def send(self, event: str, value: float = 0.0) -> int:
        """One of the simulation's own events."""
        return self._event(self.simulation.kind_of(event), value)

    def _event(self, kind: int, value: float = 0.0, **fields: Any) -> int:
        """Its number is for `_is_pending`."""
        with self._writing:
            self._events_in.write(self.simulation.event_layout.pack(kind=kind, value=value, **fields))
            return self._events_in.head

    def _is_pending(self, number: int) -> bool:
        """Whether the servo has not yet taken that event."""
        return bool(number >= self.simulation.beat.next_event)

    def frame(self) -> dict[str, Any]:
        """The newest frame as a dictionary of its fields."""
        if self._stopping.is_set():
            raise RuntimeError("the session has ended; its recording, if there is one, has the frames")
        newest = self.simulation.frames.newest()
        if newest is None:
            raise RuntimeError("no frame yet: the session has not been started")
        return self.simulation.layout.unpack(newest[1])

    def mark(self, text: str, data: Any = None, *, arrived_ns: int | None = None) -> None:
        """A marker into the recording: a word, and what JSON can hold, up to 32 levels and 64 kB (record/marks.py).

        arrived_ns  when it came [ns of the monotonic clock]; this moment, unless given
        """
        recorder = self.recorder  # another thread forgets it when it ends
        if recorder is None:
            raise ValueError("nothing is being recorded: start with --record FILE")
        tell_mark(recorder, str(text), data, arrived_ns)

    # --- threads ---

    def _run_servo(self) -> None:
        if self.options.fifo:
            try:  # of this thread only
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
                self.report.fifo = True
            except (PermissionError, AttributeError):
                self.note("SCHED_FIFO is not permitted: ticks may be late under load")
        if CLOCK == "python":
            self.note("the loop is timed by Python's clock: best effort, whatever else Python does delays it")
        self._scheduled.set()
        self.report.periods = self.simulation.loop()

    def note(self, text: str) -> None:
        """Into the report, and said; never fails, and never waits."""
        self.report.notes.append(text)
        self._say(text)

    def _note_report(self) -> None:
        head = self.simulation.head
        self.report.seconds = time.monotonic() - self._began if self._began else self.report.seconds
        self.report.note(head.counters.tolist(), head.lateness.tolist(), self.device_reports())
