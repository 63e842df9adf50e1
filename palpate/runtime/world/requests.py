"""What a World's session answers to its pages beside what every session does: plans, edits, obstacles, free bodies.

motion   {}                           the plan, and what became of it: tool paths, clearance, what is wrong;
                                      gap_m is the clearance at each point of a path, null: nothing is in the way
keep     {}                           what became of it is the plan from now on
export   {which: "plan" | "motion", format: "json" | "csv" | "ros-json" | "ros-yaml"}      as text, to download
add      {at: [3], kind: "obstacle" | "box" | "ball"}    one more;   remove {name}   one less
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from palpate.control.plans.files import export_csv, export_joint_trajectory, save
from palpate.control.plans.trajectory import Trajectory
from palpate.dynamics.facade import forward_kinematics
from palpate.runtime.folders import Folder
from palpate.runtime.page.results import file_name

if TYPE_CHECKING:
    from palpate.runtime.world.session import WorldSession

SHOWN_POINTS = 200  # of a path
FORMATS: dict[str, tuple[str, Callable[[Path, Trajectory], None]]] = {
    "json": ("trajectory.json", save),
    "csv": ("trajectory.csv", export_csv),
    "ros-json": ("joint_trajectory.json", export_joint_trajectory),
    "ros-yaml": ("joint_trajectory.yaml", lambda path, t: export_joint_trajectory(path, t, "yaml")),
}


class EditAnswers:
    """Of one session."""

    def __init__(self, session: WorldSession) -> None:
        self.session = session
        self.answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "motion": self._motion, "keep": self._keep, "export": self._export, "add": self._add,
            "remove": self._remove,
        }  # fmt: skip

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
