"""The scene description of a recording: checked when it is read, for a file may come from anywhere."""

from __future__ import annotations

import json
import math
from typing import Any

from palpate.frame import Field, Layout
from palpate.record import RecordError
from palpate.record.marks import check_bounds

MOST_WORDS = 1 << 20  # of a frame: 8 MB
ALWAYS = ("tick", "wall_ns", "state", "time_s")  # numbers that every frame has,
OFTEN = ("contacts", "speed", "task_trial", "task_state", "task_time_s", "task_path_m", "task_peak_N",
         "task_collisions")  # fmt: skip
TEXTS = ("palpate", "mode", "scene", "title")
LISTS_OF_TEXTS, LISTS_OF_OBJECTS = ("joints", "counters"), ("bodies", "axes")


def layout_of(hello: dict[str, Any]) -> Layout:
    """The layout that a scene description gives of its frames: a file is read by its own, not by this version's."""
    try:
        sizes = {str(name): _count(size) for name, size in hello.get("sizes", {}).items()}
        fields = tuple(_field(f, sizes) for f in hello["frame"])
        layout = Layout(fields, **sizes)
        if len(layout.offset) < len(fields) or layout.words > MOST_WORDS:
            raise ValueError(f"fields of one name, or more than {MOST_WORDS} words")
        same = [(f["offset"], f["length"]) for f in hello["frame"]] == [
            (layout.offset[f.name], layout.length[f.name]) for f in fields
        ]
        for name in (*ALWAYS, *(name for name in OFTEN if name in layout.offset)):
            if layout.shape[name] != ():
                raise ValueError(f"{name} is no number")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"the scene description does not say how its frames are laid out ({error!r})") from None
    if not same:
        raise RecordError("the scene description lays its frames out in a way that this version does not know")
    return layout


def _field(told: dict[str, Any], sizes: dict[str, int]) -> Field:
    """One field; its shape's product is within bounds, in Python's integers, which do not overflow."""
    name, kind, shape = told["name"], told["kind"], tuple(told["shape"])
    if not isinstance(name, str) or kind not in ("i", "f"):
        raise ValueError(f"no field: {name!r:.40}")
    if math.prod(sizes[s] if isinstance(s, str) else _count(s) for s in shape) > MOST_WORDS:
        raise ValueError(f"{name!r:.40} is larger than a frame")
    return Field(name, kind, shape, str(told.get("about", "")))


def _count(number: Any) -> int:
    if type(number) is not int or not 0 <= number <= MOST_WORDS:
        raise ValueError(f"no size: {number!r:.40}")
    return number


def read_scene(data: bytes) -> dict[str, Any]:
    """The scene description in its file; a ValueError or the like if what is used of it is not what it should be."""
    hello = json.loads(data)
    check_bounds(hello, math.inf)
    json.dumps(hello, allow_nan=False, ensure_ascii=False).encode()  # no number that is none, no half of a letter
    right = isinstance(hello, dict)
    right = right and all(isinstance(hello.get(name, ""), str) for name in TEXTS)
    right = right and all(_is_list(hello.get(name, []), str) for name in LISTS_OF_TEXTS)
    right = right and all(_is_list(hello.get(name, []), dict) for name in LISTS_OF_OBJECTS)
    if not right or not all(isinstance(body.get("name"), str) for body in hello.get("bodies", [])):
        raise ValueError("another thing")
    return dict(hello)


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)
