"""What a page draws of a frame's fields over the bodies, and what it says of whatever acts by itself: two lists of a
hello (hello.py), in words that know no simulation.

    drawings  [{"name", "kind", "color", "shown", ...}, ...]: those of one name are turned on and off together, off at
              first unless `shown`; `color`, 1 to 8, is one of the page's lines.  Points are in the world [m].
                point    "at": field (3,); "value": field beside it, "unit"; below zero it alarms
                polygon  "corners": field (n, 2 or 3), in order; "count": field that says how many of them there are;
                         "height": field whose last number is that of corners without one; else they are on the ground
                columns  "at": field (n, 3); "values": field (n,) or (n, 3), whose lengths are heights; "full": the
                         value of the tallest, "unit"
                arrows   "at": field (n, 3), or "bodies": [names]; "values": field (n, 3), world, or (n,), then along
                         "axes" [[3], ...] of these bodies; "full": the value of the longest, "unit"
                label    "at": field (3,), or "body": name; "above": how far over it [m]; "lines": [text, ...]
    actors    [{"name", "says": [text, ...], "event", "commands": [names], "settings": [events]}, ...]: a panel each.
              A button sends the event with its place among the commands; settings of these events are in this panel
    text      {"field", "index", "label", "names": [...], "share": field, "unit"}: a number of the frame, or which of
              the names it is; "share", 0 .. 1, is how sure that is.  "none" and "" are not said
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

COLORS = range(1, 9)
# of each kind: its keys that name a field, which it must have and which it may
FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "point": (("at",), ("value",)),
    "polygon": (("corners",), ("count", "height")),
    "columns": (("at", "values"), ()),
    "arrows": (("values",), ("at",)),
    "label": ((), ("at",)),
}


def texts(hello: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Of labels and actors."""
    for drawing in hello["drawings"]:
        yield from drawing.get("lines", ())
    for actor in hello["actors"]:
        yield from actor["says"]


def fields_drawn(hello: Mapping[str, Any]) -> set[str]:
    """The fields that its drawings and actors show."""
    drawn = {d[key] for d in hello["drawings"] for keys in FIELDS[d["kind"]] for key in keys if key in d}
    return drawn | {text[key] for text in texts(hello) for key in ("field", "share") if key in text}


def complete_drawings(own: Mapping[str, Any]) -> dict[str, Any]:
    """Drawings and actors with all that they have; ValueError for one of a kind that no page knows."""
    drawings = [{"name": "drawings", "color": 1, "shown": False} | given for given in own.get("drawings", [])]
    for d in drawings:
        if d.get("kind") not in FIELDS:
            raise ValueError(f"a drawing is one of {', '.join(FIELDS)}, not {d.get('kind')!r}")
        must, _ = FIELDS[d["kind"]]
        if lost := [key for key in must if key not in d]:
            raise ValueError(f"a drawing of kind {d['kind']!r} needs {', '.join(lost)}")
        if d["kind"] in ("arrows", "label") and not {"at", "body", "bodies"} & set(d):
            raise ValueError(f"a drawing of kind {d['kind']!r} is at a field or at bodies: it names neither")
        if d["color"] not in COLORS:
            raise ValueError(f"a drawing's color is one of the lines 1 .. {COLORS[-1]}, not {d['color']!r}")
    empty: dict[str, Any] = {"says": [], "event": "", "commands": [], "settings": []}
    return {"drawings": drawings, "actors": [empty | given for given in own.get("actors", [])]}


def check_drawings(
    hello: Mapping[str, Any], fields: Mapping[str, tuple[int, ...]], bodies: Collection[str],
    events: Mapping[str, Mapping[str, Any]],
) -> None:  # fmt: skip
    """ValueError if they are about fields (name: shape), bodies or events that the simulation has not."""
    if lost := sorted(fields_drawn(hello) - set(fields)):
        raise ValueError(f"drawings and actors show fields that its frames have not: {', '.join(lost)}")
    named = [name for d in hello["drawings"] for name in (*d.get("bodies", ()), *([d["body"]] if "body" in d else ()))]
    if lost := sorted(set(named) - set(bodies)):
        raise ValueError(f"drawings are at bodies that it has not: {', '.join(lost)}")
    for d in hello["drawings"]:
        _check_rows(d, fields)
    for actor in hello["actors"]:
        last, event = len(actor["commands"]) - 1, events.get(actor["event"])
        if last >= 0 and event is None:
            raise ValueError(f"{actor['name']!r} is told by an event that the simulation has not: {actor['event']!r}")
        high = None if event is None else event.get("high")
        if isinstance(high, int | float) and last > high:
            raise ValueError(f"{actor['name']!r} has {last + 1} commands, its event goes up to {high:g}")


def _check_rows(d: Mapping[str, Any], fields: Mapping[str, tuple[int, ...]]) -> None:
    """Places and values come in pairs."""
    if d["kind"] not in ("columns", "arrows"):
        return
    places = len(d["bodies"]) if "bodies" in d else (*fields[d["at"]], 0)[0]
    values = fields[d["values"]]
    if not values or values[0] != places or (len(values) > 1 and values[1:] != (3,)):
        raise ValueError(f"{d['values']} is {values}: a drawing at {places} places needs ({places},) or ({places}, 3)")
    if d["kind"] == "arrows" and len(values) == 1 and len(d.get("axes", ())) != places:
        raise ValueError(f"{d['values']} has no directions: arrows of it need as many axes as bodies, {places}")
