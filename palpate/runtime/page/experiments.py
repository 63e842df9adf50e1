"""The lab: experiments that pages run and look at.  One runs at a time, in a process of its own, beside the servo.

    experiments {}                     all of them, their newest results in brief, and how the last run goes
    run         {name}                 start it;   cancel {}   end it, and keep what an earlier run made
    report      {name}                 what its newest run claims, and its figures
    fetch       {name, file, from}     a piece of a figure, or of report.json, from that byte on

The desk passes these on.  Results lie where `palpate run` puts them, out/NAME, so those of earlier runs are here too.
Everybody may look; running is for a page that has the hands or could have them, in a session of `palpate touch`.
"""

from __future__ import annotations

import base64
import contextlib
import queue
import re
import shutil
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palpate.runtime.children import Child
from palpate.runtime.page.results import Results

if TYPE_CHECKING:
    from palpate.runtime.session import Session

PROCESS = "experiment"
PATIENCE_S = 20.0  # for the list: a start of Python on a busy machine
STOP_S = 0.5  # for a run that is asked to end; then it is killed: it gives way to all, and may not get there sooner
SHOWN_LINES = 12  # of what an experiment says
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")  # is a folder's name, too

Answer = Callable[[dict[str, Any]], dict[str, Any]]


class Run:
    """One run of an experiment, from its start to how it ended."""

    def __init__(self, name: str, into: Path, out: Path) -> None:
        self.name, self._into = name, into
        self._above = f"{out.parent.parent}/"  # pages need not see more of this machine's folders
        self._child = Child(PROCESS, {"run": name, "into": str(into), "out": str(out)}, [])
        self._began, self._ended = time.monotonic(), 0.0
        self._lines: deque[str] = deque(maxlen=SHOWN_LINES)
        self._compiling = ""
        self._state, self._error = "running", ""

    @property
    def going(self) -> bool:
        """Whether it still runs, by what was heard of it."""
        self._hear()
        return self._state == "running"

    def cancel(self) -> None:
        """End it now; nothing if it has ended already."""
        if self.going:
            self._finish("cancelled")

    def told(self) -> dict[str, Any]:
        """As a page shows it."""
        seconds = (time.monotonic() if self.going else self._ended) - self._began
        return {
            "name": self.name, "state": self._state, "seconds": round(seconds, 1), "lines": list(self._lines),
            "compiling": self._compiling, "error": self._error,
        }  # fmt: skip

    def _hear(self) -> None:
        with contextlib.suppress(queue.Empty):
            while self._state == "running":
                self._take(self._child.answers.get_nowait())

    def _take(self, said: dict[str, Any]) -> None:
        if "said" in said:
            self._lines.append(str(said["said"]).replace(self._above, ""))
        elif "compiling" in said:
            self._compiling = str(said["compiling"])
        elif "done" in said:
            self._finish("done")
        elif "error" in said:
            self._finish("failed", str(said["error"]).replace(self._above, ""))
        elif "ended" in said:
            self._finish("failed", f"it was ended from outside, or broke down (code {self._child.process.wait()})")

    def _finish(self, state: str, error: str = "") -> None:
        self._state, self._error, self._compiling = state, error, ""
        self._ended = time.monotonic()
        self._child.end(STOP_S)
        shutil.rmtree(self._into, ignore_errors=True)  # if it had to be killed


class Lab:
    """What pages may ask about experiments: `answers`, by the name of the request."""

    def __init__(self, session: Session, folder: Path = Path("out")) -> None:
        self._session, self._folder = session, folder.absolute()  # wherever the program goes later
        self._results = Results(self._folder)
        self._list: list[dict[str, str]] = []
        self._run: Run | None = None
        self._closed = False
        self.answers: dict[str, Answer] = {
            "experiments": self._experiments, "run": self._start, "cancel": self._cancel, "report": self._report,
            "fetch": self._fetch,
        }  # fmt: skip

    def close(self) -> None:
        """The session ends, and with it what runs; nothing starts any more."""
        self._closed = True
        if self._run is not None:
            self._run.cancel()

    # ---- the answers

    def _experiments(self, request: dict[str, Any]) -> dict[str, Any]:
        run = None if self._run is None else self._run.told()  # first: a run that ended has left its results
        cards = [card | {"result": self._results.brief(card["name"])} for card in self._listed()]
        return {"experiments": cards, "run": run, "cannot": self._why_not(request)}

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        self._check_may_run(request)
        name = self._named(request)
        if self._run is not None and self._run.going:
            raise ValueError(f"{self._run.name} is running: one at a time")
        self._run = Run(name, self._folder / f".{name}.unfinished", self._folder / name)
        return {}

    def _cancel(self, request: dict[str, Any]) -> dict[str, Any]:
        self._check_may_run(request)
        if self._run is not None:
            self._run.cancel()
        return {}

    def _report(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._results.report(self._named(request))

    def _fetch(self, request: dict[str, Any]) -> dict[str, Any]:
        file, start = str(request.get("file")), request.get("from", 0)
        if type(start) is not int or start < 0:
            raise ValueError("a piece of a file begins at a byte: 0, or more")
        data, size, made = self._results.piece(self._named(request), file, start)
        return {"data": base64.b64encode(data).decode(), "size": size, "made": made}

    # ---- who, and which

    def _why_not(self, request: dict[str, Any]) -> str:
        """Why the page that asks may not run anything; empty: it may."""
        if self._closed:
            return "The session is over."
        if not self._session.may_leave:  # a program's own, or one that only touches what runs elsewhere
            return "Experiments run from the page of `palpate touch`, or by `palpate run`; here are their results."
        if request.get("hands") is not True:  # the hub says so, never the browser
            return "Another page has the hands: it may run experiments, and you can watch."
        return ""

    def _check_may_run(self, request: dict[str, Any]) -> None:
        if why := self._why_not(request):
            raise ValueError(why)

    def _named(self, request: dict[str, Any]) -> str:
        name = request.get("name")
        if not any(card["name"] == name for card in self._listed()):
            raise ValueError(f"no experiment is called {name!r}")
        return str(name)

    def _listed(self) -> list[dict[str, str]]:
        """All experiments, asked for once: they are built on sessions, so this module cannot know them itself."""
        if not self._list:
            child = Child(PROCESS, {"list": True}, [])
            try:
                found = child.answer("experiments", PATIENCE_S)
            finally:
                child.end(STOP_S)
            self._list = [card for card in found if NAME.fullmatch(card["name"])]
        return self._list
