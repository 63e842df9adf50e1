"""trajectory_msgs/JointTrajectory of ROS as JSON or YAML, point by point.

    joint_names: [...]
    points: [{positions, velocities, accelerations, effort, time_from_start: {sec, nanosec}}, ...]

Numbers are the shortest that read back as the same bits.  YAML 1.1 takes 1e-05 for a text, so it is 1.0e-05 there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from palpate.whole_files import written_whole

STYLES = ("json", "yaml")


class Point(NamedTuple):
    """One point: time from the start [s], and one number per joint each; None: not written."""

    time_s: float
    positions: Sequence[float]
    velocities: Sequence[float] | None = None
    accelerations: Sequence[float] | None = None
    effort: Sequence[float] | None = None


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
