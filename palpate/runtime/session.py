"""A session: a scene in real time, with the servo thread, devices, page, recorder, and someone who watches them all.

Nothing that page or recorder do can delay a tick: they only share memory with the servo.  If the page dies it is
started again; if the recorder dies the session goes on and says so; if this process dies they both end by themselves.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.conventions import WORLD
from palpate.frame import COUNTERS, FAULT, HANDS, PAUSE, PLAY, RESET, STEP
from palpate.haptics.devices.mailbox import Mailbox
from palpate.haptics.devices.pointer import Pointer
from palpate.haptics.devices.protocol import Device
from palpate.haptics.reach_tables import REAL_TIME
from palpate.haptics.spring import PerAxis, spring_fields
from palpate.jit import warm
from palpate.runtime.children import Child, ChildError
from palpate.runtime.describe import STIFFNESS_N_M, STIFFNESS_NM_RAD, describe
from palpate.runtime.edits import Edits
from palpate.runtime.loop import restart, servo_loop, simulate
from palpate.runtime.meshes import MeshFiles
from palpate.runtime.report import SessionReport as SessionReport
from palpate.runtime.state import HEARTBEAT_NS, SPIN_NS, STATE, STOP, WATCHDOG, Engine
from palpate.runtime.trials import Trials
from palpate.scenes.scene import Scene
from palpate.spatial.placement import Rotation

if TYPE_CHECKING:  # rendering loads with the first device
    from palpate.haptics.reach import Reach, Reaching
    from palpate.runtime.paging import Paging

SPIN_US = 80  # the end of each sleep is spun, because sleeping threads wake late by about this much
WATCH_S = 0.01
SILENT_S = 0.05  # a loop silent for this long has the watchdog count it
FIFO_PRIORITY = 80
BATCH = 250  # ticks of simulated time between two looks at the frames
SMOOTH_S = 0.02  # the pointer's path between its 60 to 120 samples a second
MOST_RESTARTS, STEADY_S = 5, 10.0  # of a page, in a row, none of which lived that long


class Session:
    """Run a scene in real time: `with Session(scene) as session: session.wait(5)`.

    devices      open devices beside the page's pointer, each with how it reaches into the world
    host         of the page; one that others can reach gives it a token, which is in `url`
    certificate  files of a certificate and its key: the page comes by https
    token        of a page that others can reach, so that another session's pages find this one; made if empty
    may_leave    a page may ask for another scene: then `leaving` is set, and `next_scene` is it

    A reset goes back to the start of the scene and keeps the settings: speed, gravity, friction, what a touch does to
    the plan.  The end of the session gives the world its own gravity and friction back.
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
        say: Callable[[str], None] = lambda text: None,
        certificate: tuple[Path, Path] | None = None,
        token: str = "",
        may_leave: bool = False,
    ) -> None:
        self.scene, self.say = scene, say
        self._devices = [device for device, _ in devices]
        self._mailboxes: list[Mailbox] = []
        self.reaching = [self._reaching(device, reach) for device, reach in devices]
        self.engine = Engine(
            scene.world,
            scene.plan,
            Pointer().spec,
            SMOOTH_S,
            devices=self.reaching,
            editing=scene.editing,
            task=scene.task,
        )
        self.edit = Edits(scene, self.engine, self._event)
        self.meshes = MeshFiles(scene.model)  # for page and recorder
        self.trials = Trials()  # of the scene's task
        self.report = SessionReport()
        self._want_page, self._record, self._where = page, record, (host, port, certificate, token)
        self.may_leave, self.leaving = may_leave, threading.Event()
        self.next_scene: Scene | None = None
        self._playing, self._want_fifo = playing, fifo
        self.page: Paging | None = None
        self.recorder: Child | None = None
        self._faults = [False] * len(self.reaching)
        self._writing = threading.Lock()  # of the rings: a desk, a program and its threads may all send
        self._stopping, self._scheduled = threading.Event(), threading.Event()
        self._servo = threading.Thread(target=self._run_servo, name="servo", daemon=True)
        self._watch = threading.Thread(target=self._run_watch, name="watch", daemon=True)
        self._tend = threading.Thread(target=self._run_tend, name="tend", daemon=True)

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

    # --- start and stop ---

    def start(self) -> Session:
        """Compile if need be, start everything, and return when the servo ticks and the page listens."""
        try:
            if self._want_page:
                from palpate.runtime.paging import Paging

                self.page = Paging(self, *self._where)
                self.page.start()  # which takes its process a while
            self._warm()
            restart(self.engine.address)
            if self._record is not None:
                self._start_recorder(self._record)
            if self.page is not None:
                self.page.listening()
        except BaseException:
            self.stop()
            raise
        self.engine.servo.control[SPIN_NS] = SPIN_US * 1000
        self._began = time.monotonic()
        for mailbox in self._mailboxes:
            mailbox.start()
        self._servo.start()
        self._watch.start()
        self._tend.start()
        self._scheduled.wait()
        while self.engine.frames.head == 0 and self._servo.is_alive():  # so that frame() has something to show
            time.sleep(0.001)
        if self._playing:
            self.play()
        return self

    def stop(self) -> SessionReport:
        """Stop the servo within a few ms, let the recorder finish, end the page."""
        if self._stopping.is_set():
            return self.report
        self._stopping.set()
        self.engine.servo.control[STOP] = 1
        if self._servo.is_alive():
            self._servo.join()
            self._watch.join()
            self._tend.join()
        for mailbox in self._mailboxes:
            mailbox.stop()
        self._take_force_away()
        self._note_report()
        if self.recorder is not None:
            self.recorder.ask_to_end()
            try:
                done = self.recorder.answer("done", 30.0)
                self.say(f"recorded {done['frames']} frames, {done['lost']} lost, in {self._record}")
            except ChildError as error:
                self._note(f"recording: {error}")
            self.recorder.end()
        if self.page is not None:
            self.page.end()
        self.meshes.remove()
        self._give_back()
        self.engine.close()
        return self.report

    def run(self, seconds: float) -> SessionReport:
        """Start, let it run for a while [s], and stop."""
        with self:
            self.wait(seconds)
        return self.report

    def simulate(self, seconds: float) -> SessionReport:
        """The same ticks in simulated time, as fast as they go and the same every time; from the start of the scene.

        Without page and recorder, and only with devices that live in the tick, such as simulated ones.
        """
        if self._mailboxes:
            names = ", ".join(box.device.spec.name for box in self._mailboxes)
            raise ValueError(f"simulated time needs devices that live in the tick; {names} runs by the clock")
        for each in self.reaching:
            each.arrays.integer[REAL_TIME] = 0
        restart(self.engine.address)
        nobody = np.zeros((0, self.engine.hand_layout.words), dtype=np.int64)
        ticks, done = round(seconds * self.engine.rate_hz), 0
        while done < ticks and (new := simulate(self.engine.address, min(BATCH, ticks - done), nobody)):
            done += new
            self.edit.collect()
            self.trials.collect(self)
        self.report.periods = done
        if done < ticks:
            self._note(f"the world stopped: {self.scene.world.fault}")
        self._note_report()
        self.report.seconds = seconds
        return self.report

    def __enter__(self) -> Session:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def wait(self, seconds: float | None = None) -> None:
        """Let it run for a while [s], or until stopped."""
        self._stopping.wait(seconds)

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

    def _event(self, kind: int, value: float = 0.0, **fields: Any) -> None:
        with self._writing:
            self.engine.events.write(self.engine.event_layout.pack(kind=kind, value=value, **fields))

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
            self.engine.hands.write(self.engine.hand_layout.pack(sent_ns=time.monotonic_ns(), hand=hand, **fields))

    def mark(self, text: str, data: Any = None) -> None:
        """A marker into the recording, at this moment: a word, and whatever JSON can hold."""
        if self.recorder is None:
            raise ValueError("nothing is being recorded: start with --record FILE")
        try:
            json.dumps([text, data], allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            raise ValueError(f"a mark holds what JSON can hold: {error}") from None
        self.recorder.tell({"mark": {"text": text, "data": data, "wall_ns": time.monotonic_ns()}})

    # --- threads ---

    def _run_servo(self) -> None:
        if self._want_fifo:
            try:  # of this thread only
                os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
                self.report.fifo = True
            except (PermissionError, AttributeError):
                self._note("SCHED_FIFO is not permitted: ticks may be late under load")
        self._scheduled.set()
        self.report.periods = self._loop()

    def _warm(self) -> None:
        warm(servo_loop)

    def _loop(self) -> int:
        return int(servo_loop(self.engine.address, 0))

    def _run_watch(self) -> None:
        """Force, edits and faults, all the time: nothing here may take long."""
        control, silent, stopped = self.engine.servo.control, False, False
        while not self._stopping.wait(WATCH_S):
            since = time.monotonic_ns() - int(control[HEARTBEAT_NS])
            if since > SILENT_S * 1e9 and not silent and control[HEARTBEAT_NS]:
                control[WATCHDOG] += 1
            silent = since > SILENT_S * 1e9
            if silent:
                self._take_force_away()
            self._note_faults()
            self.trials.collect(self)
            self.edit.collect()
            fault = bool(self.engine.servo.integer[STATE] == FAULT)
            if fault and not stopped:
                self._note(f"the world stopped: {self.scene.world.fault}; a reset starts it again")
            stopped = fault

    def _run_tend(self) -> None:
        """The children: a page that ended is started again, a recorder is not."""
        restarts, since = 0, time.monotonic()
        while not self._stopping.wait(WATCH_S):
            if self.page is not None and not self.page.alive and restarts < MOST_RESTARTS:
                restarts = restarts + 1 if time.monotonic() - since < STEADY_S else 1
                since = time.monotonic()
                self._note("the page ended and was started again")
                try:
                    self.page.start()
                    self.page.listening()
                except ChildError as error:
                    self._note(f"the page: {error}")
            if self.recorder is not None and not self.recorder.alive:
                try:
                    self.recorder.answer("done", 1.0)
                    why = "it was asked to"
                except ChildError as error:
                    why = str(error)
                self._note(f"the recorder ended ({why}); the servo goes on, nothing more is recorded "
                           f"(`palpate recover {self._record}` reads what it left)")  # fmt: skip
                self.recorder.end()
                self.recorder = None

    def _take_force_away(self) -> None:
        """From outside the loop, which is silent or has ended."""
        for device in self._devices:
            with contextlib.suppress(Exception):  # lost or closed: it makes no force, and no error may end the watch
                device.write(np.zeros(3))

    def _give_back(self) -> None:
        """Gravity and friction as the world had them: a page may have changed them."""
        servo, work, model = self.engine.servo, self.scene.world.arrays.work, self.scene.model
        work.A[WORLD, 3:] = -model.arrays.gravity
        servo.mu_static[:], servo.mu_sliding[:] = np.split(servo.mu_own, 2, axis=1)

    def _note_faults(self) -> None:
        """Say once why a device has no force; a mailbox knows more than its LOST."""
        for k, (device, reaching) in enumerate(zip(self._devices, self.reaching, strict=True)):
            fault = reaching.fault
            if fault and not self._faults[k]:
                told = next((": " + box.error for box in self._mailboxes if box.device is device and box.error), "")
                cure = "a new session" if told else "a reset"  # the thread of a mailbox that failed has ended
                self._note(f"no more force on {device.spec.name}: {fault}{told}; {cure} engages it again")
            self._faults[k] = bool(fault)

    def _note(self, text: str) -> None:
        self.report.notes.append(text)
        self.say(text)

    def _note_report(self) -> None:
        servo = self.engine.servo
        self.report.seconds = time.monotonic() - getattr(self, "_began", time.monotonic())
        self.report.counters = dict(zip(COUNTERS, servo.counters.tolist(), strict=True))
        self.report.lateness = servo.lateness.tolist()
        self.report.devices = [each.report() for each in self.reaching]

    def _start_recorder(self, path: Path) -> None:
        engine = self.engine
        rings = {"frame_fd": engine.frames.fd, "hand_fd": engine.hands.fd, "event_fd": engine.events.fd}
        hello = describe(self.scene, engine)
        orders = rings | {"path": str(path), "hello": hello, "meshes": self.meshes.paths, "fifo": self._want_fifo}
        recorder = Child("palpate.runtime.recorder", orders, list(rings.values()))
        try:
            recorder.answer("recording", 15.0)
        except ChildError:
            recorder.end()
            raise
        self.recorder = recorder
