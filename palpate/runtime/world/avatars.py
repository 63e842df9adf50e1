"""What a page draws, plots and says of avatars: the fields that their controllers publish, in the general words of
`runtime/drawings.py`.  A controller's hello names them:

    avatars   [{"name", "prefix", "states", "patterns", "commands", ...}, ...]
              prefix     of its fields: "avatar_" has "avatar_capture_point"; fields that frames have not are left out
              states, patterns  names by their number in `behaviour` and `pattern`; "none" and "" are not said
              commands   names by the value of its event: `behave`, of the second `behave2`, or the one it gives as
                         "event"; without such an event there are no buttons
              head       body that the label is over; without it, over the centre of mass
              palms      bodies of `palm_load`, right and left, and "palm_axes", the way each presses, body axes
              settings   events of those settings that belong to it, "balance_states" names of `balance_state`
              Of one avatar several controllers may tell, each its part: what has the same prefix is one
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from palpate.runtime.drawings import FIELDS
from palpate.runtime.hello import merge_hello
from palpate.servo.simulation import Event

CAPTURE, SUPPORT, SOLES, GRASP = 4, 3, 7, 2  # colours
OVER_HEAD_M, OVER_MIDDLE_M = 0.22, 0.95
FULL_SOLE_N, FULL_GRASP_N = 400.0, 60.0  # a foot that carries a person has 200 N at each corner


def describe_avatars(
    avatars: Sequence[dict[str, Any]], fields: Collection[str], takes: Sequence[Event]
) -> dict[str, Any]:
    """Drawings, plots and actors, as far as frames have the fields and the simulation takes the events."""
    told: dict[str, Any] = {"drawings": [], "plots": _plots(avatars, {*fields}), "actors": []}
    for k, avatar in enumerate(avatars):
        told["drawings"] += [d for d in _drawings(avatar) if _has(d, fields)]
        told["actors"].append(_actor(avatar, avatar.get("event", f"behave{k + 1}" if k else "behave"), fields, takes))
    return told


def merge_avatars(avatars: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One for each prefix, in the order in which they came."""
    merged: dict[str, dict[str, Any]] = {}
    for avatar in avatars:
        merged[avatar["prefix"]] = merge_hello(merged.get(avatar["prefix"], {}), avatar)
    return list(merged.values())


def _has(drawing: dict[str, Any], fields: Collection[str]) -> bool:
    """Whether all of its fields are there; a label keeps the lines that can be said."""
    if drawing["kind"] == "label":
        drawing["lines"] = _said(drawing["lines"], fields)
        if not drawing["lines"]:
            return False
    return all(drawing[key] in fields for keys in FIELDS[drawing["kind"]] for key in keys if key in drawing)


def _said(lines: list[dict[str, Any]], fields: Collection[str]) -> list[dict[str, Any]]:
    return [line for line in lines if line["field"] in fields and line.get("share", line["field"]) in fields]


def _state(avatar: dict[str, Any]) -> dict[str, Any]:
    return {"label": "does", "field": f"{avatar['prefix']}behaviour", "names": list(avatar.get("states", ()))}


def _pattern(avatar: dict[str, Any]) -> dict[str, Any]:
    at = avatar["prefix"]
    return {"label": "feels", "field": f"{at}pattern", "names": list(avatar.get("patterns", ())),
            "share": f"{at}pattern_sureness"}  # fmt: skip


def _drawings(avatar: dict[str, Any]) -> list[dict[str, Any]]:
    at = avatar["prefix"]
    over = {"body": avatar["head"], "above": OVER_HEAD_M} if "head" in avatar else {
        "at": f"{at}com", "above": OVER_MIDDLE_M}  # fmt: skip
    drawings: list[dict[str, Any]] = [
        {"name": "support", "kind": "polygon", "color": SUPPORT, "corners": f"{at}support_polygon",
         "count": f"{at}support_count", "height": f"{at}capture_point"},
        {"name": "capture point", "kind": "point", "color": CAPTURE, "at": f"{at}capture_point",
         "value": f"{at}capture_margin_m", "unit": "m"},
        {"name": "soles", "kind": "columns", "color": SOLES, "at": f"{at}sole_points", "values": f"{at}sole_forces",
         "full": FULL_SOLE_N, "unit": "N"},
        {"name": "state", "kind": "label", "shown": True, "lines": [_state(avatar), _pattern(avatar)]} | over,
    ]  # fmt: skip
    if "palms" in avatar:
        drawings.append(
            {"name": "grasp", "kind": "arrows", "color": GRASP, "bodies": list(avatar["palms"]),
             "axes": [list(axis) for axis in avatar["palm_axes"]], "values": f"{at}palm_load", "full": FULL_GRASP_N,
             "unit": "N"}
        )  # fmt: skip
    return drawings


# name, title, unit, least, whether zero is in it, and its lines: field, index, label
PLOTS: list[tuple[str, str, str, float, bool, list[tuple[str, int, str]]]] = [
    ("margin", "Capture margin", "m", 0.05, True, [("capture_margin_m", 0, "margin")]),
    ("balance", "Balance", "m", 0.02, False,
     [(field, i, f"{words} {axis}") for i, axis in enumerate("xy")
      for field, words in (("com", "centre of mass"), ("capture_point", "capture point"), ("cop", "pressure"))]),
    ("pattern", "Sureness of the pattern", "", 1.0, True, [("pattern_sureness", 0, "pattern")]),
    ("grasp", "Grasp", "N", 10.0, True,
     [("palm_load", 0, "right palm"), ("palm_load", 1, "left palm"), ("grasp_squeeze_N", 0, "wanted")]),
    ("led", "Force on what is held", "N", 10.0, True,
     [("led_force", 0, "x"), ("led_force", 1, "y"), ("led_force", 2, "z")]),
]  # fmt: skip


def _plots(avatars: Sequence[dict[str, Any]], fields: set[str]) -> list[dict[str, Any]]:
    """One for each quantity; the lines of several avatars have their names."""
    plots: list[dict[str, Any]] = []
    for name, title, unit, least, zero, lines in PLOTS:
        series = [{"field": avatar["prefix"] + field, "index": index,
                   "label": label if len(avatars) == 1 else f"{avatar['name']} {label}"}
                  for avatar in avatars for field, index, label in lines]  # fmt: skip
        plot: dict[str, Any] = {"name": name, "title": title, "unit": unit, "least": least, "zero": zero,
                "series": [each for each in series if each["field"] in fields]}  # fmt: skip
        if len(plot["series"]) == 1:
            del plot["series"][0]["label"]  # alone it needs none
        plots += [plot] if plot["series"] else []
    return plots


def _actor(avatar: dict[str, Any], event: str, fields: Collection[str], takes: Sequence[Event]) -> dict[str, Any]:
    at = avatar["prefix"]
    says = [_state(avatar), {"label": "for", "field": f"{at}behaviour_time_s", "unit": "s"}, _pattern(avatar)]
    if "balance_states" in avatar:
        says.append({"label": "balance", "field": f"{at}balance_state", "names": list(avatar["balance_states"])})
    says += [
        {"label": "margin", "field": f"{at}capture_margin_m", "unit": "m"},
        {"label": "steps", "field": f"{at}steps"},
    ]
    heard = any(take.name == event and not take.inside for take in takes)
    return {"name": avatar["name"], "says": _said(says, fields), "event": event if heard else "",
            "commands": list(avatar.get("commands", ())) if heard else [],
            "settings": list(avatar.get("settings", ()))}  # fmt: skip
