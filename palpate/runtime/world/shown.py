"""What a page shows and sets of a World: its settings, plots and panels, as `hello.py` explains them.

Nothing here needs the compiler: a player tells it of recordings that were made before the hello had such lists.
"""

from __future__ import annotations

from math import radians
from typing import Any

from palpate.runtime.hello import fields_read

_TIMES = {"unit": "×", "low": 0.0, "high": 3.0, "step": 0.05, "value": 1.0}
SETTINGS = [
    {"event": "gravity", "label": "Gravity", "field": "gravity", "about": "times the scene's own"} | _TIMES,
    {"event": "friction", "label": "Friction", "field": "friction", "about": "of all contacts, times the scene's own"}
    | _TIMES,
]
PLOTS: list[dict[str, Any]] = [
    {"name": "force", "title": "Force of the hand", "unit": "N", "least": 10, "zero": True,
     "series": [{"longest": ["hand_force", "device_force"]}]},
    {"name": "energy", "title": "Energy", "unit": "J", "least": 0.01, "zero": True,
     "series": [{"field": "energy", "index": i, "label": label}
                for i, label in enumerate(("kinetic", "potential", "work of hands"))]},
    {"name": "contacts", "title": "Contacts", "unit": "points", "least": 4, "zero": True,
     "series": [{"field": "contacts", "index": 0}]},
]  # fmt: skip


def describe_page(own: dict[str, Any], fields: set[str]) -> dict[str, Any]:
    """Plots and panels of a World that tells this of itself and whose frames have these fields.

    Recordings of before have no such lists: this makes theirs.
    """
    bodies, axes = own["bodies"], own.get("axes", [])
    angles = all(axis.get("unit") == "rad" for axis in axes)
    joints = {
        "name": "joints", "title": "Joint angles" if angles else "Joints", "unit": "rad" if angles else "° or m",
        "least": radians(10.0) if angles else 0.02,
        "series": [{"field": "q", "index": axis["index"], "label": axis["name"], "unit": axis.get("unit", "")}
                   | ({"wanted": "plan_q"} if axis.get("held") else {}) for axis in axes],
    }  # fmt: skip
    useful = {
        "touch": any(body.get("touchable") or body.get("movable") for body in bodies),
        "contacts": "contact_point" in fields,
        "edit": bool(own.get("edit_modes")),
        "things": any(body.get("movable") or body.get("loose") for body in bodies),
        "task": bool(own.get("task")),
        "devices": bool(own.get("devices")),
        "scenes": True,
        "lab": True,
    }
    plots = [plot for plot in ([joints] if axes else []) + PLOTS if fields_read(plot) <= fields]
    return {"plots": plots, "panels": [name for name, use in useful.items() if use]}
