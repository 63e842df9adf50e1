"""A person in the scene: how one walks, what its eyes see, and a headset that is its head and hand: words of a hello
(hello.py) that know no simulation.

    keys      [{"key", "event", "value", "about"}, ...]: while the key is held, a page sends the event with this value,
              at once and ten times a second; when it is let go, 0.  Those of one event are summed.  A key is one
              small letter or digit; with Shift it is the page's own.  A simulation does well to let go of who has been
              silent for some tenths of a second
    walk      {"x", "y", "turn"}: events, any of them, that sticks send: -1 .. 1 to the right, ahead, and to the left
              about the vertical.  Sticks on the screen where there is no mouse, and those of a gamepad
    eyes      {"name", "body", "at", "ipd_m", "fov_deg", "hides"}: a view from the point `at` of a body [m], along its x
              with z up, with one eye or with two side by side, `ipd_m` apart, `fov_deg` high; `hides` are bodies that
              are not drawn there, nor in a headset: one's own head
    person    {"head", "hand", "at", "turn_rad"}: bodies, both touchable, that go where a headset is (hand 1 of the
              page) and where its right controller is (hand 0): at their origins, x ahead, y to the left, z up.  The
              headset's own space begins at `at` [m], its ahead turned by `turn_rad` from x of the world
    hint      {"mouse", "finger"}: what one does first here, where there is a mouse, and where there are fingers only;
              else a page says that things can be pulled
    tips      bodies that are the tips of devices, in their order: a page draws the force there, and no device
    led       of a touchable body: {"field", "index"}: it goes where a hand leads it, by no spring, and this number of
              the frame is what is felt through it [N]
    fades     of a body: {"field", "index", "near", "far", "only"}: it is wholly drawn while this number of the frame
              is not above `near`, and not at all from `far` on; with "only": "eyes" it does so through the eyes and in
              a headset only
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from palpate.runtime.maps import check_quantity, is_number
from palpate.runtime.page.json_numbers import finite_number

IPD_M = 0.063  # between the eyes of most people
FOV_DEG = 80.0
WALKS = ("x", "y", "turn")
HINTS = ("mouse", "finger")
Events = Mapping[str, Mapping[str, Any]]


def complete_presence(own: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]], events: Events) -> dict[str, Any]:
    """Keys, walk, eyes and person with all that they have; ValueError for what cannot be."""
    keys = [{"about": "", "value": 1.0} | key for key in own.get("keys", [])]
    names = [key.get("key") for key in keys]
    for key in keys:
        _check_key(key, events)
    if len(set(names)) < len(names):
        raise ValueError(f"two of its keys are one: {', '.join(map(str, names))}")
    walk = own.get("walk") or {}
    if odd := sorted(set(walk) - set(WALKS)):
        raise ValueError(f"walk has {', '.join(WALKS)}, not {', '.join(odd)}")
    for way, event in walk.items():
        _check_bounds(f"walk {way!r}", event, (-1.0, 0.5, 1.0), events)
    return {
        "keys": keys,
        "walk": walk,
        "eyes": _eyes(own.get("eyes"), bodies),
        "person": _person(own.get("person"), bodies),
        "hint": _hint(own.get("hint") or {}),
        "tips": _tips(own.get("tips", []), bodies, own.get("devices", [])),
    }


def check_fades(bodies: Sequence[Mapping[str, Any]], lengths: Mapping[str, int]) -> None:
    """ValueError if a body fades or is led with what its frames have not, or fades not from near to far."""
    for body in bodies:
        if (led := body.get("led")) is not None:
            check_quantity([led.get("field"), led.get("index", 0)], lengths, f"the body {body['name']!r} that is led")
        if (fades := body.get("fades")) is None:
            continue
        whose = f"the body {body['name']!r} that fades"
        check_quantity([fades.get("field"), fades.get("index", 0)], lengths, whose)
        near, far = fades.get("near"), fades.get("far")
        if not (is_number(near) and is_number(far) and near < far):
            raise ValueError(f"{whose} goes from near to far, farther away; not from {near!r} to {far!r}")
        if fades.get("only", "eyes") != "eyes":
            raise ValueError(f"{whose} can do so only through the 'eyes', not {fades['only']!r}")


def _check_key(key: Mapping[str, Any], events: Events) -> None:
    name = key.get("key")
    if not isinstance(name, str) or len(name) != 1 or name != name.lower() or not name.isalnum():
        raise ValueError(f"a key is one small letter or digit, not {name!r}")
    if not is_number(key["value"]):
        raise ValueError(f"the key {name!r} sends a number, not {key['value']!r}")
    _check_bounds(f"the key {name!r}", key.get("event"), (0.0, key["value"]), events)


def _check_bounds(what: str, event: Any, values: tuple[float, ...], events: Events) -> None:
    """What sends an event sends one that there is, with values that it takes."""
    if not isinstance(event, str) or event not in events:
        raise ValueError(f"{what} sends an event that the simulation has not: {event!r}")
    low, high = (finite_number(events[event].get(end)) for end in ("low", "high"))
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    if not low <= min(values) <= max(values) <= high:
        raise ValueError(f"{what} sends {min(values):g} .. {max(values):g}; {event!r} takes {low:g} .. {high:g}")
    if events[event].get("whole") and any(value != round(value) for value in values):
        raise ValueError(f"{what} sends numbers that are not whole; {event!r} takes whole ones only")


def _eyes(given: Any, bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if not given:
        return None
    eyes = {"name": "Through the eyes", "at": [0.0, 0.0, 0.0], "ipd_m": IPD_M, "fov_deg": FOV_DEG, "hides": []} | given
    names = [body["name"] for body in bodies]
    if lost := [name for name in (eyes.get("body"), *eyes["hides"]) if name not in names]:
        raise ValueError(f"eyes are of bodies that it has not: {', '.join(map(str, lost))}")
    _check_point("eyes", eyes["at"])
    if not (is_number(eyes["ipd_m"]) and 0.0 <= eyes["ipd_m"] < 1.0):
        raise ValueError(f"eyes are ipd_m apart [m], less than one; not {eyes['ipd_m']!r}")
    if not (is_number(eyes["fov_deg"]) and 1.0 <= eyes["fov_deg"] <= 150.0):
        raise ValueError(f"eyes see fov_deg of 1 .. 150, not {eyes['fov_deg']!r}")
    return eyes


def _person(given: Any, bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if not given:
        return None
    person = {"at": [0.0, 0.0, 0.0], "turn_rad": 0.0} | given
    touchable = [body["name"] for body in bodies if body["touchable"]]
    if "head" not in person:
        raise ValueError("a person has a head: the name of a body")
    if lost := [person[part] for part in ("head", "hand") if part in person and person[part] not in touchable]:
        raise ValueError(f"a person's head and hand are touchable bodies, unlike {', '.join(map(str, lost))}")
    _check_point("a person's space", person["at"])
    if not is_number(person["turn_rad"]):
        raise ValueError(f"a person's space is turned by turn_rad, a number, not {person['turn_rad']!r}")
    return person


def _hint(given: Mapping[str, Any]) -> dict[str, str]:
    if odd := [who for who, words in given.items() if who not in HINTS or not isinstance(words, str)]:
        raise ValueError(f"a hint has words for {' and '.join(HINTS)}, unlike its {', '.join(odd)}")
    return dict(given)


def _tips(given: Sequence[str], bodies: Sequence[Mapping[str, Any]], devices: Sequence[Any]) -> list[str]:
    names = [body["name"] for body in bodies]
    if lost := [name for name in given if name not in names]:
        raise ValueError(f"tips are bodies that it has not: {', '.join(map(str, lost))}")
    return list(given)[: len(devices)]


def _check_point(whose: str, at: Any) -> None:
    if not isinstance(at, list | tuple) or len(at) != 3 or not all(map(is_number, at)):
        raise ValueError(f"{whose} are at three numbers [m], not {at!r:.60}")
