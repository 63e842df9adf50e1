"""The desk: what pages request of a session and takes longer than a tick.

It has counters, a thread each, so that a robot that takes a minute to read keeps nobody from adding a box: what is
alike is answered one after the other, in the order it came, and nothing else waits for it.  The time of a mark is
when it came.

    scene    {name}                       go on with another scene: its name, or a robot's
    robot    {files: {name: base64}}      go on with the arm of a URDF file, with its meshes
    mark     {text, data}                 a marker into the recording; arrived_ns is added by the page's process
    experiments, run, cancel, report, fetch   of the lab (experiments.py)

A World's session answers more (world/requests.py).

An answer is {"id": ..., "ok": true, ...} or {"id": ..., "ok": false, "error": one line}.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from palpate.record.marks import LONGEST_TEXT
from palpate.runtime.children import Child, one_line
from palpate.runtime.folders import Folder
from palpate.runtime.page.experiments import Lab
from palpate.runtime.page.uploads import try_robot, unpack_robot
from palpate.scenes.any_arm import scene_of
from palpate.scenes.loose import with_loose
from palpate.scenes.robots import is_file_name
from palpate.scenes.scene import Scene

if TYPE_CHECKING:
    from palpate.runtime.session import Session

PATIENCE_S = 2.0  # for the answers under way when the session ends
COUNTERS = ("robot", "scene", "lab", "marks", "edits")  # what a request is about: all but the first four are edits


class Requests(queue.Queue[tuple[Child, dict[str, Any]] | None]):
    """Those that wait for one another; None ends them."""


class Desk:
    """Answers the requests of one session's pages."""

    def __init__(self, session: Session) -> None:
        self.session, self.lab = session, Lab(session)
        self._queues: dict[str, queue.Queue[tuple[Child, dict[str, Any]] | None]] = {n: queue.Queue() for n in COUNTERS}
        self._threads = [threading.Thread(target=self._run, args=(each,), name=f"desk-{name}", daemon=True)
                         for name, each in self._queues.items()]  # fmt: skip
        self._building = threading.Lock()  # of scenes: the first to be built is gone to
        for thread in self._threads:
            thread.start()

    def requested(self, page: Child, request: dict[str, Any]) -> None:
        """Put a request on the desk; the answer goes to the page that it came from."""
        what = str(request.get("what"))
        if what == "mark":
            request.setdefault("arrived_ns", time.monotonic_ns())
        counter = {"robot": "robot", "scene": "scene", "mark": "marks"}.get(what)
        self._queues[counter or ("lab" if what in self.lab.answers else "edits")].put((page, request))

    def close(self) -> None:
        """Answer nothing more."""
        for each in self._queues.values():
            each.put(None)
        until_s = time.monotonic() + PATIENCE_S
        for thread in self._threads:
            if threading.current_thread() is not thread:
                thread.join(max(0.0, until_s - time.monotonic()))
        self.lab.close()

    def _run(self, requests: queue.Queue[tuple[Child, dict[str, Any]] | None]) -> None:
        while (taken := requests.get()) is not None:
            self._serve(*taken)
            del taken  # a robot's files: not to be kept until the next request

    def _serve(self, page: Child, request: dict[str, Any]) -> None:
        number = request.get("id")
        try:
            page.tell({"id": number, "ok": True, **self.answer(request)})
            if request.get("what") in ("robot", "scene"):  # once the page has been told
                self.session.leaving.set()
        except Exception as error:  # whatever a file or a page brings, the desk stays open
            page.tell({"id": number, "ok": False, "error": one_line(error)})

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request comes to; raises with one line if it does not."""
        led = self.session.options.answers
        answers: Mapping[Any, Callable[[dict[str, Any]], dict[str, Any]]] = led if led is not None else {
            "scene": self._scene, "robot": self._robot, "mark": self._mark, **self.lab.answers,
            "study": _no_study, **self.session.answers(),
        }  # fmt: skip
        what = request.get("what")
        if what not in answers:
            raise ValueError(f"there is no request {what!r}")
        return answers[what](request)

    # ---- scenes: built first, and if that fails, what runs goes on

    def _scene(self, request: dict[str, Any]) -> dict[str, Any]:
        self._check_leaving()
        name = str(request.get("name"))
        if is_file_name(name):  # whoever looks at a page need not see this machine's files
            raise ValueError("a page asks for scenes and robots by name; a robot's own files are sent")
        return self._go_to(scene_of(name))

    def _robot(self, request: dict[str, Any]) -> dict[str, Any]:
        self._check_leaving()
        folder = Folder("robot")
        try:
            robot = unpack_robot(request.get("files"), folder.path)
            try_robot(robot, folder.path)
            answer = self._go_to(lambda: _renamed(scene_of(str(robot))(), robot.name, robot.stem))
        except Exception as error:
            folder.remove()
            raise ValueError(one_line(error).replace(f"{folder.path}/", "")) from None
        weakref.finalize(self.session.next_scene, folder.remove)  # its meshes are read as long as it is shown
        return answer

    def _check_leaving(self) -> None:
        if not self.session.may_leave:
            raise ValueError("this session belongs to a program, which chose its scene")
        if self.session.next_scene is not None:
            raise ValueError("another scene is on its way already")

    def _go_to(self, build: Callable[[], Scene]) -> dict[str, Any]:
        with self._building:
            self._check_leaving()  # once more: another may have been quicker
            self.session.next_scene = with_loose(build())
            return {"scene": self.session.next_scene.name}

    # ---- recordings

    def _mark(self, request: dict[str, Any]) -> dict[str, Any]:
        text, arrived_ns = request.get("text"), request.get("arrived_ns")  # the page's process says when, no browser
        if not isinstance(text, str) or not text or len(text) > LONGEST_TEXT:
            raise ValueError(f"a mark is a text of 1 .. {LONGEST_TEXT} characters")
        self.session.mark(text, request.get("data"), arrived_ns=arrived_ns if type(arrived_ns) is int else None)
        return {}


def _no_study(request: dict[str, Any]) -> dict[str, Any]:
    raise ValueError("no study is under way here: `palpate study` leads through one")


def _renamed(scene: Scene, file: str, name: str) -> Scene:
    return replace(scene, name=name, title=scene.title.replace(file, name))
