"""scene.json of a recording: what it says of its scene, read and checked once, when the file is opened.

Somebody may have edited it, so that names, numbers and lengths are all that is believed here; whoever reads a Recording
may rely on them.  What this version does not know stays as it is.  A number that is none (NaN, infinity, one that no
8-byte word holds) becomes None, as a page could not read it, and halves of characters become their numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palpate.frame import BASE
from palpate.model.shapes import SHAPE_KINDS
from palpate.record import RecordError

DEEPEST = 32  # lists in lists; a scene has 6
MOST_WORDS = 1 << 17  # of a frame; the largest scene here has 4000
MOST_SIZE = 1 << 14  # bodies, contacts, coordinates
FIRST = ("tick", "wall_ns", "state", "time_s")  # fields that every frame has

Check = Callable[[Any], bool]


def read_scene(data: bytes, path: str | Path) -> dict[str, Any]:
    """The scene description in a recording's scene.json; a RecordError that names the recording if it is not right."""
    try:
        told = _clean(json.loads(data))
    except (ValueError, TypeError, RecursionError):
        raise RecordError(f"{path} is damaged: its scene description cannot be read") from None
    if wrong := _wrong(told):
        raise RecordError(f"{path}: its scene description was changed: {wrong}")
    hello: dict[str, Any] = told
    return hello


def _clean(value: Any, deep: int = 0) -> Any:
    """The same, with numbers that are finite, text that can be written, and not too deep."""
    if deep > DEEPEST:
        raise ValueError("too deep")
    kind = type(value)  # as json makes them; numbers and texts are most of a scene
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is str:
        return _written(value)
    if kind is list:
        return [_clean(inner, deep + 1) for inner in value]
    if kind is dict:
        return {_written(key): _clean(inner, deep + 1) for key, inner in value.items()}
    return None if kind is int and not -(2**63) <= value < 2**63 else value


def _written(text: str) -> str:
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


# ---- what a value may be


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list(check: Check, n: int | None = None) -> Check:
    return lambda value: isinstance(value, list) and (n is None or len(value) == n) and all(map(check, value))


def _with(needs: dict[str, Check], may: dict[str, Check] | None = None) -> Check:
    """An object that has what it needs; what it may have is right if it is there."""
    may = may or {}
    return lambda value: (
        isinstance(value, dict)
        and all(key in value and check(value[key]) for key, check in needs.items())
        and all(check(value[key]) for key, check in may.items() if key in value)
    )


def _shape(value: Any) -> bool:
    if not _SHAPE(value) or len(value["size"]) != len(SHAPE_KINDS.get(value["kind"], "none such")):
        return False
    return value["kind"] == "mesh" or all(size > 0 for size in value["size"])


def _by_name(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


_TEXTS, _POINT, _NUMBER_OR_NONE = _list(_text), _list(_number, 3), _or_none(_number)
_SHAPE = _with({"kind": _text, "size": _list(_number), "position": _POINT, "quaternion": _list(_number, 4)},
               {"color": _or_none(_list(_number, 4)), "role": _or_none(_text), "mesh": _or_none(_whole)})  # fmt: skip
_BODY = _with({"name": _text}, {"shapes": _list(_shape), "touchable": _flag, "movable": _flag, "spare": _flag,
                                "loose": _flag, "parked": _flag, "fades": _with({"field": _text}),
                                "led": _with({"field": _text})})  # fmt: skip
_FIELD = _with({"name": _text, "kind": lambda kind: kind in ("i", "f"), "offset": _whole, "length": _whole,
                "shape": _list(lambda n: _whole(n) and n <= MOST_SIZE)},
               {"about": _text, "unit": _text, "group": _text})  # fmt: skip
_SERIES = _with({}, {"field": _text, "index": _whole, "label": _text, "unit": _text, "wanted": _text,
                     "longest": _TEXTS, "latest": _text})  # fmt: skip
_LINE = _with({"field": _text}, {"index": _whole, "label": _text, "unit": _text, "names": _TEXTS, "share": _text})
_DRAWING = _with({"name": _text, "kind": _text}, {
    "color": _whole, "shown": _flag, "unit": _text, "full": _number, "above": _number, "body": _text, "bodies": _TEXTS,
    "axes": _list(_POINT), "lines": _list(_LINE),
    **dict.fromkeys(("at", "value", "corners", "count", "height", "values"), _text),
})  # fmt: skip
_ACTOR = _with({"name": _text}, {"says": _list(_LINE), "event": _text, "commands": _TEXTS, "settings": _TEXTS})
NEEDED: dict[str, Check] = {
    "scene": _text, "sizes": _by_name(lambda n: _whole(n) and n <= MOST_SIZE), "bodies": _list(_BODY),
    "frame": _list(_FIELD),
}  # fmt: skip
KNOWN: dict[str, Check] = {
    "palpate": _text, "mode": _text, "title": _text, "rate_hz": lambda hz: _number(hz) and hz > 0, "joints": _TEXTS,
    "joint_units": _TEXTS, "counters": _TEXTS, "edit_modes": _TEXTS, "obstacles": _TEXTS, "tool": _or_none(_text),
    "axes": _list(_with({"name": _text, "index": _whole}, {"unit": _text, "v_index": _whole, "held": _flag})),
    "start": _list(_list(_number, 7)), "path": _list(_POINT), "loose": _by_name(_TEXTS),
    "task": _or_none(_with({"title": _text, "body": _text, "target_m": _POINT, "radius_m": _number,
                            "obstacles": _TEXTS})),
    "scenes": _list(_with({"name": _text, "about": _text})),
    "hand": _with({"stiffness_N_m": _NUMBER_OR_NONE, "force_limit_N": _NUMBER_OR_NONE}),
    "devices": _list(_with({"name": _text, "force_limit_N": _NUMBER_OR_NONE})),
    "lateness_edges_us": _list(_number), "panels": _TEXTS, "events": _by_name(_by_name(lambda bound: True)),
    "settings": _list(_with({"event": _text, "label": _text, "field": _text, "unit": _text, "low": _number,
                             "high": _number, "step": _number, "value": _number}, {"about": _text, "switch": _flag})),
    "plots": _list(_with({"name": _text, "title": _text, "unit": _text, "series": _list(_SERIES)},
                         {"least": _number, "zero": _flag, "logarithmic": _flag})),
    "drawings": _list(_DRAWING), "actors": _list(_ACTOR), "avatars": _list(_with({"prefix": _text})),
    "views": _by_name(_with({"eye": _POINT, "target": _POINT})), "maps": _list(_with({"name": _text})),
    "keys": _list(_with({"key": _text, "event": _text})), "walk": _by_name(_text),
    "eyes": _or_none(_with({"body": _text}, {"hides": _TEXTS})), "person": _or_none(_with({"head": _text})),
    "hint": _by_name(_text), "tips": _TEXTS,
}  # fmt: skip


def _wrong(told: Any) -> str:
    """What is wrong with a description, in a few words; empty: nothing."""
    if not isinstance(told, dict):
        return "it is no description at all"
    if missing := [key for key in NEEDED if key not in told]:
        return f"it has no {', '.join(missing)}"
    for key, check in (NEEDED | KNOWN).items():
        if key in told and not check(told[key]):
            return f"{key!r} is not as a session writes it"
    return _wrong_frame(told["frame"]) or _wrong_lengths(told) or _wrong_names(told)


def _wrong_frame(fields: list[dict[str, Any]]) -> str:
    names = [field["name"] for field in fields]
    if len(set(names)) < len(names) or not set(FIRST) <= set(names):
        return "'frame' has a field twice, or lacks one"
    ranks = {field.name: (field.kind, len(field.shape)) for field in BASE}
    for field in fields:
        if field["name"] in FIRST and (field["kind"], len(field["shape"])) != ranks[field["name"]]:
            return f"the field {field['name']!r} of a frame is of another kind"
    words = sum(math.prod(field["shape"]) for field in fields)
    return "" if words <= MOST_WORDS else f"a frame of {words} words is too large"


def _wrong_lengths(told: dict[str, Any]) -> str:
    """As many of each as the frame has rows; lists may be empty, and are in what does not come from a session."""
    rows = {field["name"]: [*field["shape"], 1][0] for field in told["frame"]}
    for key, field in (("bodies", "pose"), ("start", "pose"), ("devices", "device_state")):
        if told.get(key) and len(told[key]) != rows.get(field, len(told[key])):
            return f"there are {len(told[key])} of {key!r}, and {rows[field]} in a frame"
    if told.get("start") and len(told["start"]) != len(told["bodies"]):
        return f"there are {len(told['start'])} of 'start', and {len(told['bodies'])} bodies"
    for axis in told.get("axes", ()):
        if axis["index"] >= rows.get("q", 0) or axis.get("v_index", 0) >= rows.get("v", 0):
            return f"the axis {axis['name']!r} is none of the frame's coordinates"
    return ""


def _wrong_names(told: dict[str, Any]) -> str:
    """Bodies that are spoken of, and are not there."""
    there, task = {body["name"] for body in told["bodies"]}, told.get("task") or {}
    spoken = [*told.get("obstacles", ()), *(name for names in told.get("loose", {}).values() for name in names),
              *task.get("obstacles", ()), told.get("tool"), task.get("body")]  # fmt: skip
    lost = next((name for name in spoken if name is not None and name not in there), None) if there else None
    return "" if lost is None else f"it speaks of a body {lost!r}, which is not there"
