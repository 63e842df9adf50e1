"""The hello: what a page or a recording is told before the first frame, as JSON can hold it.

A simulation gives what is its own, and may leave out any of it; `complete` adds what every simulation has.

    bodies    [{"name", "shapes", "touchable", ...}, ...]; row 0 is the world, and row k of the frame's field `pose` is
              where body k is; one whose `parked` in the frame is not 0 is not there
    start     rows as of `pose`, where the simulation begins: what the camera looks at
    views     {"perspective" | "front" | "side" | "top": {"eye": [3], "target": [3]}}: where the camera stands [m] in a
              picture of 4 : 3, farther back in a narrower one; those left out follow from what there is to see
    settings  sliders: [{"event", "label", "field", "unit", "low", "high", "step", "value", "about", "switch"}, ...]:
              the page sends the event with a value, and shows the frame's field as what it is now; `value` is the
              usual one.  With "switch" it is on (1) or off (0).  With "choices", a list of names, it is a list to
              choose from, and its value the place of the chosen one
    hand      what a page's hands are to it: {"stiffness_N_m", "force_limit_N", "plane", "turns", "stiffness_Nm_rad"}:
              with "plane", a normal in the world, they move only in planes across it; with "turns", an axis of the
              world, they also turn what they hold about it, as often as they like, by a spring of stiffness_Nm_rad:
              a message has an orientation then, never half a turn from that of the message before
    events    what a page may send: {name: {"kind", "low", "high", "whole", "bodies"}}: its number in frame.EVENT,
              bounds of its value, whether that is a whole number, and the bodies that it may be about
    plots     [{"name", "title", "unit", "series", "least", "zero", "logarithmic"}, ...]: the first two are open at
              first; `least` is how high a plot is at least, `zero` says that zero is in it.  A series is one of
                {"field", "index", "label", "unit", "wanted"}   a number of the frame, and the field that wants it there
                                                                ("dashed": the n-th one has the n-th other's colour)
                {"longest": [fields], "label"}                  the largest length of the vectors in these fields
                {"latest": field}                               of a histogram of lateness, the latest since before
              and needs no label if it is alone
              Fields that are signals (frame.Field) have a plot for each group, whether they are listed or not
    panels    names of the panels that it has use for; a page shows those that it knows: touch, contacts, edit, things,
              task, devices, scenes, lab
    drawings, actors
              what is drawn of fields over the bodies, and what acts by itself and can be told to: drawings.py
    maps      flat drawings of a frame's numbers, beside the scene: maps.py
    keys, walk, eyes, person, hint, tips, and of a body `fades` and `led`
              what a person in the scene does and sees: presence.py
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from palpate.frame import (
    BASE,
    COUNTERS,
    FIRST_OWN,
    FRAME,
    LATENESS_EDGES_US,
    PAUSE,
    PLAY,
    RESET,
    SEEK,
    SPEED,
    STEP,
    Field,
    Layout,
)  # fmt: skip
from palpate.registry import everything
from palpate.runtime.drawings import check_drawings, complete_drawings
from palpate.runtime.maps import complete_maps
from palpate.runtime.presence import check_fades, complete_presence
from palpate.scenes import SCENES

if TYPE_CHECKING:  # who replays needs no compiler
    from palpate.servo.simulation import Event, Simulation

SLOWEST = 1e-3  # times real time
EVENTS: dict[str, dict[str, Any]] = {
    "play": {"kind": PLAY}, "pause": {"kind": PAUSE}, "step": {"kind": STEP}, "reset": {"kind": RESET},
    "speed": {"kind": SPEED, "low": SLOWEST},
}  # fmt: skip
LATENESS = {
    "name": "lateness", "title": "Latest tick", "unit": "µs, below", "least": 1000, "logarithmic": True,
    "series": [{"latest": "lateness"}],
}  # fmt: skip
HAND: dict[str, Any] = {"stiffness_N_m": 800.0, "force_limit_N": 0.0}
TURNING_NM_RAD = 0.3  # of a hand that turns: that of a wrist at a small handle (planar haptics 1.11)
AT_ORIGIN = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def hello_of(simulation: Simulation, mode: str = "live") -> dict[str, Any]:
    """The hello of a simulation; ValueError if it says of itself what cannot be."""
    own, events = simulation.hello(), events_of(simulation.takes)
    for name, more in own.get("events", {}).items():
        events[name] |= more
    said = {"mode": mode, "scene": simulation.name, "title": simulation.title, "rate_hz": simulation.rate_hz}
    return complete(said | own | {"events": events}, simulation.layout)


def events_of(takes: Sequence[Event]) -> dict[str, dict[str, Any]]:
    """Those of a simulation's own that a page may send."""
    kinds = zip(itertools.count(FIRST_OWN), takes, strict=False)
    return {event.name: {"kind": kind, "low": event.low, "high": event.high, "whole": event.whole}
            for kind, event in kinds if not event.inside}  # fmt: skip


def complete(own: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """The whole hello of a simulation with such frames; ValueError if it says what cannot be."""
    check_fields(layout)
    bodies, events = [_body(body) for body in own.get("bodies", [])], EVENTS | own.get("events", {})
    settings = [_setting(setting, events) for setting in own.get("settings", [])]
    plots = [{"name": plot["title"].lower()} | plot for plot in own.get("plots", [])]
    plots += [plot for plot in (*signal_plots(layout), LATENESS) if plot["name"] not in {p["name"] for p in plots}]
    check_fades(bodies, layout.length)
    drawn = complete_drawings(own) | {"maps": complete_maps(own.get("maps", []), layout.length)}
    drawn |= complete_presence(own, bodies, events)
    hello = {
        "palpate": version("palpate"), "mode": "live", "scene": "", "title": own.get("scene", ""), "rate_hz": 1000.0,
        "start": [AT_ORIGIN] * len(bodies), "views": {}, "settings": [], "axes": [], "path": [],
        "panels": ["scenes", "lab"], "scenes": scene_cards(),
        "counters": list(COUNTERS), "lateness_edges_us": list(LATENESS_EDGES_US),
    } | own | {
        "sizes": dict(layout.sizes), "frame": layout.describe(), "bodies": bodies, "events": events,
        "plots": plots, "settings": settings, "hand": _hand(own.get("hand", {})), **drawn,
    }  # fmt: skip
    names, fields = [plot["name"] for plot in plots], {field.name for field in layout.fields}
    if len(set(names)) < len(names):
        raise ValueError(f"two of its plots have one name: {', '.join(names)}")
    read = {name for plot in plots for name in fields_read(plot)} | {s["field"] for s in settings}
    if lost := sorted(read - fields):
        raise ValueError(f"plots and settings show fields that its frames have not: {', '.join(lost)}")
    if odd := [s["label"] for s in settings if not s["low"] < s["high"] or not s["step"] > 0]:
        raise ValueError(f"settings go from low to high in steps above 0, unlike {', '.join(odd)}")
    if lost := [s["event"] for s in settings if s["event"] not in events]:
        raise ValueError(f"settings send events that it does not list: {', '.join(lost)}")
    check_drawings(hello, layout.shape, [body["name"] for body in bodies], events)
    return hello


def _body(given: dict[str, Any]) -> dict[str, Any]:
    """A body with all that it and its shapes have."""
    shape = {
        "position": [0.0, 0.0, 0.0],
        "quaternion": [1.0, 0.0, 0.0, 0.0],
        "color": None,
        "role": "both",
        "mesh": None,
    }
    return {"touchable": False, "movable": False, "spare": False, "loose": False, "parked": False} | given | {
        "shapes": [shape | each for each in given.get("shapes", [])]
    }  # fmt: skip


def _setting(given: dict[str, Any], events: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A slider with all that it has: its bounds are those of its event unless it has its own."""
    bounds: dict[str, Any] = {"low": 0.0, "high": 1.0} | events.get(given["event"], {}) | given
    if "choices" in given:
        return _chosen(given, bounds)
    low, high = bounds["low"], bounds["high"]
    step = high - low if given.get("switch") else (high - low) / 100.0
    return {"unit": "", "about": "", "switch": False, "low": low, "high": high, "step": step, "value": low} | given


def _hand(given: dict[str, Any]) -> dict[str, Any]:
    """What a page's hands are; ValueError if plane or axis have no direction."""
    for name in ("plane", "turns"):
        if name in given and not (len(given[name]) == 3 and 1e-9 < math.hypot(*given[name]) < math.inf):
            raise ValueError(f"a hand's {name!r} is a direction of the world, three numbers, not {given[name]!r}")
    return HAND | ({"stiffness_Nm_rad": TURNING_NM_RAD} if "turns" in given else {}) | given


def _chosen(given: dict[str, Any], bounds: dict[str, Any]) -> dict[str, Any]:
    """A setting that is one of several, told by their names."""
    label, choices = given.get("label", given["event"]), given["choices"]
    if not isinstance(choices, list) or len(choices) < 2 or not all(isinstance(c, str) and c for c in choices):
        raise ValueError(f"the choices of {label!r} are a list of two names or more, not {choices!r:.80}")
    if len(set(choices)) < len(choices):
        raise ValueError(f"two choices of {label!r} have one name: {', '.join(choices)}")
    expected = {"low": 0, "high": len(choices) - 1, "step": 1}
    if other := [key for key, value in expected.items() if given.get(key, value) != value]:
        raise ValueError(f"{label!r} has {len(choices)} choices: low 0, high {len(choices) - 1}, step 1; not its "
                         f"{', '.join(other)}")  # fmt: skip
    if bounds["low"] > 0 or bounds["high"] < len(choices) - 1:
        raise ValueError(f"{label!r} has {len(choices)} choices, its event goes from {bounds['low']:g} to "
                         f"{bounds['high']:g}")  # fmt: skip
    return {"unit": "", "about": "", "switch": False, **expected, "value": 0} | given


def replayed(recorded: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """The hello of a recording for a page: it can be played and looked at, and nothing in it can be set."""
    seek = {"kind": SEEK, "low": 0.0, "high": recorded["duration_s"]}
    hello = complete(recorded, layout)
    actors = [actor | {"event": "", "commands": [], "settings": []} for actor in hello["actors"]]
    dumb: dict[str, Any] = {"settings": [], "actors": actors, "keys": [], "walk": {}, "person": None}
    return hello | dumb | {"mode": "replay", "events": EVENTS | {"seek": seek}}


def merge_hello(own: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """What two tell of one simulation: lists one after the other, dicts together, of anything else the second's."""
    merged = dict(own)
    for key, value in more.items():
        before = own.get(key, [])
        if isinstance(before, (list, tuple)) and isinstance(value, (list, tuple)):
            merged[key] = [*before, *(each for each in value if each not in before)]
        elif isinstance(before, dict) and isinstance(value, dict):
            merged[key] = before | value
        else:
            merged[key] = value
    return merged


def check_fields(layout: Layout) -> None:
    """ValueError unless frames have what all have, and names that a page knows mean what it knows."""
    kinds = {f.name: (f.kind, len(f.shape)) for f in layout.fields}
    known = {f.name: (f.kind, len(f.shape)) for f in FRAME}
    if lost := [f.name for f in BASE if f.name not in kinds]:
        raise ValueError(f"every frame has {', '.join(f.name for f in BASE)}; these have no {', '.join(lost)}")
    if other := [name for name in kinds if kinds[name] != known.get(name, kinds[name])]:
        raise ValueError(f"a page knows these fields as something else: {', '.join(other)}")


def fields_read(plot: dict[str, Any]) -> set[str]:
    """The fields that a plot shows."""
    one = [s[key] for s in plot["series"] for key in ("field", "latest", "wanted") if key in s]
    return {*one, *(name for s in plot["series"] for name in s.get("longest", ()))}


def signal_plots(layout: Layout) -> list[dict[str, Any]]:
    """A plot for each group of signals, in the order of the fields; a signal without a group has its own."""
    groups: dict[str, list[Field]] = {}
    for field in layout.fields:
        if field.unit or field.group:
            groups.setdefault(field.group or field.name, []).append(field)
    return [
        {"name": group, "title": group, "unit": fields[0].unit if len({f.unit for f in fields}) == 1 else "",
         "series": [series for field in fields for series in _series(layout, field)]}
        for group, fields in groups.items()
    ]  # fmt: skip


def _series(layout: Layout, field: Field) -> list[dict[str, Any]]:
    labels = [f"{field.name} {i + 1}" for i in range(layout.length[field.name])] if field.shape else [field.name]
    return [{"field": field.name, "index": i, "label": label, "unit": field.unit} for i, label in enumerate(labels)]


def scene_cards() -> list[dict[str, str]]:
    """The scenes that a page can choose from."""
    return [{"name": name, "about": about} for name, (_, about) in sorted(everything(SCENES, "scenes").items())]
