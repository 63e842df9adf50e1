"""A session: a scene in real time, with the servo thread, devices, page, recorder, and someone who watches them all.

Nothing that page or recorder do can delay a tick: they only share memory with the servo.  If the page dies it is
started again; if the recorder dies the session goes on and says so; if this process dies they both end by themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.frame import HANDS, PAUSE, PLAY, RESET, STEP
from palpate.haptics.devices.mailbox import Mailbox, take_force_away
from palpate.haptics.devices.pointer import Pointer
from palpate.haptics.devices.protocol import Device
from palpate.haptics.spring import PerAxis, spring_fields
from palpate.jit import warm
from palpate.jit.clock import CLOCK
from palpate.runtime.children import Child, ChildError
from palpate.runtime.describe import STIFFNESS_N_M, STIFFNESS_NM_RAD
from palpate.runtime.edits import Edits
from palpate.runtime.ending import Ending
from palpate.runtime.folders import sweep
from palpate.runtime.loop import restart, servo_loop, simulate
from palpate.runtime.meshes import MeshFiles
from palpate.runtime.recording import finish_recorder, start_recorder, tell_mark
from palpate.runtime.report import SessionReport as SessionReport
from palpate.runtime.saying import Say, Saying
from palpate.runtime.state import SPIN_NS, STOP, Engine
from palpate.runtime.trials import Trials
from palpate.runtime.watching import Watching
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.reach import Reach, Reaching
    from palpate.runtime.paging import Paging

SPIN_US = 80  # the end of each sleep is spun, because sleeping threads wake late by about this much
FIFO_PRIORITY = 80
BATCH = 250  # ticks of simulated time between two looks at the frames
SMOOTH_S = 0.02  # the pointer's path between its 60 to 120 samples a second


class Session:
    """Run a scene in real time: `with Session(scene) as session: session.wait(5)`.

    devices      open devices beside the page's pointer, each with how it reaches into the world
    host         of the page; its token is in `url`, and whoever started it needs none on this machine
    certificate  files of a certificate and its key: the page comes by https
    token        of the page, so that another session's pages find this one; made if empty
    may_leave    a page may ask for another scene: then `leaving` is set, and `next_scene` is it
    shared       other processes than page and recorder will read the rings of `engine`

    A reset goes back to the start, the world as it was when the session began, all of it but for bodies that were
    placed and plans that were put since; it keeps the settings: speed, gravity, friction, what a touch does to the
    plan.  The end of the session gives the world its own gravity and friction back.
    """

    def __init__(
        self,
        scene: Scene,
        devices: Sequence[tuple[Device, Reach]] = (),
        page: bool = False,
        record: Path | None = None,
        host: str = "127.0.0.1",
        port: int = 8642,
        playing: bool = True,
        fifo: bool = True,
        say: Say = lambda text: None,
        certificate: tuple[Path, Path] | None = None,
        token: str = "",
        may_leave: bool = False,
        shared: bool = False,
    ) -> None:
        self.scene, self._say = scene, Saying(say)
        self._devices = [device for device, _ in devices]
        self._mailboxes: list[Mailbox] = []
        self.reaching = [self._reaching(device, reach) for device, reach in devices]
        self.engine = Engine(
            scene.world, scene.plan, Pointer().spec, SMOOTH_S, devices=self.reaching, editing=scene.editing,
            parked=scene.spares, shared=shared or page or record is not None, task=scene.task,
        )  # fmt: skip
        self._hands_in, self._events_in = self.engine.hands, self.engine.events
        self.edit = Edits(scene, self.engine, self._event, lambda number: self._is_pending(number))
        self.meshes = MeshFiles(scene.model)  # for page and recorder
        self.trials = Trials()  # of the scene's task
        self.report = SessionReport()
        self._want_page, self.record, self._where = page, record, (host, port, certificate, token)
        self.may_leave, self.leaving = may_leave, threading.Event()
        self.next_scene: Scene | None = None
        self._playing, self._want_fifo, self._begun = playing, fifo, False
        self.page: Paging | None = None
        self.recorder: Child | None = None
        self._began = 0.0  # monotonic clock [s], 0: not in real time
        self._writing = threading.Lock()  # of the rings: a desk, a program and its threads may all send
        self._stopping, self._scheduled = threading.Event(), threading.Event()
        self._servo = threading.Thread(target=self._run_servo, name="servo", daemon=True)
        self.watching = Watching(self, self._devices, self._mailboxes, self._stopping)

    def _reaching(self, device: Device, reach: Reach) -> Reaching:
        from palpate.haptics.reach import Reaching

        in_tick = getattr(device, "in_tick", None)
        if in_tick is None:
            self._mailboxes.append(Mailbox(device))
            in_tick = self._mailboxes[-1].in_tick
        return Reaching(self.scene.world, device.spec, in_tick, reach, real_time=True)

    @property
    def url(self) -> str:
        """Where the page is; empty if there is none."""
        return self.page.url if self.page else ""

    def start(self) -> Session:
        """Compile if need be, start all that does not run yet, and return when the servo ticks and the page listens."""
        if self.is_running:
            return self
        self._check_world()
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self) -> None:
        sweep()
        if self._want_page:
            from palpate.runtime.paging import Paging

            self.page = Paging(self, *self._where)
            self.page.start()  # which takes its process a while
        self._warm()
        self._begin(real_time=True)
        if self.record is not None:
            self.recorder = start_recorder(self.scene, self.engine, self.meshes, self.record, self._want_fifo)
        if self.page is not None:
            self.page.listening()
        self.engine.servo.control[SPIN_NS] = SPIN_US * 1000
        self._began = time.monotonic()
        self.scene.world.in_session = True
        for mailbox in self._mailboxes:
            mailbox.start()
        self._servo.start()
        self.watching.start()
        self._scheduled.wait()
        while self.engine.frames.head == 0 and self._servo.is_alive():  # so that frame() has something to show
            time.sleep(0.001)
        self._learn_to_touch()
        if self._playing:
            self.play()

    def stop(self) -> SessionReport:
        """Stop the servo within a few ms, let the recorder finish, end the page."""
        if self._stopping.is_set():
            return self.report
        self._stopping.set()
        self.engine.servo.control[STOP] = 1
        with contextlib.ExitStack() as last:  # from below; what fails, or is interrupted, does not keep the rest
            last.callback(self._say.finish)
            last.callback(self._close)
            last.callback(self.meshes.remove)
            if self.page is not None:
                last.callback(self.page.end)
            last.callback(self._finish_recording)
            last.callback(self._note_report)
            last.callback(self.watching.join)
            last.callback(take_force_away, self._devices, self._mailboxes)
            for mailbox in self._mailboxes:
                last.callback(mailbox.stop)
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
        if self._began:
            self.scene.world.in_session = False
        if not self._servo.is_alive():  # else a second Ctrl-C came before it had stopped, and it still has the memory
            self.engine.close()

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
        self._check_world()
        if self._mailboxes:
            names = ", ".join(box.device.spec.name for box in self._mailboxes)
            raise ValueError(f"simulated time needs devices that live in the tick; {names} runs by the clock")
        self._begin(real_time=False)
        nobody = np.zeros((0, self.engine.hand_layout.words), dtype=np.int64)
        ticks, done = round(seconds * self.engine.rate_hz), 0
        while done < ticks and (new := simulate(self.engine.address, min(BATCH, ticks - done), nobody)):
            done += new
            self.edit.collect()
            self.trials.collect(self)
        if done < ticks:
            self.note(f"the world stopped: {self.scene.world.fault}")
        self._note_report()
        self.report.periods += done
        self.report.seconds += seconds
        return self.report

    @property
    def is_running(self) -> bool:
        """Whether it runs in real time."""
        return self._servo.is_alive() and not self._stopping.is_set()

    def _check_world(self) -> None:
        if self._stopping.is_set():
            raise ValueError("this session has ended: make another session")
        if self.scene.world.in_session:
            raise ValueError("another session runs on this world: stop it first")
        if not self.engine.is_current:
            raise ValueError("bodies were added to this world or removed since: make another session")

    def _begin(self, real_time: bool) -> None:
        """Where everything is now is the start, the first time; in real time, begin there."""
        for each in self.reaching:
            each.arrays.real_time = real_time
        if not self._begun:
            self.engine.note_start()
        if real_time or not self._begun:
            restart(self.engine.address)
        self._begun = True

    def __enter__(self) -> Session:
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

    def _event(self, kind: int, value: float = 0.0, **fields: Any) -> int:
        """Its number is for `_is_pending`."""
        with self._writing:
            self._events_in.write(self.engine.event_layout.pack(kind=kind, value=value, **fields))
            return self._events_in.head

    def _is_pending(self, number: int) -> bool:
        """Whether the servo has not yet taken that event."""
        return bool(number >= self.engine.servo.next_event)

    def frame(self) -> dict[str, Any]:
        """The newest frame as a dictionary of its fields."""
        if self._stopping.is_set():
            raise RuntimeError("the session has ended; its recording, if there is one, has the frames")
        newest = self.engine.frames.newest()
        if newest is None:
            raise RuntimeError("no frame yet: the session has not been started")
        return self.engine.frame_layout.unpack(newest[1])

    def hold(
        self,
        body: str,
        at_body: Any,
        target: Any,
        stiffness_N_m: PerAxis = STIFFNESS_N_M,
        orientation: Rotation | None = None,
        stiffness_Nm_rad: float = STIFFNESS_NM_RAD,
        hand: int = 0,
        damping_Ns_m: PerAxis | None = None,
    ) -> None:
        """What the page does while someone drags: repeat at least every 100 ms, or the hand lets go.

        at_body [m] in body axes, target [m] in the world; with an orientation the body is turned to it as well.
        Stiffness and damping are one number, or one for each world axis; damping None: critical.
        hand: 0 or 1, each holds one body
        """
        self._hand(hand, body=self.scene.model.body(body), at_body=at_body, target=target,
                   **spring_fields(stiffness_N_m, damping_Ns_m),
                   orientation=orientation.wxyz if orientation else (0, 0, 0, 0),
                   stiffness_Nm_rad=stiffness_Nm_rad if orientation else 0.0)  # fmt: skip

    def let_go(self, hand: int = 0) -> None:
        """Open a hand."""
        self._hand(hand)

    def _hand(self, hand: int, **fields: Any) -> None:
        if hand not in range(HANDS):
            raise ValueError(f"there are hands 0 .. {HANDS - 1}, no hand {hand!r}")
        with self._writing:
            self._hands_in.write(self.engine.hand_layout.pack(sent_ns=time.monotonic_ns(), hand=hand, **fields))

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
        if self._want_fifo:
            try:  # of this thread only
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
                self.report.fifo = True
            except (PermissionError, AttributeError):
                self.note("SCHED_FIFO is not permitted: ticks may be late under load")
        if CLOCK == "python":
            self.note("the loop is timed by Python's clock: best effort, whatever else Python does delays it")
        self._scheduled.set()
        self.report.periods = self._loop()

    def _warm(self) -> None:
        warm(servo_loop)

    def _learn_to_touch(self) -> None:
        """The hands of a page learn to press while the scene is there already."""
        if self._want_page:
            threading.Thread(target=self.engine.learn_to_touch, name="touch", daemon=True).start()

    def _loop(self) -> int:
        return int(servo_loop(self.engine.address, 0))

    def note(self, text: str) -> None:
        """Into the report, and said; never fails, and never waits."""
        self.report.notes.append(text)
        self._say(text)

    def _note_report(self) -> None:
        servo = self.engine.servo
        self.report.seconds = time.monotonic() - self._began if self._began else self.report.seconds
        self.report.note(servo.counters.tolist(), servo.lateness.tolist(), [each.report() for each in self.reaching])
