"""Who watches a session: threads beside the servo, each of which goes on whatever happens, in it or in the others.

watch    takes force away from a loop that is silent.  It does nothing else and waits for nobody.
collect  what frames tell: edits, trials, faults
tend     the children: a page that ended is started again, a recorder is not
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from palpate.frame import FAULT
from palpate.haptics.devices.mailbox import take_force_away
from palpate.runtime.children import one_line
from palpate.runtime.record.process import why_it_ended
from palpate.runtime.report import why_no_force
from palpate.servo.beside import Beside
from palpate.servo.loop import HEARTBEAT_NS, WATCHDOG

if TYPE_CHECKING:
    from palpate.runtime.session import Session

WATCH_S = 0.01
SILENT_S = 0.05  # a loop silent for this long has the watchdog count it
MOST_RESTARTS, STEADY_S = 5, 10.0  # of a page, in a row, none of which lived that long
SLOWLY_S = 30.0  # between two tries after so many


class Tries:
    """When something that ended is started again: at once, and after MOST_RESTARTS in a row now and then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began, self._ended = clock, clock(), False
        self.in_a_row = 0

    def ended(self) -> None:
        """It is not there; may be said as often as it is seen."""
        if not self._ended and self._clock() - self._began >= STEADY_S:
            self.in_a_row = 0
        self._ended = True

    @property
    def slow(self) -> bool:
        return self.in_a_row >= MOST_RESTARTS

    @property
    def due(self) -> bool:
        return not self.slow or self._clock() - self._began >= SLOWLY_S

    def begin(self) -> None:
        self.in_a_row, self._began, self._ended = self.in_a_row + 1, self._clock(), False


class Watching:
    """The threads of one session, between `start` and `join`; they end when it is `stopping`."""

    def __init__(self, session: Session, stopping: threading.Event) -> None:
        self._session, self._stopping = session, stopping
        self._silent = self._fault = False
        self._faults: list[bool] = []
        self._ended: list[Beside] = []
        self._tries, self._told = Tries(), ""
        self.watch, self.collect, self.tend = (
            threading.Thread(target=self._repeat, args=(look,), name=name, daemon=True)
            for name, look in (("watch", self._look), ("collect", self._collect), ("tend", self._tend))
        )

    def start(self) -> None:
        for thread in (self.watch, self.collect, self.tend):
            thread.start()

    def join(self) -> None:
        for thread in (self.watch, self.collect, self.tend):
            if thread.is_alive():
                thread.join()

    def _repeat(self, look: Callable[[], None]) -> None:
        told: set[str] = set()
        while not self._stopping.wait(WATCH_S):
            try:
                look()
            except Exception as error:  # whatever it is, the next look is as important as this one
                line = f"{threading.current_thread().name}: {one_line(error)}"
                if line not in told:  # it may come with every look
                    told.add(line)
                    self._session.note(line)

    # ---- force

    def _look(self) -> None:
        control = self._session.simulation.beat.control
        silent = time.monotonic_ns() - int(control[HEARTBEAT_NS]) > SILENT_S * 1e9
        if silent:
            take_force_away(self._session.devices, self._session.mailboxes)
        if silent and not self._silent and control[HEARTBEAT_NS]:
            control[WATCHDOG] += 1
        self._silent = silent

    # ---- what frames tell

    def _collect(self) -> None:
        session = self._session
        self._note_faults()
        fault = bool(session.simulation.head.state == FAULT)
        if fault and not self._fault:
            session.note(f"{session.simulation.why_stopped()}; a reset starts it again")
        self._fault = fault
        for beside in session.simulation.beside:
            if beside.error is not None and beside not in self._ended:
                self._ended.append(beside)
                session.note(f"a controller failed, and its joints are left alone: {one_line(beside.error)}")
        session.collect()

    def _note_faults(self) -> None:
        """Say once why a device has no force; a mailbox knows more than its LOST."""
        session, faults = self._session, self._session.faults()
        known = self._faults or [False] * len(faults)
        for device, fault, told in zip(session.devices, faults, known, strict=True):
            if fault and not told:
                box = next((box for box in session.mailboxes if box.device is device), None)
                session.note(why_no_force(device, fault, box))
        self._faults = [bool(fault) for fault in faults]

    # ---- children

    def _tend(self) -> None:
        self._tend_recorder()
        self._tend_page()

    def _tend_recorder(self) -> None:
        session = self._session
        recorder = session.recorder
        if recorder is not None and not recorder.alive:
            session.recorder = None
            session.note(f"the recorder ended ({why_it_ended(recorder)}); the servo goes on, nothing more is "
                         f"recorded (`palpate recover {session.record}` reads what it left)")  # fmt: skip

    def _tend_page(self) -> None:
        page, tries = self._session.page, self._tries
        if page is None or page.alive:
            return
        tries.ended()
        if tries.in_a_row == MOST_RESTARTS:
            self._tell(f"the page ended {MOST_RESTARTS} times in a row; from now on it is tried every {SLOWLY_S:g} s")
        if not tries.due:
            return
        tries.begin()
        try:
            page.start()
            page.listening()
        except Exception as error:  # no memory, no processes, no port: all may come back
            self._tell(f"the page ended, and does not start again: {one_line(error)}")
        else:
            self._told = ""
            self._session.note("the page ended and was started again")

    def _tell(self, line: str) -> None:
        """Once, until something else is told."""
        if line != self._told:
            self._told = line
            self._session.note(line)
