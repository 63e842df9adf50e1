"""trajectory_msgs/JointTrajectory of ROS as JSON or YAML, point by point; and files that are whole or not there.

    joint_names: [...]
    points: [{positions, velocities, accelerations, effort, time_from_start: {sec, nanosec}}, ...]

Numbers are the shortest that read back as the same bits.  YAML 1.1 takes 1e-05 for a text, so it is 1.0e-05 there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import NamedTuple, TextIO

STYLES = ("json", "yaml")


class Point(NamedTuple):
    """One point: time from the start [s], and one number per joint each; None: not written."""

    time_s: float
    positions: Sequence[float]
    velocities: Sequence[float] | None = None
    accelerations: Sequence[float] | None = None
    effort: Sequence[float] | None = None


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Where to write a file; it takes its place when all is written, and what was there before stays if that fails."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a pipe or a terminal: there is nothing to lose, and nothing to replace
        yield path
        return
    path = path.resolve()  # what a link points to is replaced, not the link
    part = path.with_name(f".{path.name}.{os.getpid()}.{get_ident()}.part")  # in the same folder: replacing is one step
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def written_whole(path: str | Path) -> Iterator[TextIO]:
    """The same, as a text file that is open; halves of characters, which no file can hold, become their numbers."""
    with whole_file(path) as part, open(part, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        yield file


def write_joint_trajectory(path: str | Path, names: Sequence[str], points: Iterable[Point], style: str = "json") -> int:
    """Write points of joints `names` as `style`, JSON or YAML; returns how many there were."""
    if style not in STYLES:
        raise ValueError(f"no style is called {style!r}; there are: {', '.join(STYLES)}")
    joints, count = json.dumps(list(names), ensure_ascii=False), 0
    with written_whole(path) as file:
        file.write(f'{{"joint_names": {joints}, "points": [' if style == "json" else f"joint_names: {joints}\npoints:")
        for count, point in enumerate(points, 1):
            if style == "json":
                file.write((",\n" if count > 1 else "\n") + json.dumps(_fields(point)))
            else:
                rows = [f"{name}: {_yaml(value)}" for name, value in _fields(point).items()]
                file.write("\n- " + "\n  ".join(rows))
        if style == "json":
            file.write("\n]}\n")
        else:
            file.write("\n" if count else " []\n")
    return count


def duration(seconds: float) -> dict[str, int]:
    """builtin_interfaces/Duration"""
    nanoseconds = round(seconds * 1e9)
    return {"sec": nanoseconds // 1_000_000_000, "nanosec": nanoseconds % 1_000_000_000}


def _fields(point: Point) -> dict[str, object]:
    """A point as the message has it."""
    values: dict[str, object] = {
        name: list(value) for name, value in zip(point._fields[1:], point[1:], strict=True) if value is not None
    }
    return values | {"time_from_start": duration(point.time_s)}


def _yaml(value: object) -> str:
    """A list of floats, or a duration, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {number}" for name, number in value.items()) + "}"
    assert isinstance(value, list)
    return "[" + ", ".join(_yaml_float(x) for x in value) + "]"


def _yaml_float(x: float) -> str:
    text = repr(float(x))
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(text, text)
