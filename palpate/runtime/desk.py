"""The desk: what pages request of a session and takes longer than a tick; answered one after the other, in a thread.

    scene    {name}                       go on with another scene: its name, or a robot's
    robot    {files: {name: base64}}      go on with the arm of a URDF file, with its meshes
    motion   {}                           the plan, and what became of it: tool paths, clearance, what is wrong
    keep     {}                           what became of it is the plan from now on
    export   {which: "plan" | "motion", format: "json" | "csv" | "ros-json" | "ros-yaml"}      as text, to download
    add      {at: [3]}                    an obstacle more;   remove {name}   one less
    mark     {text, data}                 a marker into the recording

An answer is {"id": ..., "ok": true, ...} or {"id": ..., "ok": false, "error": one line}.
"""

from __future__ import annotations

import base64
import queue
import tempfile
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.control.files import export_csv, export_joint_trajectory, save
from palpate.control.trajectory import Trajectory
from palpate.dynamics.facade import forward_kinematics
from palpate.runtime.children import Child
from palpate.scenes.any_arm import scene_of
from palpate.scenes.robots import is_file_name
from palpate.scenes.scene import Scene

if TYPE_CHECKING:
    from palpate.runtime.session import Session

SHOWN_POINTS = 200  # of a path
MOST_FILES, MOST_BYTES = 400, 40 * 2**20  # of a robot
LONGEST_MARK = 10_000  # characters
PATIENCE_S = 2.0  # for the answer under way when the session ends
FORMATS: dict[str, tuple[str, Callable[[Path, Trajectory], None]]] = {
    "json": ("trajectory.json", save),
    "csv": ("trajectory.csv", export_csv),
    "ros-json": ("joint_trajectory.json", export_joint_trajectory),
    "ros-yaml": ("joint_trajectory.yaml", lambda path, t: export_joint_trajectory(path, t, "yaml")),
}


class Desk:
    """Answers the requests of one session's pages."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._requests: queue.Queue[tuple[Child, dict[str, Any]] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="desk", daemon=True)
        self._thread.start()

    def requested(self, page: Child, request: dict[str, Any]) -> None:
        """Put a request on the desk; the answer goes to the page that it came from."""
        self._requests.put((page, request))

    def close(self) -> None:
        """Answer nothing more."""
        self._requests.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        while (taken := self._requests.get()) is not None:
            page, request = taken
            number = request.get("id")
            try:
                page.tell({"id": number, "ok": True, **self.answer(request)})
            except Exception as error:  # whatever a file or a page brings, the desk stays open
                page.tell({"id": number, "ok": False, "error": one_line(error)})
            if self.session.next_scene is not None:  # once the page has been told
                self.session.leaving.set()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request comes to; raises with one line if it does not."""
        answers = {
            "scene": self._scene, "robot": self._robot, "motion": self._motion, "keep": self._keep,
            "export": self._export, "add": self._add, "remove": self._remove, "mark": self._mark,
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
        return self._go_to(scene_of(name)())

    def _robot(self, request: dict[str, Any]) -> dict[str, Any]:
        self._check_leaving()
        folder = tempfile.TemporaryDirectory(prefix="palpate-robot-")
        try:
            robot = unpack_robot(request.get("files"), Path(folder.name))
            scene = scene_of(str(robot))()
        except Exception as error:
            folder.cleanup()
            raise ValueError(one_line(error).replace(f"{folder.name}/", "")) from None
        scene = replace(scene, name=robot.stem, title=scene.title.replace(str(robot), robot.stem))
        weakref.finalize(scene, folder.cleanup)  # its meshes are read as long as it is shown
        return self._go_to(scene)

    def _check_leaving(self) -> None:
        if not self.session.may_leave:
            raise ValueError("this session belongs to a program, which chose its scene")
        if self.session.next_scene is not None:
            raise ValueError("another scene is on its way already")

    def _go_to(self, scene: Scene) -> dict[str, Any]:
        self.session.next_scene = scene
        return {"scene": scene.name}

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
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            write(path, edit.plan if which == "plan" else edit.motion())
            return {"name": f"{self.session.scene.name}-{name}", "text": path.read_text(encoding="utf-8")}

    def _told(self, trajectory: Trajectory) -> dict[str, Any]:
        """A motion, as far as a page shows it."""
        edit, scene = self.session.edit, self.session.scene
        near = edit.clearance(trajectory)
        gaps = {name: round(near.of(obstacle=name).smallest.gap_m, 5) for name in {pair[1] for pair in near.pairs}}
        path: list[list[float]] = []
        if scene.editing.tool is not None:
            row, rows = scene.model.body(scene.editing.tool), edit.whole(trajectory).q
            every = max(1, len(rows) // SHOWN_POINTS)
            path = [forward_kinematics(scene.model, q)[row][:3, 3].round(5).tolist() for q in rows[::every]]
        return {
            "duration_s": round(trajectory.duration_s, 4), "path": path, "clearance_m": gaps,
            "wrong": edit.check(trajectory), "fastest": float(np.abs(trajectory.v).max().round(4)),
        }  # fmt: skip

    # ---- obstacles

    def _add(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"name": self.session.edit.add(_point(request.get("at")))}

    def _remove(self, request: dict[str, Any]) -> dict[str, Any]:
        self.session.edit.remove(str(request.get("name")))
        return {}

    # ---- recordings

    def _mark(self, request: dict[str, Any]) -> dict[str, Any]:
        text = str(request.get("text", ""))
        if not text or len(text) > LONGEST_MARK:
            raise ValueError(f"a mark is a text of 1 .. {LONGEST_MARK} characters")
        self.session.mark(text, request.get("data"))
        return {}


def unpack_robot(files: Any, folder: Path) -> Path:
    """Write the files {name: base64} that came, below `folder` whatever their names say; the robot's own among them."""
    if not isinstance(files, dict) or not 0 < len(files) <= MOST_FILES:
        raise ValueError(f"a robot comes as 1 .. {MOST_FILES} files")
    robots, room = [], MOST_BYTES
    for name, data in files.items():
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        if not parts:
            raise ValueError(f"{name!r} is not the name of a file")
        try:
            content = base64.b64decode(data, validate=True)
        except (ValueError, TypeError):
            raise ValueError(f"the file {name!r} did not arrive whole") from None
        room -= len(content)
        if room < 0:
            raise ValueError(f"the files have more than {MOST_BYTES // 2**20} MB")
        path = folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if path.suffix.lower() in (".urdf", ".xml", ".mjcf") and path.name != "package.xml":
            robots.append(path)
    if not robots:
        raise ValueError("none of the files is a robot: a .urdf, or an MJCF .xml")
    return min(robots, key=lambda path: (path.suffix.lower() != ".urdf", len(path.parts), str(path)))


def one_line(error: Exception) -> str:
    """What a page shows of an error."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _point(value: Any) -> tuple[float, float, float]:
    try:
        x = np.asarray(value, dtype=float)
    except (ValueError, TypeError):
        x = np.zeros(0)
    if x.shape != (3,) or not np.isfinite(x).all() or np.abs(x).max() > 1e3:
        raise ValueError("a place is three numbers in metres")
    return float(x[0]), float(x[1]), float(x[2])
