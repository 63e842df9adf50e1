"""The desk: what pages request of a session and takes longer than a tick.

It has counters, a thread each, so that a robot that takes a minute to read keeps nobody from adding a box: what is
alike is answered one after the other, in the order it came, and nothing else waits for it.  The time of a mark is
when it came.

    scene    {name}                       go on with another scene: its name, or a robot's
    robot    {files: {name: base64}}      go on with the arm of a URDF file, with its meshes
    motion   {}                           the plan, and what became of it: tool paths, clearance, what is wrong;
                                          gap_m is the clearance at each point of a path, null: nothing is in the way
    keep     {}                           what became of it is the plan from now on
    export   {which: "plan" | "motion", format: "json" | "csv" | "ros-json" | "ros-yaml"}      as text, to download
    add      {at: [3], kind: "obstacle" | "box" | "ball"}    one more;   remove {name}   one less
    mark     {text, data}                 a marker into the recording; arrived_ns is added by the page's process
    experiments, run, cancel, report, fetch   of the lab (lab.py)

An answer is {"id": ..., "ok": true, ...} or {"id": ..., "ok": false, "error": one line}.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.control.files import export_csv, export_joint_trajectory, save
from palpate.control.trajectory import Trajectory
from palpate.dynamics.facade import forward_kinematics
from palpate.record.marks import LONGEST_TEXT
from palpate.runtime.children import Child, one_line
from palpate.runtime.folders import Folder
from palpate.runtime.lab import Lab
from palpate.runtime.results import file_name
from palpate.runtime.uploads import try_robot, unpack_robot
from palpate.scenes.any_arm import scene_of
from palpate.scenes.loose import with_loose
from palpate.scenes.robots import is_file_name
from palpate.scenes.scene import Scene

if TYPE_CHECKING:
    from palpate.runtime.session import Session

SHOWN_POINTS = 200  # of a path
PATIENCE_S = 2.0  # for the answers under way when the session ends
COUNTERS = ("robot", "scene", "lab", "marks", "edits")  # what a request is about: all but the first four are edits
FORMATS: dict[str, tuple[str, Callable[[Path, Trajectory], None]]] = {
    "json": ("trajectory.json", save),
    "csv": ("trajectory.csv", export_csv),
    "ros-json": ("joint_trajectory.json", export_joint_trajectory),
    "ros-yaml": ("joint_trajectory.yaml", lambda path, t: export_joint_trajectory(path, t, "yaml")),
}


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
        answers = {
            "scene": self._scene, "robot": self._robot, "motion": self._motion, "keep": self._keep,
            "export": self._export, "add": self._add, "remove": self._remove, "mark": self._mark, **self.lab.answers,
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

    # ---- plans and edits

    def _motion(self, request: dict[str, Any]) -> dict[str, Any]:
        edit = self.session.edit
        return {"plan": self._told(edit.plan), "motion": self._told(edit.motion())}

    def _keep(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"plan": self._told(self.session.edit.keep())}

    def _export(self, request: dict[str, Any]) -> dict[str, Any]:
        edit, which, style = self.session.edit, request.get("which", "motion"), request.get("format", "json")
        if which not in ("plan", "motion") or style not in FORMATS:
            raise ValueError(f"export takes plan or motion, as {', '.join(FORMATS)}")
        name, write = FORMATS[style]
        with Folder("export") as folder:
            path = folder / name
            write(path, edit.plan if which == "plan" else edit.motion())
            return {"name": f"{file_name(self.session.scene.name)}-{name}", "text": path.read_text(encoding="utf-8")}

    def _told(self, trajectory: Trajectory) -> dict[str, Any]:
        """A motion, as far as a page shows it."""
        edit, scene = self.session.edit, self.session.scene
        near = edit.clearance(trajectory)
        gaps = {name: round(near.of(obstacle=name).smallest.gap_m, 5) for name in {pair[1] for pair in near.pairs}}
        path: list[list[float]] = []
        shown = np.zeros(0, dtype=int)
        if scene.editing.tool is not None:
            evenly = np.linspace(0, len(trajectory.q) - 1, min(len(trajectory.q), SHOWN_POINTS)).round().astype(int)
            shown = np.union1d(evenly, near.smallest.row)  # where it comes nearest is among them
            tool, rows = scene.model.body(scene.editing.tool), edit.whole(_rows(trajectory, shown)).q
            path = [forward_kinematics(scene.model, q)[tool][:3, 3].round(5).tolist() for q in rows]
        return {
            "duration_s": round(trajectory.duration_s, 4), "path": path, "clearance_m": gaps,
            "gap_m": near.gap_m[shown].round(5).tolist() if near.pairs else None,
            "wrong": edit.check(trajectory, near=near), "fastest": float(np.abs(trajectory.v).max().round(4)),
        }  # fmt: skip

    # ---- obstacles and free bodies

    def _add(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"name": self.session.edit.add(_point(request.get("at")), str(request.get("kind", "obstacle")))}

    def _remove(self, request: dict[str, Any]) -> dict[str, Any]:
        self.session.edit.remove(str(request.get("name")))
        return {}

    # ---- recordings

    def _mark(self, request: dict[str, Any]) -> dict[str, Any]:
        text, arrived_ns = request.get("text"), request.get("arrived_ns")  # the page's process says when, no browser
        if not isinstance(text, str) or not text or len(text) > LONGEST_TEXT:
            raise ValueError(f"a mark is a text of 1 .. {LONGEST_TEXT} characters")
        self.session.mark(text, request.get("data"), arrived_ns=arrived_ns if type(arrived_ns) is int else None)
        return {}


def _renamed(scene: Scene, file: str, name: str) -> Scene:
    return replace(scene, name=name, title=scene.title.replace(file, name))


def _rows(trajectory: Trajectory, which: np.ndarray) -> Trajectory:
    """Some rows of a motion."""
    time, q, v, a = (getattr(trajectory, part)[which] for part in ("time_s", "q", "v", "a"))
    return Trajectory(trajectory.names, time, q, v, a)


def _point(value: Any) -> tuple[float, float, float]:
    try:
        x = np.asarray(value, dtype=float)
    except (ValueError, TypeError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all() or np.abs(x).max() > 1e3:
        raise ValueError("a place is three numbers in metres")
    return float(x[0]), float(x[1]), float(x[2])
