"""Flat drawings of a frame's numbers beside the scene: `maps` of a hello (hello.py), in words that know no simulation.

maps      [{"name", "x": axis, "y": axis, "items": [item, ...]}, ...], three at most.  Where there is room, a page has
          the scene top right, the first map top left, the second bottom left, the third bottom right
axis      {"label", "unit", "low", "high", "wraps"}: low is left or below; with low > high it runs the other way
          round.  With "wraps" it is a circle: numbers come back after high - low, as angles do
          {"label", "unit", "follow": quantity, "half"}: centred on what it follows, half of it to each side;
          with half < 0 it runs the other way round
          Of rad, it is written in degrees.  Two axes of one unit have one scale
quantity  a number, or [field, index]: a number of the frame, row by row; or a field's name: its first.  What is
          not finite is not drawn
item      {"kind", "color", "label", "when"}: `color`, 1 to 8, is one of the page's lines; those of one label share
          a line of the legend; with "when", a quantity, it is drawn while that is not 0
            point   "x", "y"
            cross   "x", "y"
            circle  "x", "y", "radius" in the units of the axes; "filled"
            arrow   "x", "y", "dx", "dy" in the units of the axes; or "angle" [rad] from x towards y, and "length"
            trail   "x", "y": the way of the last "seconds" (20); a reset or a leap in time forgets it
            band    "x" or "y", and "radius": so much to both sides, over all of the other axis
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from palpate.runtime.drawings import COLORS
from palpate.runtime.page.json_numbers import finite_number

MOST = 3  # maps: with the scene they are four views
# of each kind: the quantities that it must have, one set or another
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "point": (("x", "y"),),
    "cross": (("x", "y"),),
    "circle": (("x", "y", "radius"),),
    "arrow": (("x", "y", "dx", "dy"), ("x", "y", "angle", "length")),
    "trail": (("x", "y"),),
    "band": (("x", "radius"), ("y", "radius")),
}
QUANTITIES = ("x", "y", "radius", "dx", "dy", "angle", "length", "when")
TRAIL_S = 20.0


def complete_maps(given: Any, lengths: Mapping[str, int]) -> list[dict[str, Any]]:
    """Maps with all that they have; ValueError for what cannot be drawn of frames with so many numbers a field."""
    maps = [_map(each) for each in given] if isinstance(given, list) else None
    if maps is None or len(maps) > MOST:
        raise ValueError(f"maps are a list of {MOST} at most")
    names = [each["name"] for each in maps]
    if len(set(names)) < len(names):
        raise ValueError(f"two of its maps have one name: {', '.join(names)}")
    for each in maps:
        for quantity in _quantities(each):
            check_quantity(quantity, lengths, f"the map {each['name']!r}")
    return maps


def check_quantity(quantity: Any, lengths: Mapping[str, int], whose: str) -> None:
    """ValueError unless it is a number, a field or one of a field's numbers."""
    if is_number(quantity):
        return
    field, index = (quantity, 0) if isinstance(quantity, str) else _pair(quantity, whose)
    if field not in lengths:
        raise ValueError(f"{whose} shows a field that its frames have not: {field}")
    if not 0 <= index < lengths[field]:
        raise ValueError(f"{whose} shows number {index} of {field!r}, which has {lengths[field]}")


def is_number(value: Any) -> bool:
    """A finite one."""
    return finite_number(value) is not None


def _pair(quantity: Any, whose: str) -> tuple[str, int]:
    if not isinstance(quantity, list | tuple) or len(quantity) != 2:
        raise ValueError(f"{whose} shows {quantity!r:.60}: a number, a field or [field, index] is meant")
    field, index = quantity
    if not isinstance(field, str) or not isinstance(index, int) or isinstance(index, bool):
        raise ValueError(f"{whose} shows {quantity!r:.60}: a number, a field or [field, index] is meant")
    return field, index


def _map(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"]:
        raise ValueError(f"a map has a name, axes x and y, and items; not {given!r:.60}")
    name, items = given["name"], given.get("items", [])
    if not isinstance(items, list):
        raise ValueError(f"the items of the map {name!r} are a list")
    axes = {axis: _axis(given.get(axis), f"axis {axis} of the map {name!r}") for axis in ("x", "y")}
    return given | axes | {"items": [_item(item, name) for item in items]}


def _axis(given: Any, which: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{which} has a label, a unit, and low and high, or what it follows and half")
    ends = ("half",) if "follow" in given else ("low", "high")
    values = [given.get(end) for end in ends]
    if not all(map(is_number, values)) or values[0] == (values[1] if len(values) > 1 else 0.0):
        raise ValueError(f"{which} needs {' and '.join(ends)}, numbers that leave it some length")
    if given.get("wraps") and "follow" in given:
        raise ValueError(f"{which} wraps: it goes from low to high and follows nothing")
    return {"label": "", "unit": "", "wraps": False} | given


def _item(given: Any, name: str) -> dict[str, Any]:
    kind = given.get("kind") if isinstance(given, dict) else None
    if kind not in NEEDS:
        raise ValueError(f"an item of the map {name!r} is one of {', '.join(NEEDS)}, not {kind!r}")
    if not any(all(key in given for key in needs) for needs in NEEDS[kind]):
        wanted = ", or ".join(" and ".join(needs) for needs in NEEDS[kind])
        raise ValueError(f"an item of kind {kind!r} in the map {name!r} needs {wanted}")
    if kind == "band" and "x" in given and "y" in given:
        raise ValueError(f"a band in the map {name!r} has x or y, not both")
    item = {"color": 1, "label": "", **({"seconds": TRAIL_S} if kind == "trail" else {})} | given
    if item["color"] not in COLORS:
        raise ValueError(f"an item's color in the map {name!r} is 1 .. {COLORS[-1]}, not {item['color']!r}")
    if kind == "trail" and not (is_number(item["seconds"]) and item["seconds"] > 0.0):
        raise ValueError(f"a trail in the map {name!r} lasts some seconds, not {item['seconds']!r}")
    return item


def _quantities(given: Mapping[str, Any]) -> Iterator[Any]:
    yield from (given[axis]["follow"] for axis in ("x", "y") if "follow" in given[axis])
    yield from (item[key] for item in given["items"] for key in QUANTITIES if key in item)
