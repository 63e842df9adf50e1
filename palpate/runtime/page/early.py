"""The page before its session: there while the compiler still works, with the scene as it begins and how far that is.

Three processes: this one compiles and builds the scene; the page's (page/server.py), which knows nothing at first; and
one that finds out without the compiler how the scene begins (preview.py).  The session takes the page over when it is
about to run, and whoever looks at it sees it come alive.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

from palpate.collision.entries import detect_at_entry
from palpate.dynamics.entries import forward_kinematics_entry, inverse_kinematics_entry, mass_matrix_entry
from palpate.haptics.devices.messages import sample_message
from palpate.haptics.reach_kernels import reach
from palpate.jit import DISABLED, compile_listener
from palpate.jit.starts.ahead import processes
from palpate.jit.starts.progress import is_live
from palpate.jit.starts.remaining import Left, Remaining, missing
from palpate.printable import complain
from palpate.runtime.children import Child
from palpate.runtime.folders import Folder
from palpate.runtime.page.process import PATIENCE_S, Where
from palpate.runtime.world.guide import take_guide, tick_guide
from palpate.runtime.world.simulation import WorldSimulation
from palpate.servo.loop import restart, servo_loop

# What each session compiles; what else a scene needs is added when it comes
SESSION: tuple[Any, ...] = (
    detect_at_entry, mass_matrix_entry, forward_kinematics_entry, sample_message, reach, WorldSimulation.tick,
    WorldSimulation.reset, WorldSimulation.take, tick_guide, take_guide, servo_loop, restart,
)  # fmt: skip
AHEAD = (inverse_kinematics_entry, *SESSION)  # by other processes: also what moving arms need, which come first
WORTH_S = 5.0  # of compiling, for which somebody would wait
LOOK_S = 0.25  # how often pages and terminal are told


def _decline(page: Child, request: dict[str, Any]) -> None:
    page.tell({"id": request.get("id"), "ok": False, "error": "the scene does not run yet: it is being compiled"})


class EarlyPage:
    """A page for a session to come: `with EarlyPage(...) as early: ... Session(..., early=early)`."""

    def __init__(self, where: Where, scene: str, edit: str | None, remaining: Remaining) -> None:
        self.where, self.url, self._remaining, self._began = where, "", remaining, time.monotonic()
        self._folder = Folder("meshes")
        self._rings, theirs = socket.socketpair()
        with theirs:
            orders = where.orders() | {"rings_fd": theirs.fileno()}
            self.process = Child("page", orders, [theirs.fileno()], _decline)
        orders = {"scene": scene, "edit": edit, "folder": str(self._folder.path)}
        self._preview = Child("preview", orders, [], NUMBA_DISABLE_JIT="1")
        self._over, self._taken, self._is_live = threading.Event(), False, is_live()
        self._teller = threading.Thread(target=self._tell_on, name="early-page", daemon=True)

    def listening(self) -> None:
        """Returns when it listens; a ChildError says why it cannot."""
        self.url = self.process.answer("url", PATIENCE_S)
        self.where = self.where._replace(port=urlsplit(self.url).port or self.where.port)
        self._teller.start()

    def take_over(
        self,
        hello: dict[str, Any],
        meshes: list[str],
        rings: dict[str, int],
        requested: Callable[[Child, dict[str, Any]], None],
    ) -> None:
        """The session is there: from now on the page is its own."""
        self._taken, self.process.requested = True, requested
        self._finish()
        with contextlib.suppress(OSError):  # it has ended: the session starts another
            socket.send_fds(self._rings, [b"."], list(rings.values()))
        self.process.tell({"hello": hello, "meshes": meshes, "rings": True})

    def __enter__(self) -> EarlyPage:
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()
        if not self._taken:
            self.process.end()
        self._rings.close()
        self._folder.remove()

    def _finish(self) -> None:
        """Tell no more."""
        if not self._over.is_set():
            self._over.set()
            if self._teller.is_alive():
                self._teller.join()
            self._preview.end(0.0)
            if self._taken or self._is_live:
                self._say(self._remaining.look(), last=True)

    def _tell_on(self) -> None:
        """How far the compiler is, again and again, and once how the scene begins."""
        told: Left | None = None
        while not self._over.wait(LOOK_S):
            with contextlib.suppress(queue.Empty):
                found = self._preview.answers.get_nowait()
                if "hello" in found:
                    self.process.tell(found)
            left = self._remaining.look()
            if told is None or (left.done, left.of, round(left.seconds)) != (told.done, told.of, round(told.seconds)):
                told = left
                self.process.tell({"compiling": left._asdict() | {"elapsed": time.monotonic() - self._began}})
                self._say(left)

    def _say(self, left: Left, last: bool = False) -> None:
        """On a terminal a line that changes; elsewhere the last."""
        if os.environ.get("PALPATE_QUIET") or not (last or self._is_live):
            return
        when = f"{time.monotonic() - self._began:.0f} s" if last else f"about {left.seconds:.0f} s left"
        text = f"compiling for this machine, once: {left.done} of {left.of} functions, {when}"
        complain(f"{text:<78}" if self._is_live else text, end="\n" if last else "\r")


def page_first(stack: ExitStack, where: Where, scene: str, edit: str | None) -> EarlyPage | None:
    """A page that is there until `stack` closes, if there is much to compile; it has not been waited for."""
    remaining = Remaining([] if DISABLED else missing(SESSION), processes())
    if remaining.look().seconds < WORTH_S:
        return None
    stack.enter_context(compile_listener(remaining.heard))
    return stack.enter_context(EarlyPage(where, scene, edit, remaining))
