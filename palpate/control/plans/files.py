"""Trajectories as files: one JSON that reads back as the same bits; CSV and ROS messages for other programs.

The JSON, version 1:  {"format": "palpate trajectory", "version": 1, "joint_names": [...], "time_s": [n],
"q": [n][nq], "v": [n][nv], "a": [n][nv], "effort": [n][nv] or null}.  A file takes the place of an older one only when
it is whole.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from palpate.control.plans.cells import write_row
from palpate.control.plans.joint_trajectory import Point, write_joint_trajectory
from palpate.control.plans.trajectory import Trajectory, TrajectoryError
from palpate.model.model import Model
from palpate.whole_files import WriteError, written_whole

FORMAT, VERSION = "palpate trajectory", 1
TABLES = ("q", "v", "a")


def save(path: str | Path, trajectory: Trajectory) -> None:
    """Write a trajectory; `load` reads the same bits."""
    with _written(path) as file:
        names = json.dumps(trajectory.names, ensure_ascii=False)
        file.write(f'{{"format": "{FORMAT}", "version": {VERSION},\n"joint_names": {names},\n')
        file.write(f'"time_s": {json.dumps(trajectory.time_s.tolist())}')
        for part in (*TABLES, "effort"):
            table = getattr(trajectory, part)
            rows = "null" if table is None else "[\n" + ",\n".join(map(json.dumps, table.tolist())) + "]"
            file.write(f',\n"{part}": {rows}')
        file.write("}\n")


def load(path: str | Path, model: Model | None = None) -> Trajectory:
    """Read what `save` wrote; with a model, only if it is a motion of that model's joints."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_not_a_number)
    except OSError as error:
        raise TrajectoryError(f"{path} cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise TrajectoryError(f"{path} is not a JSON file") from None
    except TrajectoryError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    try:
        trajectory = _read(content)
        if model is not None:
            trajectory.fit(model)
    except TrajectoryError as error:
        raise TrajectoryError(f"{path}: {error}") from None
    return trajectory


def _not_a_number(text: str) -> NoReturn:
    raise TrajectoryError(f"it holds {text}, which is not a finite number")


def _read(content: Any) -> Trajectory:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TrajectoryError("it is JSON, but not a trajectory of this program")
    if content.get("version") != VERSION:
        raise TrajectoryError(f"it is of version {content.get('version')!r}, this program reads version {VERSION}")
    missing = [part for part in ("joint_names", "time_s", *TABLES) if part not in content]
    if missing:
        raise TrajectoryError(f"it has no {', '.join(missing)}")
    names = content["joint_names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TrajectoryError("joint_names must be a list of texts")
    effort = content.get("effort")
    q, v, a = (_floats(part, content[part]) for part in TABLES)
    return Trajectory(
        tuple(names),
        _floats("time_s", content["time_s"]),
        q,
        v,
        a,
        None if effort is None else _floats("effort", effort),
    )


def _floats(part: str, value: Any) -> Any:
    """Lists of numbers as they are; anything else that numpy would make a number of is a mistake."""
    rows = value if isinstance(value, list) else [value]
    cells = [x for row in rows for x in (row if isinstance(row, list) else [row])]
    if not isinstance(value, list) or any(type(x) not in (int, float) for x in cells):
        raise TrajectoryError(f"{part} must be numbers in rows of equal length")
    return value


def export_csv(path: str | Path, trajectory: Trajectory) -> None:
    """A table with a header: time_s, then q, v, a and, if known, effort of every joint; the same bits when read."""
    parts = [part for part in (*TABLES, "effort") if getattr(trajectory, part) is not None]
    with _written(path) as file:
        write_row(file, ["time_s", *(label for part in parts for label in _labels(trajectory, part))])
        writer = csv.writer(file, lineterminator="\n")
        tables = [getattr(trajectory, part).tolist() for part in parts]
        for time, *rows in zip(trajectory.time_s.tolist(), *tables, strict=True):
            writer.writerow([time, *(x for row in rows for x in row)])


def _labels(trajectory: Trajectory, part: str) -> list[str]:
    """Names of the columns of one part: by joint, or by number if a joint has more than one."""
    width = getattr(trajectory, part).shape[1]
    if width == len(trajectory.names):
        return [f"{part}.{name}" for name in trajectory.names]
    return [f"{part}.{k}" for k in range(width)]


def export_joint_trajectory(path: str | Path, trajectory: Trajectory, style: str = "json") -> None:
    """As a ROS trajectory_msgs/JointTrajectory, in JSON or YAML; times count from the first row."""
    if trajectory.q.shape[1] != len(trajectory.names):
        raise TrajectoryError("a joint trajectory needs joints with one coordinate each; export CSV instead")
    t, effort = trajectory, trajectory.effort
    points = (
        Point(float(t.time_s[k] - t.time_s[0]), t.q[k].tolist(), t.v[k].tolist(), t.a[k].tolist(),
              None if effort is None else effort[k].tolist())
        for k in range(len(t.time_s))
    )  # fmt: skip
    with _complaining():
        write_joint_trajectory(path, t.names, points, style)


@contextmanager
def _written(path: str | Path) -> Iterator[IO[str]]:
    with _complaining(), written_whole(path) as file:
        yield file


@contextmanager
def _complaining() -> Iterator[None]:
    """A folder that is not there, or may not be written, is one line."""
    try:
        yield
    except WriteError as error:
        raise TrajectoryError(str(error)) from None
